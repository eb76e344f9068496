"""Programs with very many ways through them compile in proportion to their length."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tests.every_mode import check_mode

X = np.array([1.2, -0.7, 0.6, 1.9])


def in_a_row(x):
    a = np.outer(x, x)
    b = np.cos(a)
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    a, b = a + b, a * b * 0.1
    v = a.reshape(2, 8)
    v[0] *= 2.0
    return np.sum(a[0]) + np.sum(v)


def by_loops_in_a_row(x):
    a = np.outer(x, x)
    b = np.cos(a)
    for _ in range(2):
        a, b = b + a, a * 0.1
    for _ in range(2):
        a, b = b + a, a * 0.1
    for _ in range(2):
        a, b = b + a, a * 0.1
    for _ in range(2):
        a, b = b + a, a * 0.1
    for _ in range(2):
        a, b = b + a, a * 0.1
    for _ in range(2):
        a, b = b + a, a * 0.1
    for _ in range(2):
        a, b = b + a, a * 0.1
    for _ in range(2):
        a, b = b + a, a * 0.1
    for _ in range(2):
        a, b = b + a, a * 0.1
    for _ in range(2):
        a, b = b + a, a * 0.1
    for _ in range(2):
        a, b = b + a, a * 0.1
    for _ in range(2):
        a, b = b + a, a * 0.1
    for _ in range(2):
        a, b = b + a, a * 0.1
    for _ in range(2):
        a, b = b + a, a * 0.1
    for _ in range(2):
        a, b = b + a, a * 0.1
    for _ in range(2):
        a, b = b + a, a * 0.1
    v = a.reshape(2, 8)
    v[0] *= 2.0
    return np.sum(a[0]) + np.sum(v)


def by_branches_in_nested_loops(x):
    a = np.outer(x, x)
    b = np.cos(a)
    for _ in range(2):
        for k in range(2):
            a, b = (a + b, a * 0.1) if x[k] > 0 else (b * a, a)
            for _ in range(2):
                a, b = b + a, a * 0.1
        b = a * b if x[2] > 0 else a + b
        for _ in range(2):
            a, b = b + a, b * 0.1
            a, b = (a + b, a * 0.1) if x[1] > 0 else (b * a, a)
    v = a.reshape(2, 8)
    v[0] *= 2.0
    return np.sum(a[0]) + np.sum(v)


@pytest.mark.parametrize("function", [in_a_row, by_loops_in_a_row, by_branches_in_nested_loops])
@pytest.mark.parametrize("mode", ["gradient", "tangent"])
def test_how_an_array_lies_is_found_in_time(function, mode):
    start = time.perf_counter()
    check_mode(mode, function, X)
    assert time.perf_counter() - start < 30.0
