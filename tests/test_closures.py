"""Closures that one `def` makes share what is compiled, with all that they call; none is kept."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.compiler.program import Program

W = np.array([1.0, 2.0])


def _nested(data):
    def model(w):
        return w * data[:2]

    def loss(w):
        return np.sum(model(w) ** 2)

    return gs.grad(loss)


def _two_deep(data):
    def inner(w):
        return w * data[:2]

    def model(w):
        return inner(w)

    return gs.grad(lambda w: np.sum(model(w) ** 2))


def _in_list(data):
    def scaled(w):
        return w * data[:2]

    layers = [scaled, lambda w: w**2]

    def loss(w):
        for layer in layers:
            w = layer(w)
        return np.sum(w)

    return gs.grad(loss)


def _attribute(data):
    model = SimpleNamespace(scale=lambda w: w * data[:2])
    return gs.grad(lambda w: np.sum(model.scale(w) ** 2))


def _default(data):
    def model(w, scale=data, power=2.0):
        return (w * scale[:2]) ** power

    return gs.grad(lambda w: np.sum(model(w)))


def _keyword_default(data):
    def model(w, *, scale=data):
        return (w * scale[:2]) ** 2

    return gs.grad(lambda w: np.sum(model(w)))


def _decorated(data):
    @gs.differentiable
    def model(w):
        return w * data[:2]

    return gs.grad(lambda w: np.sum(model(w) ** 2))


def _gradient(data):
    third = gs.grad(lambda w: np.sum(w**3 * data[:2] ** 2) / 3)
    return gs.grad(lambda w: np.sum(third(w)))


def _hessian(data):
    curvature = gs.hessian(lambda w: np.sum(w**3 * data[:2] ** 2) / 3)

    def loss(v):
        return np.sum(curvature(v) @ v) / 2

    return lambda w: gs.grad(loss)(w)


def _recursive(data):
    def power(w, n):
        return w * data[:2] if n == 1 else power(w, n - 1) * w * data[:2]

    return gs.grad(lambda w: np.sum(power(w, 2)))


def _argument(data):
    def loss(w, model):
        return np.sum(model(w) ** 2)

    def scaled(w):
        return w * data[:2]

    return lambda w: gs.grad(loss)(w, scaled)


MAKERS = [
    _nested,
    _two_deep,
    _in_list,
    _attribute,
    _default,
    _keyword_default,
    _decorated,
    _gradient,
    _hessian,
    _recursive,
    _argument,
]


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the functions that are compiled."""
    names: list[str] = []
    lower = Program._lower

    def counted(self: Program, *arguments: Any) -> Any:
        names.append(self.code.co_name)
        return lower(self, *arguments)

    monkeypatch.setattr(Program, "_lower", counted)
    return names


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__.strip("_"))
def test_closures_of_one_def_are_compiled_once_and_not_kept(
    make: Callable[[Any], Any], compiled: list[str]
) -> None:
    first: list[str] = []
    captured = []
    for n in range(1, 9):
        data = np.full(1000, float(n))
        captured.append(weakref.ref(data))
        np.testing.assert_allclose(make(data)(W), 2 * W * n**2)
        first = first or compiled[:]
    del data
    gc.collect()
    assert compiled == first
    assert sum(reference() is not None for reference in captured) <= 1


def test_a_helper_with_other_code_is_compiled_anew() -> None:
    def make(helper):
        return gs.grad(lambda w: helper(w))

    helpers = [lambda w: w**2, lambda w: w**3, lambda w: -w]
    assert [make(helper)(2.0) for helper in helpers] == [4.0, 12.0, -1.0]


def test_a_helper_whose_variables_have_other_types_is_compiled_anew() -> None:
    def make(scale):
        def helper(w):
            return w * scale

        return gs.grad(lambda w: np.sum(helper(w)))

    assert make(3.0)(2.0) == 3.0
    assert make(np.array([1.0, 2.0]))(2.0) == 3.0
    assert make(4)(2.0) == 4.0


def test_defaults_of_helpers_count_by_value() -> None:
    def make(power, scale=0.0):
        def helper(w, power=power, scale=scale):
            return w**power + scale * w

        return gs.grad(lambda w: helper(w))

    assert [make(power)(3.0) for power in (1, 2, 3, 2.0)] == [1.0, 6.0, 27.0, 6.0]
    assert np.isnan(make(1, np.nan)(3.0))
    assert make(1, 5.0)(3.0) == 6.0


def test_two_helpers_that_were_one_are_told_apart() -> None:
    def make(first, second):
        def loss(w):
            return first(w) * (10.0 if first is second else 1.0) + second(w)

        return gs.grad(loss)

    def scaled(by):
        return lambda w: w * by

    one, two = scaled(1.0), scaled(2.0)
    assert make(one, one)(1.0) == 11.0
    assert make(one, two)(1.0) == 3.0
    assert make(two, two)(1.0) == 22.0


def test_one_helper_on_both_paths_of_a_branch_is_told_from_two() -> None:
    def make(first, second):
        def loss(w):
            if w > 0:
                chosen = first
            else:
                chosen = second
            return chosen(w)

        return gs.grad(loss)

    def scaled(by):
        return lambda w: w * by

    one, two = scaled(1.0), scaled(2.0)
    assert [make(one, one)(1.0), make(one, one)(-1.0)] == [1.0, 1.0]
    assert [make(one, two)(1.0), make(one, two)(-1.0)] == [1.0, 2.0]


def test_a_helper_that_is_returned_is_the_one_of_this_call() -> None:
    def make(by):
        def helper(w):
            return w * by

        return helper, gs.value_and_grad(lambda w: (helper(w), helper), has_aux=True)

    for by in (1.0, 2.0):
        helper, derivative = make(by)
        (value, returned), gradient = derivative(3.0)
        assert (value, gradient) == (3.0 * by, by)
        assert returned is helper


def test_a_function_argument_that_is_returned_is_the_one_of_this_call() -> None:
    derivative = gs.value_and_grad(lambda w, helper: (helper(w), helper), has_aux=True)
    for by in (1.0, 2.0):

        def helper(w, by=by):
            return w * by

        (value, returned), gradient = derivative(3.0, helper)
        assert (value, gradient) == (3.0 * by, by)
        assert returned is helper


def test_settings_of_a_gradient_from_outside_are_part_of_what_is_compiled() -> None:
    def make(argnums):
        inner = gs.grad(lambda a, b: a**2 * b**3, argnums)
        return gs.grad(lambda w: inner(w, 2.0))

    assert make(0)(1.0) == 16.0
    assert make(1)(1.0) == 24.0


def test_a_gradient_as_an_argument_is_the_one_of_this_call() -> None:
    derivative = gs.grad(lambda w, inner: inner(w))
    assert derivative(2.0, gs.grad(lambda w: w**2)) == 2.0
    assert derivative(2.0, gs.grad(lambda w: w**3)) == 12.0


def _local_class(data):
    class Model:
        def __init__(self):
            self.data = data

        def __call__(self, w):
            return w * self.data[:2]

    model = Model()
    return gs.grad(lambda w: np.sum(model(w) ** 2))


def _own_function(data):
    class Scale(gs.autograd.Function):
        @staticmethod
        def forward(ctx, w):
            return w * data[:2]

        @staticmethod
        def backward(ctx, d_out):
            return d_out * data[:2]

    return gs.grad(lambda w: np.sum(Scale.apply(w) ** 2))


@pytest.mark.parametrize("make", [_local_class, _own_function], ids=["class", "Function"])
def test_what_was_compiled_for_the_objects_of_one_call_is_forgotten_after_others(
    make: Callable[[Any], Any],
) -> None:
    captured = []
    for n in range(1, 41):
        data = np.full(1000, float(n))
        captured.append(weakref.ref(data))
        np.testing.assert_allclose(make(data)(W), 2 * W * n**2)
    del data
    gc.collect()
    assert sum(reference() is not None for reference in captured) < 20


def test_a_lowering_that_was_forgotten_is_made_again() -> None:
    gradients = [_local_class(np.full(2, float(n))) for n in range(1, 13)]
    for _ in range(2):
        for n, gradient in enumerate(gradients, 1):
            np.testing.assert_allclose(gradient(W), 2 * W * n**2)


def test_all_that_was_compiled_for_one_class_of_a_function_is_kept(compiled: list[str]) -> None:
    class Model:
        scale = 3.0

    model = Model()

    def make(power):
        def loss(w):
            return w * model.scale * (2.0 if power.endswith("even") else 1.0)

        return gs.grad(loss)

    powers = [f"{n} {'odd' if n % 2 else 'even'}" for n in range(12)]
    for _ in range(2):
        assert [make(power)(1.0) for power in powers] == [6.0, 3.0] * 6
    assert len(compiled) == 12


def derivative(f: Callable[..., Any]) -> Callable[..., Any]:
    return gs.grad(lambda p, m: f(p, m), argnums=1)


def scaled(f: Callable[..., Any], factor: float) -> Callable[..., Any]:
    return lambda p, m: factor * f(p, m) + f(p, 1.0)


def test_functions_made_by_one_definition_call_one_another() -> None:
    def cube(p, m):
        return p * m**3

    assert derivative(derivative(cube))(2.0, 1.5) == 18.0
    assert derivative(derivative(derivative(cube)))(2.0, 1.5) == 12.0
    twice = scaled(scaled(cube, 2.0), 3.0)
    assert gs.value_and_grad(twice, argnums=1)(2.0, 1.5)[0] == twice(2.0, 1.5)
    assert gs.grad(twice, argnums=1)(2.0, 1.5) == 6 * 2.0 * 3 * 1.5**2
