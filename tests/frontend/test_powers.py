"""Powers of Python's numbers, whose kind depends on their values."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import NoDerivativeError

COMPLEX = "a negative number to a power that is no integer is complex"


def by_operator(x, y):
    return abs(x**y)


def by_builtin(x, y):
    return abs(pow(x, y))


def by_function(x, y):
    return abs(operator.pow(x, y))


def in_place(x, y):
    x **= y
    return abs(x)


def of_a_whole_number(x, y):
    return abs((-6) ** y) + x


def of_a_literal(x, y):
    return abs((-6.0) ** y) + x


def root(x, y):
    return abs(x**0.5) + y


def value_that_no_derivative_reads(x, y):
    return (x**y).real + y


def kind_that_is_asked_for(x, y):
    z = x**y
    return x if isinstance(z, complex) else z


def in_a_loop(x, y):
    total = 0.0
    for k in range(3):
        total = total + x ** (y + k)
    return abs(total)


def stored(x, y):
    a = np.zeros(2)
    a[0] = x**y
    return a[0]


def second_order(f):
    return lambda x, y: gs.grad(gs.grad(f))(x, y)


def along(f):
    return lambda x, y: gs.jvp(f, (x, y), (1.0, 1.0))


@pytest.mark.parametrize(
    "function",
    [by_operator, by_builtin, by_function, in_place, of_a_whole_number, of_a_literal, root]
    + [value_that_no_derivative_reads, kind_that_is_asked_for, in_a_loop, stored],
)
@pytest.mark.parametrize(
    "run",
    [gs.grad, gs.value_and_grad, along, second_order, lambda f: gs.grad(f, (0, 1), compile=False)],
    ids=["grad", "value_and_grad", "jvp", "second", "recorded"],
)
def test_a_complex_power_of_real_numbers_is_refused_when_it_is_met(run: Any, function: Any) -> None:
    with pytest.raises(NoDerivativeError, match=COMPLEX) as caught:
        run(function)(-2.0, 0.7)
    assert "**" in str(caught.value) or "pow" in str(caught.value)


@pytest.mark.parametrize("function", [by_operator, by_builtin, in_place, root, in_a_loop])
def test_real_powers_have_their_derivative(function: Callable[[float, float], float]) -> None:
    slope = (function(2.0 + 1e-6, 0.7) - function(2.0 - 1e-6, 0.7)) / 2e-6
    assert gs.grad(function)(2.0, 0.7) == pytest.approx(slope)
    assert gs.grad(function, compile=False)(2.0, 0.7) == pytest.approx(slope)


def test_a_negative_number_to_a_whole_power_is_real() -> None:
    assert gs.grad(by_operator)(-2.0, 3.0) == -12
    assert gs.grad(lambda x, n: x**n)(-2.0, -3) == pytest.approx(-3 / 16)
    assert gs.grad(lambda x: x**2.0 + x**-1)(-2.0) == -4.25


def test_the_logarithm_of_a_negative_base_is_nan() -> None:
    with pytest.warns(RuntimeWarning, match="invalid value"):
        assert math.isnan(gs.grad(lambda y: (-6.0) ** y)(2.0))
    source = gs.differentiable(lambda y: (-6.0) ** y).specialize(2.0).gradient_source
    assert "np.log(-6.0)" in source


def test_powers_of_a_complex_base_are_the_way_out() -> None:
    def size(x, y):
        return abs(complex(x) ** y)

    slope = (size(-2.0, 0.7 + 1e-6) - size(-2.0, 0.7 - 1e-6)) / 2e-6
    assert gs.grad(size, argnums=1)(-2.0, 0.7) == pytest.approx(slope)


def test_numbers_of_numpy_are_never_complex() -> None:
    for x, y in ((np.float64(-2.0), 0.7), (-2.0, np.float64(0.7))):
        with np.errstate(invalid="ignore"):
            assert math.isnan(gs.grad(lambda x, y: x**y)(x, y))


def whole_powers(x, n):
    return x * float(isinstance(2**n, int))


def test_a_negative_power_of_a_whole_number_is_refused_where_its_kind_is_asked_for() -> None:
    assert gs.grad(whole_powers)(3.0, 2) == 1
    with pytest.raises(NoDerivativeError, match="an integer to a negative power is a float"):
        gs.grad(whole_powers)(3.0, -2)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x**2 + x**3.0 + x**-1,
        lambda x: 2.0**x + 3**x,
        lambda x: abs(x) ** x + math.exp(x) ** 0.5 + (x * x + 1) ** 1.5,
        lambda x: (x**2 / (1 + abs(x))) ** 0.25 + max(x, 0.0) * math.sqrt(x) ** 1.5,
        lambda x: sum(x ** (k + 1) * 2**k for k in range(3)),
        lambda x: np.sum(np.full(3, x) ** 0.5) + np.float64(x) ** 0.5,
    ],
)
def test_nothing_is_checked_where_types_or_what_made_a_number_tell(function: Any) -> None:
    assert "check_" not in gs.differentiable(function).specialize(2.0).gradient_source
