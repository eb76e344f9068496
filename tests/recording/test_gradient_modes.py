"""Gradient modes within recorded runs."""

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError


def under_no_grad(x):
    with gs.no_grad():
        y = np.sin(x) * x[0]
        tail = x[1:]
        mean = x.mean()
    return np.sum(y * x) + np.sum(tail * x[1:]) + mean * x[2]


@gs.no_grad()
def weights(x):
    return np.exp(x)


def decorated(x):
    return np.sum(weights(x) * x)


@pytest.mark.parametrize("function", [under_no_grad, decorated], ids=lambda f: f.__name__)
def test_what_is_computed_under_no_grad_has_no_derivative(function):
    x = np.array([0.5, 1.5, 2.5])
    expected = gs.grad(function)(x)
    np.testing.assert_allclose(gs.grad(function, compile=False)(x), expected)
    with gs.no_grad():  # which is about Tensors
        np.testing.assert_allclose(gs.grad(function, compile=False)(x), expected)
    direction = np.array([1.0, -1.0, 2.0])
    tangent = gs.jvp(function, (x,), (direction,), compile=False)[1]
    np.testing.assert_allclose(tangent, expected @ direction)


def test_a_store_under_no_grad_is_refused():
    def function(x):
        y = x * 2
        with gs.no_grad():
            y[0] = x[1]
        return np.sum(y)

    with pytest.raises(UnsupportedError, match="a store under `no_grad`"):
        gs.grad(function, compile=False)(np.ones(3))
