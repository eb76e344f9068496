"""`number * item` and `array * item` where `item` is an object: whom NumPy asks.

What NumPy gives without the object is refused, what it asks the object for is differentiated; by
the compiler, and where the function runs as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs

X = np.array([0.7, 1.3, -0.4])


class Pair:
    """A sequence, which NumPy takes for an array."""

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def __len__(self) -> int:
        return 2

    def __getitem__(self, i: int) -> Any:
        return (self.a, self.b)[i]

    def __rmul__(self, k: Any) -> Any:
        return Pair(10 * k * self.a, k * self.b)

    def __gt__(self, k: Any) -> Any:
        return self.a > k


class Asked(Pair):
    __array_ufunc__ = None


class First(Pair):
    __array_priority__ = 1


class Length:
    """No sequence: numbers of NumPy's ask it, arrays do so with each of their elements."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __radd__(self, k: Any) -> Any:
        return np.sum(k) - self.value

    def __eq__(self, k: object) -> Any:
        return self.value == k

    __hash__ = None


class LikeAnArray(Length):
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.ones(2)


def refused_alike(function: Any) -> None:
    messages = []
    for compiled in (True, False):
        with pytest.raises(gs.errors.UnsupportedError, match="NumPy does not ask the") as caught:
            gs.grad(function, compile=compiled)(X)
        messages.append(caught.value.what)
        assert "`__array_ufunc__ = None` in its class" in caught.value.advice
    assert messages[0] == messages[1]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x[0] * Pair(x[1], x[2]))[0],  # an array of two
        lambda x: (np.sum(x) * Pair(x[1], 1.0))[0],
        lambda x: x[0] if x[0] < Pair(x[1], 2.0) else x[1],
        lambda x: np.sum(x + Length(x[1])),  # three calls of `__radd__`
        lambda x: x[0] + LikeAnArray(x[1]),
        lambda x: np.sum(x[x == Length(0.7)]),
    ],
)
def test_what_numpy_gives_without_the_object_is_refused(function):
    refused_alike(function)


@pytest.mark.parametrize(
    ("function", "value", "gradient"),
    [
        (lambda x: (2.0 * Pair(x[1], x[2]))[0], 26.0, [0, 20, 0]),
        (lambda x: (Pair(x[1], x[2]).__rmul__(x[0]))[0], 9.1, [13, 7, 0]),
        (lambda x: (x[0] * Asked(x[1], x[2]))[0], 9.1, [13, 7, 0]),
        (lambda x: np.sum((x * Asked(x[1], 1.0))[0]), 20.8, [13, 29, 13]),
        (lambda x: np.sum((x * First(x[1], 1.0))[0]), 20.8, [13, 29, 13]),
        (lambda x: x[0] + Length(x[1]), -0.6, [1, -1, 0]),
        (lambda x: x[0] if x[0] == Length(x[0]) else x[1], 0.7, [1, 0, 0]),
    ],
)
def test_what_the_object_is_asked_for_is_differentiated(function, value, gradient):
    assert function(X) == pytest.approx(value)
    for compiled in (True, False):
        got = gs.value_and_grad(function, compile=compiled)(X)
        assert got[0] == pytest.approx(value)
        np.testing.assert_allclose(got[1], gradient)
