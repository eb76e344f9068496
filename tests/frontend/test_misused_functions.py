"""Calls of NumPy and SciPy that raise: each raises what it raises, or is refused, in every mode;
what it gives for arguments out of range is what is compiled."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import InternalError
from tests.properties.operands import defined

pytestmark = pytest.mark.filterwarnings("ignore")

X = np.array([1.0, 2.0, 3.0])

RAISING = """
np.pad(x, (1, 2, 3)); np.pad(x, ((1, 2, 3),)); np.pad(x, -1, "edge"); np.pad(x, (1, -1), "wrap");
np.pad(x, 1, stat_length=2); np.pad(x, 1, "edge", constant_values=0); np.pad(x, 1, True);
np.array(x, dtype="f4", copy=False); np.asarray([x[0]], copy=False); np.array(2.0, copy=False) + x;
np.asanyarray(x[0], copy=False); np.array(np.outer(x, x), copy=False, order="F");
np.dot(np.outer(x, x), x, out=np.zeros(6)[::2]); np.outer(x, x).dot(x, out=np.zeros((3, 2))[:, 0]);
np.dot(np.outer(x, x), np.outer(x, x), out=np.zeros((3, 3), order="F"));
np.cumsum(x[:1], out=np.zeros(3)); np.mean(np.outer(x, x)[:1], axis=1, out=np.zeros(3));
np.take(x, [1], out=np.zeros(3)); np.concatenate([x, x], out=np.zeros(7));
np.put_along_axis(np.outer(x, x), np.array([0, 1]), 1.0, 1); np.fill_diagonal(x, 1.0);
np.fill_diagonal(np.zeros((2, 3, 3)), x[0]); np.average(np.outer(x, x), weights=np.ones((1, 3)));
np.average(np.outer(x, x), axis=1, weights=np.ones(1)); np.cov(x, aweights=-x);
np.cov(x, aweights=np.ones((3, 1))); np.cov(x, fweights=np.ones(2, int));
np.gradient(x[:1]); np.gradient(x[:2], edge_order=2); np.choose([0, 1], [x, x], mode="all");
np.quantile(x, 0.5, weights=x); np.multiply.accumulate(x[0]); np.subtract.accumulate(x[0]);
np.add.at(np.zeros(3, int), [0], x[:1]); np.zeros(3, np.uint8).__iadd__(np.array([-1, 2, 3]));
linalg.qr(np.outer(x, x), mode="all"); stats.norm.cdf(x, 0, 1, 2); stats.gamma.cdf(x);
stats.gamma.cdf(x, 2.0, a=2.0); stats.poisson.pmf(2, x, scale=1.0); stats.norm.pdf(x, size=1)
"""
FORMS = [text.strip() for text in RAISING.split(";")]


def function_of(expression: str) -> Any:
    text = f"def f(x):\n    r = {expression}\n    return np.sum(x) + np.sum(r)\n"
    modules: dict[str, Any] = {"np": np}
    if "linalg." in text or "stats." in text:
        scipy = pytest.importorskip("scipy")
        modules |= {"linalg": scipy.linalg, "stats": scipy.stats}
    return defined(text, modules)


@pytest.mark.parametrize("options", [{}, {"compile": False}], ids=["compiled", "recorded"])
@pytest.mark.parametrize("expression", FORMS)
def test_what_raises_is_not_computed(expression: str, options: Any) -> None:
    function = function_of(expression)
    try:
        function(X.copy())
    except Exception as error:
        plain = error
    else:
        pytest.skip("this NumPy takes it")
    with pytest.raises(Exception) as raised:
        gs.value_and_grad(function, **options)(X.copy())
    assert not isinstance(raised.value, InternalError)
    assert isinstance(raised.value, (type(plain), gs.errors.GradscribeError))


def casts_in_a_try(x):
    counts = np.zeros(3, np.uint8)
    try:
        counts += np.array([-1, 2, 3])
    except TypeError:
        return np.sum(x * x)
    return np.sum(x)


def test_a_cast_that_numpy_refuses_takes_no_other_path() -> None:
    with pytest.raises(gs.errors.UnsupportedError, match="does not store a int64 result in"):
        gs.value_and_grad(casts_in_a_try)(X)


def diagonal_of_a_cube(x):
    y = np.zeros((3, 3, 3))
    np.fill_diagonal(y, x)
    return np.sum(y * np.arange(27.0).reshape(3, 3, 3))


def nothing_put(x):
    y = x * 2.0
    np.put(y, [0, 7], x[:0], mode="raise")
    return np.sum(y * x)


def coefficients_of_integers(x):
    return (
        np.sum(np.poly(np.arange(2, 5)) * x[0]) if np.poly(np.arange(2, 5)).dtype == float else x[1]
    )


@pytest.mark.parametrize("options", [{}, {"compile": False}], ids=["compiled", "recorded"])
@pytest.mark.parametrize("function", [diagonal_of_a_cube, nothing_put, coefficients_of_integers])
def test_what_is_rarely_called_so(function: Any, options: Any) -> None:
    value, gradient = gs.value_and_grad(function, **options)(X)
    assert value == function(X)
    assert type(value) is type(function(X))
    differences = [(function(X + step) - function(X - step)) / 2e-6 for step in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(gradient, differences, rtol=1e-6)


@pytest.mark.parametrize("scale", [np.float64(-0.5), 0.0, np.array([0.7, -0.5, 0.0])])
@pytest.mark.parametrize("name", ["pdf", "cdf", "sf", "logpdf", "logcdf", "logsf", "ppf", "isf"])
def test_there_is_no_distribution_of_a_negative_scale(name: str, scale: Any) -> None:
    stats = pytest.importorskip("scipy.stats")
    text = f"def f(x, scale):\n    return stats.norm.{name}(x, 0.1, scale)\n"
    function, x = defined(text, {"stats": stats}), np.array([0.3, 0.6, 0.9])
    found, _ = gs.vjp(function, x, scale)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(function(x, scale)))


class Colour(int, enum.Enum):
    RED = 2

    def __new__(cls, number: int) -> Any:
        made = int.__new__(cls, number)
        made._value_ = "red"
        return made


def test_a_number_that_calls_itself_otherwise() -> None:
    def function(x):
        return x[0] * Colour.RED

    np.testing.assert_array_equal(gs.grad(function)(X), [2.0, 0.0, 0.0])
