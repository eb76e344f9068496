"""Lists and tuples where NumPy takes arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors

X, Y = np.array([0.5, 1.5, 2.5]), np.array([-0.3, 0.7, 1.1])


def reductions(x, y):
    values = [x[0], x[1] * x[2], x[2]]
    total = np.mean(values) + np.max(values) + np.std(values) + np.prod((x[0], 2))
    return total + np.sum([x, y]) + np.mean([x, y], axis=0)[1] + np.sum([[x[0], 1], [2, x[1]]])


def run_time_lists(x, y):
    rows, squares = [], []
    for v in x:
        rows.append(v * y)
        squares.append(v * v)
    total = np.sum(rows) + np.max(rows, axis=0)[0] + np.std(squares)
    return total + np.sum(np.exp(squares) * x) + np.sum(np.clip(squares, 0.1, 3.0))


def elementwise(x, y):
    chosen = np.where([True, False, True], x, y)
    total = np.sum(np.add([1, 2, 3], x)) + np.sin([x[0], x[1]])[1] + np.hypot([3, 4], x[0])[0]
    return total + np.sum(chosen) + np.sum(np.maximum([1, 2, 3.0], x))


def operators(x, y):
    z = x.copy()
    z *= [1, 2, 3]
    return np.sum(x * [1.0, 2.0, 3.0]) + np.prod([1, 2, 3] - x) + x @ (1, 2, 3) + np.sum(z * y)


def products_and_joins(x, y):
    values = [x[0], x[1]]
    joined = np.concatenate([[x[0], 1.0], y])
    return np.dot(values, values) + x.dot([1, 2, 3]) + np.sum(joined) + np.sum(np.outer([1], y))


def conversions(x, y):
    return np.asarray([x[0], y[1]])[1] + np.sum(np.asarray([x[0], 2], dtype=float)) * x[1]


def numbers_of_numpy(x, y):
    values = [v * v for v in x]
    shifted = values - np.max(values)
    pair = [x[0], x[1]] / y[2]
    return np.exp(shifted).sum() + (pair**2).sum() + ((x[1], 2.0) < y[0]).sum() * x[2]


FUNCTIONS = [reductions, run_time_lists, elementwise, operators, products_and_joins, conversions]
FUNCTIONS += [numbers_of_numpy]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_numpy_makes_an_array_of_a_list(function: Any) -> None:
    gs.testing.check_grad(function, X, Y)


def test_numpy_takes_no_iterator() -> None:
    with pytest.raises(errors.UnsupportedError, match="NumPy takes no iterator"):
        gs.grad(lambda x: np.mean(v * v for v in x))(X)
