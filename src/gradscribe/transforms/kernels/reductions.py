"""Sums, products, means and extremes, along axes, as loops."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradscribe.ir.core import Operation, Value
from gradscribe.ir.types import Array
from gradscribe.primitives.control import ASSERT
from gradscribe.primitives.indexing import ACCUMULATE, GETITEM, STORE
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.transforms.kernels.elements import Elements
from gradscribe.transforms.kernels.errors import NotLoopsError
from gradscribe.transforms.kernels.indices import Arithmetic
from gradscribe.transforms.kernels.lengths import Lengths
from gradscribe.transforms.kernels.nests import Nests

_BLOCK = 128
"""So many numbers are added up one after the other; then the sums of such blocks are."""


@dataclass(frozen=True)
class Reduction:
    """combine: joins two partial results. start: what changes none. dtypes: of the elements.
    fails_when_empty: whether NumPy raises where there are no elements. is_mean: whether the result
    is divided by the number of elements."""

    combine: Callable[..., Any]
    start: float | bool
    dtypes: frozenset[str]
    fails_when_empty: bool = False
    is_mean: bool = False


_FLOATS, _NUMBERS = frozenset({"float64"}), frozenset({"float64", "int64", "bool"})
REDUCTIONS = {
    PRIMITIVES[np.sum]: Reduction(operator.add, 0, _NUMBERS),
    PRIMITIVES[np.mean]: Reduction(operator.add, 0, _NUMBERS, is_mean=True),
    PRIMITIVES[np.prod]: Reduction(operator.mul, 1, _FLOATS),
    PRIMITIVES[np.max]: Reduction(np.maximum, -np.inf, _FLOATS, fails_when_empty=True),
    PRIMITIVES[np.min]: Reduction(np.minimum, np.inf, _FLOATS, fails_when_empty=True),
    PRIMITIVES[np.any]: Reduction(operator.or_, False, _NUMBERS),
    PRIMITIVES[np.all]: Reduction(operator.and_, True, _NUMBERS),
}


class Reductions:
    """Builds the loops of reductions."""

    def __init__(
        self, numbers: Arithmetic, lengths: Lengths, elements: Elements, nests: Nests
    ) -> None:
        self._numbers = numbers
        self._lengths = lengths
        self._elements = elements
        self._nests = nests

    def of(self, operation: Operation) -> Value:
        """The result of a reduction of an array."""
        reduction = _checked(operation)
        x, result = operation.operands[0], operation.results[0]
        assert isinstance(x.type, Array)
        self._lengths.check(x, x)
        rank, axis = x.type.rank, operation.attributes.get("axis")
        given = range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        axes = {n % rank for n in given}
        count = self._count(x, axes) if reduction.is_mean or reduction.fails_when_empty else None
        if reduction.fails_when_empty:
            self._assert_positive(count)
        build = _One(self, reduction, x, axes, result, count if reduction.is_mean else None)
        return build.array() if isinstance(result.type, Array) else build.number()

    def _count(self, x: Value, axes: set[int]) -> Value:
        """The number of elements along these axes."""
        lengths = [self._lengths.of(x, axis) for axis in sorted(axes)]
        if len(lengths) == 1:
            return lengths[0]
        count = self._numbers.number(1.0)  # a product of integers might not fit
        for length in lengths:
            count = self._numbers.apply(operator.mul, count, length)
        return count

    def _assert_positive(self, count: Value | None) -> None:
        assert count is not None
        known = getattr(count.type, "value", None)
        if known is None or known.minimum is None or known.minimum < 1:
            condition = self._numbers.apply(operator.gt, count, self._numbers.number(0))
            self._numbers.builder.call(ASSERT, {"condition": condition, "message": None})


class _One:
    """One reduction. axes: those that are reduced. count: what the results are divided by."""

    def __init__(
        self,
        parts: Reductions,
        reduction: Reduction,
        x: Value,
        axes: set[int],
        result: Value,
        count: Value | None,
    ) -> None:
        assert isinstance(x.type, Array)
        self._numbers, self._lengths = parts._numbers, parts._lengths
        self._elements, self._nests = parts._elements, parts._nests
        self._reduction = reduction
        self._x = x
        self._rank = x.type.rank
        self._axes = axes
        self._result = result
        self._count = count

    def number(self) -> Value:
        """The reduction of all elements."""
        return self._finished(self._total([], self._start()))

    def array(self) -> Value:
        """The reductions along axes: of rows one by one, or row by row joined to one."""
        result = self._result
        assert isinstance(result.type, Array)
        keeps = result.type.rank == self._rank and bool(self._axes)
        shape = tuple(
            self._numbers.number(1) if n in self._axes else self._lengths.of(self._x, n)
            for n in range(self._rank)
            if keeps or n not in self._axes
        )

        def place(index: Sequence[Value]) -> list[Value]:
            zero = self._numbers.number(0) if keeps else None
            at = [zero if n in self._axes else index[n] for n in range(self._rank)]
            return [each for each in at if each is not None]

        if self._is_by_rows:
            array = self._nests.new_array(PRIMITIVES[np.empty], shape, result)
            return self._rows([], array, place)
        array = self._filled(shape)
        array = self._nests.over(self._x, array, lambda index, now: self._joined(index, now, place))
        if self._count is None:
            return array
        return self._nests.over(
            result,
            array,
            lambda index, now: self._put(now, self._finished(self._read(now, index)), index),
        )

    @property
    def _is_by_rows(self) -> bool:
        """Whether the axes that are reduced are the last ones."""
        return self._axes == set(range(self._rank - len(self._axes), self._rank))

    def _filled(self, shape: tuple[Value, ...]) -> Value:
        """An array of partial results of no elements."""
        zeros = self._nests.new_array(PRIMITIVES[np.zeros], shape, self._result)
        if not self._reduction.start:
            return zeros
        return self._nests.over(
            self._result, zeros, lambda index, now: self._put(now, self._start(), index)
        )

    def _joined(
        self, index: list[Value], now: Value, place: Callable[[Sequence[Value]], list[Value]]
    ) -> Value:
        at, element = place(index), self._element(index)
        if self._reduction.combine is operator.add:
            return self._nests.put(ACCUMULATE, now, element, at, self._result.name)
        before = self._read(now, at)
        return self._put(now, self._numbers.apply(self._reduction.combine, before, element), at)

    def _rows(
        self,
        index: list[Value],
        current: Value,
        place: Callable[[Sequence[Value]], list[Value]],
    ) -> Value:
        axis = len(index)
        if axis in self._axes:
            total = self._finished(self._total(index, self._start()))
            at = [*index, *(self._numbers.number(0) for _ in range(axis, self._rank))]
            return self._put(current, total, place(at))
        length = self._lengths.of(self._x, axis)
        return self._nests.loop(
            length, [current], lambda i, now: [self._rows([*index, i], now[0], place)]
        )[0]

    def _element(self, index: list[Value]) -> Value:
        """An element; for `any` and `all`, whether it is not zero."""
        element = self._elements.of(self._x, index)
        is_truth = getattr(self._x.type, "dtype", "") == "bool"
        if not _is_of_truth(self._reduction) or is_truth:
            return element
        return self._numbers.apply(operator.ne, element, self._numbers.number(0))

    def _put(self, array: Value, element: Value, place: Sequence[Value]) -> Value:
        return self._nests.put(STORE, array, element, place, self._result.name)

    def _read(self, array: Value, place: Sequence[Value]) -> Value:
        return self._numbers.builder.call(GETITEM, {"x": array, "index": tuple(place)})

    def _start(self) -> Value:
        start = self._reduction.start
        is_float = getattr(self._result.type, "dtype", None) == "float64"
        return self._numbers.number(float(start) if is_float else start)

    def _finished(self, total: Value) -> Value:
        if self._count is None:
            return total
        return self._numbers.apply(operator.truediv, total, self._count)

    def _total(self, index: list[Value], total: Value) -> Value:
        """The reduction of all elements whose index begins so, joined to a number."""
        axis = len(index)
        if axis == self._rank:
            element = self._element(index)
            return self._numbers.apply(self._reduction.combine, total, element)
        length = self._lengths.of(self._x, axis)
        if axis < self._rank - 1 or self._reduction.combine is not operator.add:
            return self._nests.loop(
                length, [total], lambda i, now: [self._total([*index, i], now[0])]
            )[0]

        def block(first: Value, now: list[Value]) -> list[Value]:
            last = self._numbers.apply(min, self._numbers.plus(first, _BLOCK), length)
            (part,) = self._nests.loop(
                last,
                [self._start()],
                lambda i, sums: [self._total([*index, i], sums[0])],
                first=first,
            )
            return [self._numbers.apply(operator.add, now[0], part)]

        return self._nests.loop(length, [total], block, step=_BLOCK)[0]


def _is_of_truth(reduction: Reduction) -> bool:
    return reduction.combine in (operator.or_, operator.and_)


def _checked(operation: Operation) -> Reduction:
    """The reduction; raises where it is of other elements, or has options."""
    reduction, given = REDUCTIONS[operation.primitive], operation.attributes
    x, result = operation.operands[0].type, operation.results[0].type
    assert isinstance(x, Array)
    name = operation.primitive.name
    plain = given.get("initial") is None and given.get("where", True) is True
    if not plain or len(operation.operands) > 1:
        raise NotLoopsError(f"`{name}` with options", operation.location)
    is_float = reduction.is_mean or (x.dtype == "float64" and not _is_of_truth(reduction))
    wanted = "float64" if is_float else None
    of_result = getattr(result, "dtype", None)
    is_known = x.dtype in reduction.dtypes and of_result in _NUMBERS
    if not is_known or (wanted is not None and of_result != wanted):
        raise NotLoopsError(f"`{name}` of other numbers", operation.location)
    return reduction
