"""Elementwise mathematics for Numba's loops: as accurate as promised, and vectorized."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("numba")

import numba

from gradscribe.codegen.loops import vectorized as package
from gradscribe.codegen.loops.vectorized import vectorized
from gradscribe.codegen.loops.vectorized.operations import product_error
from tests.codegen import vectorized_sweep as sweep

COMPILED = vectorized()
CASES = [pytest.param(u, f, id=u.__name__) for u, f in COMPILED.items()]


def right_results(ufunc, args):
    with np.errstate(all="ignore"):
        if "g->g" in ufunc.types or "gg->g" in ufunc.types:
            return ufunc(*(arg.astype(np.longdouble) for arg in args))
        return ufunc(*args)


@pytest.mark.parametrize(("ufunc", "function"), CASES)
def test_errors_are_below_two_units_in_the_last_place(ufunc, function):
    args = sweep.arguments(ufunc, count=3000)
    computed = sweep.applied(function, args)
    right = right_results(ufunc, args)
    with np.errstate(all="ignore"):
        rounded = right.astype(np.float64)
        errors = np.abs(computed - right) / np.spacing(np.abs(rounded))
    compared = np.isfinite(rounded)
    bound = 2.0 if right.dtype == np.longdouble and right.dtype.itemsize > 8 else 4.0
    assert np.max(errors[compared]) < bound
    np.testing.assert_array_equal(computed[~compared], rounded[~compared])


@pytest.mark.parametrize(("ufunc", "function"), CASES)
def test_special_cases_are_those_of_numpy(ufunc, function):
    assert sweep.wrong_special_cases(ufunc, function) == []


@pytest.mark.parametrize("name", ["exp", "log1p", "power", "tan", "arctan2", "erf"])
def test_errors_told_by_mpmath_are_below_two_units(name):
    pytest.importorskip("mpmath")
    ufunc, function = next(item for item in COMPILED.items() if item[0].__name__ == name)
    args = tuple(arg[::200].copy() for arg in sweep.arguments(ufunc, count=3000))
    computed = sweep.applied(function, args)
    assert max(sweep.errors_in_ulps(name, args, computed)) < 2.0


def test_the_angle_closest_to_a_multiple_of_a_quarter_turn_is_reduced():
    (cosine,) = sweep.applied(COMPILED[np.cos], (np.array([sweep.CLOSEST]),))
    assert cosine == -4.68716592425462761112e-19


@pytest.mark.parametrize(("ufunc", "function"), CASES)
def test_a_loop_is_a_vector_loop(ufunc, function):
    assert is_vector_loop(sweep.loop_of(function, ufunc.nin), ufunc.nin + 1)


def test_a_fused_expression_is_a_vector_loop():
    tanh = COMPILED[np.tanh]

    @numba.njit(error_model="numpy")
    def derivative(d, x, y):
        for i in range(x.shape[0]):
            y[i] = d[i] * (1.0 - tanh(x[i]) ** 2)

    assert is_vector_loop(derivative, 3)
    x = np.linspace(-3.0, 3.0, 11)
    y = np.empty_like(x)
    derivative(np.full(11, 2.0), x, y)
    np.testing.assert_allclose(y, 2.0 * (1.0 - np.tanh(x) ** 2), rtol=1e-13)


def is_vector_loop(loop, count):
    """Whether LLVM made a vector loop of it: it multiplies vectors."""
    array = numba.float64[::1]
    loop.compile((array,) * count)
    (text,) = loop.inspect_llvm().values()
    return " = fmul <" in text


@pytest.mark.parametrize(
    ("args", "dtype"),
    [
        ((np.float32(0.5),), "float32"),
        ((3,), "float64"),
        ((np.float32(0.5), np.float32(2.0)), "float32"),
        ((np.float32(0.5), 2.0), "float64"),
    ],
)
def test_results_have_the_precision_of_the_arguments(args, dtype):
    ufunc = np.tanh if len(args) == 1 else np.arctan2
    function = COMPILED[ufunc]
    made = numba.njit(lambda *args: function(*args))
    of_this_type = made.overloads
    assert made(*args) == pytest.approx(float(ufunc(*args)), rel=1e-7)
    (compiled,) = of_this_type.values()
    assert str(compiled.signature.return_type) == dtype


@pytest.mark.parametrize("ufunc", package._FUNCTIONS, ids=lambda ufunc: ufunc.__name__)
def test_the_functions_run_in_python_too(ufunc):
    args = [np.float64(x) for x in (0.7, 1.9)[: ufunc.nin]]
    with np.errstate(over="ignore"):
        computed = package._FUNCTIONS[ufunc](*args)
    assert math.isclose(computed, ufunc(*args), rel_tol=4e-16)


def test_the_error_of_a_product_is_exact_without_fused_instructions():
    rng = np.random.default_rng(0)
    for x, y in rng.normal(size=(100, 2)):
        exact = Fraction(x) * Fraction(y) - Fraction(x * y)
        assert Fraction(float(product_error(x, y, x * y))) == exact
