"""Arrays that are to lie in memory in an order: a view where they do, else a copy.

Which of both it is, is known of some arrays; of others, only the running program can tell (see
`sharing`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.frontend.kinds.varying import may_vary
from gradscribe.frontend.memory import contiguity, outside
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.state.handlers import handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    FrontendValue,
    ListRef,
    Ref,
    Static,
    TupleOf,
    known_objects,
)
from gradscribe.ir.core import Primitive
from gradscribe.ir.types import Array
from gradscribe.primitives.control import COPY, RUN

CONVERSIONS = (np.asarray, np.asanyarray, np.asarray_chkfinite)
"""What makes an array of a dtype and order of memory, or is the one that it is given."""


def of_order(
    lowering: Lowering,
    callee: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """`np.asarray(x, dtype, order)` of an array with axes as the call that arranges it so."""
    given = dict(zip(("dtype", "order"), arguments[1:], strict=False)) | keywords
    order = given.get("order")
    calls: dict[Any, Any] = {Static("C"): np.ascontiguousarray, Static("F"): np.asfortranarray}
    if order not in calls or not arguments:
        return callee, arguments, keywords
    array = outside.opened(lowering, arguments[0])
    type_ = lowering.value(array).type if isinstance(array, Ref) else None
    has_axes = isinstance(type_, Array) and bool(type_.rank)
    del given["order"]
    return calls[order] if has_axes else callee, arguments[:1], given


def is_view(
    lowering: Lowering, primitive: Primitive, callee: Any, owner: Ref, tree: dict[str, Any]
) -> bool:
    """Whether this makes a view whatever the layout of the array, or of its known layout."""
    if primitive.name not in ("reshape", "ravel", "ascontiguousarray"):
        return True
    value = lowering.load(owner)
    if callee is np.asfortranarray:
        return contiguity.is_transposed(lowering, value)
    return order_of(callee, tree) == "C" and contiguity.is_contiguous(lowering, value)


def is_copy(lowering: Lowering, callee: Any, owner: Ref, tree: dict[str, Any]) -> bool:
    """Whether this makes a copy, for the array is known to lie in the other order of memory."""
    value, order = lowering.load(owner), order_of(callee, tree)
    if "shape" in tree or not contiguity.has_one_order(value):
        return False
    lies = contiguity.is_contiguous if order == "F" else contiguity.is_transposed
    return lies(lowering, value)


def order_of(callee: Any, tree: dict[str, Any]) -> str:
    """The order in which the elements of an array are taken, or are to lie."""
    return "F" if callee is np.asfortranarray else str(tree.get("order", "C"))


def arranged(
    lowering: Lowering, primitive: Primitive, callee: Any, tree: dict[str, Any]
) -> FrontendValue:
    """An array of its own, which lies as asked if nothing in it is differentiated: unread code may
    ask how it lies. Of other arrays that is forgotten."""
    if callee is not np.asfortranarray:
        return lowering.wrap(lowering.emit(primitive, tree, callee))
    x, dtype = tree["x"], tree["dtype"]
    if may_vary(lowering, x):
        lowering.layouts.are_forgotten = True
        return lowering.wrap(lowering.emit(primitive, tree, callee))
    keywords = {} if dtype is None else {"dtype": Static(dtype)}
    type_ = lowering.emit(primitive, tree, callee).type
    found = unknown.emit(lowering, callee, (x,), keywords, type_, RUN)
    return lowering.wrap(lowering.emit(COPY, {"x": lowering.value(found)}))


@handles(np.require)
def _require(
    lowering: Lowering,
    node: Any,
    /,
    a: FrontendValue,
    dtype: FrontendValue = Static(None),
    requirements: FrontendValue = Static(None),
    **options: FrontendValue,
) -> FrontendValue:
    """What `np.asarray` gives, in the order that is asked for. What may be copied for another
    reason is left to NumPy."""
    order = _order_of(lowering, requirements)
    if order is None or options:
        given = a, dtype, requirements
        return unknown.call(lowering, node, np.require, given, options)
    asked = {"dtype": dtype, "order": order}
    return lowering.call(node, Static(np.asarray), (a,), asked)


def _order_of(lowering: Lowering, requirements: Any) -> Static | None:
    """The order of memory for which `np.require` is asked; None where it is asked for more."""
    items: Any = (requirements,)
    if isinstance(requirements, TupleOf):
        items = requirements.items
    elif isinstance(requirements, ListRef):
        items = lowering.contents[requirements.storage]
    known = known_objects(items) if isinstance(items, tuple) else None
    if known is None:
        return None
    names = {str(item).upper() for item in known if item is not None}
    orders: set[str | None] = {_ORDERS.get(name, "") for name in names} or {None}
    return Static(orders.pop()) if len(orders) == 1 and "" not in orders else None


_ORDERS: dict[str, str] = {
    **dict.fromkeys(("C", "C_CONTIGUOUS", "CONTIGUOUS"), "C"),
    **dict.fromkeys(("F", "F_CONTIGUOUS", "FORTRAN"), "F"),
}
