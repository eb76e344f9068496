"""Lists: items that are replaced twice, and zeros."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradscribe.ir.core import Operation, Value, map_operands
from gradscribe.ir.types import Scalar
from gradscribe.primitives.control import ADD_ITEMS, CONSTANT, GET, SET, ZEROS_LIKE
from gradscribe.transforms.passes.simplify.table import derived, exact

if TYPE_CHECKING:
    from gradscribe.transforms.passes.simplify.rewriter import Rewriter


@exact(SET)
def set_again(rewriter: Rewriter, operation: Operation) -> Value | None:
    """An item that is replaced before anybody reads the list was never there."""
    x = operation.operands[0]
    before = rewriter.made_by(x, SET)
    if before is None or not rewriter.used_once(x):
        return None
    index, other = (_argument(o, "index") for o in (operation, before))
    if index is not other and (isinstance(index, Value) or index != other):
        return None
    value = _argument(operation, "value")
    arguments = {"x": before.operands[0], "index": index, "value": value}
    result = operation.result
    return rewriter.emit(SET, arguments, operation, type_=result.type, name=result.name)


def _argument(operation: Operation, name: str) -> Any:
    attribute = operation.attributes[name]
    return map_operands(attribute, lambda operand: operation.operands[operand.index])


@derived(ADD_ITEMS)
def add_zeros(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Zeros add nothing."""
    x, y = operation.operands
    for zeros, other in ((x, y), (y, x)):
        if rewriter.made_by(zeros, ZEROS_LIKE) and rewriter.same_type(other, operation.result):
            return other
    return None


@derived(GET)
def item_of_zeros(rewriter: Rewriter, operation: Operation) -> Value | None:
    """An item of zeros is zero."""
    type_ = operation.result.type
    if rewriter.made_by(operation.operands[0], ZEROS_LIKE) is None:
        return None
    if not isinstance(type_, Scalar) or type_.dtype != "float64":
        return None
    return rewriter.emit(CONSTANT, {"value": 0.0}, operation)
