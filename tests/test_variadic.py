"""Functions with `*args`: callers count arguments."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import ArgumentError


def weighted(a, *xs):
    return a * sum(x**2 for x in xs)


def with_options(a, *callee, power=2, **scales):
    return sum(x**power for x in callee) * a * scales["s"]


class Model:
    def __init__(self, w):
        self.w = w

    def __call__(self, x, *more):
        return self.w * x * more[0]


def test_argnums_count_arguments():
    assert gs.grad(weighted, argnums=2)(1.0, 2.0, 3.0) == 6.0
    assert gs.grad(weighted, argnums=-2)(1.0, 2.0, 3.0) == 4.0
    assert gs.grad(weighted, argnums=(2, 0))(1.0, 2.0, 3.0) == (6.0, 13.0)
    assert gs.value_and_grad(weighted, argnums=1)(1.0, 2.0) == (4.0, 4.0)
    assert gs.grad(gs.grad(weighted, argnums=1), argnums=1)(1.0, 2.0, 3.0) == 2.0
    assert gs.grad(lambda *xs: xs[0] * xs[1], argnums=1)(2.0, 3.0) == 2.0
    with pytest.raises(ArgumentError, match="has 3 arguments"):
        gs.grad(weighted, argnums=3)(1.0, 2.0, 3.0)


def test_the_same_gradient_for_other_numbers_of_arguments():
    gradient = gs.grad(weighted)
    assert [gradient(1.0, *xs) for xs in ((), (2.0,), (2.0, 3.0))] == [0, 4.0, 13.0]


def test_keywords_and_bound_values():
    assert gs.grad(with_options, argnums=2)(1.0, 2.0, 3.0, power=3, s=2.0) == 54.0
    assert gs.grad(functools.partial(weighted, 2.0), argnums=1)(3.0, 4.0) == 16.0
    assert gs.grad(Model(3.0), argnums=1)(2.0, 5.0) == 6.0
    array = np.array([1.0, 2.0])
    found = gs.grad(lambda a, *xs: np.sum(a * xs[0] ** 2), argnums=1)(2.0, array)
    np.testing.assert_array_equal(found, 4.0 * array)


def test_directional_derivatives():
    assert gs.jvp(weighted, (1.0, 2.0, 3.0), (0.0, 1.0, 0.0)) == (13.0, 4.0)
    out, pullback = gs.vjp(weighted, 1.0, 2.0, 3.0)
    assert (out, pullback(1.0)) == (13.0, (13.0, 4.0, 6.0))
    assert gs.hvp(weighted, (1.0, 2.0, 3.0), (0.0, 1.0, 0.0)) == (4.0, 2.0, 0.0)


def test_tensors():
    x, y = (gs.tensor(v, requires_grad=True) for v in (2.0, 3.0))
    gs.differentiable(weighted, argnums=2)(1.0, x, y).backward()
    assert x.grad is None
    assert y.grad.item() == 6.0


def test_the_source_names_each_argument():
    gs.differentiable(weighted).specialize(1.0, 2.0, 3.0)
    gradient = gs.grad(weighted, argnums=2)
    gradient(1.0, 2.0, 3.0)
    assert "def weighted_gradient(a, xs_0, xs_1" in gradient.source


def test_a_gradient_takes_keywords_and_more_arguments_as_its_function_does():
    gradient = gs.grad(lambda a, *, b=2.0: a**3 * b)
    assert gs.grad(functools.partial(gradient, b=4.0))(2.0) == 48.0
    assert gs.jvp(gradient, (2.0,), (1.0,)) == (24.0, 24.0)
    x = gs.tensor(3.0, requires_grad=True)
    gs.differentiable(gs.grad(weighted, argnums=1))(2.0, x, 1.0).backward()
    assert x.grad.item() == 4.0
