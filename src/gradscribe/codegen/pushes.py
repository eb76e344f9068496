"""Pushes of what only one side of a branch makes, moved into its sides.

    if x > 0:                                if x > 0:
        y = np.exp(x)                            y = np.exp(x)
        z = y * z                    becomes     steps.append((True, y))
    else:                                        z = y * z
        y = None                             else:
    steps.append((x > 0, y))                     steps.append((False, None))

Nothing then has to be bound to None for the push alone, and the branch may end the iteration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gradscribe.ir.core import IF, Block, Operation, Value
from gradscribe.primitives.control import CONSTANT, PUSH, TUPLE, UNDEF
from gradscribe.primitives.raising import is_attempt


def sink_pushes(operations: list[Operation], reads: Mapping[Value, int]) -> list[Operation]:
    """The operations of a block with such pushes moved. reads: how often values are read."""
    sunk: list[Operation] = []
    index = 0
    while index < len(operations):
        operation = operations[index]
        index += 1
        if operation.primitive is IF and not is_attempt(operation):
            run = _run_of_pushes(operations[index:], reads)
            if _gains(operation, run, reads):
                operation = _with_pushes(operation, run, reads)
                index += len(run)
        sunk.append(operation)
    return sunk


def _run_of_pushes(following: list[Operation], reads: Mapping[Value, int]) -> list[Operation]:
    """The pushes that follow, with the tuples that are made for them."""
    run: list[Operation] = []
    length = 0
    for operation in following:
        if operation.primitive not in (PUSH, TUPLE):
            break
        run.append(operation)
        if operation.primitive is PUSH:
            length = len(run)
    run = run[:length]
    used = _operands(run)
    made = [operation.result for operation in run if operation.primitive is TUPLE]
    return run if all(used[value] == reads[value] for value in made) else []


def _operands(run: list[Operation]) -> Counter[Value]:
    return Counter(value for operation in run for value in operation.operands)


def _gains(branch: Operation, run: list[Operation], reads: Mapping[Value, int]) -> bool:
    """Whether something is undefined on one side that only these pushes read."""
    used = _operands(run)
    return any(
        used[result] and used[result] == reads[result] and value in _undefined_in(region)
        for region in branch.regions
        for result, value in zip(branch.results, region.yields, strict=True)
    )


def _undefined_in(region: Block) -> set[Value]:
    return {o.result for o in region.operations if o.primitive is UNDEF}


def _with_pushes(branch: Operation, run: list[Operation], reads: Mapping[Value, int]) -> Operation:
    """The branch with the pushes at the end of each side."""
    used = _operands(run)
    kept = [n for n, result in enumerate(branch.results) if used[result] < reads[result]]
    condition = branch.operands[0]
    only_tested = used[condition] + 1 == reads[condition]
    regions = []
    for side, region in enumerate(branch.regions):
        given = dict(zip(branch.results, region.yields, strict=True))
        literals: list[Operation] = []
        undefined = _undefined_in(region)
        for result, value in given.items():
            if used[result] and value in undefined:
                given[result] = _literal(None, result, branch, literals)
        if only_tested and used[condition]:
            given[condition] = _literal(not side, condition, branch, literals)
        pushes = [_on(operation, given) for operation in run]
        yields = tuple(region.yields[n] for n in kept)
        now_read = Counter(reads) + _operands(pushes) + Counter(yields)
        now_read.subtract(region.yields)
        operations = sink_pushes([*region.operations, *literals, *pushes], now_read)
        regions.append(Block(region.parameters, tuple(operations), yields))
    results = tuple(branch.results[n] for n in kept)
    return replace(branch, results=results, regions=tuple(regions))


def _literal(value: Any, like: Value, branch: Operation, literals: list[Operation]) -> Value:
    result = Value(like.type)
    attributes = {"value": value}
    literals.append(Operation(CONSTANT, (), (result,), attributes, (), branch.location))
    return result


def _on(operation: Operation, given: dict[Value, Value]) -> Operation:
    """The operation on other operands, with a new result."""
    result = Value(operation.result.type, operation.result.name)
    operands = tuple(given.get(value, value) for value in operation.operands)
    given[operation.result] = result
    return replace(operation, operands=operands, results=(result,))
