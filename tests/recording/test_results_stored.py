"""Recorded runs: results that are stored where the program says, and what is a copy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import gradscribe as gs

X = np.array([0.5, 2.0, 3.0])


def clipped(x):
    y = x * 1.0
    np.clip(y, 1.0, 2.5, y)
    return np.sum(y)


def clipped_by_method(x):
    y = x * 1.0
    y.clip(1.0, 2.5, y)
    return np.sum(y)


def summed(x):
    y = np.zeros(3)
    x.cumsum(0, None, y)
    return np.sum(y)


def multiplied(x):
    y = np.zeros((3, 3))
    np.outer(x, x, y)
    return np.sum(y)


def dot(x):
    y = np.zeros(())
    np.dot(x, x, out=y)
    return y[()] * 1.0


def every_other_in_order(x):
    y = x * 1.0
    np.ascontiguousarray(y[::2])[1] = 9.0
    return np.sum(y)


def copied_if_asked(x):
    y = x * 1.0
    np.asarray(y, copy=True)[1] = 9.0
    np.array(y, copy=False)[0] = 9.0
    return np.sum(y)


def conjugated(x):
    y = x * 1.0
    y.conj()[1] = 9.0
    return np.sum(y)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (clipped, [0, 1, 0]),
        (clipped_by_method, [0, 1, 0]),
        (summed, [3, 2, 1]),
        (multiplied, [11, 11, 11]),
        (dot, [1, 4, 6]),
        (every_other_in_order, [1, 1, 1]),
        (copied_if_asked, [0, 1, 1]),
        (conjugated, [1, 0, 1]),
    ],
)
def test_a_recorded_run_stores_and_copies_as_numpy_does(function, expected):
    value, gradient = gs.value_and_grad(function, compile=False)(X)
    assert value == function(X)
    assert np.allclose(gradient, expected)


def exponents(x):
    mantissa, exponent = np.frexp(x)
    total = np.sum(mantissa * x)
    exponent[:] = 5
    return total


def exponents_as_array(x):
    mantissa, exponent = np.frexp(x)
    np.asarray(exponent)[0] += 3
    return np.sum(mantissa * x)


def pivots(x):
    factors, order = scipy.linalg.lu_factor([[x[0], 2.0], [x[1], x[2]]])
    total = np.sum(factors**2)
    order[0] = 0
    return total


def pivots_after_solving(x):
    factors = scipy.linalg.lu_factor([[x[0], 2.0], [x[1], x[2]]])
    total = np.sum(scipy.linalg.lu_solve(factors, np.ones(2)) ** 2)
    factors[1][0] = 0
    return total


def places(x):
    found, *integers = np.unique(x, return_index=True, return_inverse=True)
    total = np.sum(np.arange(3) * found**2)
    for each in integers:
        each[:] = 1
    return total


@gs.primitive
def scaled(x):
    return x * [1.0, 2.0, 3.0], np.array([0, 1, 2])


@scaled.adjoint
def _(out, x, *, d_out):
    return d_out[0] * (1.0 + out[1])


def result_of_an_operation(x):
    y, order = scaled(x)
    order[:] = 7
    return np.sum(y)


@pytest.mark.parametrize(
    "function",
    [
        exponents,
        exponents_as_array,
        pivots,
        pivots_after_solving,
        places,
        result_of_an_operation,
    ],
)
def test_a_result_that_a_rule_reads_may_be_overwritten(function):
    x = np.array([0.7, 1.3, 2.9])
    value, gradient = gs.value_and_grad(function, compile=False)(x)
    steps = np.eye(3) * 1e-6
    assert value == function(x)
    expected = [(function(x + step) - function(x - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient, expected, rtol=1e-5)
