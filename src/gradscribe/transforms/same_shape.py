"""Values of one shape: of which others the shape of a value may be asked."""

from __future__ import annotations

from collections.abc import Iterator

from gradscribe.ir.core import LOOP, Value
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import Array, Type
from gradscribe.primitives.control import COPY, UNDEF
from gradscribe.primitives.indexing import ACCUMULATE, STORE
from gradscribe.transforms.structure import Structure


def same_shape(facts: Facts, a: Type, b: Type) -> bool:
    """Whether two types are arrays (or lists) of the same shape and dtype."""
    if a == b:
        return True
    if not isinstance(a, Array) or not isinstance(b, Array):
        return False
    return (a.dtype, a.rank, a.module) == (b.dtype, b.rank, b.module) and all(
        facts.normalize(x) == facts.normalize(y) for x, y in zip(a.dims, b.dims, strict=True)
    )


def same_shaped(structure: Structure, facts: Facts, value: Value) -> Iterator[Value]:
    """The value, and those it was computed from that have its shape and dtype."""
    pending, seen = [value], set()
    while pending:
        candidate = pending.pop(0)
        if candidate in seen:
            continue
        seen.add(candidate)
        definition = structure.definition.get(candidate)
        if definition is None or definition.primitive is not UNDEF:
            yield candidate
        sources = _sources(structure, candidate)
        pending += [s for s in sources if same_shape(facts, s.type, candidate.type)]


def _sources(structure: Structure, value: Value) -> tuple[Value, ...]:
    """What a value may have its shape from."""
    definition = structure.definition.get(value)
    if definition is None:
        return _initial(structure, value)
    if definition.primitive.elementwise:
        return definition.operands
    if definition.primitive in (STORE, ACCUMULATE, COPY):
        return definition.operands[:1]
    if definition.primitive is LOOP:
        shape = definition.attributes["shape"]
        position = definition.results.index(value) if value in definition.results else -1
        if 0 <= position < shape.carried:
            return (definition.operands[shape.iterable_operands + position],)
    return ()


def _initial(structure: Structure, value: Value) -> tuple[Value, ...]:
    """For what a loop carries, what it starts with."""
    block = structure.block_of[value]
    loop = structure.owner.get(block)
    if loop is None or block is not loop.regions[0]:
        return ()
    shape = loop.attributes["shape"]
    position = block.parameters.index(value) - len(shape.iterables)
    return (loop.operands[shape.iterable_operands + position],) if position >= 0 else ()
