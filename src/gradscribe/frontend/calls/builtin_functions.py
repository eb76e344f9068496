"""Handlers of Python's built-in functions, and of functions of NumPy that are no operations."""

from __future__ import annotations

import collections
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.frontend.calls import calls_of_many_forms, introspection, mathematics
from gradscribe.frontend.containers import dicts, iteration, out_arguments, reducing
from gradscribe.frontend.containers.lengths import len_of
from gradscribe.frontend.containers.shapes import shape_of
from gradscribe.frontend.kinds.static_values import effect_argument, object_of, value_of
from gradscribe.frontend.memory.iterators import iterator, taking
from gradscribe.frontend.opaque import folded_calls, shown_calls, unknown
from gradscribe.frontend.prelude import array_changes
from gradscribe.frontend.state.handlers import FUNCTIONS, OBJECTS, Handler
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import instances, protocols
from gradscribe.frontend.structures.indices import as_array, nonzero, open_mesh
from gradscribe.frontend.values.values import Static, TupleOf, is_number
from gradscribe.ir.types import INT, Array, Opaque
from gradscribe.primitives.control import EFFECT
from gradscribe.primitives.mapping import vectorized
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.primitives.static import known


def _vectorized(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """A call of an `np.vectorize` object."""
    function, *operands = arguments
    plain = vars(np.vectorize(function.value.pyfunc))
    for option in ("otypes", "excluded", "cache", "signature"):
        if getattr(function.value, option) != plain[option]:
            lowering.unsupported(
                node,
                f"`np.vectorize` with `{option}` is not supported",
                "leave it out, or loop over the elements",
            )
    given = (value_of(function.value.pyfunc), *operands)
    return lowering.inline(node, vectorized, given, keywords)


def _tuple(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    return TupleOf(lowering.unpacked(node, arguments[0]) if arguments else ())


def _slice(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`slice(...)`: known, or as a slice in an index, its parts being frontend values."""
    if all(isinstance(part, Static) for part in arguments):
        return Static(slice(*(part.value for part in arguments)))
    return slice(*(None if _is_none(part) else part for part in arguments))


def _is_none(item: Any) -> bool:
    return isinstance(item, Static) and item.value is None


def _shape(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    known = folded_calls.folded(lowering, node, np.shape, arguments, keywords)
    if known is not None:
        return value_of(object_of(lowering, node, known))
    array = as_array(lowering, node, keywords.get("a", *arguments))
    found = unknown.asked(lowering, np.shape, (array,), Opaque(tuple))
    if found is not None:
        return found
    return TupleOf(()) if is_number(array) else shape_of(lowering, array)


def _ndim(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    known = folded_calls.folded(lowering, node, np.ndim, arguments, keywords)
    if known is not None:
        return known
    array = as_array(lowering, node, keywords.get("a", *arguments))
    found = unknown.asked(lowering, np.ndim, (array,), INT)
    if found is not None:
        return found
    type_ = lowering.value(array).type
    return Static(type_.rank if isinstance(type_, Array) else 0)


def _divmod(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:

    if any(map(instances.has_methods, arguments)):
        found = protocols.operate(lowering, node, divmod, arguments)
        error = TypeError("unsupported operand type(s) for divmod()")
        return lowering.raises(node, error) if found is None else found
    parts = (lowering.operate(node, op, *arguments) for op in (operator.floordiv, operator.mod))
    return TupleOf(tuple(parts))


def _effect(callee: Any) -> Handler:
    def handler(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
        if shown_calls.is_seen(lowering, callee, (*arguments, *keywords.values())):
            unknown.call(lowering, node, callee, arguments, keywords)
            return Static(None)
        tree = {
            "args": tuple(effect_argument(lowering, a) for a in arguments),
            "keywords": {k: effect_argument(lowering, v) for k, v in keywords.items()},
        }
        lowering.emit(EFFECT, tree, callee)
        return Static(None)

    return handler


def _change_by(function: Callable[..., None]) -> Handler:
    return lambda lowering, node, arguments, keywords: out_arguments.change(
        lowering, node, function, arguments, keywords
    )


def _nonzero(callee: Any) -> Handler:
    return lambda lowering, node, arguments, keywords: nonzero(lowering, node, callee, arguments[0])


def _where(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    if len(arguments) == 1 and not keywords:
        return nonzero(lowering, node, np.nonzero, arguments[0])
    return lowering.apply_primitive(node, PRIMITIVES[np.where], np.where, arguments, keywords)


def _limits(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`np.iinfo(dtype)`, a class of Python, as one object."""
    return Static(np.iinfo(object_of(lowering, node, arguments[0])))


FUNCTIONS.update(
    {
        np.where: _where,
        np.ix_: lambda lowering, node, arguments, keywords: open_mesh(lowering, node, arguments),
        **{callee: _nonzero(callee) for callee in (np.nonzero, np.flatnonzero, np.argwhere)},
        **{callee: _change_by(function) for callee, function in array_changes.FUNCTIONS.items()},
        len: len_of,
        range: iteration.range_of,
        zip: iterator(iteration.zip_of),
        enumerate: iterator(iteration.enumerate_of),
        reversed: iteration.reversed_of,
        tuple: taking(_tuple),
        dict: taking(dicts.dict_of),
        dict.fromkeys: dicts.keys_with,
        collections.OrderedDict: taking(dicts.dict_of),
        slice: _slice,
        **introspection.INTROSPECTION,
        divmod: _divmod,
        **{
            callee: taking(handler, callee in (any, all), by_key=callee in (min, max))
            for callee, handler in reducing.REDUCING.items()
        },
        **{callee: taking(handler) for callee, handler in mathematics.MATHEMATICS.items()},
        **calls_of_many_forms.DIVIDING,
        np.iinfo: _limits,
        np.shape: _shape,
        np.ndim: _ndim,
        known: lambda lowering, node, arguments, keywords: Static(isinstance(arguments[0], Static)),
        print: _effect(print),
        warnings.warn: _effect(warnings.warn),
    }
)

OBJECTS[np.vectorize] = _vectorized
