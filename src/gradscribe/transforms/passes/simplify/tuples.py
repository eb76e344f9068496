"""Cotangents of tuples: added, and made as zeros, item by item.

So that a sum of two tuples of which each has one part becomes one tuple display.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from gradscribe.ir.core import Operation, Value
from gradscribe.ir.types import Array, Scalar, Tuple
from gradscribe.primitives.control import ADD_ITEMS, ITEM, TUPLE, ZEROS_LIKE
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.transforms.passes.simplify.table import derived

if TYPE_CHECKING:
    from gradscribe.transforms.passes.simplify.rewriter import Rewriter


@derived(ADD_ITEMS)
def add_by_items(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Of (a, b) + (c, d) make (a + c, b + d)."""
    x, y = operation.operands
    if not isinstance(x.type, Tuple) or not all(
        rewriter.made_by(value, TUPLE, ZEROS_LIKE) for value in (x, y)
    ):
        return None
    items: list[Value] = []
    for position in range(len(x.type.items)):
        item = _added(rewriter, operation, x, y, position)
        if item is None:
            return None
        items.append(item)
    return rewriter.emit(TUPLE, {"items": tuple(items)}, operation, type_=operation.result.type)


def _added(
    rewriter: Rewriter, operation: Operation, x: Value, y: Value, position: int
) -> Value | None:
    parts = [rewriter.emit(ITEM, {"x": v, "position": position}, operation) for v in (x, y)]
    if parts[0] is None or parts[1] is None:
        return None
    arguments = {"x": parts[0], "y": parts[1]}
    if isinstance(parts[0].type, (Scalar, Array)):
        return rewriter.emit(PRIMITIVES[operator.add], arguments, operation, callee=operator.add)
    return rewriter.emit(ADD_ITEMS, arguments, operation)


@derived(ITEM)
def item_of_zeros(rewriter: Rewriter, operation: Operation) -> Value | None:
    """An item of the zeros of a tuple: the zeros of its item."""
    zeros = rewriter.made_by(operation.operands[0], ZEROS_LIKE)
    if zeros is None:
        return None
    position = operation.attributes["position"]
    item = rewriter.emit(ITEM, {"x": zeros.operands[0], "position": position}, operation)
    if item is None:
        return None
    return rewriter.emit(ZEROS_LIKE, {"x": item}, operation, type_=operation.result.type)
