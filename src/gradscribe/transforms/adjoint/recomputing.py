"""What of the kept values the adjoint had better compute again.

    t = u[1:] - u[:-1]      to keep `u` and `t`, or `s` and `t`, is to keep twice as much as to
    s = 0.1 * u[1:]         keep `u`, and subtract and multiply again

A sweep keeps a value when it is first asked for, and knows only afterwards what else is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gradscribe.ir.core import CALL, LOOP, Block, Operation, Value, walk
from gradscribe.ir.flow import Loop
from gradscribe.ir.types import Array, Scalar
from gradscribe.transforms.adjoint.context import Context
from gradscribe.transforms.analyses.costs import MOST_EFFORT, effort_of
from gradscribe.transforms.analyses.def_use import STORES


@dataclass(frozen=True)
class Choice:
    """recomputed: values to be computed again. restored: chains of arrays to be restored."""

    recomputed: frozenset[Value]
    restored: frozenset[Value]


@dataclass(frozen=True)
class _Derivation:
    """How a kept value is computed: in how many operations, through which other values, of
    which values that are neither kept nor at hand."""

    effort: float
    through: tuple[Value, ...]
    sources: frozenset[Value]


def choose(context: Context) -> Choice:
    """What the next sweep should not keep, after one that kept `context.kept`: what takes little
    effort to compute of other kept values; and of one more value that is kept in place of
    several, or once for all iterations of an inner loop."""
    kept = context.kept - _carried_on(context)
    derivations = {
        value: found
        for value in kept
        if (found := _derivation(context, value)).effort <= MOST_EFFORT
    }
    recomputed = {v for found in derivations.values() if not found.sources for v in found.through}
    restored: set[Value] = set()
    by_source: dict[Value, list[Value]] = {}
    for value, found in derivations.items():
        if len(found.sources) == 1:
            by_source.setdefault(next(iter(found.sources)), []).append(value)
    for source, values in by_source.items():
        if not isinstance(source.type, (Scalar, Array)):
            continue  # a list that is kept is copied
        if _is_overwritten(context, source):
            if _is_better_restored(context, source, values):
                restored.add(context.structure.chain(source))
        elif _is_better_kept(context, source, values):
            recomputed.update(v for value in values for v in derivations[value].through)
    return Choice(frozenset(recomputed), frozenset(restored))


def _derivation(context: Context, value: Value) -> _Derivation:
    definition = context.structure.definition.get(value)
    if definition is None:
        is_free = _is_item(context, value)
        return _Derivation(0, (), frozenset(() if is_free else (value,)))
    effort, through = effort_of(definition), [value]
    sources: set[Value] = set()
    for operand in definition.operands:
        if effort > MOST_EFFORT:
            break
        if not _is_at_hand(context, operand):
            found = _derivation(context, operand)
            if found.effort > MOST_EFFORT:
                found = _Derivation(0, (), frozenset((operand,)))
            effort += found.effort
            through += found.through
            sources |= found.sources
    return _Derivation(effort, tuple(through), frozenset(sources))


def _is_at_hand(context: Context, value: Value) -> bool:
    """Whether a value is kept, or made where all values are at hand: outside of loops and
    branches. Of arrays that are stored to, another version may be the one at hand."""
    if value in context.kept:
        return True
    return _is_outside(context, value) and not context.structure.is_stored(value)


def _is_outside(context: Context, value: Value) -> bool:
    return context.structure.block_of[value] is context.function.body


def _is_item(context: Context, value: Value) -> bool:
    """Whether a value is an item of what a loop runs over, which its mirror runs over, too."""
    loop = _loop_around(context, value)
    if loop is None:
        return False
    parts = Loop(loop)
    if parts.exits or parts.condition:
        return False
    found = [operands for _, operands, item in parts.iterated if item is value]
    return bool(found) and all(_is_free(context, operand) for operand in found[0])


def _is_free(context: Context, value: Value) -> bool:
    if _is_at_hand(context, value):
        return True
    found = _derivation(context, value)
    return found.effort == 0 and not found.sources


def _carried_on(context: Context) -> set[Value]:
    """What loops carry to the next iteration, whose record is at hand in the mirror already."""
    loops = {loop for v in context.kept if (loop := _loop_around(context, v)) is not None}
    found: set[Value] = set()
    for loop in loops:
        found.update(c.following for c in Loop(loop).carried if c.parameter in context.kept)
    return found


def _loop_around(context: Context, value: Value) -> Operation | None:
    """The loop of whose body a value is."""
    block = context.structure.block_of[value]
    loop = context.structure.owner.get(block)
    if loop is None or loop.primitive is not LOOP or block is not loop.regions[0]:
        return None
    return loop


def _is_better_kept(context: Context, source: Value, values: list[Value]) -> bool:
    """Whether keeping the source takes less memory than keeping what is computed of it."""
    home = context.structure.block_of[source]
    if any(_is_inside_loop(context, value, home) for value in values):
        return True
    largest = max(map(_rank, values))
    return _rank(source) <= largest and sum(_rank(v) == largest for v in values) > 1


def _rank(value: Value) -> int:
    return value.type.rank if isinstance(value.type, Array) else 0


def _is_inside_loop(context: Context, value: Value, home: Block) -> bool:
    """Whether a value is made anew in each iteration of a loop in this block."""
    structure, block = context.structure, context.structure.block_of[value]
    while block is not home and block in structure.owner:
        owner = structure.owner[block]
        if owner.primitive is LOOP:
            return True
        block = structure.block_of[owner]
    return False


def _is_overwritten(context: Context, value: Value) -> bool:
    """Whether an array may be stored to where it is made, or later, so that to keep it is to copy
    it."""
    structure = context.structure
    if not structure.is_stored(value):
        return False
    block, chain = structure.block_of[value], structure.chain(value)
    if value in block.yields or (value, block) in structure.store:
        return True
    return any(
        structure.stores_to(operation, chain) and not _only_reads(operation, value)
        for operation in block.operations
        if operation.regions
    )


def _only_reads(operation: Operation, value: Value) -> bool:
    """Whether the regions of an operation read an array, and neither store to it nor carry it."""
    for inner in (operation, *(o for region in operation.regions for o in walk(region))):
        if inner.primitive in STORES and inner.operands[0] is value:
            return False
        if inner.primitive in (LOOP, CALL) and value in inner.operands:
            return False
        if any(value in region.yields for region in inner.regions):
            return False
    return True


def _is_better_restored(context: Context, source: Value, values: list[Value]) -> bool:
    """Whether several values of one iteration are computed of an array before the only store to it,
    so that what the store overwrites may be kept instead of them."""
    structure = context.structure
    block = structure.block_of[source]
    store = structure.store.get((source, block))
    if store is None or len(values) < 2 or _is_outside(context, source):
        return False
    chain = structure.chain(source)
    position = block.operations.index(store)
    others = (*block.operations[:position], *block.operations[position + 1 :])
    if any(_stores(context, chain, operation) for operation in others):
        return False
    later = _reads(block.operations[position + 1 :])
    return all(structure.block_of[v] is block and v not in later for v in values)


def _stores(context: Context, chain: Value, operation: Operation) -> bool:
    structure = context.structure
    if structure.stores_to(operation, chain):
        return True
    x = operation.operands[0] if operation.operands else None
    follows = x is not None and structure.store.get((x, structure.block_of[operation]))
    return follows is operation and structure.chain(operation.result) is chain


def _reads(operations: Iterable[Operation]) -> set[Value]:
    return set(_read_by(operations))


def _read_by(operations: Iterable[Operation]) -> Iterator[Value]:
    for operation in operations:
        yield from operation.operands
        for region in operation.regions:
            yield from region.yields
            for inner in walk(region):
                yield from inner.operands
