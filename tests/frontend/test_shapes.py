"""Shapes that a program asks for, as index, number of iterations or test; shapes that change from
iteration to iteration, and shapes that do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from tests.frontend.oracles import check

x6 = np.linspace(0.1, 0.6, 6)


def lengths_as_an_index(a):
    n, m = a.shape
    F = np.zeros((n + 1, m + 1))
    F[n, m] = a[0, 0] ** 2
    return F[n, m]


def iterations_over_a_computed_shape(image, kernel):
    kh, kw = kernel.shape
    out = np.zeros((image.shape[0] - kh + 1, image.shape[1] - kw + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(image[i : i + kh, j : j + kw] * kernel)
    return out


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lengths_as_an_index, (np.ones((3, 4)),)),
        (iterations_over_a_computed_shape, (x6.reshape(2, 3), x6[:4].reshape(2, 2))),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_derivatives_of_both_modes_and_orders_agree(function: Any, args: Any) -> None:
    gs.testing.check_grad(function, *args)


def test_the_primal_part_reads_no_seed() -> None:
    compiled = gs.differentiable(iterations_over_a_computed_shape)
    args = x6.reshape(2, 3), x6[:4].reshape(2, 2)
    out, _ = compiled.specialize(*args).forward(*args)
    np.testing.assert_array_equal(out, iterations_over_a_computed_shape(*args))
    assert "d_out" not in compiled.forward_source


def labelled_loss(y, t):
    if t.size == y.size:
        t = t.argmax(axis=1)
    return -np.sum(np.log(y[np.arange(y.shape[0]), t]))


@pytest.mark.parametrize("t", [np.array([0, 1, 1, 0]), np.eye(2)[[0, 1, 1, 0]].astype(int)])
def test_a_side_that_these_lengths_never_take_need_not_be_compiled(t):
    check(labelled_loss, np.linspace(0.2, 0.9, 8).reshape(4, 2), t)


def by_number_of_columns(y, t):
    if not (t.ndim == 1 and len(t) < y.shape[1]):
        t = y[: t.shape[0]] * t[:, None]
    else:
        t = y[:, : len(t)] @ t
    return np.sum(t**2)


@pytest.mark.parametrize("n", [2, 3])
def test_a_side_is_left_out_for_tests_of_several_parts(n):
    check(by_number_of_columns, np.linspace(0.2, 0.9, 9).reshape(3, 3), np.arange(1.0, n + 1))


def by_rows(x):
    if x.shape[0] >= 3:
        x = np.sum(x, axis=0)
    return x**2


def by_count(x, n):
    y = x if n > 1 else np.sum(x)
    return y * n


def test_a_length_may_decide_how_many_axes_there_are() -> None:
    """The specializing call tells; another call gets another specialization."""
    for rows in (3, 2, 4, 1):
        x = np.arange(2.0 * rows).reshape(rows, 2)
        out = gs.vjp(by_rows, x)[0]
        np.testing.assert_array_equal(out, by_rows(x))
        gs.testing.check_grad(by_rows, x)
    for n in (1, 2, 1):
        gs.testing.check_grad(lambda x: by_count(x, n), np.arange(3.0))
    gradient = gs.grad(lambda x, n: np.sum(x**2) if n else x[0, 0])
    for n in (0, 3, 0):
        expected = 2 * x if n else np.eye(*x.shape) * [[1.0, 0.0]]
        np.testing.assert_array_equal(gradient(x, n), expected)

    def kinds(x, n):
        return np.sum((x if n else np.sum(x)) ** 2)

    for n in (0, 3):
        gs.testing.check_grad(lambda x: kinds(x, n), x)


def shrinking(x, n):
    for _ in range(n):
        x = x[1:]
    return x


def growing(x, n):
    y = x[:0]
    for i in range(n):
        y = np.concatenate((y, x[i : i + 1] ** 2))
    return y


@pytest.mark.parametrize(
    ("function", "n", "seed", "expected"),
    [
        (shrinking, 1, [1.0, 2.0], [0.0, 1.0, 2.0]),
        (shrinking, 2, [3.0], [0.0, 0.0, 3.0]),
        (growing, 2, [1.0, 1.0], [2.0, 4.0, 0.0]),
    ],
)
def test_arrays_whose_length_changes_from_iteration_to_iteration(
    function: Any, n: int, seed: list[float], expected: list[float]
) -> None:
    _, pull = gs.vjp(function, np.array([1.0, 2.0, 3.0]), n)
    np.testing.assert_allclose(pull(np.array(seed))[0], expected)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lambda A, b: np.sum(A @ b), (np.ones((2, 3)), np.ones(2))),
        (lambda a, b: np.sum(a - b), (np.ones(4), np.ones(2))),
        (lambda a: np.sum(a @ np.ones(3)), (np.ones(2),)),
    ],
)
def test_shapes_that_do_not_fit_are_no_gradient(function: Any, args: Any) -> None:
    with pytest.raises(errors.UnsupportedError, match=r"differ|do not broadcast"):
        gs.grad(function)(*args)
