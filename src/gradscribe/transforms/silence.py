"""A function without what it does besides computing: what it prints, or tells others.

The derivatives of a call that has run already are computed by code of their own, which is not to
do all that again. A call whose value is read stays: only a function that draws, or reads, gives
such.
"""

from __future__ import annotations

from dataclasses import replace

from gradscribe.ir.core import Block, Function, Operation, Value, walk
from gradscribe.primitives.control import EFFECT


def silenced(function: Function) -> Function:
    """The same function, without the effects whose values nothing reads."""
    while any(o.primitive is EFFECT for o in walk(function.body)):
        read = _read(function.body)
        body = _block(function.body, read)
        if body is function.body:
            break
        function = replace(function, body=body)
    return function


def _read(block: Block) -> set[Value]:
    read = {*block.yields}
    for operation in walk(block):
        read.update(operation.operands)
        for region in operation.regions:
            read.update(region.yields)
    return read


def _block(block: Block, read: set[Value]) -> Block:
    operations = tuple(
        _operation(o, read)
        for o in block.operations
        if o.primitive is not EFFECT or not read.isdisjoint(o.results)
    )
    unchanged = len(operations) == len(block.operations) and all(
        new is old for new, old in zip(operations, block.operations, strict=True)
    )
    return block if unchanged else replace(block, operations=operations)


def _operation(operation: Operation, read: set[Value]) -> Operation:
    regions = tuple(_block(region, read) for region in operation.regions)
    if all(new is old for new, old in zip(regions, operation.regions, strict=True)):
        return operation
    return replace(operation, regions=regions)
