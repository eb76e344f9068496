"""Containers take an object for equal to itself, whatever it says; what is handed through a call is
the same memory, or a copy, as in Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.ndimage

import gradscribe as gs
from gradscribe.errors import AliasingError

X = np.array([1.0, 2.0, 3.0])


class Never:
    def __eq__(self, other):
        return False

    __hash__ = None


class Counting:
    def __init__(self):
        self.asked = 0

    def __eq__(self, other):
        self.asked += 1
        return True

    __hash__ = None


def nan_in_a_list(x):
    nan = math.nan
    return (1.0 if nan in [nan, 1.0] else 0.0) * np.sum(x)


def index_of_a_nan_that_is_computed(x):
    y = np.log(x[0] - 5.0)
    return [1.0, y].index(y) * np.sum(x)


def lists_of_one_nan(x):
    items = [math.nan]
    return (1.0 if items == items else 0.0) * np.sum(x)


def pairs_of_a_nan(x):
    nan = math.nan
    return (1.0 if (nan, 1) == (nan, 1) else 0.0) * np.sum(x) + (10.0 if nan in (1.0, nan) else 0.0)


def removed(x):
    nan = math.nan
    items = [nan, 1.0]
    items.remove(nan)
    return len(items) * np.sum(x)


def two_reads(x):
    return (1.0 if x[0] * np.nan in [x[0] * np.nan, 1.0] else 2.0) * np.sum(x)


def counted(x):
    it = Never()
    return [1.0, it].count(it) * np.sum(x)


def asked(x):
    it = Counting()
    found = it in [it, 1.0]
    return (it.asked + found) * np.sum(x)


def reversed_along_the_only_axis(x):
    y = x * 1.0
    v = np.apply_along_axis(lambda row: row[::-1], 0, y)
    v[0] = 10.0
    return np.sum(y * x)


def stopped_constant(x):
    w = np.ones(3)
    z = gs.stop_gradient(w)
    z[0] = 7.0
    return np.sum(w * x)


@pytest.mark.parametrize("options", [{}, {"compile": False}], ids=["compiled", "recorded"])
@pytest.mark.parametrize(
    "function",
    [
        *(nan_in_a_list, index_of_a_nan_that_is_computed, lists_of_one_nan, pairs_of_a_nan),
        *(removed, two_reads, counted, asked, reversed_along_the_only_axis),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_one_object_is_what_it_is_in_python(function: Any, options: Any) -> None:
    assert gs.value_and_grad(function, **options)(X.copy())[0] == function(X.copy())


class Reversed(gs.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a[::-1]

    @staticmethod
    def backward(ctx, d_out):
        return d_out[::-1]


def stored_before_the_view_is_read(x):
    y = x * 1.0
    z = Reversed.apply(y)
    y[0] = 5.0
    return np.sum(z * x)


def stored_to_the_view(x):
    y = x * 1.0
    z = Reversed.apply(y)
    z[0] = 5.0
    return np.sum(y * x)


def stopped_before_what_is_differentiated_is_stored(x):
    w = np.zeros(3)
    z = gs.stop_gradient(w)
    w[0] = x[0] * 2.0
    return np.sum(z * x)


@pytest.mark.parametrize(
    "function", [stopped_constant, stopped_before_what_is_differentiated_is_stored]
)
def test_nothing_is_differentiated_through_what_stop_gradient_gives(function: Any) -> None:
    value, gradient = gs.value_and_grad(function)(X.copy())
    assert value == function(X.copy())
    np.testing.assert_array_equal(
        gradient, [7.0, 1.0, 1.0] if function is stopped_constant else [2.0, 0.0, 0.0]
    )
    with pytest.raises(AliasingError):
        gs.grad(function, compile=False)(X)


def stopped_and_stored(x):
    y = x * 1.0
    z = gs.stop_gradient(y)
    y[0] = 5.0
    return np.sum(z * x)


@pytest.mark.parametrize(
    "function", [stored_before_the_view_is_read, stored_to_the_view, stopped_and_stored]
)
def test_what_shares_memory_with_what_it_came_of_is_not_stored_to(function: Any) -> None:
    with pytest.raises(AliasingError):
        gs.grad(function, compile=False)(X)


def view_without_gradient(x):
    y = x * 1.0
    with gs.no_grad():
        z = y[1:]
    z[0] = 5.0
    return np.sum(y * x)


def test_a_view_that_is_taken_without_gradients_is_not_stored_to() -> None:
    with pytest.raises(AliasingError):
        gs.grad(view_without_gradient, compile=False)(X)


def computed_without_gradient(x):
    with gs.no_grad():
        w = x * 2
    w[0] = 4.0
    return np.sum(w * x)


def test_what_is_computed_without_gradients_may_be_stored_to() -> None:
    for options in ({}, {"compile": False}):
        value, gradient = gs.value_and_grad(computed_without_gradient, **options)(X)
        assert value == computed_without_gradient(X)
        np.testing.assert_array_equal(gradient, [4.0, 4.0, 6.0])


def viewed(x):
    return np.sum(Reversed.apply(x * 1.0) * x) + np.sum(gs.stop_gradient(x) * x)


def test_what_is_only_read_is_as_it_is() -> None:
    expected = np.array([6.0, 4.0, 2.0]) + X
    np.testing.assert_allclose(gs.grad(viewed, compile=False)(X), expected)


@gs.primitive
def smoothed(a, sigma):
    return scipy.ndimage.gaussian_filter1d(a, sigma, mode="constant")


@smoothed.adjoint
def smoothed_adjoint(out, a, sigma, *, d_out):
    return scipy.ndimage.gaussian_filter1d(d_out, sigma, mode="constant"), None


@pytest.mark.parametrize("sigma", [1, 1.0, np.float64(1.0)])
@pytest.mark.parametrize("options", [{}, {"compile": False}], ids=["compiled", "recorded"])
def test_a_rule_in_c_beside_a_number(sigma: Any, options: Any) -> None:
    def function(x):
        return np.sum(smoothed(x, sigma) ** 2)

    expected = 2 * scipy.ndimage.gaussian_filter1d(
        scipy.ndimage.gaussian_filter1d(X, 1.0, mode="constant"), 1.0, mode="constant"
    )
    np.testing.assert_allclose(gs.grad(function, **options)(X), expected)
