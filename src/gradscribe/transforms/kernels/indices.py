"""Where an element of a part of an array is: the index of a view as an index of its base."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Operand, Operation, SliceOf, Value
from gradscribe.ir.types import Array
from gradscribe.primitives.control import CONSTANT
from gradscribe.primitives.registry import PRIMITIVES

Index = Sequence[Value]


class UnknownPartError(Exception):
    """A part of an array of which it is not known where its elements are."""


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


def index_of_base(
    operation: Operation,
    index: Index,
    operands: Sequence[Value],
    arithmetic: Arithmetic,
    length: Callable[[int], Value],
) -> list[Value]:
    """The index, in the base, of an element of a part (`getitem`).

    operands: those of the operation, as they are now. length: gives the length of an axis of the
    base.
    """
    base = operation.operands[0].type
    assert isinstance(base, Array)
    items = operation.attributes["index"]
    return part_index(items, base.rank, index, operands, arithmetic, length)


def part_index(
    items: Any,
    rank: int,
    index: Index,
    operands: Sequence[Value],
    arithmetic: Arithmetic,
    length: Callable[[int], Value],
) -> list[Value]:
    """The index, in an array of this rank, of an element of `array[items]`."""
    given, found = list(index), []
    axis = 0
    for item in explicit(items, rank):
        if item is None:
            given.pop(0)
            continue
        if isinstance(item, SliceOf):
            found.append(_in_slice(item, axis, given.pop(0), operands, arithmetic, length))
        else:
            found.append(_single(item, axis, operands, arithmetic, length))
        axis += 1
    return found


def explicit(items: Any, rank: int) -> list[Any]:
    """An index with an item for each axis."""
    given = list(items) if isinstance(items, tuple) else [items]
    if any(isinstance(item, bool) for item in given):
        raise UnknownPartError
    used = sum(item is not None and item is not Ellipsis for item in given)
    whole = [SliceOf()] * (rank - used)
    if Ellipsis in given:
        place = given.index(Ellipsis)
        return [*given[:place], *whole, *given[place + 1 :]]
    return [*given, *whole]


def _single(
    item: Any,
    axis: int,
    operands: Sequence[Value],
    arithmetic: Arithmetic,
    length: Callable[[int], Value],
) -> Value:
    if isinstance(item, Operand):
        return operands[item.index]
    if not isinstance(item, int):
        raise UnknownPartError
    if item < 0:
        return arithmetic.plus(length(axis), item)
    return arithmetic.number(item)


def _in_slice(
    item: SliceOf,
    axis: int,
    place: Value,
    operands: Sequence[Value],
    arithmetic: Arithmetic,
    length: Callable[[int], Value],
) -> Value:
    step = 1 if item.step is None else item.step
    if not isinstance(step, int):
        raise UnknownPartError
    start = item.start
    if start is None:
        if step > 0:
            return arithmetic.times(place, step)
        last = arithmetic.plus(length(axis), -1)
        return arithmetic.apply(operator.sub, last, arithmetic.times(place, -step))
    if isinstance(start, Operand):
        first = operands[start.index]
        known = getattr(first.type, "value", None)
        if known is None or known.minimum is None or known.minimum < 0:
            raise UnknownPartError
    elif start < 0:
        first = arithmetic.plus(length(axis), start)
    else:
        if step > 0:
            return arithmetic.plus(arithmetic.times(place, step), start)
        first = arithmetic.number(start)
    if step > 0:
        return arithmetic.apply(operator.add, first, arithmetic.times(place, step))
    return arithmetic.apply(operator.sub, first, arithmetic.times(place, -step))
