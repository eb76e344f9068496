"""Axes and numbers of parts that are variables: known in the specializing call, and guarded."""

from __future__ import annotations

import numpy as np
import pytest

import gradscribe as gs

X = np.arange(24.0).reshape(2, 3, 4) / 7
M = X[0]
FIRST, LAST, COUNT = 0, 2, 4
AXES, ORDER = (0, 2), (2, 0, 1)

CALLS = [
    (lambda x: np.swapaxes(x, FIRST, LAST), X),
    (lambda x: np.moveaxis(x, FIRST, LAST), X),
    (lambda x: np.rollaxis(x, LAST, FIRST), X),
    (lambda x: np.transpose(x, ORDER) * np.arange(3), X),
    (lambda x: np.tensordot(x, M, axes=[FIRST + 1, FIRST]), X),
    (lambda x: np.split(x, COUNT, axis=LAST)[1], X),
    (lambda x: np.array_split(x, 3, axis=LAST)[0], X),
    (lambda x: np.gradient(x, axis=LAST), X),
    (lambda x: np.cross(x, x[::-1] ** 2, axisa=FIRST, axisb=FIRST), M),
    (lambda x: np.abs(np.fft.fftn(x, s=(5, 3), axes=AXES)), X),
    (lambda x: np.einsum(x, [FIRST, 1], M, [FIRST, LAST], [1, LAST]), M),
    (lambda x: np.diagonal(x, FIRST, LAST, 1), X),
    (lambda x: np.expand_dims(x, AXES), M),
    (lambda x: np.linalg.matrix_power(x, COUNT), M[:, :3]),
]


@pytest.mark.parametrize(("function", "x"), CALLS)
def test_an_axis_may_be_a_variable(function, x) -> None:
    np.testing.assert_array_equal(gs.vjp(function, x)[0], function(x))
    gs.testing.check_grad(function, x)


def test_another_axis_is_another_specialization() -> None:
    moved = gs.differentiable(lambda x, axis: np.sum(np.moveaxis(x, axis, 0)[0] ** 2), argnums=0)
    for axis in (0, 1, 2, 0):
        gradient = gs.grad(moved)(X, axis)
        expected = np.moveaxis(np.zeros_like(X), axis, 0)
        expected[0] = 2 * np.moveaxis(X, axis, 0)[0]
        np.testing.assert_allclose(gradient, np.moveaxis(expected, 0, axis))
