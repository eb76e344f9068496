"""Stores after a branch that left names on one array or another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors

X, Y = np.array([0.5, 1.5, 2.5]), np.array([-0.3, 0.7, 1.1])


def swapped(x, y):
    a, b = x.copy(), y.copy()
    if x[0] > 0:
        a, b = b, a
    a[0] = 7.0 * x[1]
    return np.sum(a * x) + np.sum(b * b)


def rotated(x, y):
    a, b, c = x.copy(), y.copy(), x * y
    if x[0] < 0:
        a, b = b, a
    elif x[1] > 0:
        a, b, c = c, a, b
    a[0] = 7.0 * x[1]
    b[1] *= 2
    return np.sum(a * x) + np.sum(b * b) + c[0]


def swapped_twice(x, y):
    a, b = x.copy(), y.copy()
    if x[0] > 0:
        a, b = b, a
    if x[1] > 0:
        a, b = b, a
    a += y
    b[1:] = a[1:] * x[1:]
    return np.sum(a * b)


@pytest.mark.parametrize("function", [swapped, rotated, swapped_twice])
def test_what_a_branch_swaps_stays_disjoint(function: Any) -> None:
    gs.testing.check_grad(function, X, Y)


def one_array_on_one_path(x):
    if x[0] > 0:
        a = x * 1
        b = a
    else:
        a, b = x * 2, x * 3
    a[0] = 7 * x[1]
    return np.sum(a * x) + np.sum(b * b)


def in_a_list_on_one_path(x):
    a, held = x * 1, []
    if x[0] > 0:
        a = x * 2
        for _ in range(len(x)):
            held.append(a)
    a[0] = 7 * x[1]
    total = np.sum(a)
    for v in held:
        total += np.sum(v * v)
    return total


@pytest.mark.parametrize("function", [one_array_on_one_path, in_a_list_on_one_path])
def test_a_store_to_what_is_one_array_on_one_path_is_refused(function: Any) -> None:
    with pytest.raises(errors.UnsupportedError, match="may share memory"):
        gs.value_and_grad(function)(X)


def test_a_store_to_what_is_one_of_two_lists_goes_to_that_one() -> None:
    def f(x: float, n: int) -> Any:
        ahead, behind = [], []
        for i in range(n):
            ahead.append(x * i)
            behind.append(x + i)
        chosen = ahead
        if x > 0:
            chosen = behind
        chosen[0] = x * 7
        return sum(ahead) + sum(behind) * x

    for x in (2.0, -2.0):
        gs.testing.check_grad(f, x, 3)


@pytest.mark.parametrize("rows", [slice(None, None, 2), slice(None, None, -1)])
def test_the_reshape_of_rows_with_a_step_is_not_taken_for_a_view(rows: slice) -> None:
    def f(x: Any) -> Any:
        y = np.zeros((4, 3))
        v = y[rows].reshape(-1)
        v[0] = x[0]
        return np.sum(y) + v[0]

    value, gradient = gs.value_and_grad(f)(X)
    assert value == X[0]
    np.testing.assert_array_equal(gradient, np.eye(len(X))[0])


def test_a_refused_store_names_the_view_that_is_stored_through() -> None:
    def f(A: Any) -> Any:
        v = np.sin(A.T).reshape(-1)
        w = v if np.sum(A) > 0 else v.copy()
        B = np.sin(A.T)
        u = B.reshape(-1)
        u[1] = 0.0
        return np.sum(B) + np.sum(u) + np.sum(w)

    with pytest.raises(errors.AliasingError, match="into `u`, which may share memory with `B`"):
        gs.value_and_grad(f)(np.arange(6.0).reshape(2, 3).T)


@pytest.mark.parametrize("A", [np.ones((2, 3)), np.ones((3, 2)).T])
def test_a_reshape_is_a_view_where_the_array_lies_so(A: Any) -> None:
    def f(A: Any) -> Any:
        v = A.reshape(-1)
        v[1] = 0.0
        return np.sum(A) + np.sum(v)

    value, gradient = gs.value_and_grad(f)(A.copy(order="K"))
    assert value == f(A.copy(order="K"))
    assert gradient[0, 1] == (0.0 if A.flags.c_contiguous else 1.0)


def one_of_two(x: Any) -> Any:
    y, z = x * 2, x * 3
    w = y if x[0] > 0 else z[::-1]
    w[0] = x[1] * x[2]
    z[1] *= x[0]
    return np.sum(w * y) + np.sum(z * z)


def as_before_a_loop_without_iterations(x: Any) -> Any:
    y, k = x * 2, 0
    p = y
    while k < len(x) and x[k] > 1:
        k += 1
        p = np.tanh(p)
    p *= x[0]
    return np.sum(p * p) + np.sum(y * y)


def one_of_three(x: Any) -> Any:
    a, b, c = x * 2, x * 3, np.cos(x)
    if x[0] > 1:
        p = a
    elif x[1] > 1:
        p = b
    else:
        p = c
    p[0] = x[2] * x[1]
    a[1] = p[1]
    return np.sum(a * b) + np.sum(c * p)


@pytest.mark.parametrize(
    "function", [one_of_two, as_before_a_loop_without_iterations, one_of_three]
)
@pytest.mark.parametrize("x", [X, -X, X[::-1].copy()])
def test_a_store_goes_to_the_array_that_the_run_tells(function: Any, x: Any) -> None:
    value, gradient = gs.value_and_grad(function)(x)
    assert value == function(x)
    gs.testing.check_grad(function, x)
    np.testing.assert_allclose(gradient, gs.grad(function, compile=False)(x), rtol=1e-12)
