"""What flows where: the values of a loop by what they mean, and how values pass through regions.

Comes in: an operation. `Loop` gives the values of a loop by name, where the IR has them by position
(see `core`). `merges` and `flows` list, for any operation with regions, which value becomes which;
analyses that follow values along these add what they need to know of other operations, and close
over the pairs with `reachable`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from gradscribe.ir.core import IF, LOOP, Block, IterableKind, LoopShape, Operation, Value, walk

Node = TypeVar("Node")


class Carried(NamedTuple):
    """A value that a loop carries: what it is at first, in the body, after an iteration, and after
    the loop; in the condition of a `while` (none or one)."""

    initial: Value
    parameter: Value
    following: Value
    result: Value
    tested: tuple[Value, ...]

    @property
    def names(self) -> tuple[Value, ...]:
        """All that it goes by: in the body, after the loop, and in the condition."""
        return (self.parameter, self.result, *self.tested)


class Iterated(NamedTuple):
    """What a loop runs over, and its item in the body."""

    kind: IterableKind
    operands: tuple[Value, ...]
    item: Value


class Record(NamedTuple):
    """What a loop collects: the element of each iteration, and the record of all."""

    element: Value
    result: Value


class Loop:
    """The values of a loop by what they mean."""

    __slots__ = ("body", "condition", "operation", "shape")

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.shape: LoopShape = operation.attributes["shape"]
        self.body = operation.regions[0]
        self.condition: Block | None = operation.regions[1] if self.shape.condition else None

    @property
    def iterated(self) -> list[Iterated]:
        """What it runs over."""
        operands = self.operation.operands
        rows = zip(self.shape.iterables, self.shape.iterable_slices(), self.items, strict=True)
        return [Iterated(kind, operands[where], item) for kind, where, item in rows]

    @property
    def items(self) -> tuple[Value, ...]:
        """The items, in the body."""
        return self.body.parameters[: len(self.shape.iterables)]

    @property
    def iterables(self) -> tuple[Value, ...]:
        """The operands of all that it runs over."""
        return self.operation.operands[: self.shape.iterable_operands]

    @property
    def initial(self) -> tuple[Value, ...]:
        """What the carried values are at first."""
        return self.operation.operands[self.shape.iterable_operands :]

    @property
    def parameters(self) -> tuple[Value, ...]:
        """The carried values in the body."""
        return self.body.parameters[len(self.shape.iterables) :]

    @property
    def entered(self) -> list[tuple[Value, ...]]:
        """The carried values in each region: the body, and the condition of a `while`."""
        return [self.parameters, *(region.parameters for region in self.operation.regions[1:])]

    @property
    def following(self) -> tuple[Value, ...]:
        """The carried values after an iteration."""
        return self.body.yields[: self.shape.carried]

    @property
    def results(self) -> tuple[Value, ...]:
        """The carried values after the loop."""
        return self.operation.results[: self.shape.carried]

    @property
    def carried(self) -> list[Carried]:
        """The carried values, one by one."""
        rows = zip(self.initial, self.parameters, self.following, self.results, strict=True)
        tested = self.condition.parameters if self.condition else ()
        return [Carried(*row, tested[n : n + 1]) for n, row in enumerate(rows)]

    @property
    def exits(self) -> tuple[Value, ...]:
        """The flag that tells whether there is another iteration, where the body decides that."""
        return self.body.yields[self.shape.carried :][: self.shape.exits]

    @property
    def elements(self) -> tuple[Value, ...]:
        """What each iteration collects."""
        return self.body.yields[self.shape.carried + self.shape.exits :]

    @property
    def collected(self) -> tuple[Value, ...]:
        """The records of what it collects."""
        return self.operation.results[self.shape.carried :]

    @property
    def records(self) -> list[Record]:
        """What it collects, one by one."""
        return [Record(*row) for row in zip(self.elements, self.collected, strict=True)]


def merges(operation: Operation) -> Iterator[tuple[Value, Value]]:
    """(source, target) for each value that regions hand on: on one path or in one iteration, the
    target is the source."""
    if operation.primitive is IF:
        for region in operation.regions:
            yield from zip(region.yields, operation.results, strict=True)
    elif operation.primitive is LOOP:
        for carried in Loop(operation).carried:
            for target in carried.names:
                yield carried.initial, target
                yield carried.following, target


def sources(operation: Operation, result: Value) -> tuple[Value, ...]:
    """What a result of a region is, on one path or another; of a record, its element."""
    position = operation.results.index(result)
    if operation.primitive is IF:
        return tuple(region.yields[position] for region in operation.regions)
    if operation.primitive is not LOOP:
        return ()
    loop = Loop(operation)
    if position >= loop.shape.carried:
        return (loop.elements[position - loop.shape.carried],)
    return loop.initial[position], loop.following[position]


def flows(operation: Operation) -> Iterator[tuple[Value, Value]]:
    """`merges`; what a loop runs over to its items, and what it collects to its records."""
    yield from merges(operation)
    if operation.primitive is LOOP:
        loop = Loop(operation)
        for iterated in loop.iterated:
            for operand in iterated.operands:
                yield operand, iterated.item
        yield from loop.records


def computed_of(block: Block, seeds: Iterable[Value]) -> set[Value]:
    """All that is computed of these values, and they themselves; what they only decide is not."""
    edges: dict[Value, list[Value]] = {}
    for operation in walk(block):
        pairs = flows(operation) if operation.regions else ()
        for source, target in pairs:
            edges.setdefault(source, []).append(target)
        for operand in operation.operands if not operation.regions else ():
            edges.setdefault(operand, []).extend(operation.results)
    return reachable(seeds, edges)


def reachable(seeds: Iterable[Node], edges: Mapping[Node, Iterable[Node]]) -> set[Node]:
    """All that these lead to."""
    reached: set[Node] = set()
    pending = list(seeds)
    while pending:
        node = pending.pop()
        if node not in reached:
            reached.add(node)
            pending += edges.get(node, ())
    return reached
