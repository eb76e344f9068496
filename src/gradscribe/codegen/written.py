"""Arrays that a call has written to are, in emitted code, the arrays that it was given.

Comes in: a bufferized function. Goes out: one without `written`, in which each `lent` array stands
for what it is after the call, too, and without `reread`, which is a copy of the array as it is
there. The call stays where it is: nothing is moved across it.
"""

from __future__ import annotations

from dataclasses import replace

from gradscribe.ir.core import Block, Function, Operation, Value, walk
from gradscribe.primitives.control import LENT, REREAD, WRITTEN


def as_lent(function: Function) -> Function:
    """The function in which calls write to the arrays themselves."""
    read = [o for o in walk(function.body) if o.primitive in (WRITTEN, REREAD)]
    lent = {o.result: o.operands[0] for o in read if o.primitive is WRITTEN}
    return replace(function, body=_block(function.body, lent)) if read else function


def _block(block: Block, lent: dict[Value, Value]) -> Block:
    operations = tuple(_operation(o, lent) for o in block.operations if o.primitive is not WRITTEN)
    return Block(block.parameters, operations, _values(block.yields, lent))


def _operation(operation: Operation, lent: dict[Value, Value]) -> Operation:
    operands = _values(operation.operands, lent)
    if operation.primitive is REREAD:
        attributes = {"x": operation.attributes["x"]}
        return replace(operation, primitive=LENT, operands=operands[:1], attributes=attributes)
    regions = tuple(_block(region, lent) for region in operation.regions)
    return replace(operation, operands=operands, regions=regions)


def _values(values: tuple[Value, ...], lent: dict[Value, Value]) -> tuple[Value, ...]:
    return tuple(_array(value, lent) for value in values)


def _array(value: Value, lent: dict[Value, Value]) -> Value:
    """The array that one call after another has written to."""
    while value in lent:
        value = lent[value]
    return value
