"""What every iteration computes alike is computed once, before the loop; nothing else is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gradscribe as gs

X = np.array([0.3, 0.7, 1.1])
A = np.array([[2.0, 0.3], [0.1, 1.5]])


def source(function: Any, *args: Any) -> str:
    text: str = gs.differentiable(function).specialize(*args).gradient_source
    return text


def before_loop(text: str) -> str:
    return text.split("    for ")[0]


def scaled(x, n):
    total = 0.0
    for i in range(n):
        total += np.sin(x[i] * np.sqrt(0.2))
    return total


def test_a_constant_is_not_recorded() -> None:
    text = source(scaled, X, 3)
    assert "np.sqrt(0.2)" in before_loop(text)
    assert "steps" not in text
    gs.testing.check_grad(lambda x: scaled(x, 3), X)


def filtered(z, a, r):
    x = np.zeros(2)
    for i in range(3):
        gain = np.linalg.inv(a @ a.T + r)
        x = a @ x + gain @ (z[i] - x)
    return x


def test_what_may_raise_moves_where_an_iteration_is_made() -> None:
    z = np.linspace(-1, 1, 6).reshape(3, 2)
    text = source(filtered, z, A, np.eye(2))
    assert "\n    gain = np.linalg.inv(a @ a.T + r)\n" in before_loop(text)
    gs.testing.check_grad(filtered, z, A, np.eye(2))


def rooted(x, y, n):
    total = x
    for _ in range(n):
        total = total * math.sqrt(y)
    return total


def test_what_may_raise_stays_where_no_iteration_may_be_made() -> None:
    assert gs.grad(rooted, argnums=(0, 1))(2.0, -1.0, 0) == (1.0, 0.0)
    with pytest.raises(ValueError, match="math domain error"):
        gs.grad(rooted)(2.0, -1.0, 2)


def printed(x, a):
    for i in range(2):
        print(i)
        x = np.linalg.inv(a) @ x
    return x


def test_what_may_raise_stays_behind_effects(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(np.linalg.LinAlgError):
        gs.vjp(printed, X[:2], np.zeros((2, 2)))
    assert capsys.readouterr().out == "0\n"


def stored(x, n):
    total = 0.0
    for i in range(n):
        parts = np.exp(x)
        parts[i] = parts[i] * parts[0] + total
        total = total + np.sum(parts * x)
    return total


def test_arrays_that_are_stored_to_are_made_in_each_iteration() -> None:
    assert "np.exp(x)" not in before_loop(source(stored, X, 3))
    gs.testing.check_grad(lambda x: stored(x, 3), X)


def nested(x, y, n):
    total = 0.0
    for i in range(n):
        for j in range(n):
            total += np.tanh(y) * np.exp(x[i]) * x[j]
    return total


def test_each_goes_as_far_out_as_it_can() -> None:
    text = source(nested, X, 0.4, 3)
    assert "np.tanh(y)" in before_loop(text)
    assert text.index("for i") < text.index("np.exp(x[i])") < text.index("for j")
    gs.testing.check_grad(lambda x, y: nested(x, y, 3), X, 0.4)


def drawn(x, rng):
    total = 0.0
    for _ in range(3):
        total += np.sum(rng.normal(size=2) * x[:2])
    return total


def test_random_numbers_are_drawn_in_each_iteration() -> None:
    value, gradient = gs.value_and_grad(drawn)(X, np.random.default_rng(0))
    assert value == drawn(X, np.random.default_rng(0))
    draws = np.random.default_rng(0).normal(size=(3, 2)).sum(axis=0)
    np.testing.assert_allclose(gradient, [*draws, 0.0])
