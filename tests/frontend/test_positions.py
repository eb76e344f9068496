"""Axes and numbers of parts that are variables: known in the specializing call, and guarded."""

from __future__ import annotations

import numpy as np
import pytest

import gradscribe as gs

X = np.arange(24.0).reshape(2, 3, 4) / 7
M = X[0]
FIRST, LAST, COUNT = 0, 2, 4
AXES, ORDER = (0, 2), (2, 0, 1)
LISTED, TURNED, PAIRS = [0, 2], [2, 0, 1], [[0, 2], [1, 0]]
LARGEST, POWER, SECOND = np.inf, 2.5, np.int64(1)
PARTS, LETTERS = (slice(0, 2), 1), ["ijk", "kl"]

CALLS = [
    (lambda x: np.swapaxes(x, FIRST, LAST), X),
    (lambda x: np.linalg.norm(x, ord=LARGEST, axis=1), M),
    (lambda x: np.linalg.norm(x + 1, ord=POWER, axis=SECOND) * POWER, M),
    (lambda x: np.array(x**2, ndmin=COUNT) * X, M),
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
    (lambda x: np.transpose(x, TURNED) * np.arange(3), X),
    (lambda x: np.sum(x**2, axis=tuple(LISTED)), X),
    (lambda x: np.sum(x**2, axis=LISTED[0] + 1), X),
    (lambda x: np.flip(x, LISTED) * X, X),
    (lambda x: np.roll(x, [1, 2], LISTED) * X, X),
    (lambda x: np.reshape(x, [*TURNED[:1], -1])[0], X),
    (lambda x: np.tile(x, LISTED[1:]) ** 2, M),
    (lambda x: np.tile(x, [2, 1]) ** 2, M),
    (lambda x: np.tensordot(x, X[:, :, 1], axes=PAIRS), X.transpose(1, 2, 0)),
    (lambda x: np.abs(np.fft.fftn(x, s=[5, 3], axes=LISTED)), X),
    (lambda x: x[PARTS] ** 2, X),
    (lambda x: np.einsum(",".join(LETTERS) + "->il", x, M.T), X),
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


def test_a_list_of_axes_is_read_at_each_call() -> None:
    axes = [0, 1]
    gradient = gs.grad(lambda x: np.sum(np.sum(x, axis=tuple(axes)) ** 2))
    for now in ([0, 1], [0, 1, 2], [1], [2, 0]):
        axes[:] = now
        total = np.sum(X, axis=tuple(now), keepdims=True)
        np.testing.assert_allclose(gradient(X), 2 * np.broadcast_to(total, X.shape))


def test_a_list_of_axes_that_is_changed_keeps_the_change() -> None:
    def turned(x, axes):
        axes[0] = 2
        axes[2] = 0
        return np.sum(np.transpose(x, axes)[0] ** 2)

    axes = [0, 1, 2]
    x = gs.tensor(X, requires_grad=True)
    gs.differentiable(turned)(x, axes).backward()
    assert axes == [2, 1, 0]
    np.testing.assert_array_equal(x.grad.numpy(), gs.grad(turned)(X, [0, 1, 2]))


def replaced(values, number, x):
    values = list(values)
    values[number] = x
    return values


@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_a_number_chooses_among_items_of_several_types(number) -> None:
    """What wrappers do that differentiate by one argument of several."""
    given = (X, M[0], 2.0, 3.0)

    def by_list(x):
        big, small, scale, power = replaced(given, number, x)
        return scale * np.sum(big * small) ** power

    def by_tuples(x):
        big, small, scale, power = given[:number] + (x,) + given[number + 1 :]
        return scale * np.sum(big * small) ** power

    for function in (by_list, by_tuples):
        gs.testing.check_grad(function, given[number])


def test_a_number_chooses_a_function() -> None:
    choices = [np.tanh, np.sin]
    gradient = gs.grad(lambda x, number: choices[number](x))
    assert gradient(0.3, 1) == np.cos(0.3)
    assert gradient(0.3, 0) == pytest.approx(1 - np.tanh(0.3) ** 2)


def test_what_a_captured_number_does_not_choose_need_have_no_derivative() -> None:
    special = pytest.importorskip("scipy.special")
    given, number = (0.5, 2.0), 1

    def function(x):
        order, argument = replaced(given, number, x)
        return special.jv(order, argument)

    gs.testing.check_grad(function, 2.0)


def test_an_order_from_outside_is_that_of_each_call() -> None:
    order = np.inf
    gradient = gs.grad(lambda x: np.linalg.norm(x, ord=order))
    x = np.array([1.0, -3.0, 2.0])
    for order, expected in ((np.inf, [0, -1, 0]), (1.0, [1, -1, 1]), (np.inf, [0, -1, 0])):
        np.testing.assert_array_equal(gradient(x), expected)


def test_an_order_that_is_a_tensor_is_refused() -> None:
    order = gs.tensor(2.5, requires_grad=True)
    with pytest.raises(gs.errors.UnsupportedError, match="this value must be known"):
        gs.grad(lambda x: np.linalg.norm(x, ord=order, axis=1).sum())(M)
