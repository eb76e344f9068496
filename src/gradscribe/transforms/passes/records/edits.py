"""Changes of the loops that make and use up records, noted first and then made at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from gradscribe.ir.core import LOOP, Block, Operation, Value
from gradscribe.ir.flow import Loop
from gradscribe.transforms.passes.records.chains import Chain

Insertions = defaultdict[Operation, list[tuple[int, Operation]]]
Pairs = defaultdict[Operation, list[tuple[Value, Value]]]


@dataclass
class RecordEdits:
    """What is to be changed.

    before: what is to be done before an operation. inserted: what is to be done in the body of a
    loop, by position there. collects, iterables: what loops no longer collect and run over, by
    number. collected: what loops collect besides, each with the record that it becomes.
    consumed: the records that loops run over besides, each with its item. instead: operations
    that stand in place of others.
    """

    before: defaultdict[Operation, list[Operation]] = field(
        default_factory=lambda: defaultdict(list)
    )
    inserted: Insertions = field(default_factory=lambda: defaultdict(list))
    collects: set[tuple[Operation, int]] = field(default_factory=set)
    iterables: set[tuple[Operation, int]] = field(default_factory=set)
    collected: Pairs = field(default_factory=lambda: defaultdict(list))
    consumed: Pairs = field(default_factory=lambda: defaultdict(list))
    instead: dict[Operation, Operation] = field(default_factory=dict)

    def drop(self, chains: Iterable[Chain]) -> None:
        """Neither collect nor consume these records any more."""
        for chain in chains:
            for link in chain:
                self.collects.add((link.loop, link.collect))
                self.iterables.add((link.mirror, link.iterable))

    def applied(self, block: Block, inserted: Sequence[tuple[int, Operation]] = ()) -> Block:
        """The block with all of these changes."""
        operations: list[Operation] = []
        for position, operation in enumerate(block.operations):
            operations += [new for place, new in inserted if place == position]
            operations += self.before.get(operation, ())
            if operation.primitive is LOOP:
                operation = self._loop(operation)
            elif operation.regions:
                regions = tuple(self.applied(region) for region in operation.regions)
                operation = replace(operation, regions=regions)
            operations.append(self.instead.get(operation, operation))
        operations += [new for place, new in inserted if place == len(block.operations)]
        return replace(block, operations=tuple(operations))

    def _loop(self, loop: Operation) -> Operation:
        """The loop with other records, and with what is inserted in its body."""
        parts = Loop(loop)
        shape = parts.shape
        collects = [n for n in range(shape.collects) if (loop, n) not in self.collects]
        iterables = [n for n in range(len(shape.iterables)) if (loop, n) not in self.iterables]
        collected, consumed = self.collected.get(loop, []), self.consumed.get(loop, [])
        iterated = [parts.iterated[n] for n in iterables]
        records = [parts.records[n] for n in collects]
        body, *condition = loop.regions
        changed = self.applied(body, self.inserted.get(loop, ()))
        items = [part.item for part in iterated] + [item for _, item in consumed]
        yields = [record.element for record in records] + [value for value, _ in collected]
        kinds = [part.kind for part in iterated] + ["collected" for _ in consumed]
        return replace(
            loop,
            operands=(
                *(operand for part in iterated for operand in part.operands),
                *(record for record, _ in consumed),
                *parts.initial,
            ),
            results=(
                *parts.results,
                *(record.result for record in records),
                *(record for _, record in collected),
            ),
            attributes={
                **loop.attributes,
                "shape": replace(shape, iterables=tuple(kinds), collects=len(yields)),
            },
            regions=(
                Block(
                    (*items, *parts.parameters),
                    changed.operations,
                    (*parts.following, *parts.exits, *yields),
                ),
                *(self.applied(region) for region in condition),
            ),
        )
