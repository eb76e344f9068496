"""Which values are derivatives, and which only belong to the primal, computed again."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from gradscribe.ir.core import Function, Operation, Value, walk
from gradscribe.ir.flow import flows, reachable
from gradscribe.ir.types import is_differentiable


def cotangents(function: Function) -> set[Value]:
    """The values of derived operations that depend on a cotangent or tangent: on a value that has
    the name of one."""
    found = {value for value in function.body.parameters if _is_named(value)}
    targets: dict[Value, list[Value]] = {}
    for operation in walk(function.body):
        made = [*operation.results, *(p for region in operation.regions for p in region.parameters)]
        found.update(filter(_is_named, made))
        if is_derived(operation):
            for source, target in _flows(operation):
                if is_differentiable(target.type):
                    targets.setdefault(source, []).append(target)
    return reachable(found, targets)


def is_derived(operation: Operation) -> bool:
    """Whether an operation belongs to the adjoint or the tangent."""
    return operation.location is not None and operation.location.role != "primal"


def _flows(operation: Operation) -> Iterator[tuple[Value, Value]]:
    """From which value to which other one derivatives pass in an operation."""
    if operation.regions:
        return flows(operation)
    return itertools.product(operation.operands, operation.results)


def _is_named(value: Value) -> bool:
    return value.name.startswith("d_") and is_differentiable(value.type)
