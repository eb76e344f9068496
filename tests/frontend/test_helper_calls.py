"""Helpers that are called again: in a loop, and by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from tests.frontend.oracles import check

x6 = np.linspace(0.1, 0.6, 6)


def forces(x, rest):
    f = np.zeros_like(x)
    for (i, j), l0 in zip([(0, 1), (1, 2)], rest):
        d = x[j] - x[i]
        f[i] += l0 * d / (1 + np.sum(d * d))
    return f


def helper_that_reads_items_by_name_called_again_in_a_loop(x, rest):
    f = forces(x, rest)
    for _ in range(3):
        x = x + f
        f = forces(x, rest)
    return x


def evaluate(expression, x):
    if expression[0] == "x":
        return x
    return evaluate(expression[1], x) * evaluate(expression[2], x)


def recursion_whose_end_records_nothing(x):
    return evaluate(("mul", ("x",), ("mul", ("x",), ("x",))), x)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (helper_that_reads_items_by_name_called_again_in_a_loop, (x6.reshape(3, 2), x6[:2])),
        (recursion_whose_end_records_nothing, (0.6,)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_derivatives_of_both_modes_and_orders_agree(function: Any, args: Any) -> None:
    gs.testing.check_grad(function, *args)


def bisection(f, a, b, tol):
    m = (a + b) / 2
    if np.abs(f(m)) < tol:
        return m
    elif np.sign(f(a)) == np.sign(f(m)):
        return bisection(f, m, b, tol)
    elif np.sign(f(b)) == np.sign(f(m)):
        return bisection(f, a, m, tol)


def bisected(a, b):
    return bisection(lambda x: x**3 - 2, a, b, 1e-2) * a


def test_a_recursive_function_whose_branches_cover_every_case():
    check(bisected, 1.0, 2.1)
