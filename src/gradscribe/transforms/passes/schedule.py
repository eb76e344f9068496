"""Schedule: what the adjoint adds to an array or list is added as soon as it is there.

Assumes a simplified function in value semantics. Guarantees the same results: operations only
change places. A derived store, accumulation or set of a value that nothing else reads moves up,
past operations that do not read the state of the array before it, to where the value is made,
which then need not be kept in a variable. A derived pop of a list moves up to where its last item
is read. A tangent moves up before what it needs nothing of in its primal statement.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from gradscribe.ir.core import Block, Function, Operand, Operation, Value
from gradscribe.primitives.control import GET, POP, RAISE, SET
from gradscribe.primitives.indexing import ACCUMULATE, STORE
from gradscribe.transforms.passes.simplify.rewriter import count_uses

_MOVED = frozenset({STORE, ACCUMULATE, SET, POP})


def schedule(function: Function) -> Function:
    """The function with such operations moved up; itself, where none is to be."""
    body = _scheduled(function.body, count_uses(function))
    return function if body is function.body else replace(function, body=body)


def _scheduled(block: Block, uses: Counter[Value]) -> Block:
    operations: list[Operation] = []
    for operation in block.operations:
        regions = tuple(_scheduled(region, uses) for region in operation.regions)
        if any(new is not old for new, old in zip(regions, operation.regions, strict=True)):
            operation = replace(operation, regions=regions)
        operations.insert(_place(operation, operations, uses), operation)
    if all(new is old for new, old in zip(operations, block.operations, strict=True)):
        return block
    return replace(block, operations=tuple(operations))


def _place(operation: Operation, before: list[Operation], uses: Counter[Value]) -> int:
    """Where an operation goes among those that stand before it."""
    place = len(before)
    location = operation.location
    if location is None or location.role == "primal":
        return place
    if location.role == "tangent":
        return _before_primal(operation, before)
    if operation.primitive not in _MOVED:
        return place
    array, value = operation.operands[0], _stored(operation)
    if value is not None and uses[value] > 1:
        return place
    while place:
        other = before[place - 1]
        if other.primitive.effect or other.primitive is RAISE or _reads(other, array):
            break
        if not set(operation.operands).isdisjoint(other.results):
            break
        place -= 1
    return place if place and _belongs_to(operation, value, before[place - 1]) else len(before)


def _before_primal(operation: Operation, before: list[Operation]) -> int:
    """Where an operation of a tangent goes: before those of its primal statement that it needs
    nothing of, which may give a variable its next value."""
    place = len(before)
    if operation.regions or operation.primitive.effect:
        return place
    while place and _is_primal_of(before[place - 1], operation):
        if not set(operation.operands).isdisjoint(before[place - 1].results):
            break
        place -= 1
    return place


def _is_primal_of(other: Operation, tangent: Operation) -> bool:
    there, here = other.location, tangent.location
    if there is None or here is None or there.role == "tangent":
        return False
    plain = not (other.regions or other.primitive.effect)
    return plain and (there.line, there.statement) == (here.line, here.statement)


def _stored(operation: Operation) -> Value | None:
    if operation.primitive is POP:
        return None
    operand: Operand = operation.attributes["value"]
    return operation.operands[operand.index]


def _belongs_to(operation: Operation, value: Value | None, made: Operation) -> bool:
    """Whether an operation is best done right after this one."""
    if value is None:
        return made.primitive is GET and made.operands[0] is operation.operands[0]
    return value in made.results


def _reads(operation: Operation, value: Value) -> bool:
    return value in operation.operands or any(
        value in region.yields or any(_reads(inner, value) for inner in region.operations)
        for region in operation.regions
    )
