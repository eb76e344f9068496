"""Flatten records: nested records of mirrored loop nests become one stack.

A loop that collects the records of a loop inside it makes a list of lists. Where the loop that
consumes them mirrors the one that collects, in the same function, what is consumed first is
what was collected last: a stack does. It is made before the outermost loop, values are pushed
where they are defined, and popped in the mirror where they are first read. Records of one loop
nest whose items have one type share a stack if the order of pops can be the reverse of the
order of pushes; a record that is not nested joins them or stays as it is.

Assumes a bufferized function. A record that enters or leaves the function stays nested: the
caller's record must survive the call, and reading nested lists needs no copy of them.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gradscribe.ir.core import (
    LOOP,
    Block,
    Function,
    LoopShape,
    Operand,
    Operation,
    Primitive,
    Value,
    walk,
)
from gradscribe.ir.types import Collected, Opaque, Type
from gradscribe.primitives.control import PUSH, STACK, STACK_POP


def flatten_records(function: Function) -> Function:
    """The function with stacks in place of nested records that it makes and consumes itself."""
    if not any(_is_nested(value) for op in walk(function.body) for value in op.results):
        return function
    uses = _uses(function)
    edits = _Edits()
    for block in _blocks(function.body):
        for chains in _mirrored_records(block, uses):
            for group in _groups(chains):
                _edit(group, edits)
    return replace(function, body=_rewritten(function.body, edits))


@dataclass(frozen=True, eq=False)
class _Link:
    """One level of a record: `loop` collects it as number `collect`, and `mirror` consumes it
    as its iterable number `iterable`."""

    loop: Operation
    collect: int
    mirror: Operation
    iterable: int

    @property
    def collected(self) -> Value:
        """What a trip of the loop collects."""
        shape: LoopShape = self.loop.attributes["shape"]
        return self.loop.regions[0].yields[shape.carried + shape.exits + self.collect]

    @property
    def item(self) -> Value:
        """What a trip of the mirror gets."""
        return self.mirror.regions[0].parameters[self.iterable]


_Chain = tuple[_Link, ...]
"""A record, from the outermost loop to the one where the value is collected."""


@dataclass
class _Edits:
    """What is to be changed, by operation; positions are those in the body of the loop."""

    stacks: defaultdict[Operation, list[Operation]] = field(
        default_factory=lambda: defaultdict(list)
    )
    inserted: defaultdict[Operation, list[tuple[int, Operation]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    collects: set[tuple[Operation, int]] = field(default_factory=set)
    iterables: set[tuple[Operation, int]] = field(default_factory=set)


# -- which records -----------------------------------------------------------------------------


def _mirrored_records(block: Block, uses: Counter[Value]) -> list[list[_Chain]]:
    """The records of each loop of a block whose mirror stands in the same block."""
    by_pair: defaultdict[tuple[Operation, Operation], list[_Chain]] = defaultdict(list)
    for loop in block.operations:
        if loop.primitive is LOOP:
            shape: LoopShape = loop.attributes["shape"]
            for collect, record in enumerate(loop.results[shape.carried :]):
                chain = _chain(loop, collect, record, block.operations, uses)
                if chain:
                    by_pair[chain[0].loop, chain[0].mirror].append(chain)
    return list(by_pair.values())


def _chain(
    loop: Operation,
    collect: int,
    consumed: Value,
    mirrors: Sequence[Operation],
    uses: Counter[Value],
) -> _Chain:
    """A record, followed inwards as far as loops and mirrors correspond; () if they do not.

    consumed: the record itself, or the item that stands for it in the mirror around.
    """
    record = loop.results[loop.attributes["shape"].carried + collect]
    if uses[record] != 1 or uses[consumed] != 1:
        return ()
    link = _consumption(loop, collect, consumed, mirrors)
    if link is None:
        return ()
    inner = _definition(link.collected, loop.regions[0])
    if inner is None or inner.primitive is not LOOP:
        return (link,)
    number = inner.results.index(link.collected) - inner.attributes["shape"].carried
    if number < 0:
        return (link,)
    inside = link.mirror.regions[0].operations
    return (link, *_chain(inner, number, link.item, inside, uses))


def _consumption(
    loop: Operation, collect: int, consumed: Value, mirrors: Sequence[Operation]
) -> _Link | None:
    """The loop that takes the items in the reverse order of collection, if it also runs over
    something that is no record."""
    for mirror in mirrors:
        if mirror.primitive is not LOOP or consumed not in mirror.operands:
            continue
        shape: LoopShape = mirror.attributes["shape"]
        operands = [mirror.operands[where.start] for where in shape.iterable_slices()]
        if (
            consumed in operands
            and shape.reversed != loop.attributes["shape"].reversed
            and any(kind != "collected" for kind in shape.iterables)
            and not (shape.exits or shape.condition)
        ):
            return _Link(loop, collect, mirror, operands.index(consumed))
    return None


def _definition(value: Value, block: Block) -> Operation | None:
    return next((o for o in block.operations if value in o.results), None)


def _groups(chains: list[_Chain]) -> Iterable[list[_Chain]]:
    """The chains of one pair of loops that are to share a stack, nested ones among them."""
    by_type: defaultdict[Type, list[_Chain]] = defaultdict(list)
    for chain in chains:
        by_type[chain[-1].collected.type].append(chain)
    for group in by_type.values():
        nested = [chain for chain in group if len(chain) > 1]
        if not nested:
            continue
        for candidate in (group, nested):
            if _schedule(candidate, 0) is not None:
                yield candidate
                break
        else:
            yield from ([chain] for chain in nested)


# -- where to push and to pop ------------------------------------------------------------------


@dataclass(frozen=True)
class _Event:
    """What happens to the stack in one trip: a push and its pop, or a nested pair of loops.

    pushed, popped: before which operation of the loop's and of the mirror's body.
    """

    chains: list[_Chain]
    pushed: int
    popped: int
    is_loop: bool


def _schedule(chains: list[_Chain], level: int) -> list[_Event] | None:
    """The events of a trip in the order of the pushes, if pops can come in reverse order."""
    events: list[_Event] = []
    inner: defaultdict[tuple[Operation, Operation], list[_Chain]] = defaultdict(list)
    for chain in chains:
        if len(chain) == level + 1:
            events.append(_push_and_pop(chain))
        else:
            inner[chain[level + 1].loop, chain[level + 1].mirror].append(chain)
    for (loop, mirror), nested in inner.items():
        if _schedule(nested, level + 1) is None:
            return None
        outer = nested[0][level]
        pushed = outer.loop.regions[0].operations.index(loop)
        popped = outer.mirror.regions[0].operations.index(mirror)
        events.append(_Event(nested, pushed, popped, is_loop=True))
    events.sort(key=lambda event: (event.pushed, event.is_loop))
    return _with_pops_in_order(events)


def _push_and_pop(chain: _Chain) -> _Event:
    """A value is pushed as soon as it is there, and popped right before its first use."""
    link = chain[-1]
    body, mirrored = link.loop.regions[0], link.mirror.regions[0]
    definition = _definition(link.collected, body)
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
