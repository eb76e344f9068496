"""Dicts, lists and objects that loops bind to other names from iteration to iteration: each change
goes to the one that a name is in this iteration, and is seen by all names of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from tests.frontend.oracles import agrees

X = np.array([0.7, 1.3, -0.4])


class Point:
    def __init__(self, v: Any) -> None:
        self.v = v


def dicts(x, n):
    a, b = {"v": x[0]}, {"v": x[1]}
    c, k = b, 0
    while k < n:
        a, b = b, a
        a["v"] = a["v"] * x[2]
        k += 1
    return a["v"] + 3 * b["v"] + 5 * c["v"]


def arrays_in_dicts(x, n):
    a, b = {"v": x * 1}, {"v": x * 2}
    c, k = b, 0
    while k < n:
        a, b = b, a
        a["v"][0] *= x[2]
        k += 1
    return np.sum(a["v"]) + 3 * np.sum(b["v"]) + 5 * np.sum(c["v"])


def objects_of_three_names(x, n):
    a, b = Point(x[0]), Point(x[1])
    c, k = a, 0
    while k < n:
        a, b = b, a
        a.v = a.v * x[2]
        k += 1
    return a.v + 3 * b.v + 5 * c.v


def lists_that_grow(x, n):
    a, b = [x[0]], [x[1]]
    c, k = b, 0
    while k < n:
        a, b = b, a
        a.append(x[2] * len(b))
        k += 1
    return sum(a) + 3 * sum(b) + 5 * sum(c)


def the_best_so_far(x, n):
    a, b = {"v": x[0]}, {"v": x[1]}
    best, k = a, 0
    while k < n:
        if b["v"] > best["v"]:
            best = b
        best["v"] = best["v"] * x[2]
        k += 1
    return a["v"] + 3 * b["v"]


def told_by_identity(x, n):
    a, b = Point(x[0]), Point(x[1])
    now, k = a, 0
    while k < n:
        now.v = now.v * x[2]
        now = b if now is a else a
        k += 1
    return a.v + 3 * b.v


def one_of_them_or_none(x, n):
    state = {"m": x * 0.5, "t": 0}
    now, k = None, 0
    while k < n:
        if now is None:
            now = state
        now["t"] += 1
        now["m"][0] = now["m"][0] * x[1]
        k += 1
    return np.sum(state["m"]) * (state["t"] + 1)


def kept_in_an_attribute(x, n):
    owner, other = Point(x[0]), Point(x[1])
    owner.next = None
    k = 0
    while k < n:
        if k == 1:
            owner.next = other
        if owner.next is not None:
            owner.next.v = owner.next.v * x[2]
        k += 1
    return owner.v * other.v


def replaced_beside_one_that_grows(x, n):
    a = [x[1] * 2.0]
    b, k = a, 0
    while k < n:
        a.append(a[-1] * x[1] + sum(a))
        b = [x[2] * x[0]]
        k += 1
    b, a = a, b
    return x[0] + 2.0 * (a[-1] + sum(a)) + 3.0 * (b[-1] + sum(b))


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize(
    "function",
    [
        dicts,
        arrays_in_dicts,
        objects_of_three_names,
        lists_that_grow,
        the_best_so_far,
        told_by_identity,
        one_of_them_or_none,
        kept_in_an_attribute,
        replaced_beside_one_that_grows,
    ],
)
def test_a_change_goes_to_what_a_name_is_in_this_iteration(
    function: Callable[..., Any], n: int
) -> None:
    agrees(function, X, n)


def test_an_array_that_an_iteration_replaces_is_one_with_those_of_other_names() -> None:
    def replaced(x, n):
        a, b = x * 1.5, x * 2.0
        k = 0
        while k < n:
            a, b = b, a
            b[0] = b[0] * x[1]
            b = x * x[1]
            k += 1
        return np.sum(a) + 3 * np.sum(b)

    gs.testing.check_grad(replaced, X, 3)


@pytest.mark.parametrize("signs", [(1, 1, 1), (1, -1, 1), (-1, 1, 1), (-1, -1, 1)])
def test_which_list_a_name_is_may_be_decided_in_a_branch_of_an_earlier_iteration(
    signs: tuple[int, ...],
) -> None:
    def some_replaced(x):
        a = [x[1] * 2.0]
        b = a
        for k in range(4):
            a[0] = a[0] * 1.5
            if x[k % 3] > 0:
                if k > 1:
                    b = [x[0]]
                else:
                    a, b = b, a
            else:
                a = [x[1]]
        return x[0] + 2.0 * a[0] + 3.0 * b[0]

    gs.testing.check_grad(some_replaced, np.array([0.5, 0.6, 0.7]) * signs)
