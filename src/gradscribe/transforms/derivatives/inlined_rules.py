"""A rule inlined on placeholders, and what each of its results needs of them.

The same rule is used for many operations, so that what is asked of it is worked out once.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradscribe.ir.core import Block, Operation, Value, walk
from gradscribe.primitives.control import CONSTANT, ZEROS_LIKE
from gradscribe.primitives.indexing import LENGTH, SIZE
from gradscribe.primitives.registry import PRIMITIVES

_SHAPE_READERS = frozenset({LENGTH, SIZE, ZEROS_LIKE})


@dataclass(frozen=True)
class Need:
    """What some of the results of a rule need.

    operations: those that compute them. shapes: the values whose shape alone is read. values: those
    that are read themselves. has_poles: whether the results can be infinite.
    """

    operations: tuple[Operation, ...]
    shapes: frozenset[Value]
    values: frozenset[Value]
    has_poles: bool


@dataclass(frozen=True, eq=False)
class InlinedRule:
    """primals: the placeholders of the operands (None where one is a known number), out: of the
    result, d_out: of its cotangent. results: what the rule gives for each operand."""

    operations: tuple[Operation, ...]
    out: Value
    primals: tuple[Value | None, ...]
    d_out: Value
    results: tuple[Any, ...]
    _needs: dict[tuple[int, ...], Need] = field(default_factory=dict)

    def need(self, *numbers: int) -> Need:
        """What the results with these numbers need."""
        if numbers not in self._needs:
            results = [self.results[number] for number in numbers]
            operations = _needed(self.operations, results)
            shapes, values = _reads(operations, results)
            self._needs[numbers] = Need(operations, shapes, values, _has_poles(operations))
        return self._needs[numbers]


def _needed(operations: Sequence[Operation], results: Sequence[Any]) -> tuple[Operation, ...]:
    live = {result for result in results if isinstance(result, Value)}
    needed: list[Operation] = []
    for operation in reversed(operations):
        if _has_effect(operation) or not live.isdisjoint(operation.results):
            needed.append(operation)
            live.update(operation.operands)
            for region in operation.regions:
                live.update(_all_reads(region))
    return tuple(reversed(needed))


def _has_effect(operation: Operation) -> bool:
    inner = (o for region in operation.regions for o in walk(region))
    return operation.primitive.effect or any(o.primitive.effect for o in inner)


def _all_reads(block: Block) -> Iterator[Value]:
    yield from block.yields
    for operation in block.operations:
        yield from operation.operands
        for region in operation.regions:
            yield from _all_reads(region)


def _reads(
    operations: Sequence[Operation], results: Sequence[Any]
) -> tuple[frozenset[Value], frozenset[Value]]:
    """The values whose shape is read, and those that are read themselves."""
    shapes: set[Value] = set()
    values = {result for result in results if isinstance(result, Value)}
    pending = list(operations)
    while pending:
        operation = pending.pop()
        (shapes if operation.primitive in _SHAPE_READERS else values).update(operation.operands)
        for region in operation.regions:
            values.update(region.yields)
            pending += region.operations
    return frozenset(shapes), frozenset(values)


def _has_poles(operations: Sequence[Operation]) -> bool:
    inner = (o for operation in operations for region in operation.regions for o in walk(region))
    every = [*operations, *inner]
    return any(map(_may_be_infinite(every), every))


def _may_be_infinite(operations: Sequence[Operation]) -> Callable[[Operation], bool]:
    """Whether one of these operations has a pole: not so a division by a number other than zero,
    or a power with an exponent that is not negative."""
    numbers = {o.results[0]: o.attributes["value"] for o in operations if o.primitive is CONSTANT}

    def check(operation: Operation) -> bool:
        primitive = operation.primitive
        last = numbers.get(operation.operands[-1]) if operation.operands else None
        if last is not None and primitive is PRIMITIVES[operator.truediv]:
            return bool(last == 0)
        if last is not None and primitive is PRIMITIVES[operator.pow]:
            return bool(last < 0)
        return primitive.pole

    return check
