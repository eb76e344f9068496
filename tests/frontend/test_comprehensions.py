"""Comprehensions and generator expressions: they are the loops that they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from tests.frontend.oracles import check

x3 = np.array([0.5, -1.5, 2.0])
A34 = np.linspace(-1.0, 2.0, 12).reshape(3, 4) ** 2


def over_range(x, n):
    ys = [x * i for i in range(n)]
    return np.sum(np.stack(ys) ** 2)


def with_condition(xs):
    return sum([x * x for x in xs if x > 0])


def with_two_conditions(xs):
    return sum(x * x for x in xs if x > -1 if x < 1)


def two_fors(xs):
    return sum([a * b for a in xs for b in xs if a > b])


def inner_for_over_the_item(A):
    return sum(np.sin(v) for row in A if row[0] > 0.1 for v in row)


def nested(x, n):
    return np.array([[x * i * j for j in range(n)] for i in range(n)]).sum()


def nested_transposed(A):
    m = len(A)
    return np.array([[A[i][j] for i in range(m)] for j in range(4)]) @ np.arange(3.0)


def of_a_dict(d):
    return sum({k: v * v for k, v in d.items() if k != "b"}.values())


def of_a_dict_by_number(x):
    powers = {k: x**k for k in (1, 2, 3)}
    return powers[1] * powers[3] + powers[2]


def of_functions(x):
    fs = [lambda t, k=k: t * k for k in range(1, 4)]
    for f in fs:
        x = x * np.sin(f(x))
    return x


def with_walrus(xs):
    last = 0.0
    sums = [last := last * 0.5 + x for x in xs]
    return sum(sums) * last


def with_walrus_in_condition(xs):
    return sum(y for x in xs if (y := x * x * x) > 0.01)


def names_stay_their_own(xs):
    x = 2.0
    ys = [x * x for x in xs]
    return x * sum(ys)


def of_a_zip(xs, ys):
    return sum(a * b for a, b in zip(xs, ys))


def of_an_enumeration(xs):
    return sum([x**i for i, x in enumerate(xs)])


def with_else(xs):
    return sum(x if x > 0 else -2 * x for x in xs)


def with_a_helper(xs):
    def norm(x, p=2):
        return np.sum(np.abs(x) ** p) ** (1 / p)

    return max([norm(x) for x in xs]) + min(norm(x, 3) for x in xs)


def of_tuples(xs):
    pairs = [(x, x * x) for x in xs]
    return sum(a * b for a, b in pairs)


def unpacked(x):
    a, b, c = [x * i for i in range(1, 4)]
    return a * b * c


def stacked_columns(A):
    columns = np.stack([A[:, j] * j for j in range(A.shape[1])], axis=1)
    return np.sum(columns**2)


def concatenated(xs):
    return np.concatenate([x * x for x in xs]) @ np.arange(6.0)


def grown_in_a_loop(x, n):
    rows = []
    for i in range(n):
        rows.append([x * i + j for j in range(3)])
    return np.array(rows).sum(axis=0)


def of_a_tuple(x):
    u, v = tuple(w * w for w in (x, 2 * x))
    return u / v + u


def joined_text(x):
    label = "".join(c for c in "a-b-c" if c != "-")
    return x * len(label)


def nested_function_reads_the_item(xs):
    total = 0.0
    for g in [(lambda: x * x) for x in (2.0, 3.0)]:
        total += g() * xs[0]
    return total


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (over_range, (x3, 4)),
        (over_range, (x3, 1)),
        (with_condition, ([1.0, -2.0, 3.0],)),
        (with_condition, (x3,)),
        (with_two_conditions, (x3,)),
        (two_fors, (x3,)),
        (two_fors, ([0.1, 0.7, 0.3],)),
        (inner_for_over_the_item, (A34,)),
        (nested, (2.0, 3)),
        (nested_transposed, (A34,)),
        (nested_transposed, ([[1.0, 2.0, 3.0, 4.0]] * 3,)),
        (of_a_dict, ({"a": 1.0, "b": 2.0, "c": 0.5},)),
        (of_a_dict_by_number, (0.7,)),
        (of_functions, (0.8,)),
        (with_walrus, ([1.0, 2.0, 0.5],)),
        (with_walrus_in_condition, (x3,)),
        (names_stay_their_own, (x3,)),
        (of_a_zip, (x3, [1.0, 2.0, 3.0])),
        (of_an_enumeration, ([0.5, 1.5, 2.5],)),
        (with_else, (x3,)),
        (with_a_helper, ([x3, x3 * 2, x3 + 5],)),
        (of_tuples, (x3,)),
        (unpacked, (1.3,)),
        (stacked_columns, (A34,)),
        (concatenated, ([x3, x3 + 1],)),
        (grown_in_a_loop, (0.3, 4)),
        (of_a_tuple, (1.7,)),
        (joined_text, (1.7,)),
        (nested_function_reads_the_item, ([1.5],)),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_a_comprehension_is_the_loop_that_it_stands_for(function: Any, args: Any) -> None:
    check(function, *args)


def any_positive(xs):
    return xs[0] * 3 if any(x > 1 for x in xs) else xs[0]


def all_positive(xs, w):
    if all(x * w > 0 for x in xs):
        return sum(xs) * w
    return w * w


def any_stops(xs, w):
    if any(1 / x > 1 for x in xs):
        return w * 2
    return w


def any_of_pairs(A, w):
    found = any(a > 3 for row in A for a in row)
    return w * w if found else w


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (any_positive, ([1.5, 0.2],)),
        (any_positive, ([0.5, 0.2],)),
        (all_positive, (x3, 0.3)),
        (all_positive, ([1.0, 2.0], 0.3)),
        (any_of_pairs, (A34, 0.4)),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_any_and_all_of_generators(function: Any, args: Any) -> None:
    check(function, *args)


def test_any_asks_for_no_more_than_it_needs() -> None:
    assert gs.grad(any_stops, argnums=1)([0.5, 0.0], 1.0) == 2.0


def test_a_comprehension_reads_as_a_loop() -> None:
    source = gs.differentiable(over_range).specialize(x3, 4).gradient_source
    assert source.splitlines()[1:4] == [
        "    ys = []",
        "    for i in range(n):",
        "        ys.append(x * i)",
    ]
    assert "# ys = [x * i for i in range(n)]" in source


def run_time_set(xs):
    return len({x for x in xs}) * xs[0]


def test_a_set_of_run_time_items_has_a_length() -> None:
    check(run_time_set, [1.0, 2.0])
