"""Lists that hold integers beside what is differentiated: arrays that are made of them."""

from __future__ import annotations

import numpy as np
import pytest

import gradscribe as gs

X = np.array([0.3, 1.2, -0.5])
DIRECTION = np.array([1.0, 2.0, 3.0])


def numbered(x):
    pairs = []
    for number in range(3):
        pairs.append((number, x[number]))
    return pairs


def enumerated(x):
    pairs = []
    for pair in enumerate(x):
        pairs.append(pair)
    return pairs


def beside_lists(x):
    pairs = []
    for number in range(3):
        pairs.append(([number, number + 1], [x[number], 2 * x[number]]))
    return pairs


def beside_arrays(x):
    pairs = []
    for number in range(3):
        pairs.append((np.array([number, 2]), number * x[:2]))
    return pairs


MADE = [numbered, enumerated, beside_lists, beside_arrays]
TAKING = {
    "array": np.array,
    "asarray": lambda items: np.asarray(items) ** 2,
    "stack": np.stack,
    "sum": lambda items: np.sum(items, axis=0),
    "mean": np.mean,
    "max": lambda items: np.max(items, axis=-1),
    "concatenate": np.concatenate,
    "sorted": lambda items: np.median(items, axis=0),
}


@pytest.mark.parametrize("take", TAKING.values(), ids=TAKING)
@pytest.mark.parametrize("make", MADE)
def test_integers_have_no_tangent(make, take):
    def function(x):
        return take(make(x))

    step = 1e-6 * DIRECTION
    expected = (function(X + step) - function(X - step)) / 2e-6
    value, tangent = gs.jvp(function, (X,), (DIRECTION,))
    np.testing.assert_array_equal(value, function(X))
    np.testing.assert_allclose(tangent, expected, atol=1e-6)
    _, pullback = gs.vjp(function, X)
    np.testing.assert_allclose(pullback(np.ones_like(value))[0] @ DIRECTION, np.sum(expected))
