"""What is left outside when a function ends: which arrays that may be.

Each of them is an array of its own there: two that hold the same must not become one, nor those of
two iterations, though to the function itself they are equal values.
"""

from __future__ import annotations

from gradscribe.ir.core import Function, Value, walk
from gradscribe.ir.flow import flows, reachable
from gradscribe.primitives import control, indexing, lists

_KEEPING = lists.OPERATIONS | {control.LEFT, control.TUPLE, control.ITEM}
"""Operations whose result is, has, or is an item of, one of their operands."""

_CHANGING = frozenset({indexing.STORE, indexing.ACCUMULATE})
"""Operations whose result is their first operand; what is stored is copied."""


def left_values(function: Function) -> set[Value]:
    """The values that are left, what they are parts or items of, and what is in them."""
    left = [o.result for o in function.body.operations if o.primitive is control.LEFT]
    if not left:
        return set()
    made_of: dict[Value, list[Value]] = {}
    for operation in walk(function.body):
        if operation.regions:
            for source, target in flows(operation):
                made_of.setdefault(target, []).append(source)
        elif operation.primitive in _CHANGING:
            made_of.setdefault(operation.result, []).append(operation.operands[0])
        elif operation.primitive in _KEEPING or operation.primitive.view:
            for result in operation.results:
                made_of.setdefault(result, []).extend(operation.operands)
    return reachable(left, made_of)
