"""What NumPy does not take raises in compiled code, too, also where other operations stand for its
function: programs handle that."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.integrate
import scipy.stats

import gradscribe as gs

X = np.array([0.5, 1.5, 2.5, 0.25, -0.75, 3.0])

CALLS: list[Callable[[Any], Any]] = [
    lambda x: np.cumulative_sum(x.reshape(2, 3)),
    lambda x: np.cumulative_prod([x, x]),
    lambda x: np.polyder(x.reshape(2, 3)),
    lambda x: np.polyfit(x, x, -1),
    lambda x: np.fft.fftfreq(x[0]),
    lambda x: np.fft.ifftshift(x[0]),
    lambda x: np.fft.ihfft(x, norm="full"),
    lambda x: np.vsplit(x, 2),
    lambda x: np.ix_(x[0], x),
    lambda x: np.gradient(x, 1.0, 2.0),
    lambda x: np.gradient(x, edge_order=3),
    lambda x: np.gradient(x, np.arange(3.0)),
    lambda x: np.gradient(x[:2], x),
    lambda x: np.select([], []),
    lambda x: np.select([x > 0], [x, x]),
    lambda x: np.fill_diagonal(x.copy(), 1.0),
    lambda x: np.histogram(x, [0.0, 2.0, 1.0]),
    lambda x: np.histogram(x, 3, range=(2.0, 1.0)),
    lambda x: np.digitize(x, [0.0, 2.0, 1.0]),
    lambda x: np.linalg.tensorinv(x),
    lambda x: np.nonzero(x[0]),
    lambda x: np.split(x, 4),
    lambda x: np.geomspace(x, 0.0),
    lambda x: scipy.integrate.simpson(x, x[:2]),
    lambda x: scipy.integrate.cumulative_trapezoid(x, x[:2]),
    lambda x: scipy.stats.binom(x),
    lambda x: scipy.stats.chi2(),
    lambda x: scipy.stats.truncnorm(1.0),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_what_numpy_does_not_take_is_handled_as_in_python(number: int) -> None:
    call = CALLS[number]

    def loss(x: Any) -> Any:
        try:
            call(x)
        except (TypeError, ValueError):
            return 2.0 * np.sum(x)
        return 5.0 * np.sum(x)

    value, gradient = gs.value_and_grad(loss)(X)
    assert value == loss(X) == 2.0 * np.sum(X)
    np.testing.assert_array_equal(gradient, np.full(6, 2.0))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.place(x, [True, False, True, True, True, True], x[:3] * 2.0),
        lambda x: np.split(x, len(x) // 2),
        lambda x: np.reshape(x, (2, 3)),
        lambda x: np.gradient(x, np.arange(6.0)),
        lambda x: np.linalg.tensorsolve(np.eye(6).reshape(2, 3, 6), x.reshape(2, 3)),
        lambda x: np.digitize(x, [2.0, 1.0, 0.0]),
        lambda x: np.histogram(x, [0.0, 1.0, 1.0]),
        lambda x: np.fft.ifftn([x, x]),
        lambda x: scipy.fft.dctn([x, x]),
        lambda x: np.fft.hfft([x[0], x[1]]),
    ],
)
def test_what_numpy_takes_of_these_lengths_does_not_raise(call: Callable[[Any], Any]) -> None:
    def loss(x: Any) -> Any:
        y = x.copy()
        try:
            call(y)
        except (TypeError, ValueError):
            return 2.0 * np.sum(x)
        return 5.0 * np.sum(x)

    np.testing.assert_array_equal(gs.grad(loss)(X), np.full(6, 5.0))


def test_an_error_that_depends_on_the_lengths_is_that_of_these() -> None:
    def loss(x: Any) -> Any:
        try:
            parts = np.split(x, 2)
        except ValueError:
            return 2.0 * np.sum(x)
        return 3.0 * np.sum(parts[1])

    gradient = gs.grad(loss)
    for length in (4, 5, 6, 7):
        x = X[:1].repeat(length)
        assert gradient(x)[-1] == (3.0 if length % 2 == 0 else 2.0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: enumerate(np.int64(2)),
        lambda: itertools.pairwise(np.int64(2)),
        lambda: filter(None, np.float32(2.0)),
        lambda: functools.partial(range(2), 1),
    ],
)
def test_an_iterator_over_none_is_not_made(make: Callable[[], Any]) -> None:
    def loss(x: Any) -> Any:
        try:
            make()
        except TypeError:
            return 2.0 * np.sum(x)
        return 5.0 * np.sum(x)

    np.testing.assert_array_equal(gs.grad(loss)(X), np.full(6, 2.0))
