"""A parameter that was copied, and of which only the shape is read afterwards, is forgotten.

`np.zeros_like(A)` after `A = A.copy()` may as well look at the copy. Where that is all that is
still wanted of the parameter, the copy can have its name.
"""

from __future__ import annotations

from dataclasses import replace

from gradscribe.codegen.uses import IN_PLACE
from gradscribe.ir.core import LOOP, Block, Function, Operation, Value, walk
from gradscribe.ir.flow import Loop
from gradscribe.primitives.control import COPY, ZEROS_LIKE
from gradscribe.primitives.indexing import LENGTH, SIZE

_OF_SHAPE = frozenset({ZEROS_LIKE, LENGTH, SIZE})


def read_copies(function: Function) -> Function:
    """The function in which such operations read the copy, in its state at that time."""
    parameters = set(function.body.parameters)
    operations = list(function.body.operations)
    latest: dict[Value, Value] = {}
    origin: dict[Value, Value] = {}
    for index, operation in enumerate(operations):
        if operation.primitive in _OF_SHAPE and operation.operands[0] in latest:
            copy = latest[operation.operands[0]]
            operations[index] = replace(operation, operands=(copy, *operation.operands[1:]))
        elif operation.primitive is COPY and operation.operands[0] in parameters:
            parameter = operation.operands[0]
            if _only_shape_is_read(parameter, operations[index + 1 :], function):
                latest[parameter], origin[operation.result] = operation.result, parameter
        for before in _taken_over(operation):
            if before in origin and latest.get(origin[before]) is before:
                del latest[origin[before]]
        for before, after in _next_states(operation):
            if before in origin and after.type == origin[before].type:
                latest[origin[before]], origin[after] = after, origin[before]
    return replace(function, body=replace(function.body, operations=tuple(operations)))


def _only_shape_is_read(value: Value, later: list[Operation], function: Function) -> bool:
    if value in function.body.yields:
        return False
    for operation in later:
        if operation.primitive in _OF_SHAPE:
            continue
        if value in operation.operands:
            return False
        if any(value in _reads(region) for region in operation.regions):
            return False
    return True


def _reads(block: Block) -> set[Value]:
    """All that is read in a block."""
    found = set(block.yields)
    for operation in walk(block):
        found.update(operation.operands, *(region.yields for region in operation.regions))
    return found


def _taken_over(operation: Operation) -> list[Value]:
    """Values that are changed in place by an operation or in its regions, or carried by it."""
    inner = [o for region in operation.regions for o in walk(region)]
    found = [o.operands[0] for o in (operation, *inner) if o.primitive in IN_PLACE]
    loops = [o for o in (operation, *inner) if o.primitive is LOOP]
    return found + [initial for loop in loops for initial in Loop(loop).initial]


def _next_states(operation: Operation) -> list[tuple[Value, Value]]:
    """Values that an operation takes over, and what they become."""
    if operation.primitive in IN_PLACE:
        return [(operation.operands[0], operation.result)]
    if operation.primitive is LOOP:
        return [(carried.initial, carried.result) for carried in Loop(operation).carried]
    return []
