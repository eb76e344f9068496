"""Handlers of Python's built-in functions, and of functions of NumPy that are no operations."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.frontend.containers import out_arguments
from gradscribe.frontend.containers.shapes import shape_of
from gradscribe.frontend.kinds.static_values import effect_argument, object_of, value_of
from gradscribe.frontend.memory.iterators import taking
from gradscribe.frontend.opaque import folded_calls, foreign, shown_calls, unknown
from gradscribe.frontend.prelude import array_changes
from gradscribe.frontend.state.handlers import Handler, ObjectsOf, enter, handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import instances, protocols
from gradscribe.frontend.structures.indices import as_array, nonzero, open_mesh
from gradscribe.frontend.values.values import FrontendValue, Static, TupleOf, is_number
from gradscribe.ir.types import INT, Array, Opaque
from gradscribe.primitives.control import EFFECT
from gradscribe.primitives.mapping import vectorized
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.primitives.static import known


@handles(ObjectsOf(np.vectorize))
def _call_vectorized(
    lowering: Lowering, node: Any, callee: Static, /, *operands: FrontendValue, **named: Any
) -> FrontendValue:
    plain = vars(np.vectorize(callee.value.pyfunc))
    for option in ("otypes", "excluded", "cache", "signature"):
        if getattr(callee.value, option) != plain[option]:
            lowering.unsupported(
                node,
                f"`np.vectorize` with `{option}` is not supported",
                "leave it out, or loop over the elements",
            )
    return lowering.inline(node, vectorized, (value_of(callee.value.pyfunc), *operands), named)


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


def _effect(callee: Any) -> Handler:
    def handler(
        lowering: Lowering, node: Any, /, *arguments: FrontendValue, **keywords: Any
    ) -> Static:
        items = (*arguments, *keywords.values())
        is_seen = shown_calls.is_seen(lowering, callee, items)
        if is_seen or foreign.may_run_kept(lowering, items):
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


enter({callee: _effect(callee) for callee in (print, warnings.warn)})
enter({callee: _places(callee) for callee in (np.nonzero, np.flatnonzero, np.argwhere)})
enter({callee: _change_by(own) for callee, own in array_changes.FUNCTIONS.items()})
