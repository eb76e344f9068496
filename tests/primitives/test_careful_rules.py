"""Derivatives at special points, where careless formulas give NaN; numbers of any precision."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from tests.primitives.test_forms import function_of_text
from tests.sampling import one_in

ZEROS, PART, ROWS = np.zeros(3), np.array([1.0, 0.0, 2.0]), np.array([[0.0, 0.0], [3.0, 4.0]])
SIGNED, CORNERS = np.array([-1.0, 1.0, 2.0]), np.array([[1.0, 0.0], [0.0, 4.0]])
LARGE, EQUAL = np.array([1e3, -1e3, 0.0]), np.array([1.0, 1.0, 2.0])

POINTS = [
    ("np.where(x > 0, np.log(x), 0)", PART, [1, 0, 0.5]),
    ("np.where(x > 0, np.sqrt(x), 0)", PART, [0.5, 0, 0.5 / np.sqrt(2)]),
    ("np.where(x != 0, np.sin(x) / x, 1.0)", ZEROS, [0, 0, 0]),
    ("np.divide(x, x, out=np.zeros(3), where=x != 0)", PART, [0, 0, 0]),
    ("np.linalg.norm(x)", ZEROS, [0, 0, 0]),
    ("np.linalg.norm(x, axis=1)", ROWS, [[0, 0], [0.6, 0.8]]),
    ("x**0", ZEROS, [0, 0, 0]),
    ("x**1", ZEROS, [1, 1, 1]),
    ("0.0 ** (x + 1)", ZEROS, [0, 0, 0]),
    ("np.power(x, np.array([0.0, 1.0, 2.0]))", ZEROS, [0, 1, 0]),
    ("np.sinc(x)", ZEROS, [0, 0, 0]),
    ("np.hypot(x, 0.0)", ZEROS, [0, 0, 0]),
    ("np.arctan2(x, 1.0)", ZEROS, [1, 1, 1]),
    ("np.prod(x)", PART, [0, 2, 0]),
    ("np.cumprod(x)", PART, [1, 3, 0]),
    ("np.std(x)", ZEROS, [0, 0, 0]),
    ("np.sort(x) * np.arange(3.0)", EQUAL, [0, 1, 2]),
    ("np.logaddexp(x, x)", LARGE, [1, 1, 1]),
    ("np.logaddexp.reduce(x)", LARGE, [1, 0, 0]),
    ("np.logaddexp(x, 1e16)", np.array([1e16, -1e16, np.inf]), [0.5, 0, 1]),
    ("np.logaddexp2(x, 1e17)", np.array([1e17, 0, -np.inf]), [0.5, 0, 0]),
    ("np.logaddexp.reduce(x)", np.array([1e16, 1e16, 0]), [0.5, 0.5, 0]),
    ("np.logaddexp2.reduce(x, initial=1e17)", np.array([1e17, 0, -np.inf]), [0.5, 0, 0]),
    ("np.logaddexp.reduce(x)", np.array([np.inf, np.inf, 0]), [0.5, 0.5, 0]),
    ("np.logaddexp.reduce(x)", np.full(3, -np.inf), [0, 0, 0]),
    ("np.arctan2(x, x)", ZEROS, [0, 0, 0]),
    ("np.exp(x) / np.sum(np.exp(x))", np.array([10.0, 700.0, 0.0]), [0, 0, 0]),
    ("np.linalg.eigvalsh(x)", np.eye(2), np.eye(2)),
    ("np.real(np.linalg.eigvals(x))", np.eye(2), np.eye(2)),
    ("np.linalg.det(x)", ROWS, [[4, -3], [0, 0]]),
    ("np.maximum(np.sqrt(np.sum(x**2, axis=1)), 1)", ROWS, [[0, 0], [0.6, 0.8]]),
    ("np.clip(np.log(x), -1, 1)", np.array([0.0, 1.0, 2.0]), [0, 1, 0.5]),
    ("np.max(np.sqrt(np.sum(x**2, axis=1)))", ROWS, [[0, 0], [0.6, 0.8]]),
    ("np.median(np.sqrt(x))", np.array([0.0, 1.0, 4.0]), [0, 0.5, 0]),
    ("np.partition(np.sqrt(x), 1)[1]", np.array([0.0, 1.0, 4.0]), [0, 0.5, 0]),
    ("np.nansum(x)", np.array([np.nan, 1.0, 2.0]), [0, 1, 1]),
    ("np.sum(np.log(x), where=x > 0)", PART, [1, 0, 0.5]),
    ("np.mean(np.log(x), where=x > 0)", PART, [0.5, 0, 0.25]),
    ("np.prod(np.log(x), where=x > 1)", PART, [0, 0, 0.5]),
    ("np.var(np.log(x), where=x > 0)", PART, [-np.log(2) / 2, 0, np.log(2) / 4]),
    ("np.std(np.log(x), where=x > 0)", PART, [-0.5, 0, 0.25]),
    ("np.max(np.log(x), where=x > 0, initial=-9.0)", PART, [0, 0, 0.5]),
    ("np.nansum(np.log(x))", SIGNED, [0, 1, 0.5]),
    ("np.nanmean(np.log(x))", SIGNED, [0, 0.5, 0.25]),
    ("np.nanmax(np.log(x))", SIGNED, [0, 0, 0.5]),
    ("np.nanprod(np.log(x[[0, 2]]))", SIGNED, [0, 0, 0.5]),
    ("np.nanmedian(np.log(x))", SIGNED, [0, 0.5, 0.25]),
    ("np.nan_to_num(np.log(x))", PART, [1, 0, 0.5]),
    ("np.select([x > 0], [np.log(x)], 0.0)", PART, [1, 0, 0.5]),
    ("np.choose(np.array([0, 1, 0]), (np.log(x), x))", PART, [1, 1, 0.5]),
    ("np.extract(x > 0, np.log(x))", PART, [1, 0, 0.5]),
    ("np.compress(x > 0, np.log(x))", PART, [1, 0, 0.5]),
    ("np.take_along_axis(np.log(x), np.array([0, 2]), 0)", PART, [1, 0, 0.5]),
    ("np.diag(np.sqrt(x))", CORNERS, [[0.5, 0], [0, 0.25]]),
    ("np.trace(np.sqrt(x))", CORNERS, [[0.5, 0], [0, 0.25]]),
    ("np.tril(np.sqrt(x + np.tri(2)))", np.zeros((2, 2)), [[0.5, 0], [0.5, 0.5]]),
    ("np.where(x > 0, np.log(x).astype(float).copy(), 0)", PART, [1, 0, 0.5]),
    ("np.where(np.sum(x) > 9, np.sum(np.log(x)), 0.0)", PART, [0, 0, 0]),
    (
        "np.where(np.all(x > 0, axis=1), np.sum(np.log(x), axis=1), 0)",
        ROWS,
        [[0, 0], [1 / 3, 0.25]],
    ),
    ("np.sqrt(np.pad(x, 1))", SIGNED[1:], [0.5, 0.5 / np.sqrt(2)]),
    ("np.sqrt(np.diag(x))", SIGNED[1:], [0.5, 0.5 / np.sqrt(2)]),
    ("np.sqrt(np.tril(x[:, None] * x))", SIGNED[1:], [1 + 0.5**0.5, 1 + 0.5**1.5]),
    ("np.sqrt(np.array([x[1], 0.0, x[2]]))", SIGNED, [0, 0.5, 0.5 / np.sqrt(2)]),
    (
        "np.sqrt(np.nan_to_num(np.log(x), neginf=0.0))",
        np.array([0.0, 2.0]),
        [0, 0.25 / np.log(2) ** 0.5],
    ),
    ("np.modf(x)[0]", np.array([0.0, -0.0, 1.5]), [1, 1, 1]),
    ("np.poly1d(x)(2.0)", np.array([0.0, 1.0, 0.0]), [4, 2, 1]),
    ("np.poly1d(x).deriv()(2.0)", np.array([0.0, 0.0, 1.0]), [4, 1, 0]),
    ("(3 * np.poly1d(x) - np.poly1d([1.0, 2.0]))(2.0)", ZEROS, [12, 6, 3]),
    ("np.median(x)", np.array([np.inf, 1.0, 2.0, 3.0, -np.inf]), [0, 0, 1, 0, 0]),
]


SAMPLE = one_in(2, POINTS)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("text", "x", "gradient"), SAMPLE, ids=[text for text, *_ in SAMPLE])
def test_no_nan_where_the_derivative_exists(text: str, x: Any, gradient: Any) -> None:
    function = function_of_text(f"np.sum({text})", ["x"])
    np.testing.assert_allclose(gs.grad(function)(x), gradient, atol=1e-12)
    np.testing.assert_allclose(gs.jacfwd(function)(x), gradient, atol=1e-12)
    try:
        second = gs.hvp(function, (x,), (np.ones_like(x),))
    except gs.errors.NoDerivativeError:
        assert "eigvals" in text, "of equal eigenvalues, second derivatives are refused"
    else:
        assert np.all(np.isfinite(second))


@pytest.mark.parametrize("size", [1e-170, 1e170, np.float32(1e-25), np.float32(1e20)])
def test_slopes_of_angles_do_not_square_lengths(size: Any) -> None:
    wanted = 0.5 / size
    np.testing.assert_allclose(gs.grad(np.arctan2, (0, 1))(size, size), [wanted, -wanted], 1e-6)
    z = size + 1j * size
    np.testing.assert_allclose(gs.grad(np.angle)(z), wanted * (1j - 1), 1e-6)


MANY = np.resize(np.array([1, -1], np.float16), 70_000)


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize(
    ("text", "slope"),
    [
        ("np.mean(x)", 1 / 70_000),
        ("np.average(x)", 1 / 70_000),
        ("np.mean(x, axis=0)", 1 / 70_000),
        ("np.var(x)", 2 / 70_000),
        ("np.var(x, ddof=1)", 2 / 70_000),
        ("np.mean(x, where=x < 3)", 1 / 70_000),
        ("np.max(np.abs(x))", 1 / 70_000),
    ],
)
def test_half_precision_counts_more_than_it_can_hold(text: str, slope: float) -> None:
    function = function_of_text(text, ["x"])
    gradient = gs.grad(function)(MANY)
    assert gradient.dtype == np.float16
    np.testing.assert_allclose(gradient[0], slope, 1e-2)
    tangent = gs.jvp(function, (MANY,), (np.where(MANY > 0, MANY, 0),))[1]
    np.testing.assert_allclose(tangent, slope * 35_000, 1e-2)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["median", "max", "min"])
def test_of_data_with_nan_no_element_is_given_a_derivative(name: str) -> None:
    function = function_of_text(f"np.{name}(x, axis=1)[1] + 2 * np.{name}(x, axis=1)[0]", ["x"])
    x = np.array([[np.nan, 1.0, 2.0], [3.0, 5.0, 4.0]])
    chosen = {"median": [0, 0, 1], "max": [0, 1, 0], "min": [1, 0, 0]}[name]
    np.testing.assert_array_equal(gs.grad(function)(x), [[np.nan] * 3, chosen])


@pytest.mark.parametrize(
    ("text", "x", "slope"),
    [
        ("math.sqrt(x)", 0.0, np.inf),
        ("x**0.5", 0.0, np.inf),
        ("math.pow(x, 0.25)", 0.0, np.inf),
        ("math.asin(x)", 1.0, np.inf),
        ("math.acos(x)", 1.0, -np.inf),
        ("math.acosh(x)", 1.0, np.inf),
        ("math.hypot(x, x)", 0.0, 0.0),
        ("x**1.5", 0.0, 0.0),
        ("s = math.sqrt(x); s if x > 0 else 0.0", 0.0, 0.0),
        ("s = x**0.5; s if x > 0 else 0.0", 0.0, 0.0),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_infinite_derivatives_of_numbers_are_those_of_arrays(
    text: str, x: float, slope: float
) -> None:
    function = function_of_text(text, ["x"], (("math", math),))
    for number in (x, np.float64(x)):
        assert gs.grad(function)(number) == slope
        assert gs.jvp(function, (number,), (1.0,)) == (function(number), slope)


VECTOR = np.array([0.5, 1.25, 0.75, 1.5])
MATRIX = np.array([[1.0, 0.5, 0.25], [0.75, 2.0, 1.5], [0.25, 0.5, 1.25]])
IN_ALL_PRECISIONS = """
np.sum(x); np.mean(x); np.var(x); np.std(x); np.prod(x); np.max(x); np.cumsum(x); np.sort(x)
np.median(x); np.exp(x); np.log(x); np.sqrt(x); np.tanh(x); np.sin(x) * np.cos(x); x**2; x**1.5
x / 2; 2 / x; x @ x; m @ m; np.outer(x, x); np.einsum('ij,jk->ik', m, m); np.where(x > 1, x, 0)
np.maximum(x, 1); np.clip(x, 0, 1); np.concatenate([x, x]); np.stack([x, x]); np.linalg.norm(x)
np.diff(x); np.pad(x, 1); np.trapezoid(x); np.logaddexp(x, x); np.hypot(x, x); np.average(x)
np.quantile(x, [0.25, 0.75]); np.take(x, [0, 2]); np.repeat(x, 2); np.roll(x, 1); np.convolve(x, x)
np.gradient(x); np.nanmean(x); np.kron(x, x); np.trace(m); np.tril(m); np.abs(x); np.cbrt(x)
np.expm1(x); np.linspace(x[0], x[1], 3); np.polyval(x, x); np.unique(x); np.add.reduceat(x, [0, 2])
"""


def test_numbers_of_extended_precision_are_written_with_all_digits() -> None:
    third, turn = np.longdouble(1) / 3, np.clongdouble(1j) / 3

    def scaled(x: Any) -> Any:
        return max(x * third), np.arange(x[0]), x * turn

    x = np.array([1.5, 2.5], np.longdouble)
    for result, wanted in zip(gs.vjp(scaled, x)[0], scaled(x), strict=True):
        assert result.dtype == wanted.dtype
        np.testing.assert_array_equal(result, wanted)
    (largest, _, _), (tangent, _, turned) = gs.jvp(scaled, (x,), (x,))
    assert tangent == largest
    np.testing.assert_array_equal(turned, x * turn)


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble])
@pytest.mark.parametrize(
    "text", one_in(3, [t.strip() for t in IN_ALL_PRECISIONS.replace(";", "\n").split("\n") if t])
)
def test_other_precisions_stay_what_they_are(text: str, dtype: Any) -> None:
    function = function_of_text(text, ["x", "m"])
    x, m = VECTOR.astype(dtype), MATRIX.astype(dtype)
    value, pullback = gs.vjp(function, x, m)
    expected = function(x, m)
    assert np.asarray(value).dtype == np.asarray(expected).dtype
    np.testing.assert_array_equal(value, expected)
    wide, wide_pullback = gs.vjp(function, VECTOR, MATRIX)
    tolerance = 2e-2 if dtype is np.float16 else 1e-12
    seed = np.asarray(value).astype(np.asarray(wide).dtype)[()]
    for cotangent, wanted in zip(pullback(value), wide_pullback(seed), strict=True):
        assert np.asarray(cotangent).dtype == dtype
        np.testing.assert_allclose(
            np.asarray(cotangent, float), wanted, rtol=tolerance, atol=tolerance
        )
