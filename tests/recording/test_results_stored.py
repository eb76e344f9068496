"""Recorded runs: results that are stored where the program says, and what is a copy."""

from __future__ import annotations

import numpy as np
import pytest

import gradscribe as gs

X = np.array([0.5, 2.0, 3.0])


def clipped(x):
    y = x * 1.0
    np.clip(y, 1.0, 2.5, y)
    return np.sum(y)


def clipped_by_method(x):
    y = x * 1.0
    y.clip(1.0, 2.5, y)
    return np.sum(y)


def summed(x):
    y = np.zeros(3)
    x.cumsum(0, None, y)
    return np.sum(y)


def multiplied(x):
    y = np.zeros((3, 3))
    np.outer(x, x, y)
    return np.sum(y)


def dot(x):
    y = np.zeros(())
    np.dot(x, x, out=y)
    return y[()] * 1.0


def every_other_in_order(x):
    y = x * 1.0
    np.ascontiguousarray(y[::2])[1] = 9.0
    return np.sum(y)


def copied_if_asked(x):
    y = x * 1.0
    np.asarray(y, copy=True)[1] = 9.0
    np.array(y, copy=False)[0] = 9.0
    return np.sum(y)


def conjugated(x):
    y = x * 1.0
    y.conj()[1] = 9.0
    return np.sum(y)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (clipped, [0, 1, 0]),
        (clipped_by_method, [0, 1, 0]),
        (summed, [3, 2, 1]),
        (multiplied, [11, 11, 11]),
        (dot, [1, 4, 6]),
        (every_other_in_order, [1, 1, 1]),
        (copied_if_asked, [0, 1, 1]),
        (conjugated, [1, 0, 1]),
    ],
)
def test_a_recorded_run_stores_and_copies_as_numpy_does(function, expected):
    value, gradient = gs.value_and_grad(function, compile=False)(X)
    assert value == function(X)
    assert np.allclose(gradient, expected)
