"""Arrays of which two elements are one in memory: what is stored to one is in the other."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import gradscribe as gs
from gradscribe.errors import AliasingError
from gradscribe.ir.overlaps import overlaps_itself

X = np.array([0.7, 1.3, 0.4])
LINE = np.arange(5.0)
WINDOWS = sliding_window_view(LINE, 3, writeable=True)
HELD = [WINDOWS]


def element(x):
    WINDOWS[1, 1] = 7.0
    return np.sum(WINDOWS[0] * x)


def row(x):
    WINDOWS[0] *= 2
    return np.sum(WINDOWS[1] * x)


def in_a_list(x):
    HELD[0][1, 1] = 7.0
    return np.sum(HELD[0][0] * x)


def by_out(x):
    np.add(WINDOWS[0], WINDOWS[1], out=WINDOWS[2])
    return np.sum(WINDOWS[1] * x)


def only_read(x):
    return np.sum(WINDOWS * x)


@pytest.mark.parametrize("compile", [True, "auto", False])
@pytest.mark.parametrize("function", [element, row, in_a_list, by_out, only_read])
def test_elements_that_are_one_are_stored_to_as_one_or_refused(function: Any, compile: Any) -> None:
    LINE[:] = np.arange(5.0)
    value, left = function(X), LINE.tolist()
    LINE[:] = np.arange(5.0)
    transform = gs.value_and_grad(function, compile=compile)
    if compile is True and function is not only_read:
        with pytest.raises(AliasingError, match="two of its elements are one in memory"):
            transform(X)
        assert LINE.tolist() == [*range(5)]
        return
    assert transform(X)[0] == value
    assert LINE.tolist() == left


@pytest.mark.parametrize("compile", [True, "auto", False])
def test_an_argument_whose_elements_are_one_is_not_stored_to(compile: Any) -> None:
    def function(x):
        x[0] = x[1] * 3
        return np.sum(x**2)

    with pytest.raises(AliasingError):
        gs.value_and_grad(function, compile=compile)(as_strided(np.array([2.0]), (3,), (0,)))


A = np.zeros((4, 6))


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        *((a, False) for a in (A, A.T, A[::2, ::3], A[:, ::-1], A[::-1].T, A[1:1], A[:1, :1])),
        *((a, False) for a in (np.float64(1.0).reshape(()), A[None, :, None], A.reshape(2, 2, 6))),
        *((a, True) for a in (WINDOWS, np.broadcast_to(A, (2, 4, 6)), as_strided(A, (3,), (4,)))),
    ],
)
def test_which_arrays_overlap_themselves(array: Any, expected: bool) -> None:
    assert overlaps_itself(array) is expected


WEIGHTS = np.arange(5.0)


def stored_copy(x):
    y = x * 1.0
    y[::2] = y[:3].copy()
    return np.sum(y * WEIGHTS)


def stored_sum(x):
    y = x * 2.0
    y[::2] = y[:3] + 1
    return np.sum(y * WEIGHTS)


def computed_into(x):
    y = x * 2.0
    np.add(y[:3], 1.0, out=y[::2])
    return np.sum(y * WEIGHTS)


def stored_double(x):
    y = x * 1.0
    first = y[:3]
    y[::2] = first * 2
    return np.sum(y * WEIGHTS)


def moved_on(x):
    y = x * 1.0
    y[1:] = y[:-1]
    return np.sum(y * WEIGHTS)


def thinned_out(x):
    y = x * 1.0
    y[:3] = y[::2]
    return np.sum(y * WEIGHTS)


def turned(x):
    y = x * 1.0
    y[::-2] = y[:3]
    return np.sum(y * WEIGHTS)


def added(x):
    y = x * 1.0
    y[::2] += y[:3]
    return np.sum(y * WEIGHTS)


@pytest.mark.parametrize("compile", [True, "auto", False])
@pytest.mark.parametrize(
    "function",
    [
        *(stored_copy, stored_sum, computed_into, stored_double),
        *(moved_on, thinned_out, turned, added),
    ],
)
def test_a_part_is_stored_in_another_part(function: Any, compile: Any) -> None:
    x, v = np.array([0.5, 1.0, 1.5, 0.7, 0.3]), np.array([1.0, 2.0, 3.0, -1.0, 0.4])
    slope = (function(x + 1e-6 * v) - function(x - 1e-6 * v)) / 2e-6
    value, gradient = gs.value_and_grad(function, compile=compile)(x)
    same, tangent = gs.jvp(function, (x,), (v,), compile=compile)
    assert value == same == pytest.approx(function(x))
    assert np.dot(gradient, v) == pytest.approx(slope) == tangent


@pytest.mark.parametrize("compile", [True, "auto", False])
@pytest.mark.parametrize("by", [operator.setitem, lambda y, place, part: np.copyto(y[place], part)])
def test_what_numpy_overwrites_before_it_is_read_is_refused(by: Any, compile: Any) -> None:
    def function(x):
        y = x * 1.0
        by(y, slice(None, None, 2), y[:3])
        return np.sum(y * WEIGHTS)

    with pytest.raises(gs.errors.UnsupportedError, match="stored already"):
        gs.value_and_grad(function, compile=compile)(np.arange(1.0, 6.0))
