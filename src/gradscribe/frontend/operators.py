"""Operators on frontend values: arithmetic, comparisons, truth.

Static operands are folded, tuples and lists are combined as Python does; the rest becomes
operations.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from gradscribe.frontend import calls
from gradscribe.frontend.lowering import Lowering, is_number
from gradscribe.frontend.values import (
    BoundMethod,
    DictRef,
    ListRef,
    LocalFunction,
    ObjectRef,
    Ref,
    Static,
    Storage,
    TupleOf,
    same_static,
)
from gradscribe.ir.core import Value
from gradscribe.ir.types import Opaque
from gradscribe.primitives.registry import PRIMITIVES

BINARY: dict[type, Callable[..., Any]] = {
    gast.Add: operator.add,
    gast.Sub: operator.sub,
    gast.Mult: operator.mul,
    gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv,
    gast.Mod: operator.mod,
    gast.Pow: operator.pow,
    gast.MatMult: operator.matmul,
    gast.BitAnd: operator.and_,
    gast.BitOr: operator.or_,
    gast.BitXor: operator.xor,
    gast.LShift: operator.lshift,
    gast.RShift: operator.rshift,
}
UNARY: dict[type, Callable[..., Any]] = {
    gast.USub: operator.neg,
    gast.UAdd: operator.pos,
    gast.Invert: operator.invert,
    gast.Not: operator.not_,
}
COMPARE: dict[type, Callable[..., Any]] = {
    gast.Lt: operator.lt,
    gast.LtE: operator.le,
    gast.Gt: operator.gt,
    gast.GtE: operator.ge,
    gast.Eq: operator.eq,
    gast.NotEq: operator.ne,
}
_COMPARISONS = frozenset(COMPARE.values())


def operate(lowering: Lowering, node: Any, callee: Any, *operands: Any) -> Any:
    """An operator on frontend values: folded if static, on tuples and lists as Python does."""
    if all(isinstance(o, Static) for o in operands) and _folds(callee, operands):
        try:
            return Static(callee(*(o.value for o in operands)))
        except Exception as error:
            lowering.unsupported(node, f"this always raises {type(error).__name__}: {error}")
    if any(isinstance(o, (TupleOf, ListRef)) for o in operands):
        return _structural(lowering, node, callee, operands)
    for operand in operands:
        if not (is_number(operand) or isinstance(operand, (Ref, Value))):
            lowering.unsupported(
                node, f"the operator `{callee.__name__}` is not supported on these operands"
            )
    return calls.apply_primitive(lowering, node, PRIMITIVES[callee], callee, operands, {})


def _folds(callee: Any, operands: tuple[Any, ...]) -> bool:
    """Whether a static operation is computed now: anything but floating arithmetic, which
    stays in the program as the user wrote it."""
    floating = any(isinstance(o.value, (float, complex, np.generic)) for o in operands)
    return callee in _COMPARISONS or not floating


def _structural(lowering: Lowering, node: Any, callee: Any, operands: tuple[Any, ...]) -> Any:
    first, second = (*(known_items(lowering, o) for o in operands), None)[:2]
    if first is not None and second is not None:
        if callee is operator.add:
            return _rebuild(lowering, operands[0], first + second)
        if callee in (operator.eq, operator.ne):
            return _compare_tuples(lowering, node, callee, first, second)
    if callee is operator.mul and first is not None and isinstance(operands[1], Static):
        return _rebuild(lowering, operands[0], first * operands[1].value)
    return lowering.unsupported(node, f"`{callee.__name__}` of tuples or lists is not supported")


def known_items(lowering: Lowering, item: Any) -> tuple[Any, ...] | None:
    """The items of a tuple or list of known structure; None of anything else."""
    if isinstance(item, TupleOf):
        return item.items
    contents = lowering.contents[item.storage] if isinstance(item, ListRef) else None
    return contents if isinstance(contents, tuple) else None


def _rebuild(lowering: Lowering, like: Any, items: tuple[Any, ...]) -> Any:
    return TupleOf(items) if isinstance(like, TupleOf) else new_list(lowering, items)


def _compare_tuples(lowering: Lowering, node: Any, callee: Any, a: Any, b: Any) -> Any:
    result: Any = Static(len(a) == len(b))
    if len(a) == len(b):
        for x, y in zip(a, b, strict=True):
            part = operate(lowering, node, operator.eq, x, y)
            result = (
                part if _is_true(result) else operate(lowering, node, operator.and_, result, part)
            )
    return operate(lowering, node, operator.not_, result) if callee is operator.ne else result


def _is_true(item: Any) -> bool:
    return isinstance(item, Static) and item.value is True


def new_list(lowering: Lowering, items: tuple[Any, ...]) -> ListRef:
    """A new list of known structure."""
    storage = Storage()
    lowering.contents[storage] = items
    return ListRef(storage)


def truth(lowering: Lowering, item: Any) -> bool | Value:
    """The truth value: known, or as an IR value that Python tests at run time."""
    if isinstance(item, Static):
        return bool(item.value)
    if isinstance(item, TupleOf):
        return bool(item.items)
    if isinstance(item, (ListRef, DictRef)):
        contents = lowering.contents[item.storage]
        return (
            truth(lowering, calls.length(lowering, item))
            if isinstance(contents, Value)
            else bool(contents)
        )
    if isinstance(item, (ObjectRef, BoundMethod, LocalFunction)):
        return True
    return lowering.value(item)


def compare(lowering: Lowering, node: Any, op: Any, left: Any, right: Any) -> Any:
    """One comparison."""
    if isinstance(op, (gast.Is, gast.IsNot)):
        return Static(_identical(lowering, node, left, right) is isinstance(op, gast.Is))
    if isinstance(op, (gast.In, gast.NotIn)):
        return _membership(lowering, node, isinstance(op, gast.In), left, right)
    return operate(lowering, node, COMPARE[type(op)], left, right)


def _identical(lowering: Lowering, node: Any, left: Any, right: Any) -> bool:
    if isinstance(left, Static) and isinstance(right, Static):
        return left.value is right.value or same_static(left.value, right.value)
    for side, other in ((left, right), (right, left)):
        if isinstance(side, Static) and (side.value is None or isinstance(side.value, bool)):
            if isinstance(other, Value) and isinstance(other.type, Opaque):
                break
            return False
    return lowering.unsupported(
        node, "`is` between run-time values is not supported", "compare with `==`"
    )


def _membership(lowering: Lowering, node: Any, wanted: bool, item: Any, container: Any) -> Any:
    if isinstance(container, DictRef) and isinstance(item, Static):
        return Static((item.value in lowering.contents[container.storage]) is wanted)
    if isinstance(container, Static) and isinstance(item, Static):
        return Static((item.value in container.value) is wanted)
    items = getattr(container, "items", None)
    if isinstance(container, ListRef):
        items = lowering.contents[container.storage]
    if not isinstance(items, tuple):
        lowering.unsupported(node, "`in` is not supported on this container")
    result: Any = Static(False)
    for other in items:
        part = operate(lowering, node, operator.eq, item, other)
        if _is_true(part):
            return Static(wanted)
        if isinstance(result, Static):
            result = part
        elif not isinstance(part, Static):
            result = operate(lowering, node, operator.or_, result, part)
    return result if wanted else operate(lowering, node, operator.not_, result)
