"""Functions of the program that NumPy applies to rows, over axes, and to all elements."""

from __future__ import annotations

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError
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


@pytest.mark.parametrize(
    "function",
    [
        lambda row: 0 if row[0] < 1 else np.sum(row),
        lambda row: False if row[0] < 1 else np.sum(row),
        lambda row: np.float32(0.1) if row[0] < 1 else np.sum(row) / 7,
        lambda row: [0, 1] if row[0] < 1 else [row[0], 1],
    ],
)
@pytest.mark.parametrize("is_constant", [True, False])
def test_rows_whose_results_may_be_of_several_dtypes_are_refused(function, is_constant):
    def along(x):
        rows = np.ones((3, 2)) if is_constant else np.outer(x, x)
        return np.sum(np.apply_along_axis(function, 1, rows)) * x[0]

    with pytest.raises(UnsupportedError, match="may be"):
        gs.grad(along)(X)


def test_rows_of_one_dtype_make_an_array_of_it():
    def along(x):
        single = np.apply_along_axis(lambda row: np.float32(row[0]), 1, np.outer(x, x))
        numbers = np.apply_along_axis(lambda row: 1.0 if row[0] < 1 else row[1], 0, np.outer(x, x))
        return single, numbers, np.apply_along_axis(lambda row: row[0] < 1, 0, np.outer(x, x))

    check(along, X)


def test_without_rows_there_is_no_result():
    def along(x):
        try:
            return np.sum(np.apply_along_axis(np.sum, 1, np.outer(x[:0], x))) + x[1]
        except ValueError:
            return x[0]

    check(along, X)
