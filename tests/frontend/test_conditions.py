"""Tests of which the truth alone counts: lists, dicts and comparisons side by side, and comparisons
with None."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.testing import check_grad
from tests.frontend.oracles import check

X = np.array([0.5, 1.5, 2.5])
W = np.array([0.7, 1.3, 0.9])


def list_and_comparison(x):
    h = [v for v in x if v > 0]
    return h[0] * x[1] if h and x[0] < 100 else x[2]


def list_or_comparison(x):
    h = [v for v in x if v > 9]
    s = x[0] * 1.0
    if not h or x[1] > 0:
        s = s * x[1]
    return s


def loop_while_items_are_left(x):
    q = list(x)
    total, k = 0.0, 0
    while q and k < 2:
        total = total + q.pop() * x[0]
        k += 1
    return total


def number_and_comparison(x):
    n = len(x) - 1
    assert n and x[0] > 0
    return sum([v * v for v in x if n and v > 1]) + (x[0] if not (n and x[1] < 0) else x[1])


def early_return(x):
    q = [v for v in x if v > 1]
    while True:
        if not q or x[0] > 1:
            return x[0] * x[1]
        x = x * q.pop()


@pytest.mark.parametrize(
    "function",
    [
        list_and_comparison,
        list_or_comparison,
        loop_while_items_are_left,
        number_and_comparison,
        early_return,
    ],
)
def test_only_truth_is_needed(function: Any) -> None:
    check_grad(function, X)


def test_a_list_argument_that_may_be_empty() -> None:
    def f(x: Any, h: Any) -> Any:
        return x[0] * h[0] if h and x[0] < 100 else x[1]

    check_grad(f, X, [1.0, 2.0])


def without_sentinel(w: Any, mode: Any = None) -> Any:
    total, last = w[0] * 2, None
    for k in range(3):
        if last != w[k] and w[k] != None:
            total = total + w[k] ** 2
        last = w[k]
    return total if mode == None or total == "none" else total * w[1]


def with_a_mode(w: Any) -> Any:
    return without_sentinel(w, 2.0) + without_sentinel(w)


def test_a_number_is_neither_none_nor_a_string() -> None:
    check(with_a_mode, W)


def one_or_the_other(x):
    r = x[0] if x[0] > 1 else 1
    return x[1] * 2 if isinstance(r, int) else r * 3


def after_arithmetic(x):
    r = (0 if x[0] > 1 else x[1]) + 1
    return x[1] * 2 if isinstance(r, int) else r * 3


def after_a_loop(x):
    r = 1
    for i in range(2):
        if x[i] > 1:
            r = x[0] * 2
    return x[1] * 2 if isinstance(r, int) else r * 3


def in_a_loop(x):
    r, y = 1.5, x[0]
    for i in range(3):
        y = y * (2 if isinstance(r, int) else 3)
        r = 1 if x[i % 2] > 1 else 2.5
    return y * r


def in_a_list(x):
    items = []
    for i in range(3):
        items.append(x[0] if x[0] > 1 else i)
    return x[1] * sum(2.0 if isinstance(v, int) else 3.0 for v in items)


def pythons_or_numpys(x):
    r = float(x[0]) if x[0] > 1 else x[0]
    return r * 3 if isinstance(r, np.floating) else r


@pytest.mark.parametrize("first", [0.5, 1.5])
@pytest.mark.parametrize(
    "function",
    [one_or_the_other, after_arithmetic, after_a_loop, in_a_loop, in_a_list, pythons_or_numpys],
)
def test_a_number_has_the_class_that_the_path_taken_gives_it(function, first: float) -> None:
    x = np.array([first, 0.7])
    assert gs.vjp(function, x)[0] == function(x)
    check_grad(function, x)


def test_what_all_classes_agree_in_is_known_when_a_function_is_compiled() -> None:
    def function(x):
        r = x[0] if x[0] > 1 else 1
        return r.sum() if isinstance(r, np.ndarray) else x[0] * r

    assert list(gs.grad(function)(np.array([0.5, 1.0]))) == [1.0, 0.0]


class Counting:
    """Counts how often it is asked for its truth."""

    def __init__(self, is_true: bool) -> None:
        self.is_true, self.asked = is_true, [0]

    def __bool__(self) -> bool:
        self.asked[0] += 1
        return self.is_true


TRUE, FALSE = Counting(True), Counting(False)


def either_and(x):
    return np.sum(x) * ((TRUE or 2.0) and 3.0) * ((FALSE or 2.0) and 3.0)


def both_or(x):
    return np.sum(x) * ((TRUE and 2.0) or 3.0) * ((FALSE and 2.0) or 3.0)


def in_three_levels(x):
    return np.sum(x) * (((1.0 and (TRUE or FALSE)) or 2.0) and (FALSE or TRUE or 4.0) and 5.0)


def the_same_twice(x):
    return np.sum(x) * (((FALSE or FALSE) and 1.0) or ((TRUE and TRUE) and 2.0))


@pytest.mark.parametrize("function", [either_and, both_or, in_three_levels, the_same_twice])
def test_an_operand_that_has_decided_is_not_asked_again(function: Any) -> None:
    counts = []
    for call in function, gs.grad(function, compile=True):
        TRUE.asked[0] = FALSE.asked[0] = 0
        value = call(X)
        counts.append((TRUE.asked[0], FALSE.asked[0]))
    if sys.version_info < (3, 12):  # CPython asks the result of `or` again, which is the operand
        assert counts[0] == counts[1]
    assert value.tolist() == [function(X) / np.sum(X)] * 3
