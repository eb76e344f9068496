"""Names that are bound in some iterations of a loop only, by several targets, or by unpacking."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from tests.frontend.oracles import check

X = np.array([0.7, 1.3, 0.4, 2.1])
SYMMETRIC = np.array([[3.0, 5.0, 1.0], [5.0, 4.0, 2.0], [1.0, 2.0, 6.0]])


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


def bound_in_one_iteration(x: Any) -> Any:
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


def inner_loop_without_iterations(x: Any, n: int) -> Any:
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


def arrays_of_one_iteration(x: Any, n: int) -> Any:
    rows = np.zeros((n, 4)) + x
    for j in range(n):
        if j % 2 == 0:
            row, part = rows[j], x[: j + 1]
            row[0] = x[1]
    return row * rows[0] + part.sum()


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (bound_in_one_iteration, (X,)),
        (bound_on_one_path_and_read_later, (X,)),
        (row_without_diagonal, (X,)),
        (value_before_a_break, (X,)),
        (inner_loop_without_iterations, (X, 3)),
        (previous_value_in_a_while_loop, (X, 4)),
        (arrays_of_one_iteration, (X, 4)),
    ],
)
def test_a_name_bound_in_some_iterations_keeps_its_value_in_the_others(
    function: Any, args: tuple[Any, ...]
) -> None:
    check(function, *args)


def place_of_largest(a):
    largest = 0.0
    for i in range(2):
        for j in range(i + 1, 3):
            if abs(a[i, j]) >= largest:
                largest = abs(a[i, j])
                k = i
                m = j
    return a[k, m] * a[m, m]


def test_a_name_bound_in_an_inner_loop_survives_iterations_of_the_outer_one_that_do_not_bind_it():
    check(place_of_largest, SYMMETRIC)


def deep_binding(a):
    for i in range(2):
        for j in range(2):
            if i == 0:
                k = a[i, j]
            else:
                for r in range(2):
                    if j == 5:
                        k = a[1, 1]
    return k * k


def test_a_name_that_no_iteration_of_an_inner_loop_binds_keeps_the_value_of_an_earlier_iteration():
    check(deep_binding, SYMMETRIC)


def polygon_centroid(points):
    area = x = y = 0.0
    for (x0, y0), (x1, y1) in zip(points, points[1:] + points[:1]):
        cross = x0 * y1 - x1 * y0
        area += cross / 2
        x += (x0 + x1) * cross
        y += (y0 + y1) * cross
    return x / (6 * area), y / (6 * area)


def test_lists_are_unpacked_into_as_many_names_as_there_are():
    check(polygon_centroid, [[0.0, 0.0], [2.0, 0.1], [2.1, 2.0], [0.1, 1.9]])
    with pytest.raises(ValueError, match="expected 2 values to unpack"):
        gs.grad(lambda points: polygon_centroid(points)[0])(
            [[0.0, 0.0], [2.0, 0.1], [2.1, 2.0, 1.0]]
        )


def test_an_element_read_twice_under_two_names() -> None:
    def f(x: Any) -> Any:
        a = x[0]
        b = x[0]
        return a * b

    gs.testing.check_grad(f, np.array([1.0, 2.0, 3.0]))
