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


def arrays_of_arrays(x, y):
    """An array is the list of its rows."""
    rows = np.outer(x, y)
    joined = np.concatenate(rows)[4] + np.stack(rows, axis=1)[0, 2] + np.hstack(rows)[1]
    return joined**2 + np.column_stack(rows)[0, 1] ** 2 + np.choose([0, 2, 1], rows).sum()


def lists_of_lists(x, y):
    pairs = [[v, v * y[0]] for v in x]
    lengths = len(np.flatnonzero([v > 1 for v in x])) + len(np.argwhere([x > 0, y > 0]))
    joined = np.concatenate(pairs)[2] ** 2 + np.vstack([(v, v * v) for v in y])[1, 1] ** 2
    return joined + lengths * np.einsum("ij,ij->", pairs, pairs)


def counted_lists(x, y):
    scaled = [k * np.outer(x, y) for k in range(1, len(x))]
    columns = np.column_stack([x * v for v in y])
    order = np.lexsort([x * v for v in y])
    return np.linalg.multi_dot(scaled)[0, 1] + (columns[1] ** 2).sum() + x[order[0]] ** 2


def lists_three_levels_deep(x, y):
    written = np.array([[[x[0], 1.0], [2.0, x[1]]], [[y[0], x[0]], [y[1], 3.0]]])
    computed = np.array([[[v * w * k for k in range(2)] for v in x] for w in y])
    of_arrays = np.array([[[x * k for k in range(2)] for v in y] for w in x])
    mixed = np.array([([x[0], v], [x[1], 1.0]) for v in y])
    return (written**2).sum() + (computed[1] ** 2).sum() + (of_arrays**2).sum() + mixed.prod()


def lists_in_tuples(x, y):
    rows = ([[v, 1.0] for v in x], [[2.0, w * w] for w in y])
    return (np.array(rows) ** 2).sum() + np.array([rows, rows])[1, 0, 2, 0] * x[1]


FUNCTIONS = [reductions, run_time_lists, elementwise, operators, products_and_joins, conversions]
FUNCTIONS += [numbers_of_numpy, arrays_of_arrays, lists_of_lists, counted_lists]
FUNCTIONS += [lists_three_levels_deep, lists_in_tuples]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_numpy_makes_an_array_of_a_list(function: Any) -> None:
    np.testing.assert_array_equal(gs.vjp(function, X, Y)[0], function(X, Y))
    gs.testing.check_grad(function, X, Y)


def test_numpy_takes_no_iterator() -> None:
    with pytest.raises(errors.UnsupportedError, match="NumPy takes no iterator"):
        gs.grad(lambda x: np.mean(v * v for v in x))(X)


@pytest.mark.parametrize("mode", np._CopyMode)
def test_modes_of_copying_are_no_truth_values(mode):
    def f(x):
        return np.sum(np.array(x, copy=mode) ** 2)

    np.testing.assert_allclose(gs.grad(f)(np.array([1.0, 2.0])), [2, 4])
