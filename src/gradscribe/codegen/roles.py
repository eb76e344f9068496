"""Which values are derivatives, and which only belong to the primal, computed again."""

from __future__ import annotations

from gradscribe.ir.core import Block, Function, Value
from gradscribe.ir.types import is_differentiable


def cotangents(function: Function) -> set[Value]:
    """The values of derived operations that depend on a cotangent or tangent: on a value that has
    the name of one."""
    found: set[Value] = set()
    _visit(function.body, found)
    return found


def _visit(block: Block, found: set[Value]) -> None:
    found.update(filter(_is_named, block.parameters))
    for operation in block.operations:
        for region in operation.regions:
            _visit(region, found)
        location = operation.location
        if location is None or location.role == "primal":
            continue
        sources = [*operation.operands, *(v for region in operation.regions for v in region.yields)]
        depends = not operation.regions and not found.isdisjoint(sources)
        for position, result in enumerate(operation.results):
            given = (r.yields[position : position + 1] for r in operation.regions)
            if depends or _is_named(result) or any(not found.isdisjoint(each) for each in given):
                found.add(result)


def _is_named(value: Value) -> bool:
    return value.name.startswith("d_") and is_differentiable(value.type)
