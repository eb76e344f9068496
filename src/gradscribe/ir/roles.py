"""Which values are derivatives, and which only belong to the primal, computed again."""

from __future__ import annotations

from collections.abc import Iterator

from gradscribe.ir.core import IF, LOOP, Function, Operation, Value, walk
from gradscribe.ir.types import is_differentiable


def cotangents(function: Function) -> set[Value]:
    """The values of derived operations that depend on a cotangent or tangent: on a value that has
    the name of one."""
    found = {value for value in function.body.parameters if _is_named(value)}
    flows: dict[Value, list[Value]] = {}
    for operation in walk(function.body):
        made = [*operation.results, *(p for region in operation.regions for p in region.parameters)]
        found.update(filter(_is_named, made))
        if is_derived(operation):
            for source, target in _flows(operation):
                flows.setdefault(source, []).append(target)
    pending = list(found)
    while pending:
        for target in flows.get(pending.pop(), ()):
            if target not in found and is_differentiable(target.type):
                found.add(target)
                pending.append(target)
    return found


def is_derived(operation: Operation) -> bool:
    """Whether an operation belongs to the adjoint or the tangent."""
    return operation.location is not None and operation.location.role != "primal"


def _flows(operation: Operation) -> Iterator[tuple[Value, Value]]:
    """From which value to which other one derivatives pass in an operation."""
    if operation.primitive is LOOP:
        yield from _loop_flows(operation)
    elif operation.primitive is IF:
        for region in operation.regions:
            yield from zip(region.yields, operation.results, strict=True)
    else:
        for operand in operation.operands:
            for result in operation.results:
                yield operand, result


def _loop_flows(loop: Operation) -> Iterator[tuple[Value, Value]]:
    shape, body = loop.attributes["shape"], loop.regions[0]
    for part, item in zip(shape.iterable_slices(), body.parameters, strict=False):
        for operand in loop.operands[part]:
            yield operand, item
    initial = loop.operands[shape.iterable_operands :]
    parameters = body.parameters[len(shape.iterables) :]
    results = loop.results[: shape.carried]
    for first, parameter, value, result in zip(
        initial, parameters, body.yields, results, strict=False
    ):
        yield first, parameter
        yield value, parameter
        yield parameter, result


def _is_named(value: Value) -> bool:
    return value.name.startswith("d_") and is_differentiable(value.type)
