"""Read the number of iterations of a loop off a record that it collects, rather than count them.

Assumes a simplified function, joined with its adjoint. Guarantees the same results: where a loop
of the top block collects records and counts its iterations for the adjoint alone, the count is the
length of a record. (Inside of loops, records may be flattened to one stack, which has no length
for each.)
"""

from __future__ import annotations

import operator
from dataclasses import replace

from gradscribe.ir.core import LOOP, Function, Operand, Operation, Value, walk
from gradscribe.ir.flow import Loop
from gradscribe.ir.types import is_integer
from gradscribe.primitives.control import CONSTANT, LEN


def count_by_records(function: Function) -> Function:
    """The function with counters replaced; itself, where there is none to be."""
    operations: list[Operation] = []
    definitions: dict[Value, Operation] = {}
    read = _read_by_primal(function)
    for operation in function.body.operations:
        definitions.update((result, operation) for result in operation.results)
        position = _counter(operation, definitions)
        if position is None or operation.results[position] in read:
            operations.append(operation)
            continue
        counter, results = operation.results[position], list(operation.results)
        results[position] = Value(counter.type, counter.name)
        operations.append(replace(operation, results=tuple(results)))
        location = operation.location and replace(operation.location, role="adjoint")
        attributes = {"x": Operand(0)}
        record = Loop(operation).collected[0]
        operations.append(Operation(LEN, (record,), (counter,), attributes, (), location))
    if len(operations) == len(function.body.operations):
        return function
    return replace(function, body=replace(function.body, operations=tuple(operations)))


def _read_by_primal(function: Function) -> set[Value]:
    read = set(function.body.yields)
    for operation in function.body.operations:
        if operation.location is None or operation.location.role != "adjoint":
            for inside in (operation, *(o for r in operation.regions for o in walk(r))):
                read.update(inside.operands)
                read.update(value for region in inside.regions for value in region.yields)
    return read


def _counter(operation: Operation, definitions: dict[Value, Operation]) -> int | None:
    """The position of the carried value that counts the iterations of a loop which collects."""
    if operation.primitive is not LOOP or not operation.attributes["shape"].collects:
        return None
    loop = Loop(operation)
    inside = {result: made for made in loop.body.operations for result in made.results}
    for position, counter in enumerate(loop.carried):
        first, step = counter.initial, inside.get(counter.following)
        if step is None or step.callee is not operator.add:
            continue
        one = inside.get(step.operands[1]) or definitions.get(step.operands[1])
        counts = step.operands[0] is counter.parameter and _is(one, 1)
        if counts and is_integer(first.type) and _is(definitions.get(first), 0):
            return position
    return None


def _is(definition: Operation | None, number: int) -> bool:
    return (
        definition is not None
        and definition.primitive is CONSTANT
        and type(definition.attributes["value"]) is int
        and definition.attributes["value"] == number
    )
