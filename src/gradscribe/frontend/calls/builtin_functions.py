"""Handlers of Python's built-in functions, and of functions of NumPy that are no operations."""

from __future__ import annotations

import io
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.frontend.containers import out_arguments
from gradscribe.frontend.containers.shapes import shape_of
from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.kinds.static_values import object_of, value_of
from gradscribe.frontend.memory import outside
from gradscribe.frontend.memory.iterators import taking
from gradscribe.frontend.opaque import folded_calls, leading, shown_calls, unknown
from gradscribe.frontend.prelude import array_changes
from gradscribe.frontend.prelude.standard_functions import printed
from gradscribe.frontend.state import dependencies
from gradscribe.frontend.state.handlers import Handler, ObjectsOf, enter, handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import instances, protocols
from gradscribe.frontend.structures.indices import as_array, nonzero, open_mesh
from gradscribe.frontend.structures.run_time_arguments import argument_of
from gradscribe.frontend.values.values import FrontendValue, ObjectRef, Static, TupleOf, is_number
from gradscribe.ir.types import INT, Array, Opaque
from gradscribe.primitives.control import EFFECT
from gradscribe.primitives.mapping import vectorized
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.primitives.static import known


@handles(ObjectsOf(np.vectorize))
def _call_vectorized(
    lowering: Lowering, node: Any, callee: Static, /, *operands: FrontendValue, **named: Any
) -> FrontendValue:
    plain, path = vars(np.vectorize(callee.value.pyfunc)), AccessPath(callee.value)
    for option in ("otypes", "excluded", "cache", "signature"):
        if getattr(callee.value, option) != plain[option]:
            lowering.unsupported(
                node,
                f"`np.vectorize` with `{option}` is not supported",
                "leave it out, or loop over the elements",
            )
        dependencies.depend(lowering, path.attribute(option), plain[option], "equality")
    found = outside.external(lowering, callee.value.pyfunc, path.attribute("pyfunc"), "pyfunc")
    return lowering.inline(node, vectorized, (found, *operands), named)


@handles(tuple)
@taking()
def _tuple(lowering: Lowering, node: Any, iterable: FrontendValue = TupleOf(()), /) -> TupleOf:
    return TupleOf(lowering.unpacked(node, iterable))


@handles(slice)
def _slice(
    lowering: Lowering,
    node: Any,
    start: FrontendValue,
    stop: FrontendValue | None = None,
    step: FrontendValue = Static(None),
    /,
) -> Static | slice:
    """Known, or as a slice in an index, its parts being frontend values."""
    parts = (Static(None), start, step) if stop is None else (start, stop, step)
    known_parts = [part.value for part in parts if isinstance(part, Static)]
    if len(known_parts) == len(parts):
        return Static(slice(*known_parts))
    return slice(*(None if part == Static(None) else part for part in parts))


@handles(np.shape)
def _shape(lowering: Lowering, node: Any, /, a: FrontendValue) -> FrontendValue:
    known = folded_calls.folded(lowering, node, np.shape, (a,), {})
    if known is not None:
        return value_of(object_of(lowering, node, known))
    array = as_array(lowering, node, a)
    found = unknown.asked(lowering, np.shape, (array,), Opaque(tuple))
    if found is not None:
        return found
    return TupleOf(()) if is_number(array) else shape_of(lowering, array)


@handles(np.ndim)
def _ndim(lowering: Lowering, node: Any, /, a: FrontendValue) -> FrontendValue:
    known = folded_calls.folded(lowering, node, np.ndim, (a,), {})
    if known is not None:
        return known
    array = as_array(lowering, node, a)
    found = unknown.asked(lowering, np.ndim, (array,), INT)
    if found is not None:
        return found
    type_ = lowering.value(array).type
    return Static(type_.rank if isinstance(type_, Array) else 0)


@handles(divmod)
def _divmod(lowering: Lowering, node: Any, x: FrontendValue, y: FrontendValue, /) -> FrontendValue:
    if instances.has_methods(x) or instances.has_methods(y):
        found = protocols.operate(lowering, node, divmod, (x, y))
        error = TypeError("unsupported operand type(s) for divmod()")
        return lowering.raises(node, error) if found is None else found
    parts = (lowering.operate(node, op, x, y) for op in (operator.floordiv, operator.mod))
    return TupleOf(tuple(parts))


@handles(print)
def _print(
    lowering: Lowering, node: Any, /, *arguments: FrontendValue, **keywords: FrontendValue
) -> FrontendValue:
    """`print(…)`: to a file of a class of the user's, by its `write`."""
    file = keywords.get("file", Static(None))
    if not instances.is_object(file) or _is_in_memory(file):
        return _effect(lowering, node, print, arguments, keywords)
    return lowering.inline(node, printed, (TupleOf(arguments),), keywords)


def _is_in_memory(file: FrontendValue) -> bool:
    """Whether this is a file of Python's own that is a text in memory: nothing of the user's runs
    where something is written to it."""
    if not isinstance(file, ObjectRef) or type(file.target) is not io.StringIO:
        return False
    return "write" not in vars(file.target)


@handles(warnings.warn)
def _warn(
    lowering: Lowering, node: Any, /, *arguments: FrontendValue, **keywords: FrontendValue
) -> FrontendValue:
    return _effect(lowering, node, warnings.warn, arguments, keywords)


def _effect(
    lowering: Lowering,
    node: Any,
    callee: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> Static:
    items = (*arguments, *keywords.values())
    is_seen = shown_calls.is_seen(lowering, callee, items)
    if is_seen or leading.may_run_kept(lowering, items):
        unknown.call(lowering, node, callee, arguments, keywords)
        return Static(None)
    tree = {
        "args": tuple(argument_of(lowering, a) for a in arguments),
        "keywords": {k: argument_of(lowering, v) for k, v in keywords.items()},
    }
    lowering.emit(EFFECT, tree, callee)
    return Static(None)


def _change_by(function: Callable[..., None]) -> Handler:
    def handler(
        lowering: Lowering, node: Any, /, *arguments: FrontendValue, **keywords: Any
    ) -> FrontendValue:
        return out_arguments.change(lowering, node, function, arguments, keywords)

    return handler


def _places(callee: Any) -> Handler:
    def handler(lowering: Lowering, node: Any, /, a: FrontendValue) -> FrontendValue:
        return nonzero(lowering, node, callee, a)

    return handler


@handles(np.where)
def _where(
    lowering: Lowering, node: Any, condition: FrontendValue, /, *of_both: FrontendValue
) -> FrontendValue:
    if not of_both:
        return nonzero(lowering, node, np.nonzero, condition)
    given = condition, *of_both
    return lowering.apply_primitive(node, PRIMITIVES[np.where], np.where, given, {})


@handles(np.ix_)
def _open_mesh(lowering: Lowering, node: Any, /, *args: FrontendValue) -> FrontendValue:
    return open_mesh(lowering, node, args)


@handles(np.iinfo)
def _limits(lowering: Lowering, node: Any, type: FrontendValue, /) -> Static:
    """`np.iinfo(dtype)`, a class of Python, as one object."""
    return Static(np.iinfo(object_of(lowering, node, type)))


@handles(known)
def _known(lowering: Lowering, node: Any, item: FrontendValue, /) -> Static:
    return Static(isinstance(item, Static))


enter({callee: _places(callee) for callee in (np.nonzero, np.flatnonzero, np.argwhere)})
enter({callee: _change_by(own) for callee, own in array_changes.FUNCTIONS.items()})
