"""Results that are views of what a function was given, the very array, or one array twice: a store
to one is seen in the others, or refused."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.constants
import scipy.fftpack
import scipy.linalg
import scipy.signal

import gradscribe as gs

X = np.array([0.3, -0.8, 1.1, 0.55, -0.2, 0.9])


def differences(loss: Callable[[Any], Any]) -> Any:
    steps = 1e-6 * np.eye(6)
    return np.array([(loss(X + step) - loss(X - step)) / 2e-6 for step in steps])


def parts_of_a_mask(x):
    mask = np.ones((2, 3), bool)
    top, _ = np.unstack(mask)
    top[0] = False
    return np.sum(x.reshape(2, 3)[mask])


def integers_with_axes(x):
    places = np.arange(3)
    one, _ = np.atleast_1d(places, 2)
    one[0] = 5
    return np.sum(x[places])


def integers_of_a_grid(x):
    places = np.arange(3)
    rows, _ = np.meshgrid(places, places, copy=False, sparse=True)
    rows[0, 1] = 4
    return np.sum(x[places])


def one_array_twice(x):
    rows, columns = np.diag_indices(3)
    rows[0] = 2
    return np.sum(x[columns])


def transform_of_no_axes(x):
    y = x + 0j
    z = np.fft.ifftn(y, axes=())
    z[0] = 5.0
    return np.sum(np.abs(y) ** 2)


def times_of_a_step(x):
    times = np.linspace(0.0, 1.0, 6)
    given, _ = scipy.signal.step(([1.0], [1.0, 1.0]), T=times)
    given *= 1000.0
    return np.sum(times * x)


def times_of_an_impulse(x):
    times = np.linspace(0.0, 1.0, 6)
    given, _ = scipy.signal.impulse(([1.0], [1.0, 1.0]), T=times)
    given *= 1000.0
    return np.sum(times * x)


def small_hessenberg(x):
    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    h = scipy.linalg.hessenberg(a)
    h *= 2.0
    return np.sum(a) * x[0]


def no_difference(x):
    y = np.arange(6.0)
    d = scipy.fftpack.diff(y, 0)
    d += 1.0
    return np.sum(y * x)


def one_scale(x):
    t = np.arange(6.0)
    u = scipy.constants.convert_temperature(t, "K", "kelvin")
    u += 1.0
    return np.sum(t * x)


@pytest.mark.parametrize(
    "loss",
    [
        *(parts_of_a_mask, integers_with_axes, integers_of_a_grid, one_array_twice),
        *(transform_of_no_axes, times_of_a_step, times_of_an_impulse, small_hessenberg),
        *(no_difference, one_scale),
    ],
)
@pytest.mark.parametrize("compile", [True, False, "auto"])
def test_a_store_to_a_result_is_seen_where_it_is_shared(loss: Any, compile: Any) -> None:
    try:
        value, gradient = gs.value_and_grad(loss, compile=compile)(X.copy())
    except gs.errors.UnsupportedError:
        return
    assert value == loss(X.copy())
    np.testing.assert_allclose(gradient, differences(loss), rtol=1e-6)


@pytest.mark.parametrize(
    ("subscripts", "options"), [("i->i", {}), ("...->...", {}), ("i->i", {"optimize": True})]
)
def test_a_view_that_goes_to_an_array_is_copied_there(subscripts: str, options: Any) -> None:
    target = np.zeros(6)

    def loss(x):
        z = np.einsum(subscripts, x, out=target, **options)
        z[0] = 0.25
        return np.sum(z * x)

    x = X.copy()
    value, gradient = gs.value_and_grad(loss)(x)
    np.testing.assert_array_equal(x, X)
    assert value == loss(X.copy())
    np.testing.assert_array_equal(target[1:], X[1:])
    np.testing.assert_allclose(gradient, [0.25, *(2 * X[1:])])


def test_warnings_come_as_often_as_in_python() -> None:
    def in_a_loop(x):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(3):
                np.log(np.array([-1.0, 2.0]))
        return np.sum(x) * len(caught)

    def twice(x):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            (np.log(x)[0], np.log(x)[1])
        return np.sum(x) * len(caught)

    for loss, count in ((in_a_loop, 3), (twice, 2)):
        assert gs.value_and_grad(loss)(X)[0] == loss(X) == count * np.sum(X)
