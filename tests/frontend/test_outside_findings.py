"""Classes of programs that were first met in other people's code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.frontend.oracles import check

X = np.array([0.7, 1.3, 0.4, 2.1])


def chain_of_names(k: float) -> Any:
    a = b = np.exp(k)
    return b * a + b


def chain_of_a_name_and_an_item(x: Any) -> Any:
    y = np.zeros(3)
    a = y[1] = x[0] * 2.0
    y[2] = b = x[1] * 3.0
    return y * a * b


def chain_of_a_name_and_its_items(k: float) -> Any:
    (a, b) = pair = k * 2.0, k * 3.0
    whole = (c, d) = k * 5.0, k * 7.0
    return pair[0] * a + b * whole[1] + c * d


def one_value_under_several_names(k: float) -> Any:
    a, b = [k * 2.0] * 2
    first, *others = [k * 3.0] * 3
    return a * b + first * others[0] * others[1]


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (chain_of_names, (0.4,)),
        (chain_of_a_name_and_an_item, (X,)),
        (chain_of_a_name_and_its_items, (0.4,)),
        (one_value_under_several_names, (0.4,)),
    ],
)
def test_every_target_of_an_assignment_means_the_same_value(
    function: Any, args: tuple[Any, ...]
) -> None:
    check(function, *args)


def bound_in_one_trip(x: Any) -> Any:
    for i in range(len(x)):
        if i == 1:
            last = x[i]
    return last * 2.0


def bound_on_one_path_and_read_later(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        if i % 2 == 0:
            last = x[i]
        total += last * x[i]
    return total


def row_without_diagonal(x: Any) -> Any:
    result = np.zeros(3)
    for i in range(3):
        others = 0.0
        for j in range(4):
            if j == i:
                pivot = x[j]
            elif j == 3:
                right = x[j]
            else:
                others += x[j] * j
        result[i] = (right - others) / pivot
    return result


def value_before_a_break(x: Any) -> Any:
    for value in x:
        if value > 2.0:
            break
        last = value
    return last * last


def inner_loop_without_trips(x: Any, n: int) -> Any:
    total = 0.0
    for j in range(n):
        for i in range(j % 2):
            last = x[i + j]
        if j > 0:
            total += last * j
    return total


def previous_value_in_a_while_loop(x: Any, n: int) -> Any:
    total, i = 0.0, 0
    while i < n:
        if i > 0:
            total += previous * x[i]  # noqa: F821
        previous = x[i] ** 2
        i += 1
    return total


def arrays_of_one_trip(x: Any, n: int) -> Any:
    rows = np.zeros((n, 4)) + x
    for j in range(n):
        if j % 2 == 0:
            row, part = rows[j], x[: j + 1]
            row[0] = x[1]
    return row * rows[0] + part.sum()


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (bound_in_one_trip, (X,)),
        (bound_on_one_path_and_read_later, (X,)),
        (row_without_diagonal, (X,)),
        (value_before_a_break, (X,)),
        (inner_loop_without_trips, (X, 3)),
        (previous_value_in_a_while_loop, (X, 4)),
        (arrays_of_one_trip, (X, 4)),
    ],
)
def test_a_name_bound_in_some_trips_keeps_its_value_in_the_others(
    function: Any, args: tuple[Any, ...]
) -> None:
    check(function, *args)
