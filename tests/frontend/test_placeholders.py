"""Lists that are made of None and filled later, and arrays of objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError
from tests.frontend.oracles import agrees, check

X = np.array([0.7, 1.3, 0.9, 0.4])
W = np.array([0.7, 1.3, 0.9])


def numbers(x: Any) -> Any:
    squares = [None] * len(x)
    for i in range(len(x)):
        squares[i] = x[i] ** 2
    return sum(squares)


def arrays(x: Any, steps: int) -> Any:
    states = [None for _ in range(steps)]
    states[0] = x * 2
    for t in range(1, steps):
        states[t] = states[t - 1] * x
    return np.vstack(states)


def lists(x: Any) -> Any:
    rows = [None] * len(x)
    for i in range(len(x)):
        rows[i] = [x[i], x[i] ** 2]
    return rows[1][1] * rows[0][0]


def pairs(x: Any) -> Any:
    numbered = [None] * len(x)
    for i in range(len(x)):
        numbered[i] = (i, x[i] * 2)
    return sum(k * v for k, v in numbered)


def grid(x: Any) -> Any:
    table = [[None] * 2 for _ in range(2)]
    for i in range(2):
        for j in range(2):
            table[i][j] = x[2 * i + j] ** 2
    matrix = np.array(table)
    return matrix @ matrix


def after_a_first_item(x: Any, n: int) -> Any:
    products = [x[0]] + [None] * n
    for i in range(1, n + 1):
        products[i] = products[i - 1] * x[i % 4]
    return products[-1] + len(products)


def some_filled(x: Any) -> Any:
    rows = [None for _ in range(4)]
    for i in range(4):
        if i != 1:
            rows[i] = x * i
    return sum(row.sum() for row in rows if row is not None)


def filled_where_it_is_needed(x: Any) -> Any:
    rows = [None] * 4
    for i in range(8):
        if rows[i % 4] is None:
            rows[i % 4] = []
        rows[i % 4].append(x[i // 2] * 2)
    return sum(sum(row) for row in rows)


def emptied(x: Any) -> Any:
    kept = [None] * 4
    for i in range(4):
        kept[i] = x[i] ** 2 if i % 2 else None
    return sum([v for v in kept if v is not None])


def one_array_in_some_places(x: Any) -> Any:
    row = x * 2
    rows = [None for _ in range(4)]
    for i in range(3):
        rows[i] = row
    return rows


def least_so_far(x: Any) -> Any:
    best = [None] * 2
    for v in x:
        for k in range(2):
            if best[k] is None or v * (k + 1) < best[k]:
                best[k] = v * (k + 1)
    return best[0] * best[1]


def appended_on_one_path(x: Any) -> Any:
    found = []
    for i in range(6):
        found.append(None if i > 3 else x[i] * i)
    return found[2] * found[1] + sum(1 for v in found if v is None) * x[0]


def truth_of_items(x: Any) -> Any:
    first = [None] * 2
    for i in range(4):
        if not first[i % 2]:
            first[i % 2] = x[i]
    return first[0] * first[1]


def handed_to_a_function(x: Any) -> Any:
    def scaled(v: Any, factor: Any = None) -> Any:
        if factor is None:
            factor = x[0]
        return v * factor

    factors = [None] * 2
    factors[0] = x[1]
    return scaled(x[2], factors[0]) + scaled(x[1], factors[1]) + scaled(x[3])


def remembered(x: Any) -> Any:
    memo = [None] * (len(x) + 1)

    def product(k: int) -> Any:
        if k == 0:
            return 1.0
        if memo[k] is None:
            memo[k] = product(k - 1) * x[k - 1]
        return memo[k]

    return product(len(x))


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (numbers, (X,)),
        (arrays, (X, 3)),
        (lists, (X,)),
        (pairs, (X,)),
        (grid, (X,)),
        (after_a_first_item, (X, 3)),
        (some_filled, (X,)),
        (one_array_in_some_places, (X,)),
        (filled_where_it_is_needed, (X,)),
        (emptied, (X,)),
        (least_so_far, (X,)),
        (appended_on_one_path, (X,)),
        (truth_of_items, (X,)),
        (handed_to_a_function, (X,)),
    ],
)
def test_items_take_the_place_of_none(function: Any, args: tuple[Any, ...]) -> None:
    check(function, *args)


def test_a_function_that_calls_itself_may_fill_its_memory() -> None:
    agrees(remembered, X)


def chain_of_cells(x: Any) -> Any:
    before = [None] * 4
    for i in range(1, 4):
        before[i] = (i - 1, i)
    cell, total = (3, 3), 0.0
    while cell is not None:
        total = total + x[cell[1]]
        cell = before[cell[0]]
    return total


def test_whether_a_tuple_is_none_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="whether a tuple is None is not known"):
        gs.grad(chain_of_cells)(X)


def filled_table(w: Any, moves: Any) -> Any:
    cost, n = np.zeros((4, 4)), 4
    for i in range(1, n):
        for j in range(1, n):
            above, before = cost[i - 1, j] + w[0], cost[i, j - 1] + w[1] * j
            cost[i, j] = max(above, before)
            moves[i, j] = "up" if above > before else "left"
    i = j = n - 1
    total = 0.0
    while i > 0 and j > 0:
        total = total + cost[i, j] ** 2
        if moves[i, j] == "up":
            i -= 1
        else:
            j -= 1
    return total


def table_of_objects(w: Any) -> Any:
    return filled_table(w, np.empty((4, 4), dtype=object))


def table_of_strings(w: Any) -> Any:
    return filled_table(w, np.full((4, 4), "", dtype="U4"))


def no_value_yet(w: Any) -> Any:
    latest = np.array([[None] * 2]).T
    for k in range(3):
        latest = w[:2] * k
    return latest.sum() * w[2]


@pytest.mark.parametrize("function", [table_of_objects, table_of_strings, no_value_yet])
def test_arrays_of_objects_are_filled_and_read(function: Any) -> None:
    agrees(function, W)


def kept_in_objects(w: Any) -> Any:
    kept = np.empty(3, dtype=object)
    kept[0] = w * 2
    return kept[0].sum()


def test_what_has_a_derivative_is_not_kept_in_an_array_of_objects() -> None:
    with pytest.raises(UnsupportedError, match="array of objects has no derivative"):
        gs.grad(kept_in_objects)(W)
