"""NumPy's functions that store to an array, given a part of that array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from tests.frontend.oracles import agrees

x4 = np.array([0.7, 1.3, 2.1, 0.4])


def multiplied_at(x):
    a = x.copy()
    np.multiply.at(a, [1, 2, 3], a[:3])
    return np.sum(a**2)


def divided_at_by_what_is_reversed(x):
    a = x.copy()
    np.divide.at(a, [0, 1, 2], a[::-1][:3])
    return np.sum(a)


def added_at(x):
    a = x.copy()
    np.add.at(a, [1, 2, 3], a[:3])
    return np.sum(a**2)


def put_and_masked(x):
    a = x.copy()
    np.put(a, [1, 2], a[:2])
    np.putmask(a, [False, True, True, True], a[::-1])
    np.copyto(a[1:], a[:-1])
    return np.sum(a**2 * np.arange(4))


def index_of_itself(x):
    n = np.array([1, 2, 3, 0])
    np.multiply.at(n, n, 2)
    return np.sum(n * x)


COPYING = [multiplied_at, divided_at_by_what_is_reversed, added_at, put_and_masked, index_of_itself]


@pytest.mark.parametrize("options", [{}, {"compile": False}], ids=str)
@pytest.mark.parametrize("function", COPYING)
def test_what_is_stored_is_what_was_there_before(function: Any, options: Any) -> None:
    value, gradient = gs.value_and_grad(function, **options)(x4)
    assert np.isclose(value, function(x4))
    steps = np.eye(4) * 1e-6
    expected = [(function(x4 + step) - function(x4 - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient, expected, atol=1e-5)


def flat(x):
    a = x.copy()
    a.flat[1:] = a[:-1]
    return np.sum(a)


def placed(x):
    a = x.copy()
    np.place(a, [False, True, True, True], a[:3])
    return np.sum(a)


def filled_diagonal(x):
    a = np.outer(x, x)
    np.fill_diagonal(a[::-1], a.T)
    return np.sum(a)


@pytest.mark.parametrize("options", [{}, {"compile": False}], ids=str)
@pytest.mark.parametrize("function", [flat, placed, filled_diagonal])
def test_what_numpy_stores_item_by_item_is_refused(function: Any, options: Any) -> None:
    with pytest.raises(gs.errors.UnsupportedError, match="item by item may share memory"):
        gs.grad(function, **options)(x4)


# -- sequences of views --------------------------------------------------------------------------


def swapped_rows(x):
    a = np.outer(x, x)[:2]
    a[:] = [a[1], a[0]]
    return np.sum(a**2 * x)


def rows_in_columns(x):
    a = np.outer(x, x)
    a.T[:] = (a[1], a[0][::-1], a[:, 2], a[3] * 2)
    return np.sum(a**2 * x)


def shifted_rows(x):
    a = np.outer(x, x * x)
    for k in range(2):
        rows = [a[0], a[1], a[2]]
        a[1:] = rows
        a[:, :1] = [a[k, 1:2], a[0, :1], a[1, 2:3], a[2, 3:]]
    return np.sum(a**2 * x)


def blocks_of_rows(x):
    a = np.outer(x, x * x).reshape(2, 2, 4)
    a[:] = [[a[1, 0], a[1, 1]], [a[0, 0], a[0, 1] * 3]]
    a[None] = [[a[1], a[0]]]
    return np.sum(a**2 * x)


def rows_that_are_copied_first(x):
    a = np.outer(x, x)
    a[[0, 1]] = [a[1], a[0]]
    a[:] = [a[2, :1], a[0, 1:2], a[1, 2:3], a[0, 3:]]
    a[None] = [a[1], a[0], a[3], a[2]]
    np.copyto(a, [a[1], a[0], a[3], a[2]])
    a[:2] = [[a[1, 0], a[1, 1], 1.0, 2.0], [a[0, 0], a[0, 1], 3.0, x[0]]]
    a[0, 1:] = list(a[0, :3])
    return np.sum(a**2 * x)


SEQUENCES = [
    swapped_rows,
    rows_in_columns,
    shifted_rows,
    blocks_of_rows,
    rows_that_are_copied_first,
]


@pytest.mark.parametrize("function", SEQUENCES)
def test_views_in_a_sequence_are_read_when_those_before_are_stored(function: Any) -> None:
    agrees(function, x4)


def rows_backwards(x):
    a = np.outer(x, x)
    a[:] = list(a[::-1])
    return np.sum(a * x)


def rows_in_a_loop(x):
    a = np.outer(x, x)
    a[1:] = [row for row in a[:3]]
    return np.sum(a * x)


def sorted_rows(x):
    a = np.outer(x, x)
    a[:] = sorted(a, key=lambda row: -row[0])
    return np.sum(a * x)


def row_that_may_be_a_copy(x):
    a = np.outer(x, x)
    a[:2] = [a[1], np.reshape(a[:, 0], 4)]
    return np.sum(a * x)


@pytest.mark.parametrize(
    "function", [rows_backwards, rows_in_a_loop, sorted_rows, row_that_may_be_a_copy]
)
def test_sequences_of_what_may_be_views_are_refused(function: Any) -> None:
    with pytest.raises(gs.errors.UnsupportedError, match="item by item may share memory"):
        gs.grad(function)(x4)


def copied_to_integers(x):
    n = np.zeros(4, dtype=int)
    try:
        np.copyto(n, 3.0)
    except TypeError:
        return np.sum(x)
    return np.sum(x * n)


@pytest.mark.parametrize("options", [{}, {"compile": False}], ids=str)
def test_copyto_casts_as_it_says(options: Any) -> None:
    assert gs.grad(copied_to_integers, **options)(x4).tolist() == [1.0] * 4

    def function(x):
        n = np.zeros(4, dtype=int)
        np.copyto(n, x)
        return np.sum(n * x)

    with pytest.raises(TypeError, match=r"Cannot cast array data|cannot be stored in an array"):
        gs.grad(function)(x4)
