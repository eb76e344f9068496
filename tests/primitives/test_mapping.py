"""Functions of the program that NumPy applies to rows, over axes, and to all elements."""

from __future__ import annotations

import numpy as np
import pytest

from tests.frontend.oracles import check

X = np.array([0.4, 1.5, 0.9])


def weighted_total(a, axis):
    return np.sum(a, axis=axis, keepdims=True) * (axis + 2)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.apply_over_axes(weighted_total, np.outer(x, x), -1),
        lambda x: np.apply_over_axes(weighted_total, np.outer(x, x), [-1]),
        lambda x: np.apply_over_axes(weighted_total, np.outer(x, x), (0, -1)),
        lambda x: np.apply_over_axes(lambda a, k: a * (k + 2), np.outer(x, x), np.array([0, -1])),
    ],
)
def test_axes_are_counted_from_the_first(function):
    check(function, X)


def all_axes(a, axis):
    return np.sum(a, axis=(0, 1))


def another_axis(a, axis):
    return a[None]


@pytest.mark.parametrize("function", [all_axes, another_axis, np.max])
def test_a_function_over_axes_leaves_all_of_them_or_takes_one(function):
    def over_the_first(x):
        try:
            return np.sum(np.apply_over_axes(function, np.outer(x, x), [0]))
        except ValueError:
            return x[0]

    check(over_the_first, X)
