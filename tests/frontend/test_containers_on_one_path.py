"""A name that is a dict, a list or an object on one path, and None or nothing on the other: what is
changed in one of them is seen wherever it is read, in branches and from iteration to iteration of a
loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from tests.frontend.oracles import agrees

X = np.array([0.7, 1.3, -0.4])


class Point:
    def __init__(self, v: Any) -> None:
        self.v = v
        self.moves = 0

    def scale(self, by: Any) -> None:
        self.v = self.v * by
        self.moves += 1


def dict_or_none(x, n):
    d = {"a": x[0]}
    if n > 1:
        q = d
    else:
        q = None
    if q is not None:
        q["a"] = q["a"] * x[1]
    return d["a"]


def array_or_empty_list_in_a_try(x, n):
    a = np.array(x[0] * n)
    b = []
    try:
        chosen = a or b
    except ValueError:
        return x[0] * 3
    return x[1] * 2 if chosen is not None else x[2]


def array_in_a_dict_or_none(x, n):
    a = x * 1
    q = {"a": a} if n > 1 else None
    if q is not None:
        q["a"][0] = 5 * x[1]
    return np.sum(a * x)


def one_dict_twice_in_another(x, n):
    inner = {"v": x[0]}
    q = {"a": inner, "b": inner} if n > 1 else None
    if q is not None:
        q["a"]["v"] = q["a"]["v"] * x[1]
        return q["b"]["v"]
    return x[2]


def list_of_several_kinds_or_none(x, n):
    rows = [x * 1.0, 3.0, x * 2.0]
    q = rows if n > 1 else None
    if q is not None:
        q[0][0] = 7 * x[1]
        q[1] = x[2]
    return np.sum(rows[0]) + rows[2][2] * rows[1]


def returned_or_not(x, n):
    def found(d, k):
        if k > 1:
            return d
        return None

    d = {"v": x[0]}
    q = found(d, n)
    if q is not None:
        q["v"] = q["v"] * x[1]
    return d["v"]


def made_when_needed(x, n):
    q, k = None, 0
    while k < n:
        if q is None:
            q = Point(x[0])
        q.scale(x[1])
        k += 1
    return x[0] if q is None else q.v + q.moves * x[2]


def attribute_made_when_needed(x, n):
    q, k = Point(x[0]), 0
    q.best = None
    while k < n:
        if q.best is None:
            q.best = Point(x[1])
        q.best.scale(x[2])
        k += 1
    return q.v if q.best is None else q.best.v


def the_one_of_the_iteration_before(x, n):
    before, total, k = None, 0.0, 0
    while k < n:
        now = {"x": x * k, "k": k}
        if before is not None:
            total += np.sum(before["x"] * now["x"]) * (now["k"] - before["k"])
        before = now
        k += 1
    return total


def of_other_keys_in_each_iteration(x, n):
    total, k = 0.0, 0
    while k < n:
        if k % 2 == 0:
            q = {"a": x[0] * k}
        else:
            total += q["a"]
            q = {"b": x[1]}
            total += q["b"]
        k += 1
    return total + x[0]


def alternatives_that_are_bound_anew(x, n):
    total, k = 0.0, 0
    q = {"a": x[0]}
    while k < n:
        if k == 1:
            q = None
        elif k == 2:
            q = {"a": x[1]}
        if q is not None:
            q["a"] = q["a"] * x[2]
            total += q["a"]
        k += 1
    return total + x[0]


def bound_in_the_first_iteration(x, n):
    total, k = 0.0, 0
    while k < n:
        if k == 0:
            q = {"n": 0.0, "v": x}
        else:
            q["n"] += 1.0
            q["v"] = q["v"] + x * q["n"]
        k += 1
    if n > 1:
        total = np.sum(q["v"])
    return total + np.sum(x)


def list_bound_in_the_first_iteration(x, n):
    total, k = 0.0, 0
    while k < n:
        if k > 0:
            total += q[0] * x[0]  # noqa: F821
        if k < 2:
            q = [x[1] * k, 2.0]
        k += 1
    return total


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize(
    "function",
    [
        dict_or_none,
        array_or_empty_list_in_a_try,
        array_in_a_dict_or_none,
        one_dict_twice_in_another,
        list_of_several_kinds_or_none,
        returned_or_not,
        made_when_needed,
        attribute_made_when_needed,
        the_one_of_the_iteration_before,
        of_other_keys_in_each_iteration,
        alternatives_that_are_bound_anew,
        bound_in_the_first_iteration,
        list_bound_in_the_first_iteration,
    ],
)
def test_a_container_on_one_path(function: Callable[..., Any], n: int) -> None:
    agrees(function, X, n)


def read_too_early(x, n):
    total, k = 0.0, 0
    while k < n:
        if k > 0:
            total = total + len(q) * x[0]  # noqa: F821
        if k > 1:
            q = {"a": x[0]}
        k += 1
    return total


def changed_too_early(x, n):
    if n == 1:
        q = {"a": x[0]}
    if n > 0:
        q["a"] = x[1] * 2
        return q["a"]
    return x[0]


@pytest.mark.parametrize("function", [read_too_early, changed_too_early])
def test_one_that_is_not_bound_raises_as_in_python(function: Callable[..., Any]) -> None:
    agrees(function, X, 1)
    for run in (function, gs.value_and_grad(function)):
        with pytest.raises(UnboundLocalError):
            run(X, 3)


def test_a_name_that_no_iteration_binds_is_not_missed() -> None:
    def never_bound(x, n):
        total, k = 0.0, 0
        while k < n:
            for i in range(n):
                if None is not None:
                    y = x * i
                    total += (lambda: y[0])()
            k += 1
        return total + x[0]

    agrees(never_bound, X, 2)


def test_objects_of_one_branch_are_not_told_apart_in_silence() -> None:
    def one_object(x, n):
        if n > 1:
            a = Point(x[0])
            b = a
        else:
            a, b = Point(x[0]), Point(x[1])
        return x[0] if a is b else x[1]

    with pytest.raises(errors.UnsupportedError, match="whether these objects are one"):
        gs.grad(one_object)(X, 2)
