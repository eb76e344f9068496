"""Changes of the loops that make and use up records, noted first and then made at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from gradscribe.ir.core import LOOP, Block, LoopShape, Operation, Value
from gradscribe.transforms.records.chains import Chain

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
        shape: LoopShape = loop.attributes["shape"]
        first = shape.carried + shape.exits
        collects = [n for n in range(shape.collects) if (loop, n) not in self.collects]
        iterables = [n for n in range(len(shape.iterables)) if (loop, n) not in self.iterables]
        collected, consumed = self.collected.get(loop, []), self.consumed.get(loop, [])
        operands = [loop.operands[where] for where in shape.iterable_slices()]
        records = loop.results[shape.carried :]
        body, *condition = loop.regions
        changed = self.applied(body, self.inserted.get(loop, ()))
        items = [body.parameters[n] for n in iterables] + [item for _, item in consumed]
        yields = [body.yields[first + n] for n in collects] + [value for value, _ in collected]
        kinds = [shape.iterables[n] for n in iterables] + ["collected" for _ in consumed]
        return replace(
            loop,
            operands=(
                *(operand for n in iterables for operand in operands[n]),
                *(record for record, _ in consumed),
                *loop.operands[shape.iterable_operands :],
            ),
            results=(
                *loop.results[: shape.carried],
                *(records[n] for n in collects),
                *(record for _, record in collected),
            ),
            attributes={
                **loop.attributes,
                "shape": replace(shape, iterables=tuple(kinds), collects=len(yields)),
            },
            regions=(
                Block(
                    (*items, *body.parameters[len(shape.iterables) :]),
                    changed.operations,
                    (*body.yields[:first], *yields),
                ),
                *(self.applied(region) for region in condition),
            ),
        )
