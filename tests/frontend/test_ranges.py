"""Ranges are sequences of integers: their parts, items and lengths; they are indices and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.frontend.oracles import agrees, check

A34 = np.linspace(-1.0, 2.0, 12).reshape(3, 4) ** 3
W = np.array([0.7, 1.3, 0.9])


def picked_by_range(scores, y):
    n = scores.shape[0]
    p = np.exp(scores)
    p[range(n), y] -= 1
    p[range(0, n, 2)] *= 2
    return p[range(1, n), 0].sum() + np.log(p[range(n), list(y)] ** 2).sum()


def test_a_range_is_an_index_as_an_array_is() -> None:
    check(picked_by_range, A34, np.array([0, 2, 1]))


def parts_of_ranges(x):
    total = 0.0
    for part in (2, 9):
        for i in range(len(x))[part:]:
            total = total * 0.5 + x[i] * i
    for i in range(len(x))[:2]:
        total += x[i] ** 2 * i
    for i in range(len(x))[1:-1]:
        total = total * x[i]
    for i in range(1, len(x))[::-1]:
        total = total * 0.5 + x[i]
    for i in range(len(x))[1:20:2]:
        total += x[i] ** 3
    return total


def test_parts_of_ranges_are_ranges():
    check(parts_of_ranges, np.array([1.0, 2.0, 3.0, 4.0, 5.0]))


def numbers_of_ranges(x):
    columns, rows = np.meshgrid(range(3), range(2))
    total = np.sum(np.array(range(1, 4)) * x) + np.sum(range(3)) * x
    return total + np.sum(columns * x**2 + rows) + np.dot(range(3)[::-1], [x, 2.0, x])


def test_ranges_are_arrays_of_their_numbers():
    check(numbers_of_ranges, 1.5)


def lengths_of_ranges(w: Any) -> Any:
    numbers, every = range(len(w)), range(0, len(w), 2)
    return len(numbers) * w[0] + len(every) * w[1] + range(1, 9, 2)[1] * w[2]


def test_ranges_have_lengths_and_items() -> None:
    agrees(lengths_of_ranges, W)
