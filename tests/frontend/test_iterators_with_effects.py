"""Iterators whose items change what is outside when they are taken: how many are taken, and when,
is what Python takes, or refused."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors

X = np.array([0.7, 1.1, 0.4])
COUNT, SEEN, NUMBERS = [0.0], [1.0], [1.0, 2.0, 3.0]


def counted(value: Any) -> Any:
    COUNT[0] = COUNT[0] + 1.0
    return value * 1.0


def plain(value: Any) -> Any:
    return value * 2.0


def counting() -> Any:
    for value in NUMBERS:
        COUNT[0] = COUNT[0] + value
        yield value


class Rows:
    def __len__(self) -> int:
        return 3

    def __getitem__(self, place: int) -> float:
        COUNT[0] = COUNT[0] + 1.0
        return NUMBERS[place]


class Counting:
    def __iter__(self) -> Any:
        for value in NUMBERS:
            COUNT[0] = COUNT[0] + 1.0
            yield value


ROWS, COUNTING = Rows(), Counting()


def zipped_in_a_loop(x):
    total = 0.0
    for a, b in zip(map(counted, NUMBERS), x[:1], strict=False):
        total = total + a * b
    return total


def accumulated(x):
    sums = itertools.accumulate(NUMBERS, lambda a, b: counted(a) + b)
    return next(sums) * x[0] + COUNT[0]


def read_in_the_loop(x):
    total = 0.0
    for value in counting():
        total = total + value * COUNT[0] * x[0]
    return total


def read_beside_numbers(x):
    total = 0.0
    for number, value in enumerate(counting()):
        total = total + number * value * COUNT[0] * x[0]
    return total


def read_of_an_object(x):
    total = 0.0
    for value in COUNTING:
        total = total + value * COUNT[0] * x[0]
    return total


def first_of_a_chain(x):
    chained = itertools.chain(map(counted, NUMBERS), x)
    return next(chained) * x[0]


def read_by_another_function(x):
    return sum(map(lambda value: value * COUNT[0], counting())) * x[0]


def appended(x):
    list(zip(map(SEEN.append, NUMBERS), [1.0], strict=False))
    return len(SEEN) * x[0]


@pytest.mark.parametrize(
    "function",
    [
        zipped_in_a_loop,
        appended,
        lambda x: sum(a * b for a, b in zip((counted(v) for v in x), x[:2], strict=False)),
        lambda x: sum(a * b for a, b in zip(counting(), x[:1], strict=False)),
        lambda x: sum(a * b for a, b in zip(ROWS, x[:1], strict=False)),
        lambda x: sum(a * b for a, b in zip(COUNTING, x[:1], strict=False)),
        lambda x: sum(map(lambda a, b: a * b, map(counted, NUMBERS), x[:1])),
        lambda x: sum(a * b for a, b in zip(map(counted, itertools.count()), x, strict=False)),
        lambda x: sum(itertools.islice(map(counted, NUMBERS), 1)) * x[0],
        lambda x: (2.0 in map(counted, NUMBERS)) * x[0],
        lambda x: (1.0 in COUNTING) * x[0],
        accumulated,
        first_of_a_chain,
        read_in_the_loop,
        read_beside_numbers,
        read_of_an_object,
        read_by_another_function,
    ],
)
def test_items_that_change_something_are_not_taken_too_many_or_too_early(function) -> None:
    with pytest.raises(errors.UnsupportedError):
        gs.grad(lambda x: function(x) + COUNT[0] * x[1])(X)


def counted_in_a_loop(x):
    total = 0.0
    for value in counting():
        total = total + value * x[0]
    return total


def numbered_in_a_loop(x):
    total = 0.0
    for number, value in enumerate(COUNTING):
        total = total + number * value * x[0]
    return total


@pytest.mark.parametrize(
    "function",
    [
        lambda x: sum(a * b for a, b in zip(x[:1], map(counted, NUMBERS), strict=False)),
        lambda x: sum(a * b for a, b in zip(map(counted, x), x, strict=False)),
        lambda x: sum(a * b for a, b in zip(map(plain, NUMBERS), x[:1], strict=False)),
        lambda x: sum(itertools.islice(map(plain, x), 2)),
        lambda x: (2.0 in map(plain, NUMBERS)) * x[0],
        lambda x: sum(map(counted, NUMBERS)) * x[0],
        lambda x: dict(enumerate(counting()))[1] * x[0],
        lambda x: sum(itertools.takewhile(lambda v: counted(v) < 1.5, NUMBERS)) * x[0],
        counted_in_a_loop,
        numbered_in_a_loop,
    ],
)
def test_items_that_are_all_taken_may_change_something(function) -> None:
    def program(x):
        value = function(x)
        return value + COUNT[0] * x[1]

    COUNT[0] = 0.0
    expected = program(X)
    for _ in range(2):
        COUNT[0] = 0.0
        assert gs.value_and_grad(program)(X)[0] == pytest.approx(expected, rel=1e-15)
