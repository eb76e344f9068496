"""Second derivatives at kinks of the first: what has one there has that of differences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gradscribe as gs

SMOOTH: dict[str, Any] = {
    "square of sizes": lambda x: np.sum(np.abs(x) ** 2),
    "product of sizes": lambda x: np.sum(abs(x) * abs(x)),
    "square of a norm": lambda x: np.linalg.norm(x) ** 2,
    "power of sizes": lambda x: np.sum(np.power(np.abs(x), 2.0)),
    "length": lambda x: np.sum(np.hypot(x.real, 2 * x.imag) ** 2),
    "cosine of sizes": lambda x: np.sum(np.cos(np.abs(x))),
    "sizes beside others": lambda x: np.sum(np.abs(x) ** 2 * np.exp(x.real)),
    "parts": lambda x: np.sum(x.real**2 + x.imag**2),
    "product": lambda x: np.real(np.vdot(x, x)),
}
POINTS = [np.zeros(3), np.zeros(2, complex), np.array([0.0, 1.0]), np.zeros(2, np.float32)]


def second_difference(function: Any, x: np.ndarray, along: np.ndarray) -> Any:
    h = 1e-4
    x = x.astype(np.result_type(x.dtype, np.float64))
    return (function(x + h * along) - 2 * function(x) + function(x - h * along)) / h**2


@pytest.mark.parametrize("x", POINTS, ids=lambda x: f"{x.dtype}{x.tolist()}")
@pytest.mark.parametrize("name", SMOOTH)
def test_what_is_smooth_through_a_kink_has_the_second_derivative_of_differences(
    name: str, x: np.ndarray
) -> None:
    along = np.linspace(0.5, -1.0, x.size).astype(x.dtype)
    along = along * (0.6 + 0.8j) if x.dtype.kind == "c" else along
    function = SMOOTH[name]
    expected = second_difference(function, x, along)
    found = gs.hvp(function, x, along)
    assert found.dtype == x.dtype
    np.testing.assert_allclose(np.sum(np.real(np.conj(found) * along)), expected, rtol=1e-3)
    if x.dtype.kind != "c":
        hessian = gs.hessian(function)(x)
        np.testing.assert_allclose(along @ hessian @ along, expected, rtol=1e-3)
    np.testing.assert_array_equal(gs.grad(lambda x: np.sum(np.abs(x)))(0 * x), 0 * x)


def test_numbers_have_second_derivatives_at_kinks_in_each_order_of_the_modes() -> None:
    for function in (lambda x: abs(x) ** 2, lambda x: abs(x * x), lambda x: math.hypot(x, x) ** 2):
        expected = pytest.approx(second_difference(function, np.float64(0.0), 1.0))
        assert gs.grad(gs.grad(function))(0.0) == expected
        assert gs.jvp(gs.grad(function), (0.0,), (1.0,))[1] == expected
        assert gs.vjp(gs.grad(function), 0.0)[1](1.0)[0] == expected
        assert gs.value_and_grad(gs.grad(function))(0.0) == (0.0, expected)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sum(x * np.abs(x)),
        lambda x: np.sum(np.abs(x)),
        lambda x: np.linalg.norm(x, 1) ** 2,
        lambda x: np.linalg.norm(x, np.inf) ** 2,
    ],
)
def test_what_has_no_second_derivative_there_has_that_of_mean_slopes(function: Any) -> None:
    for count in (2, 3, 4):
        np.testing.assert_array_equal(gs.hessian(function)(np.zeros(count)), 0)


def test_off_kinks_and_with_effects_a_function_runs_once(capsys: Any) -> None:
    def printing(x):
        print("once")
        return np.sum(np.abs(x) ** 2)

    np.testing.assert_array_equal(gs.hvp(printing, np.ones(2), np.ones(2)), 2)
    np.testing.assert_array_equal(gs.hvp(printing, np.zeros(2), np.ones(2)), 0)
    assert capsys.readouterr().out == "once\nonce\n"
