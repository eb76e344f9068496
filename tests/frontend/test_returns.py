"""Functions that return values of several kinds: a number or an array, a tuple or None, None where
they end, an array or a message."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from tests.frontend.oracles import agrees, check

A = np.array([[2.0, 0.3], [0.3, 1.5]])
X = np.array([0.5, 1.1, 1.7])


def soft_threshold(rho, lam):
    if rho < -lam:
        return rho + lam
    elif rho > lam:
        return rho - lam
    else:
        return 0


def shrunk(rho, lam):
    t = np.zeros((2, 1))
    t[0] = soft_threshold(rho, lam)
    t[1] += soft_threshold(rho * 2, lam) * 3.0 + 1
    return t


@pytest.mark.parametrize("rho", [0.5, -0.5, 0.02])
def test_a_call_that_gives_an_array_or_a_number_is_stored(rho):
    check(shrunk, np.array([rho]), 0.1)


def found(x, s):
    if x > s:
        return x, 2 * x
    return None


def used_in_place(x, s):
    if found(x, s):
        a, b = found(x, s)
        return a * b
    return x * 3 if found(x, s) is None else 0.0


@pytest.mark.parametrize("x", [0.5, 2.3])
def test_a_call_that_gives_a_tuple_or_none_is_tested_and_unpacked(x):
    check(used_in_place, x, 1.0)


def falling_through(x, n):
    y = x
    for i in range(n):
        z = y - (y * y - 2) / (2 * y)
        if abs(z - y) < 1e-10:
            return z * x
        y = z
    print("did not converge")


def test_a_function_that_may_come_to_its_end_gives_none_there_and_none_has_no_derivative():
    check(falling_through, 1.3, 20)
    with pytest.raises(TypeError, match="`falling_through` returned None here"):
        gs.grad(falling_through)(1.3, 1)


def explicit_none(f, a, b):
    fa = f(a)
    if fa == 0.0:
        return a
    for i in range(4):
        c = 0.5 * (a + b)
        if f(c) > 1e5:
            return None
        if i > 2:
            return c * fa
        b = c
    return None


def search(a, b):
    return explicit_none(lambda x: x * x - 2, a, b)


def test_a_loop_may_return_a_value_or_none():
    check(search, 0.5, 3.0)


def root_of_list(a: Any) -> Any:
    lower = [[0.0] * 2 for _ in range(2)]
    for i in range(2):
        if a[i][i] <= 0:
            return None
        lower[i][i] = math.sqrt(a[i][i])
    return lower


def root_or_none(a: Any) -> Any:
    return root_of_list(a)


def root_that_is_tested(a: Any) -> Any:
    lower = root_of_list(a)
    if lower is None:
        return 0.0
    return lower[0][0] * lower[1][1]


def pair_or_none(a: Any) -> Any:
    pair = None if a[0][0] < 0 else [a[0][0], a[1][1]]
    return pair[0] * pair[1]


@pytest.mark.parametrize("function", [root_or_none, root_that_is_tested, pair_or_none])
def test_a_list_or_none(function: Any) -> None:
    check(function, A.tolist())


def root_or_message(a: Any) -> Any:
    found = np.array(a)
    for i in range(2):
        if found[i, i] <= 0:
            return False, "not positive"
        found[i, i] = np.sqrt(found[i, i])
    return True, found


def without_a_look(a: Any) -> Any:
    _, found = root_or_message(a)
    return found.sum()


def after_a_look(a: Any) -> Any:
    success, found = root_or_message(a)
    if not success:
        return 0.0
    return found.sum()


@pytest.mark.parametrize("function", [without_a_look, after_a_look])
def test_an_array_or_a_message(function: Any) -> None:
    check(function, A)


def iterated(a: Any) -> Any:
    x = np.ones(2)
    for k in range(5):
        following = a @ x / 10
        if np.linalg.norm(following - x) < 1e-3:
            return following.sum(), k
        x = following
    return x.mean() * x.dot(x) * x.max(), 5


def norm_of_iterated(a: Any) -> Any:
    return iterated(a)[0]


def test_methods_with_one_meaning_are_called_on_arrays_that_may_be_tensors() -> None:
    agrees(norm_of_iterated, A)


def test_results_of_two_kinds_are_refused() -> None:
    def either(x, c):
        return x if c > 0 else (x, x)

    with pytest.raises(errors.UnsupportedError, match="does not return one type of value"):
        gs.vjp(either, X, 1.0)


def returned_from_three_loops(x, n):
    for i in range(4):
        if i == n:
            return x
    for i in range(4):
        if i + 4 == n:
            return [x[1], x[0]]
    for i in range(3):
        for j in range(2):
            if i * j == n - 8:
                return [x[0] * x[1], x[1]]
    return [x[0] * 2, x[1]]


def returned_from_nested_loops(x, n):
    for i in range(3):
        for j in range(2):
            if 2 * i + j == n:
                return [x[1] * x[1], x[0]]
        if i + 6 == n:
            return x
    return [x[0], x[0]]


@pytest.mark.parametrize("n", [-1, 1, 5, 6, 8, 9, 12])
@pytest.mark.parametrize("returned", [returned_from_three_loops, returned_from_nested_loops])
def test_lists_returned_from_several_loops(returned: Any, n: int) -> None:
    def product(x):
        first, second = returned(x, n)
        return first * second + first

    gs.testing.check_grad(product, [0.3, 0.7])
