"""Functions of `scipy.special` at points, and of orders, where their formulas have another form.

The derivatives are those of closed forms, or of differences of high precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from tests.primitives.test_forms import function_of_text

special = pytest.importorskip("scipy.special")

pytestmark = pytest.mark.filterwarnings("ignore")

ORDERS = [
    ("sp.eval_chebyu(-3, x)", 0.3, [-2, 0, 0]),
    ("sp.eval_chebyu(-5, x)", 0.3, [4 - 24 * 0.09, -48 * 0.3, -48]),
    ("sp.eval_chebys(-3, x)", 0.3, [-1, 0]),
    ("sp.eval_sh_chebyu(-3, x)", 0.3, [-4, 0]),
    ("sp.eval_chebyt(-3, x)", 0.3, [12 * 0.09 - 3, 24 * 0.3, 24]),
    ("sp.eval_chebyc(-3, x)", 0.3, [3 * 0.09 - 3, 6 * 0.3, 6]),
    ("sp.eval_sh_chebyt(-3, x)", 0.3, [24 * 0.16 - 6, 96 * -0.4, 192]),
    ("sp.eval_chebyu(-3.0, x)", 0.3, [-2, 0]),
    ("sp.eval_chebyt(-2.0, x)", 0.3, [4 * 0.3, 4, 0]),
    ("sp.eval_chebyt(0.0, x)", 0.3, [0, 0, 0]),
    ("sp.eval_legendre(-2, x)", 0.3, [1, 0, 0]),
    ("sp.eval_legendre(-3, x)", 0.3, [0.9, 3, 0]),
    ("sp.eval_legendre(-3.0, x)", 0.3, [0.9, 3, 0]),
    ("sp.eval_legendre(-1, x)", 0.3, [0, 0, 0]),
    ("sp.eval_sh_legendre(-3, x)", 0.3, [-2.4, 12, 0]),
    ("sp.eval_legendre(0.0, x)", 0.3, [0, 0, 0]),
    ("sp.eval_gegenbauer(0.0, 0.7, x)", 0.3, [0, 0, 0]),
    ("sp.eval_gegenbauer(1.0, 0.7, x)", 0.3, [1.4, 0, 0]),
    ("sp.eval_jacobi(0, 1.0, 1.0, x)", 0.3, [0, 0, 0]),
    ("sp.eval_jacobi(0.0, 0.5, 1.5, x)", 0.3, [0, 0, 0]),
    ("sp.eval_laguerre(0.0, x)", 0.3, [0, 0, 0]),
    ("sp.eval_genlaguerre(1.0, 1.0, x)", 0.3, [-1, 0, 0]),
]

ASSOCIATED = [
    ("sp.lpmv(-2, 2, x)", 0.3, [-0.075, -0.25, 0]),
    ("sp.lpmv(-2, -3, x)", 0.3, [-0.075, -0.25, 0]),
    ("sp.lpmv(-1, 2, x)", 0.5, [(1 - 2 * 0.25) / 2 / 0.75**0.5, -0.625 / 0.75**1.5]),
    ("sp.lpmv(-1, 1, x)", 0.5, [-0.25 / 0.75**0.5, -0.5 / 0.75**1.5]),
    ("sp.lpmv(-2, 3, x)", 0.3, [(1 - 3 * 0.09) / 8, -6 * 0.3 / 8, -6 / 8]),
    ("sp.lpmv(2, -4, x)", 0.3, [15 * (1 - 3 * 0.09), -90 * 0.3, -90]),
]

SPECIAL = (("sp", special), ("np", np))
STRUVE = [
    ("sp.struve(0, x)", 0.0, [2 / np.pi, 0, -4 / 3 / np.pi, 0]),
    ("sp.modstruve(0, x)", 0.0, [2 / np.pi, 0, 4 / 3 / np.pi, 0]),
    ("sp.struve(-1, x)", 0.0, [0, -4 / 3 / np.pi, 0]),
    ("sp.modstruve(-1.0, x)", 0.0, [0, 4 / 3 / np.pi, 0]),
    ("sp.struve(1, x)", 0.0, [0, 4 / 3 / np.pi, 0, -16 / 15 / np.pi]),
    ("sp.struve(2.0, x)", 0.0, [0, 0, 4 / 5 / np.pi, 0, -16 / 21 / np.pi]),
]
NORMAL = np.exp(-0.5) / np.sqrt(2 * np.pi)
INFINITE = [
    ("sp.owens_t(x, np.inf)", 1.0, [-NORMAL / 2, NORMAL / 2, 0]),
    ("sp.owens_t(x, -np.inf)", 1.0, [NORMAL / 2, -NORMAL / 2, 0]),
    ("sp.owens_t(x, np.inf)", -1.0, [NORMAL / 2, NORMAL / 2, 0]),
    ("sp.owens_t(x, 3.0 - np.inf)", 1.0, [NORMAL / 2, -NORMAL / 2, 0]),
]


def function_at(text: str) -> Any:
    return function_of_text(text, ["x"], SPECIAL)


def check_derivatives(function: Any, x: float, derivatives: list[float]) -> None:
    """Of numbers of Python in reverse mode to the last order, of arrays in both to the second."""
    derivative = function
    for wanted in derivatives:
        derivative = gs.grad(derivative)
        np.testing.assert_allclose(derivative(x), wanted, rtol=1e-10, atol=1e-13)
    first, second = derivatives[:2]
    points = np.array([x, x])
    _, tangent = gs.jvp(function, (points,), (np.ones(2),))
    np.testing.assert_allclose(tangent, [first] * 2, rtol=1e-10, atol=1e-13)
    total = gs.hessian(lambda x: np.sum(function(x)))(points)
    np.testing.assert_allclose(total, second * np.eye(2), rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize(("text", "x", "derivatives"), [*ORDERS, *ASSOCIATED])
def test_polynomials_of_any_order(text: str, x: float, derivatives: list[float]) -> None:
    check_derivatives(function_at(text), x, derivatives)


@pytest.mark.parametrize(
    "name",
    [
        "eval_chebyt",
        "eval_chebyu",
        "eval_chebyc",
        "eval_chebys",
        "eval_sh_chebyt",
        "eval_sh_chebyu",
        "eval_legendre",
        "eval_sh_legendre",
    ],
)
@pytest.mark.parametrize("orders", [np.arange(-5, 5), np.append(np.arange(-5.0, 5), [-2.5, 0.5])])
def test_polynomials_whose_orders_are_known_at_run_time(name: str, orders: np.ndarray) -> None:
    function = getattr(special, name)
    x, h = np.full(len(orders), 0.3), 1e-3
    near, far = (function(orders, x + h), function(orders, x - h)), function(orders, x)
    first = gs.grad(lambda x: np.sum(function(orders, x)))(x)
    np.testing.assert_allclose(first, (near[0] - near[1]) / (2 * h), rtol=1e-3, atol=1e-3)
    second = gs.hessian(lambda x: np.sum(function(orders, x)))(x)
    expected = np.diag((near[0] - 2 * far + near[1]) / h**2)
    np.testing.assert_allclose(second, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    "text",
    [
        "sp.eval_gegenbauer(n, 0.7, x)",
        "sp.eval_jacobi(n, 1.0, 1.0, x)",
        "sp.eval_laguerre(n, x)",
        "sp.eval_genlaguerre(n, 1.0, x)",
    ],
)
def test_order_zero_among_others_has_second_derivatives(text: str) -> None:
    function = function_of_text(text, ["n", "x"], (("sp", special),))
    for orders in ([0, 1, 2, 3], [0.0, 1.0, 2.0, 0.5]):
        x, h = np.full(4, 0.3), 1e-3
        n = np.array(orders)
        second = gs.hessian(lambda x, n: np.sum(function(n, x)))(x, n)
        values = [function(n, x + step) for step in (h, 0, -h)]
        expected = np.diag((values[0] - 2 * values[1] + values[2]) / h**2)
        np.testing.assert_allclose(second, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("degrees", [np.arange(3, 6), np.arange(-6.0, -3), np.array([3.5, 4.5])])
@pytest.mark.parametrize("order", [-3, -2, -1, 0, 1, 2])
def test_associated_functions_whose_orders_are_known_at_run_time(
    order: int, degrees: np.ndarray
) -> None:
    m, x, h = np.full(len(degrees), order), np.full(len(degrees), 0.3), 1e-3
    above, here, below = (special.lpmv(m, degrees, x + step) for step in (h, 0, -h))
    first = gs.grad(lambda x: np.sum(special.lpmv(m, degrees, x)))(x)
    np.testing.assert_allclose(first, (above - below) / (2 * h), rtol=1e-3, atol=1e-3)
    second = gs.hessian(lambda x: np.sum(special.lpmv(m, degrees, x)))(x)
    expected = (above - 2 * here + below) / h**2
    np.testing.assert_allclose(np.diag(second), expected, rtol=1e-3, atol=1e-3)


def test_a_principal_value_of_carlsons_integral_has_its_derivatives() -> None:
    x, y, h = np.array([0.5, 2.0, 1e-3]), np.array([-1.0, -3.0, -0.2]), 1e-6
    by_x, by_y = gs.grad(lambda x, y: np.sum(special.elliprc(x, y)), argnums=(0, 1))(x, y)
    of_x = special.elliprc(x + h, y) - special.elliprc(x - h, y)
    of_y = special.elliprc(x, y + h) - special.elliprc(x, y - h)
    np.testing.assert_allclose(by_x, of_x / (2 * h), rtol=1e-5)
    np.testing.assert_allclose(by_y, of_y / (2 * h), rtol=1e-5)
    mixed = gs.grad(lambda x, y: np.sum(special.elliprc(x, y)), argnums=(0, 1))
    found = mixed(np.array([0.5, 2.0]), np.array([-1.0, 3.0]))
    np.testing.assert_allclose(found[0], [by_x[0], -special.elliprd(3.0, 3.0, 2.0) / 6])
    np.testing.assert_allclose(found[1], [by_y[0], -special.elliprd(2.0, 3.0, 3.0) / 3])
    assert gs.grad(special.elliprc, argnums=1)(0.5, -1.0) == pytest.approx(by_y[0])
    gs.testing.check_grad(lambda x: special.elliprc(x, -1.0), 0.5)
    gs.testing.check_grad(lambda x: special.elliprc(x, -1.0), x[:2])


@pytest.mark.parametrize(("text", "x", "derivatives"), [*STRUVE, *INFINITE])
def test_at_points_that_formulas_leave_out(text: str, x: float, derivatives: list[float]) -> None:
    check_derivatives(function_at(text), x, derivatives)


def test_orders_of_struve_functions_that_are_known_at_run_time() -> None:
    v, x = np.array([-1, 0, 1, 2]), np.zeros(4)
    for function, sign in ((special.struve, -1), (special.modstruve, 1)):
        for orders in (v, v.astype(float)):
            gradient = gs.grad(lambda v, x, f=function: np.sum(f(v, x)), argnums=1)(orders, x)
            np.testing.assert_allclose(gradient, [0, 2 / np.pi, 0, 0])
            second = gs.hessian(lambda x, v, f=function: np.sum(f(v, x)))(x, orders)
            wanted = [sign * 4 / 3 / np.pi, 0, 4 / 3 / np.pi, 0]
            np.testing.assert_allclose(np.diag(second), wanted, atol=1e-15)


def test_an_infinite_parameter_among_others() -> None:
    h, a = np.array([1.0, 1.0, 0.0]), np.array([np.inf, 2.0, -np.inf])
    by_h, by_a = gs.grad(lambda h, a: np.sum(special.owens_t(h, a)), argnums=(0, 1))(h, a)
    wanted = gs.grad(special.owens_t, argnums=(0, 1))(1.0, 2.0)
    np.testing.assert_allclose(by_h, [-NORMAL / 2, wanted[0], 0])
    np.testing.assert_allclose(by_a, [0, wanted[1], 0])
    second = gs.hessian(lambda h, a: np.sum(special.owens_t(h, a)))(h, a)
    wanted = gs.hessian(special.owens_t)(1.0, 2.0)
    np.testing.assert_allclose(np.diag(second), [NORMAL / 2, wanted, 0])


@pytest.mark.parametrize("compile", [True, False])
@pytest.mark.parametrize("name", ["sici", "shichi"])
def test_an_integral_at_zero_where_that_beside_it_has_a_pole(name: str, compile: bool) -> None:
    function, sign = getattr(special, name), {"sici": -1, "shichi": 1}[name]

    def first(x: Any) -> Any:
        return np.sum(function(x)[0])

    def chosen(x: Any) -> Any:
        sine, cosine = function(x)
        return np.sum(np.where(x > 0.1, cosine, sine))

    x = np.array([0.0, 0.5])
    slope = np.sin(0.5) / 0.5 if name == "sici" else np.sinh(0.5) / 0.5
    other = np.cos(0.5) / 0.5 if name == "sici" else np.cosh(0.5) / 0.5
    np.testing.assert_allclose(gs.grad(first, compile=compile)(x), [1, slope])
    np.testing.assert_allclose(gs.grad(chosen, compile=compile)(x), [1, other])
    second = gs.hessian(first, compile=compile)(x)
    curvature = (np.cos(0.5) if name == "sici" else np.cosh(0.5)) / 0.5 - slope / 0.5
    np.testing.assert_allclose(second, np.diag([0, curvature]))
    for wanted in (1, 0, sign / 3)[: 3 if compile else 2]:
        first = gs.grad(first, compile=compile)
        np.testing.assert_allclose(first(0.0), wanted, atol=1e-15)
    given = gs.tensor(x, requires_grad=True)
    function(given)[0].sum().backward()
    np.testing.assert_allclose(given.grad.numpy(), [1, slope])


@pytest.mark.parametrize(("name", "power"), [("ellipkinc", 0.5), ("ellipeinc", -0.5)])
def test_incomplete_elliptic_integrals_have_all_digits(name: str, power: float) -> None:
    """By the parameter, the derivatives are the integrals of those of what they integrate."""
    derivative = function_of_text(f"sp.{name}(a, b)", ["a", "b"], SPECIAL)
    nodes, weights = np.polynomial.legendre.leggauss(200)
    factor = 1.0
    for order, rtol in ((1, 1e-11), (2, 1e-9), (3, 1e-6)):
        derivative = gs.grad(derivative, argnums=1)
        factor *= power + order - 1
        for m in (0.0, 1e-12, -1e-8, 1e-4, 0.09, 0.11, 0.9, -3.0):
            for phi in (1e-3, -0.7, 1.2, np.pi / 2, 2.0, -7.3):
                squares = np.sin(phi * (nodes + 1) / 2) ** 2
                terms = squares**order / (1 - m * squares) ** (power + order)
                wanted = factor * phi / 2 * np.sum(weights * terms)
                assert derivative(phi, m) == pytest.approx(wanted, rel=rtol, abs=0)


@pytest.mark.parametrize("name", ["ellipkinc", "ellipeinc"])
def test_incomplete_elliptic_integrals_at_zero_among_others(name: str) -> None:
    function = getattr(special, name)
    phi, m = np.array([1.2, 4.0]), np.array([[0.0, 1e-8], [0.6, -0.3], [-2.0, 0.05]])
    gs.testing.check_grad(function_of_text(f"sp.{name}(a, b)", ["a", "b"], SPECIAL), phi, m)
    assert np.isnan(gs.grad(lambda m: function(0.2, m))(1.5))  # SciPy has none of m > 1


@pytest.mark.parametrize("sigma", [0.0, 1e-12, 1e-8, 1e-3, 0.02, 0.03, 0.05])
def test_voigt_profiles_near_lorentz_laws(sigma: float) -> None:
    """The derivative by sigma is sigma times the second one by x."""
    z = 0.5 + 1j
    terms = [np.prod(np.arange(1.0, 2 * k, 2)) * (sigma / z) ** (2 * k) for k in range(9)]
    once = -1j / (np.pi * z**2) * sum((2 * k + 1) * term for k, term in enumerate(terms))
    twice = (
        1j / (np.pi * z**3) * sum((2 * k + 1) * (2 * k + 2) * term for k, term in enumerate(terms))
    )
    profile = function_of_text("sp.voigt_profile(a, b, c)", ["a", "b", "c"], SPECIAL)
    point = (0.5, sigma, 1.0)
    found = gs.grad(profile, argnums=(0, 1, 2))(*point)
    wanted = [once.real, sigma * twice.real, -once.imag]
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    assert gs.hessian(profile)(*point) == pytest.approx(twice.real, rel=1e-9)
    if sigma == 0:
        assert gs.hessian(profile, argnums=1)(*point) == pytest.approx(twice.real, rel=1e-12)
        third = gs.grad(gs.hessian(profile, argnums=1))(*point)
        assert third == pytest.approx((-6j / (np.pi * z**4)).real, rel=1e-12)
        check_derivatives(
            function_at("sp.voigt_profile(x, 0.0, 1.0)"), 0.5, [once.real, twice.real, third]
        )


def test_voigt_profiles_of_several_kinds_in_one_call() -> None:
    x, sigma, gamma = np.array([0.5, 20.0, 0.1]), np.array([0.0, 0.1, 0.5]), np.array([1, 0.3, 0])
    profile = function_of_text("sp.voigt_profile(a, b, c)", ["a", "b", "c"], SPECIAL)
    gradient = gs.grad(lambda x, s, g: np.sum(profile(x, s, g)), argnums=(0, 1, 2))
    single = [gs.grad(profile, argnums=(0, 1, 2))(*map(float, p)) for p in zip(x, sigma, gamma)]
    np.testing.assert_allclose(gradient(x, sigma, gamma), np.transpose(single), rtol=1e-12)
    gs.testing.check_grad(profile, x, np.array([0.2, 0.1, 0.5]), np.array([1, 0.3, 0.2]))
    assert np.all(np.isnan(gs.grad(profile, argnums=(0, 1, 2))(0.0, 0.0, 0.0)))  # no function
