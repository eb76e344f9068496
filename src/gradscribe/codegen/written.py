"""Arrays that a call has written to are, in emitted code, the arrays that it was given.

Comes in: a bufferized function. Goes out: one without `written`, in which each `lent` array stands
for what it is after the call, too. The call stays where it is: nothing is moved across it.
"""

from __future__ import annotations

from dataclasses import replace

from gradscribe.ir.core import Block, Function, Operation, Value, walk
from gradscribe.primitives.control import WRITTEN


def as_lent(function: Function) -> Function:
    """The function in which calls write to the arrays themselves."""
    lent = {
        operation.result: operation.operands[0]
        for operation in walk(function.body)
        if operation.primitive is WRITTEN
    }
    return replace(function, body=_block(function.body, lent)) if lent else function


def _block(block: Block, lent: dict[Value, Value]) -> Block:
    operations = tuple(_operation(o, lent) for o in block.operations if o.primitive is not WRITTEN)
    return Block(block.parameters, operations, _values(block.yields, lent))


def _operation(operation: Operation, lent: dict[Value, Value]) -> Operation:
    regions = tuple(_block(region, lent) for region in operation.regions)
    return replace(operation, operands=_values(operation.operands, lent), regions=regions)


def _values(values: tuple[Value, ...], lent: dict[Value, Value]) -> tuple[Value, ...]:
    return tuple(lent.get(value, value) for value in values)
