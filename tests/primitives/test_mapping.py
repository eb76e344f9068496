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


def ratio(a, b):
    try:
        return a / b
    except ZeroDivisionError:
        return a * 10.0


RATIO = np.vectorize(ratio)

OF_NUMBERS = {
    "small integers": lambda x: np.vectorize(lambda a, i: a * (i * i))(
        x, np.array([3, 20, 100], dtype=np.int8)
    ),
    "bools": lambda x: np.vectorize(lambda a, b: a * ~b)(x, np.array([True, False, True])),
    "zero": lambda x: RATIO(x, np.array([1.0, 0.0, 2.0])),
    "numbers of NumPy": lambda x: np.vectorize(
        lambda a, b: a * isinstance(b, np.floating) * isinstance(a, np.floating)
    )(x[0], [x[1], x[2].item(), 1.0]),
    "classes": lambda x: np.vectorize(lambda a: a * (1.0 if isinstance(a, np.floating) else 2.0))(
        x
    ),
    "a list": lambda x: np.vectorize(lambda a, b: a * b)([[x[0]], [2], [2.5]], x),
    "numbers": lambda x: np.vectorize(lambda a, b: a * b)(x[1], 3),
    "an array without axes": lambda x: RATIO(np.array(x[0]), x),
    "no numbers": lambda x: np.vectorize(lambda: x[0])() * x,
    "two axes": lambda x: np.vectorize(lambda a, b: a * b)(x[:, None], x),
    "single precision": lambda x: np.vectorize(lambda a: a * 0.1)(x.astype(np.float32)),
    "a small dtype": lambda x: (
        np.vectorize(lambda k: np.uint8(k))(np.array([200, 100, 5])) * np.uint8(2) * x
    ),
    "several results": lambda x: np.vectorize(lambda a: (a > 1, 2, a * a))(x),
}


@pytest.mark.parametrize("function", OF_NUMBERS.values(), ids=OF_NUMBERS)
def test_functions_of_numbers_are_given_those_of_python_and_the_first_tells_the_dtype(function):
    check(function, X)


def test_a_number_of_python_is_not_divided_by_zero():
    with pytest.raises(ZeroDivisionError):
        gs.value_and_grad(lambda x: np.sum(np.vectorize(lambda k: 1 / k)(np.arange(3)) * x))(X)


def test_a_first_result_of_several_dtypes_is_refused():
    def some(x):
        small = np.vectorize(lambda k: np.float32(0.1) if k < 1 else k / 3)
        return np.sum(small(np.arange(3)) * x)

    with pytest.raises(UnsupportedError, match="may be `float32` or `float64` here"):
        gs.grad(some)(X)


def test_without_elements_there_is_no_result():
    def none(x):
        try:
            return np.sum(RATIO(x[:0], x[:0])) + x[1]
        except ValueError:
            return x[0]

    check(none, X)


@pytest.mark.parametrize("compile", [True, "auto", False])
def test_functions_of_numbers_are_given_tensors_without_axes(compile):
    x = gs.tensor(X, requires_grad=True)

    def squares(x):
        return np.sum(np.vectorize(lambda a, b: a * b if a > 0.5 else b)(x, x[1]))

    gs.differentiable(squares, compile=compile)(x).backward()
    np.testing.assert_allclose(x.grad, [0, 1 + 3 + 0.9, 1.5], rtol=1e-12)
