"""Recursive functions that store to arrays of their callers."""

from __future__ import annotations

import math

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors

x4 = np.array([1.0, 2.5, 3.25, 4.0])


def changed_argument(x):
    def go(a, n):
        if n == 0:
            return a.sum()
        a[n] *= a[n - 1]
        return go(a, n - 1) + a[0]

    a = x.copy()
    return go(a, 3) * a[2]


def own_argument(x):
    def go(a, n):
        if n > 0:
            a[n] *= a[n - 1]
            go(a, n - 1)

    go(x, 3)
    return x.sum()


def closed_over(x):
    a = x.copy()

    def go(low, high):
        if high - low < 1:
            return
        a[low] = a[low] * a[high - 1]
        go(low + 1, high)

    go(0, 3)
    return a.sum()


def seen_through_a_view(x):
    a = x.copy()
    view = a[1:3]

    def go(n):
        if n == 0:
            return 0.0
        a[n] = a[n - 1] * a[n]
        return a[n] + go(n - 1)

    return go(3) + view.sum() * a[0]


def sorted_in_place(a, low, high):
    if low < high:
        pivot = a[high]
        i = low
        for j in range(low, high):
            if a[j] < pivot:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[high] = a[high], a[i]
        sorted_in_place(a, low, i - 1)
        sorted_in_place(a, i + 1, high)


def quicksort(x):
    a = x * np.array([3.0, -1.0, 2.0, 0.5])
    sorted_in_place(a, 0, len(a) - 1)
    return (a * np.arange(4.0)).sum()


def butterflies(a):
    n = len(a)
    if n == 1:
        return
    butterflies(a[: n // 2])
    butterflies(a[n // 2 :])
    for i in range(n // 2):
        a[i], a[i + n // 2] = a[i] + a[i + n // 2], a[i] - a[i + n // 2]


def walsh_hadamard(x):
    a = x.copy()
    butterflies(a)
    return (a * np.arange(4.0) * a).sum()


def transform(re, im):
    n = len(re)
    if n == 1:
        return
    a, b, c, d = re[::2].copy(), im[::2].copy(), re[1::2].copy(), im[1::2].copy()
    transform(a, b)
    transform(c, d)
    for k in range(n // 2):
        cos, sin = math.cos(2 * math.pi * k / n), -math.sin(2 * math.pi * k / n)
        t, u = cos * c[k] - sin * d[k], cos * d[k] + sin * c[k]
        re[k], im[k] = a[k] + t, b[k] + u
        re[k + n // 2], im[k + n // 2] = a[k] - t, b[k] - u


def fourier(x):
    re, im = x.copy(), np.zeros_like(x)
    transform(re, im)
    return (np.arange(4.0) * (re**2 + im**2)).sum()


def smooth(u, f, times):
    for _ in range(times):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1] - f[i])


def v_cycle(u, f):
    smooth(u, f, 2)
    if len(u) <= 3:
        return
    r = np.zeros_like(u)
    for i in range(1, len(u) - 1):
        r[i] = f[i] - (u[i - 1] - 2 * u[i] + u[i + 1])
    error = np.zeros_like(r[::2])
    v_cycle(error, 4 * r[::2])
    u[::2] += error
    smooth(u, f, 2)


def multigrid(x):
    f = np.zeros(9)
    f[2:6] = x
    u = np.zeros(9)
    v_cycle(u, f)
    return (u**2).sum()


def table_of_results(x):
    known = np.full(8, np.nan)
    known[0], known[1] = x[0], x[1]

    def term(n):
        if not np.isnan(known[n]):
            return known[n]
        known[n] = term(n - 1) * x[2] + term(n - 2)
        return known[n]

    return term(7)


def by_turns(x):
    def even(a, n):
        if n > 0:
            a[n] *= 2
            odd(a, n - 1)

    def odd(a, n):
        if n > 0:
            a[n] += a[n - 1]
            even(a, n - 1)

    a = x.copy()
    even(a, 3)
    return (a**2).sum()


def swapped_arguments(x):
    def go(a, b, n):
        if n == 0:
            return
        a[n] += b[n]
        go(b, a, n - 1)

    a, b = x.copy(), x * 2
    go(a, b, 3)
    return (a * b).sum()


def flood(x):
    A = x.reshape(2, 2).copy()

    def fill(i, j):
        if i > 1 or j > 1 or A[i, j] > 50:
            return
        A[i, j] = A[i, j] * 3 + 60
        fill(i + 1, j)
        fill(i, j + 1)

    fill(0, 0)
    return (A**2).sum()


PROGRAMS = [
    changed_argument,
    own_argument,
    closed_over,
    seen_through_a_view,
    quicksort,
    walsh_hadamard,
    fourier,
    multigrid,
    table_of_results,
    by_turns,
    swapped_arguments,
    flood,
]


@pytest.mark.parametrize("function", PROGRAMS)
def test_values_and_derivatives(function) -> None:
    given = x4.copy()
    value, _ = gs.value_and_grad(function)(given)
    assert value == function(x4.copy())
    np.testing.assert_array_equal(given, x4)
    gs.testing.check_grad(function, x4, order=2)


def another_name_for_it(x):
    a = x.copy()

    def go(b, n):
        if n > 0:
            b[n] = a[n + 1] * 2
            go(b, n - 1)

    go(a, 2)
    return a.sum()


def a_view_and_the_whole(x):
    def go(a, b, n):
        if n > 0:
            a[n] = b[n + 1] * 2
            go(a, b, n - 1)

    a = x.copy()
    go(a[:3], a, 2)
    return a.sum()


def result_that_is_the_argument(x):
    def go(a, n):
        if n == 0:
            return a
        a[n] *= 2.0
        return go(a, n - 1)

    a = x.copy()
    result = go(a, 2)
    a[0] = 7.0 * a[1]
    return result.sum()


def store_to_the_result(x):
    def go(a, n):
        if n == 0:
            return a
        b = go(a, n - 1)
        b[0] = b[0] * 2.0
        return b

    a = x.copy()
    go(a, 2)
    return a.sum()


REFUSED = [
    another_name_for_it,
    a_view_and_the_whole,
    result_that_is_the_argument,
    store_to_the_result,
]


@pytest.mark.parametrize("function", REFUSED)
def test_two_names_for_what_is_stored_to(function) -> None:
    with pytest.raises(errors.AliasingError, match="store"):
        gs.grad(function)(x4)
