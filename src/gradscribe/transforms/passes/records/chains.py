"""Records and their mirrors: which loops collect a record, and which consume it backwards.

A record that loops inside one another collect is a *chain* of links, one for each level: the
loop that collects, and the loop that consumes what was collected. `schedule` says whether
several such records can share a stack, and where to push and to pop.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gradscribe.ir.core import LOOP, Block, LoopShape, Operation, Value
from gradscribe.ir.flow import Loop
from gradscribe.ir.types import Collected, Type


@dataclass(frozen=True, eq=False)
class Link:
    """One level of a record: `loop` collects it as number `collect`, and `mirror` consumes it
    as its iterable number `iterable`."""

    loop: Operation
    collect: int
    mirror: Operation
    iterable: int

    @property
    def collected(self) -> Value:
        """What an iteration of the loop collects."""
        return Loop(self.loop).elements[self.collect]

    @property
    def item(self) -> Value:
        """What an iteration of the mirror gets."""
        return Loop(self.mirror).items[self.iterable]


Chain = tuple[Link, ...]
"""A record, from the outermost loop to the one where the value is collected."""


# -- which records -----------------------------------------------------------------------------


def mirrored_records(block: Block, uses: Counter[Value]) -> list[Chain]:
    """The records of each loop of a block whose mirror stands in the same block."""
    chains = [
        chain_of(loop, collect, record, block.operations, uses)
        for loop in block.operations
        if loop.primitive is LOOP
        for collect, record in enumerate(Loop(loop).collected)
    ]
    return [chain for chain in chains if chain]


def without_records(chain: Chain) -> Chain:
    """The links of a chain up to the first one whose mirror runs over records alone."""
    return tuple(itertools.takewhile(_runs_over_more, chain))


def _runs_over_more(link: Link) -> bool:
    return any(kind != "collected" for kind in link.mirror.attributes["shape"].iterables)


def by_pair(chains: Iterable[Chain]) -> list[list[Chain]]:
    """The chains, those of the same outermost loops together."""
    pairs: defaultdict[tuple[Operation, Operation], list[Chain]] = defaultdict(list)
    for chain in chains:
        pairs[chain[0].loop, chain[0].mirror].append(chain)
    return list(pairs.values())


def chain_of(
    loop: Operation,
    collect: int,
    consumed: Value,
    mirrors: Sequence[Operation],
    uses: Counter[Value],
) -> Chain:
    """A record, followed inwards as far as loops and mirrors correspond; () if they do not.

    consumed: the record itself, or the item that stands for it in the mirror around.
    """
    record = Loop(loop).collected[collect]
    if uses[record] != 1 or uses[consumed] != 1:
        return ()
    link = _consumption(loop, collect, consumed, mirrors)
    if link is None:
        return ()
    inner = definition_in(link.collected, loop.regions[0])
    number = collect_number(inner, link.collected)
    if inner is None or number is None:
        return (link,)
    inside = link.mirror.regions[0].operations
    return (link, *chain_of(inner, number, link.item, inside, uses))


def _consumption(
    loop: Operation, collect: int, consumed: Value, mirrors: Sequence[Operation]
) -> Link | None:
    """The loop that takes the items in the reverse order of collection."""
    for mirror in mirrors:
        if mirror.primitive is not LOOP or consumed not in mirror.operands:
            continue
        shape: LoopShape = mirror.attributes["shape"]
        operands = [iterated.operands[0] for iterated in Loop(mirror).iterated]
        if (
            consumed in operands
            and shape.reversed != loop.attributes["shape"].reversed
            and not (shape.exits or shape.condition)
        ):
            return Link(loop, collect, mirror, operands.index(consumed))
    return None


def definition_in(value: Value, block: Block) -> Operation | None:
    return next((o for o in block.operations if value in o.results), None)


def collect_number(definition: Operation | None, record: Value) -> int | None:
    """Which of the records of a loop this is; None if a loop did not collect it."""
    if definition is None or definition.primitive is not LOOP:
        return None
    collected = Loop(definition).collected
    return collected.index(record) if record in collected else None


def groups(chains: list[Chain]) -> Iterable[list[Chain]]:
    """The chains of one pair of loops that are to share a stack, nested ones among them."""
    by_type: defaultdict[Type, list[Chain]] = defaultdict(list)
    for chain in chains:
        by_type[chain[-1].collected.type].append(chain)
    for group in by_type.values():
        nested = [chain for chain in group if len(chain) > 1]
        if not nested:
            continue
        for candidate in (group, nested):
            if schedule(candidate, 0) is not None:
                yield candidate
                break
        else:
            yield from ([chain] for chain in nested)


# -- where to push and to pop ------------------------------------------------------------------


@dataclass(frozen=True)
class _Event:
    """What happens to the stack in one iteration: a push and its pop, or a nested pair of loops.

    pushed, popped: before which operation of the loop's and of the mirror's body.
    """

    chains: list[Chain]
    pushed: int
    popped: int
    is_loop: bool


def schedule(chains: list[Chain], level: int) -> list[_Event] | None:
    """The events of an iteration in the order of the pushes, if pops can come in reverse order."""
    events: list[_Event] = []
    inner: defaultdict[tuple[Operation, Operation], list[Chain]] = defaultdict(list)
    for chain in chains:
        if len(chain) == level + 1:
            events.append(_push_and_pop(chain))
        else:
            inner[chain[level + 1].loop, chain[level + 1].mirror].append(chain)
    for (loop, mirror), nested in inner.items():
        if schedule(nested, level + 1) is None:
            return None
        outer = nested[0][level]
        pushed = outer.loop.regions[0].operations.index(loop)
        popped = outer.mirror.regions[0].operations.index(mirror)
        events.append(_Event(nested, pushed, popped, is_loop=True))
    events.sort(key=lambda event: (event.pushed, event.is_loop))
    return _with_pops_in_order(events)


def _push_and_pop(chain: Chain) -> _Event:
    """A value is pushed as soon as it is there, and popped right before its first use."""
    link = chain[-1]
    body, mirrored = link.loop.regions[0], link.mirror.regions[0]
    definition = definition_in(link.collected, body)
    pushed = 0 if definition is None else body.operations.index(definition) + 1
    reads = (n for n, o in enumerate(mirrored.operations) if _reads(o, link.item))
    return _Event([chain], pushed, next(reads, len(mirrored.operations)), is_loop=False)


def _with_pops_in_order(events: list[_Event]) -> list[_Event] | None:
    """The events with pops moved up to where the order asks for them; None if none can be."""
    placed: list[_Event] = []
    limit: int | None = None
    for event in events:  # the last to be popped comes first
        if event.is_loop:
            if limit is not None and event.popped >= limit:
                return None
            limit = event.popped
        else:
            limit = event.popped if limit is None else min(event.popped, limit)
            event = replace(event, popped=limit)
        placed.append(event)
    for event, earlier in itertools.pairwise(placed):
        if earlier.is_loop and event.popped <= earlier.popped:
            return None
    return placed


# -- reading the function ----------------------------------------------------------------------


def is_nested(value: Value) -> bool:
    return isinstance(value.type, Collected) and isinstance(value.type.item, Collected)


def blocks_in(block: Block) -> list[Block]:
    nested = [region for operation in block.operations for region in operation.regions]
    return [block, *(b for region in nested for b in blocks_in(region))]


def _reads(operation: Operation, value: Value) -> bool:
    if value in operation.operands:
        return True
    return any(
        value in region.yields or any(_reads(inner, value) for inner in region.operations)
        for region in operation.regions
    )
