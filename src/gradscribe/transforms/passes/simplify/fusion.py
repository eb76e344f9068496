"""Fusion of branches: two `if`s of the adjoint on one condition, one right after the other,
become one. (The user's own stay as they are.)

Assumes that nothing but cheap operations stands between them, none of which reads what the
first one makes. Guarantees the same operations in the same order on each path.
"""

from __future__ import annotations

from dataclasses import replace

from gradscribe.ir.core import IF, Block, Function, Operation, Value, substituted
from gradscribe.ir.lengths import Facts
from gradscribe.primitives.control import RAISE
from gradscribe.transforms.passes.simplify.types import same_type


def fuse_branches(function: Function) -> Function:
    """The function with neighbouring `if`s on the same condition fused, in all blocks."""
    body = _block(function.body, function.facts)
    return function if body is function.body else replace(function, body=body)


def _block(block: Block, facts: Facts) -> Block:
    operations: list[Operation] = []
    for operation in block.operations:
        if operation.regions:
            regions = tuple(_block(region, facts) for region in operation.regions)
            if any(a is not b for a, b in zip(regions, operation.regions, strict=True)):
                operation = replace(operation, regions=regions)
        if operation.primitive is IF and _is_adjoint(operation):
            position = _partner(operations, operation)
            if position is not None:
                fused = _fused(operations[position], operation, facts)
                if fused is not None:
                    del operations[position]
                    operation = fused
        operations.append(operation)
    same = len(operations) == len(block.operations) and all(
        a is b for a, b in zip(operations, block.operations, strict=True)
    )
    return block if same else Block(block.parameters, tuple(operations), block.yields)


def _partner(operations: list[Operation], second: Operation) -> int | None:
    """The `if` on the same condition that may be moved down to the second."""
    read: set[Value] = set()
    for position in range(len(operations) - 1, -1, -1):
        operation = operations[position]
        if operation.primitive is IF:
            same = operation.operands[0] is second.operands[0] and _is_adjoint(operation)
            return position if same and read.isdisjoint(operation.results) else None
        if operation.regions or not operation.primitive.cheap:
            return None
        read.update(operation.operands)
    return None


def _is_adjoint(operation: Operation) -> bool:
    return operation.location is not None and operation.location.role == "adjoint"


def _fused(first: Operation, second: Operation, facts: Facts) -> Operation | None:
    regions = []
    for one, other in zip(first.regions, second.regions, strict=True):
        if any(operation.primitive is RAISE for operation in one.operations):
            return None
        for given, result in zip(one.yields, first.results, strict=True):
            if not same_type(facts, given.type, result.type):
                return None
        by = dict(zip(first.results, one.yields, strict=True))
        rest = substituted(other, by)
        operations = (*one.operations, *rest.operations)
        regions.append(Block((), operations, (*one.yields, *rest.yields)))
    return replace(second, results=(*first.results, *second.results), regions=tuple(regions))
