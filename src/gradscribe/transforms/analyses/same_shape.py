"""Values of one shape: of which others the shape of a value may be asked."""

from __future__ import annotations

from collections.abc import Iterator

from gradscribe.ir.core import IF, LOOP, Operation, Value, item_type
from gradscribe.ir.flow import Loop, sources
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import Array, Scalar, Sequence, Tuple, Type
from gradscribe.primitives.control import COPY, SET, UNDEF
from gradscribe.primitives.indexing import ACCUMULATE, STORE
from gradscribe.transforms.analyses.def_use import DefUse


def same_shape(facts: Facts, a: Type, b: Type) -> bool:
    """Whether two types are arrays of the same shape and dtype, lists of as many numbers, or tuples
    of such; numbers all have one shape."""
    if isinstance(a, Scalar):
        return a == b
    if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items):
        return all(same_shape(facts, x, y) for x, y in zip(a.items, b.items, strict=True))
    if isinstance(a, Sequence) and isinstance(b, Sequence):
        return a == b and a.length is not None and isinstance(a.item, Scalar)
    if not isinstance(a, Array) or not isinstance(b, Array):
        return False
    return (a.dtype, a.rank, a.module) == (b.dtype, b.rank, b.module) and all(
        facts.normalize(x) == facts.normalize(y) for x, y in zip(a.dims, b.dims, strict=True)
    )


def same_shaped(structure: DefUse, facts: Facts, value: Value) -> Iterator[Value]:
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
        if isinstance(candidate.type, Sequence) and candidate.type.length is None:
            pending += _lists(structure, candidate)
        else:
            sources = _sources(structure, candidate)
            pending += [s for s in sources if same_shape(facts, s.type, candidate.type)]


def _lists(structure: DefUse, value: Value) -> tuple[Value, ...]:
    """For a list of numbers whose length only the run tells, what a loop carries it from, if that
    stores items and does nothing else to it."""
    loop = structure.definition.get(value) or structure.owner.get(structure.block_of[value])
    if not isinstance(item_type(value), Scalar) or loop is None:
        return ()
    initial = _sources(structure, value) if loop.primitive is LOOP else ()
    return initial if initial and _keeps_length(structure, loop, initial[0]) else ()


def _keeps_length(structure: DefUse, loop: Operation, initial: Value) -> bool:
    """Whether what a loop carries from a list is, in each iteration, the list with items stored."""
    return all(
        _is_stored_to(structure, carried.following, carried.parameter)
        for carried in Loop(loop).carried
        if carried.initial is initial
    )


def _is_stored_to(structure: DefUse, value: Value, before: Value) -> bool:
    """Whether a list is `before` with items stored, on every path."""
    while value is not before:
        definition = structure.definition.get(value)
        if definition is None:
            return False
        if definition.primitive is IF:
            sides = sources(definition, value)
            return all(_is_stored_to(structure, side, before) for side in sides)
        if definition.primitive is LOOP:
            initial = _sources(structure, value)
            if not initial or not _keeps_length(structure, definition, initial[0]):
                return False
            (value,) = initial
        elif definition.primitive is SET:
            value = definition.operands[0]
        else:
            return False
    return True


def _sources(structure: DefUse, value: Value) -> tuple[Value, ...]:
    """What a value may have its shape from."""
    definition = structure.definition.get(value)
    if definition is None:
        return _initial(structure, value)
    if definition.primitive.elementwise:
        return definition.operands
    if definition.primitive in (STORE, ACCUMULATE, COPY):
        return definition.operands[:1]
    if definition.primitive is LOOP:
        return tuple(c.initial for c in Loop(definition).carried if c.result is value)
    return ()


def _initial(structure: DefUse, value: Value) -> tuple[Value, ...]:
    """For what a loop carries, what it starts with."""
    block = structure.block_of[value]
    loop = structure.owner.get(block)
    if loop is None or block is not loop.regions[0]:
        return ()
    return tuple(c.initial for c in Loop(loop).carried if c.parameter is value)
