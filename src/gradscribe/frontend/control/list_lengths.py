"""How long a list is after a loop that appends to it equally often in each iteration."""

from __future__ import annotations

from collections.abc import Sequence as Items
from dataclasses import replace

from gradscribe.frontend.containers import iteration_items
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.iterations import Iteration
from gradscribe.ir.affine import Affine
from gradscribe.ir.core import Operation, Value
from gradscribe.ir.types import Sequence, Type
from gradscribe.primitives.control import APPEND, SET


def grown(
    lowering: Lowering,
    iteration: Iteration | None,
    operations: Items[Operation],
    carried: Items[tuple[Type, Value, Value, Value]],
) -> list[Type]:
    """The types of the results of a loop that runs over all of `iteration` (None: not so).

    carried: of each carried value, the type, the initial value, the parameter and the yield.
    """
    made = {operation.results[0]: operation for operation in operations if operation.results}
    count: Affine | None = None
    types: list[Type] = []
    for type_, initial, parameter, following in carried:
        start = initial.type.length if isinstance(initial.type, Sequence) else None
        each = _appended(made, parameter, following) if start is not None else None
        if iteration is None or start is None or each is None:
            types.append(type_)
            continue
        assert isinstance(type_, Sequence)
        count = count or _count(lowering, iteration)
        types.append(replace(type_, length=None if count is None else start + count * each))
    return types


def _count(lowering: Lowering, iteration: Iteration) -> Affine | None:
    number = iteration_items.length(lowering, iteration)
    if number is None or not lowering.builder.facts.at_least(number, 0):
        return None
    return number


def _appended(made: dict[Value, Operation], parameter: Value, value: Value) -> int | None:
    """How many items an iteration appends to a list; None where that is not certain."""
    count = 0
    while value is not parameter:
        operation = made.get(value)
        if operation is None or operation.primitive not in (APPEND, SET):
            return None
        count += operation.primitive is APPEND
        value = operation.operands[0]
    return count
