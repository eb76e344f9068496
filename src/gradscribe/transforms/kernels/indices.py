"""Where an element of a part of an array is: the index of a view as an index of its base."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from gradscribe.ir.affine import Affine
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Operand, Operation, SliceOf, Value
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import Array
from gradscribe.primitives.control import CONSTANT
from gradscribe.primitives.registry import PRIMITIVES

Index = Sequence[Value]


class Arithmetic:
    """Operations on numbers, appended with a builder."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder

    def number(self, value: Any) -> Value:
        return self.builder.emit(CONSTANT, (), {"value": value})

    def apply(self, callee: Callable[..., Any], *operands: Value) -> Value:
        primitive = PRIMITIVES[callee]
        assert primitive.signature is not None
        names = list(primitive.signature.parameters)
        given = dict(zip(names, operands, strict=False))
        return self.builder.call(primitive, given, callee=callee)

    def plus(self, value: Value, number: int) -> Value:
        """An integer and a known one."""
        if not number:
            return value
        if number < 0:
            return self.apply(operator.sub, value, self.number(-number))
        return self.apply(operator.add, value, self.number(number))

    def times(self, value: Value, number: int) -> Value:
        return value if number == 1 else self.apply(operator.mul, value, self.number(number))


def is_known_part(operation: Operation, facts: Facts) -> bool:
    """Whether it is known where the elements of a part (`getitem`) are, and how many it has: a
    slice must begin and end where the compiler can tell on which side of the array that is."""
    base, part = operation.operands[0].type, operation.results[0].type
    assert isinstance(base, Array)
    if not isinstance(part, Array):
        return False
    items = explicit(operation.attributes["index"], base.rank)
    whole, given = iter(base.dims), iter(part.dims)
    for item in items:
        if item is None:
            next(given)
            continue
        length = next(whole)
        if isinstance(item, SliceOf):
            if not _is_known_slice(item, length, next(given), operation.operands, facts):
                return False
        elif not isinstance(item, (int, Operand)) or isinstance(item, bool):
            return False
    return True


def _is_known_slice(
    item: SliceOf, whole: Affine, length: Affine, operands: Sequence[Value], facts: Facts
) -> bool:
    start, stop = 0 if item.start is None else item.start, item.stop
    if item.step == -1:
        return item.start is None and stop is None
    from_ends = isinstance(start, int) and start >= 0 and (stop is None or is_from_end(stop))
    if from_ends:
        return item.step is None or (isinstance(item.step, int) and item.step > 0)
    first, last = _known(start, operands), whole if stop is None else _known(stop, operands)
    if item.step not in (None, 1) or first is None or last is None:
        return False
    begins = first.minimum is not None and first.minimum >= 0
    return begins and facts.agree(last - first, length)


def is_from_end(stop: Any) -> bool:
    return isinstance(stop, int) and stop < 0


def _known(item: Any, operands: Sequence[Value]) -> Affine | None:
    """What is known of an end of a slice."""
    if isinstance(item, Operand):
        known = getattr(operands[item.index].type, "value", None)
        return known if isinstance(known, Affine) else None
    return Affine.of(item) if isinstance(item, int) else None


def index_of_base(
    operation: Operation,
    index: Index,
    operands: Sequence[Value],
    arithmetic: Arithmetic,
    length: Callable[[int], Value],
) -> list[Value]:
    """The index, in the base, of an element of a known part (`getitem`), or of a single one.

    operands: those of the operation, as they are now. length: gives the length of an axis of the
    base.
    """
    base = operation.operands[0].type
    assert isinstance(base, Array)
    given, found = list(index), []
    axis = 0
    for item in explicit(operation.attributes["index"], base.rank):
        if item is None:
            given.pop(0)
            continue
        if isinstance(item, SliceOf):
            found.append(_in_slice(item, axis, given.pop(0), operands, arithmetic, length))
        elif isinstance(item, Operand):
            found.append(operands[item.index])
        elif item < 0:
            found.append(arithmetic.plus(length(axis), item))
        else:
            found.append(arithmetic.number(item))
        axis += 1
    return found


def explicit(items: Any, rank: int) -> list[Any]:
    """An index with an item for each axis."""
    given = list(items) if isinstance(items, tuple) else [items]
    used = sum(item is not None and item is not Ellipsis for item in given)
    whole = [SliceOf()] * (rank - used)
    if Ellipsis in given:
        place = given.index(Ellipsis)
        return [*given[:place], *whole, *given[place + 1 :]]
    return [*given, *whole]


def _in_slice(
    item: SliceOf,
    axis: int,
    place: Value,
    operands: Sequence[Value],
    arithmetic: Arithmetic,
    length: Callable[[int], Value],
) -> Value:
    if item.step == -1:
        last = arithmetic.plus(length(axis), -1)
        return arithmetic.apply(operator.sub, last, place)
    place = arithmetic.times(place, 1 if item.step is None else item.step)
    if isinstance(item.start, Operand):
        return arithmetic.apply(operator.add, operands[item.start.index], place)
    return arithmetic.plus(place, item.start or 0)
