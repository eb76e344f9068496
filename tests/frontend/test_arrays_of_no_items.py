"""An array that is made of a list of arrays has no more than one axis where the list is empty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import gradscribe as gs

X = np.array([1.0, 2.0])
HELD = np.array([3.0, 4.0])


def total(x: Any, n: int) -> Any:
    parts = []
    for k in range(n):
        parts.append(x * k)
    found = np.sum(np.array(parts), axis=0)
    return np.sum(found * x) + (np.sum(x) if found.ndim else 0.0)


def axes(x: Any, n: int) -> Any:
    return np.sum(x) * np.ndim([HELD * k for k in range(n)])


def of_no_dimensions(x: Any, n: int) -> Any:
    found = special.multigammaln(HELD, n)
    return np.sum(found * x) + np.sum(x) * np.ndim(found)


MODES: dict[str, Callable[..., Any]] = {
    "gradient": lambda f, x, n: gs.value_and_grad(f, argnums=0)(x, n),
    "vjp": lambda f, x, n: (gs.vjp(f, x, n)[0], gs.vjp(f, x, n)[1](1.0)[0]),
    "jvp": lambda f, x, n: (f(x, n), np.array([pushed(f, x, n, step) for step in np.eye(2)])),
    "tensors": lambda f, x, n: by_tensors(f, x, n),
    "auto": lambda f, x, n: gs.value_and_grad(f, argnums=0, compile="auto")(x, n),
    "uncompiled": lambda f, x, n: gs.value_and_grad(f, argnums=0, compile=False)(x, n),
}


def pushed(function: Callable[..., Any], x: Any, n: int, step: Any) -> Any:
    return gs.jvp(lambda x: function(x, n), (x,), (step,))[1]


def by_tensors(function: Callable[..., Any], x: Any, n: int) -> Any:
    leaf = gs.tensor(x, requires_grad=True)
    value = gs.differentiable(function)(leaf, n)
    value.backward()
    assert leaf.grad is not None
    return value.item(), leaf.grad.numpy()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("function", [total, axes, of_no_dimensions])
def test_the_axes_are_those_of_the_list(function: Callable[..., Any], mode: str) -> None:
    for n in (3, 0, 2, 0):
        value, gradient = MODES[mode](function, X, n)
        np.testing.assert_allclose(value, function(X, n))
        steps = np.eye(2) * 1e-6
        expected = [(function(X + s, n) - function(X - s, n)) / 2e-6 for s in steps]
        assert np.shape(gradient) == np.shape(X)
        np.testing.assert_allclose(gradient, expected, atol=1e-6)
