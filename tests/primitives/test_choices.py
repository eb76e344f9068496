"""What rules give where the derivative does not exist, or the plain formula breaks down."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.primitives.static import inverse_permutation
from gradscribe.runtime.arrays.composites import relu, sigmoid
from tests.primitives.harness import adjoint, case

inf, nan = math.inf, math.nan


@pytest.mark.parametrize(
    ("callee", "operands", "expected"),
    [
        (abs, [np.float64(0.0)], [0]),
        (np.abs, [np.array([-2.0, 0.0, 3.0])], [[-1, 0, 1]]),
        (
            np.maximum,
            [np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0])],
            [[0, 0.5, 1], [1, 0.5, 0]],
        ),
        (
            np.minimum,
            [np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0])],
            [[1, 0.5, 0], [0, 0.5, 1]],
        ),
        (np.maximum, [np.array([-inf, -inf]), np.array([-inf, 0.0])], [[0.5, 0], [0.5, 1]]),
        (np.fmax, [np.array([nan, 2.0]), np.array([1.0, nan])], [[0, 1], [1, 0]]),
        (max, [np.float64(2.0), np.float64(2.0)], [1, 0]),
        (min, [np.float64(2.0), np.float64(2.0)], [1, 0]),
        (max, [np.float64(1.0), np.float64(2.0)], [0, 1]),
        (max, [np.float64(nan), np.float64(2.0)], [1, 0]),
        (np.hypot, [np.array([0.0, 3.0]), np.array([0.0, 4.0])], [[0, 0.6], [0, 0.8]]),
        (np.logaddexp, [np.array([-inf, -inf]), np.array([-inf, 0.0])], [[0, 0], [0, 1]]),
        (np.logaddexp2, [np.array([-inf, -inf]), np.array([-inf, 0.0])], [[0, 0], [0, 1]]),
        (np.arctan2, [np.array([0.0, 1.0]), np.array([0.0, 1.0])], [[0, 0.5], [0, -0.5]]),
        (operator.pow, [np.array([0.0, 2.0]), np.array([0.0, 0.0])], [[0, 0], [0, math.log(2)]]),
        (operator.pow, [np.array([0.0, 0.0]), np.array([2.0, 1.0])], [[0, 1], [0, 0]]),
        (np.sqrt, [np.array([0.0])], [[inf]]),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_elementwise(callee: Any, operands: list[Any], expected: list[Any]) -> None:
    call = case(callee, *operands)
    out = call()
    got = adjoint(call, out, np.ones_like(out))
    for cotangent, wanted in zip(got, expected, strict=True):
        np.testing.assert_allclose(cotangent, wanted)


def test_a_literal_exponent_leaves_a_pole_out() -> None:
    for exponent, expected in [(0, [0, 0]), (1, [1, 1]), (2, [0, 4]), (3, [0, 12])]:
        call = case(operator.pow, np.array([0.0, 2.0]), exponent)
        (cotangent,) = adjoint(call, call(), np.ones(2))
        np.testing.assert_array_equal(cotangent, expected)


def test_clip_passes_the_derivative_at_its_bounds() -> None:
    call = case(np.clip, np.array([-1.0, 0.0, 0.5, 1.0, 2.0]), np.float64(0.0), np.float64(1.0))
    d_x, d_min, d_max = adjoint(call, call(), np.ones(5))
    np.testing.assert_array_equal(d_x, [0, 1, 1, 1, 0])
    assert (d_min, d_max) == (1, 1)


@pytest.mark.parametrize("callee", [np.max, np.min])
def test_equal_extrema_share_the_derivative(callee: Any) -> None:
    call = case(callee, np.array([[1.0, 1.0, 1.0], [2.0, 2.0, 1.0]]), axis=1)
    (d_x,) = adjoint(call, call(), np.array([6.0, 6.0]))
    second = [3, 3, 0] if callee is np.max else [0, 0, 6]
    np.testing.assert_array_equal(d_x, [[2, 2, 2], second])


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([2.0, 3.0, 4.0], [12, 8, 6]),
        ([0.0, 3.0, 4.0], [12, 0, 0]),
        ([0.0, 3.0, 0.0], [0, 0, 0]),
        ([], []),
    ],
)
def test_the_product_of_the_other_factors(x: list[float], expected: list[float]) -> None:
    call = case(np.prod, np.array(x))
    (d_x,) = adjoint(call, call(), 1.0)
    np.testing.assert_array_equal(d_x, expected)


def test_products_with_zeros_along_axes() -> None:
    x = np.random.default_rng(0).integers(0, 3, size=(2, 3, 4)).astype(float)
    for axis in (0, 1, -1, (0, 2), (1,), None):
        call = case(np.prod, x, axis=axis)
        (d_x,) = adjoint(call, call(), np.ones_like(call()))
        assert np.all(np.isfinite(d_x))
        for index in np.ndindex(x.shape):
            step = np.zeros_like(x)
            step[index] = 1  # the product is linear in each factor
            change = np.sum(np.prod(x + step, axis=axis) - np.prod(x, axis=axis))
            assert d_x[index] == change


def test_sinc_is_flat_at_zero() -> None:
    call = case(np.sinc, np.array([0.0, 1.0]))
    np.testing.assert_array_equal(adjoint(call, call(), np.ones(2))[0], [0, -1])


def test_the_determinant_of_a_singular_matrix_has_a_derivative() -> None:
    for x, expected in [
        (np.diag([1.0, 2.0, 0.0]), np.diag([0.0, 0.0, 2.0])),
        (np.array([[1.0, 2.0], [2.0, 4.0]]), [[4, -2], [-2, 1]]),
        (np.zeros((3, 3)), np.zeros((3, 3))),
    ]:
        call = case(np.linalg.det, x)
        np.testing.assert_allclose(adjoint(call, call(), 1.0)[0], expected, atol=1e-14)


def test_a_norm_of_low_order_has_derivative_zero_at_zeros() -> None:
    call = case(np.linalg.norm, np.array([0.0, 4.0]), 0.5)
    np.testing.assert_array_equal(adjoint(call, call(), 1.0)[0], [0, 1])


def test_the_median_moves_with_elements_in_the_middle() -> None:
    call = case(np.median, np.array([3.0, 1.0, 2.0, 9.0]))
    np.testing.assert_array_equal(adjoint(call, call(), 1.0)[0], [0.5, 0, 0.5, 0])


def test_interpolation_beyond_the_points_follows_the_last_one() -> None:
    call = case(np.interp, np.array([-1.0, 5.0]), np.array([0.0, 1.0]), np.array([2.0, 3.0]))
    d_x, d_xp, d_fp = adjoint(call, call(), np.array([1.0, 10.0]))
    assert (d_x.tolist(), d_xp.tolist(), d_fp.tolist()) == ([0, 0], [0, 0], [1, 10])


def test_the_standard_deviation_of_equal_numbers_has_derivative_zero() -> None:
    call = case(np.std, np.full(3, 2.0))
    np.testing.assert_array_equal(adjoint(call, call(), 1.0)[0], np.zeros(3))


def test_where_cuts_off_what_is_not_chosen() -> None:
    call = case(np.where, np.array([True, False]), np.array([1.0, nan]), np.array([nan, 2.0]))
    d_x, d_y = adjoint(call, call(), np.array([3.0, 4.0]))
    np.testing.assert_array_equal(d_x, [3, 0])
    np.testing.assert_array_equal(d_y, [0, 4])


def test_sigmoid_and_relu_are_careful_functions() -> None:
    x = np.array([-1000.0, -40.0, 0.0, 40.0, 1000.0])
    with np.errstate(over="raise", invalid="raise"):
        got = sigmoid(x)
    np.testing.assert_allclose(got, [0, math.exp(-40), 0.5, 1, 1], rtol=1e-13)
    assert sigmoid(np.float32(0.5)).dtype == np.float32
    np.testing.assert_array_equal(relu(np.array([-inf, -1.0, 0.0, 2.0])), [0, 0, 0, 2])


def test_inverse_permutation() -> None:
    assert inverse_permutation((2, 0, 1)) == (1, 2, 0)
    assert inverse_permutation((-1, 0, 1)) == (1, 2, 0)


def test_nan_is_equal_to_nan_where_that_is_asked_for() -> None:
    """`equal_nan` of NumPy's comparisons decides what a derivative is of."""
    x, y = np.array([1.0, nan, 2.0]), np.array([1.0, nan, 3.0])
    expected = np.where(np.isclose(x, y, equal_nan=True), 1.0, 0.0)
    close = gs.grad(lambda x, y: np.sum(x * np.isclose(x, y, equal_nan=True)))
    np.testing.assert_array_equal(close(x, y), expected)
    for callee in (np.allclose, np.array_equal):
        either = gs.grad(
            lambda x, y, c=callee: np.sum(3.0 * x) if c(x, y, equal_nan=True) else np.sum(x)
        )
        assert [either(x, y)[0], either(x, x)[0]] == [1.0, 3.0]
