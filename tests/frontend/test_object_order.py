"""Objects and pairs that are sorted, compared and copied."""

from __future__ import annotations

import copy
import functools
import heapq
import itertools
import operator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from tests.frontend.oracles import agrees, check

ITEMS = [1.5, 0.3, 2.0, 0.7]
W = np.array([0.7, 1.3, 0.9])


class Item:
    def __init__(self, cost, weight):
        self.cost, self.weight = cost, weight

    def __lt__(self, other):
        return self.cost < other.cost


@functools.total_ordering
class Number:
    def __init__(self, cost):
        self.cost = cost

    def __eq__(self, other):
        return self.cost == other.cost

    def __lt__(self, other):
        return self.cost < other.cost


@dataclass(order=True)
class Ranked:
    cost: float
    weight: float = field(compare=False)


def _weighted(items):
    return sum((k + 1) * item.weight for k, item in enumerate(items))


def by_key(x):
    return _weighted(sorted([Item(a, a * a) for a in x], key=lambda item: -item.cost))


def by_their_own_order(x):
    items = [Item(a, a * a) for a in x]
    return _weighted(sorted(items)) + 2 * _weighted(sorted(items, reverse=True))


def in_place(x):
    items = [Item(a, a * a) for a in x]
    items.sort(key=operator.attrgetter("cost"), reverse=True)
    return _weighted(items)


def in_tuples(x):
    pairs = sorted([(a, Item(a, a * 3)) for a in x], key=lambda pair: pair[0])
    return sum(k * a * item.weight for k, (a, item) in enumerate(pairs))


def smallest_and_largest(x):
    items = [Item(a, a * a) for a in x]
    ranked = [Ranked(a, a * 3) for a in x]
    return min(items).weight + min(ranked).weight * max(items, key=lambda i: i.cost).weight


def total_order(x):
    p, q = Number(x[0]), Number(x[1])
    return (x[0] * 2 if p >= q else x[1]) + (x[2] if p <= q else 3.0)


def by_method_of_a_list(x):
    i = min(range(len(x)), key=x.__getitem__)
    order = sorted(range(len(x)), key=x.__getitem__)
    return x[i] ** 2 + sum(k * x[j] for k, j in enumerate(order))


def smallest_of_heap(x):
    return sum(k * v for k, v in enumerate(heapq.nsmallest(2, x))) + sum(heapq.nlargest(2, x))


@pytest.mark.parametrize(
    "function",
    [
        by_key,
        by_their_own_order,
        in_place,
        in_tuples,
        smallest_and_largest,
        total_order,
        by_method_of_a_list,
        smallest_of_heap,
    ],
)
def test_order(function) -> None:
    check(function, ITEMS)


def equal_ones(x):
    items = [Item(a, k) for k, a in enumerate(x)]
    return _weighted(sorted(items)) * 10 + _weighted(sorted(items, reverse=True)) + x[0] * 0.5


def test_equal_objects_keep_their_places() -> None:
    given = [1.5, 0.3, 1.5, 0.3]
    assert gs.vjp(equal_ones, given)[0] == equal_ones(given)


def stored_in_the_sorted(x):
    items = [Item(a, a * a) for a in x]
    sorted(items, key=lambda item: item.cost)[0].weight = 5.0
    return sum(item.weight for item in items)


def stored_in_the_original(x):
    items = [Item(a, a * a) for a in x]
    ordered = sorted(items, key=lambda item: item.cost)
    items[0].weight = 5.0
    return _weighted(ordered)


@pytest.mark.parametrize("function", [stored_in_the_sorted, stored_in_the_original])
def test_a_sorted_object_may_be_any_of_them(function) -> None:
    with pytest.raises(errors.AliasingError):
        gs.grad(function)(ITEMS)


# -- copies --------------------------------------------------------------------------------------


def rows_given(rows):
    copied = copy.deepcopy(rows)
    copied[0][1] = copied[0][0] * 5
    return sum(sum(row) for row in copied) * rows[0][1]


def rows_made(rows):
    made = [[a * (i + j) for j in range(3)] for i, a in enumerate(rows[0])]
    for _ in range(2):
        copied = copy.deepcopy(made)
        for i in range(1, 2):
            for j in range(1, 3):
                copied[i][j] = 0.5 * (made[i - 1][j] + made[i][j - 1]) * rows[1][0]
        made = copied
    return sum(sum(row) for row in made)


def arrays(rows):
    made = [np.ones(2) * k * rows[0][0] for k in range(len(rows))]
    copied = copy.deepcopy(made)
    for array in copied:
        array[0] = 3.0
    return sum(a.sum() for a in made) * sum(a.sum() for a in copied)


@pytest.mark.parametrize("function", [rows_given, rows_made, arrays])
def test_deep_copies_share_nothing(function) -> None:
    agrees(function, [[1.0, 2.0], [3.0, 4.0]])


class Twice:
    """An object that holds itself, and an array in two places."""

    def __init__(self, array: Any) -> None:
        self.me, self.array, self.held = self, array, [array]


def array_twice(x):
    array = 2 * x
    copied = copy.deepcopy([array, array])
    copied[0][1] = 5 * x[2]
    return np.sum(copied[1] * x) + np.sum(array)


def list_twice(x):
    numbers = [x[0]]
    copied = copy.deepcopy({"a": numbers, "b": (numbers,)})
    copied["a"].append(x[1])
    return sum(copied["b"][0]) * sum(numbers)


def object_that_holds_itself(x):
    copied = copy.deepcopy(Twice(2 * x))
    copied.me.array[1] = 5 * x[2]
    return np.sum(copied.held[0] * x)


@pytest.mark.parametrize("function", [array_twice, list_twice, object_that_holds_itself])
def test_deep_copies_copy_once_what_is_held_twice(function) -> None:
    agrees(function, np.array([0.7, 1.3, -0.4]))


# -- pairs ----------------------------------------------------------------------------------------


def best_of_pairs(w: Any) -> Any:
    choices = [(w[0] * 2, "up"), (w[1], "left"), (w[2] ** 2, "diagonal")]
    worst, name = min(choices)
    best, other = max((w[1], "left"), (w[0], "up"))
    return worst * len(name) + best * (2.0 if other == "left" else 3.0)


def paths_by_the_best_pair(w: Any) -> Any:
    cost, moves = np.zeros((3, 3)), [[None] * 3 for _ in range(3)]
    steps = np.outer(w, np.array([1.0, 0.3, 0.77]))
    for i in range(1, 3):
        for j in range(1, 3):
            cost[i][j], moves[i][j] = min(
                (cost[i - 1][j] + steps[i, j] ** 2, "up"),
                (cost[i][j - 1] + steps[i - 1, j] * 1.1, "left"),
            )
    i = j = 2
    total, shown = 0.0, []
    while i > 0 and j > 0:
        total = total + cost[i][j] * (i + 2 * j)
        shown.append(moves[i][j])
        i, j = (i - 1, j) if moves[i][j] == "up" else (i, j - 1)
    return total * len("".join(reversed(shown)))


def most_likely_states(w: Any) -> Any:
    weights = {"a": {"a": 0.7, "b": 0.3}, "b": {"a": 0.4, "b": 0.6}}
    table = [{state: w[0] * (1.0 if state == "a" else 2.0) for state in weights}]
    for t in range(1, 3):
        table.append({})
        for state in weights:
            likely, _ = max((table[t - 1][s] * weights[s][state] * w[t], s) for s in weights)
            table[t][state] = likely
    return max(table[-1].values())


@pytest.mark.parametrize("function", [best_of_pairs, paths_by_the_best_pair, most_likely_states])
def test_the_best_of_pairs(function: Any) -> None:
    agrees(function, W)


class Near:
    """Equal to what is near to it, and nevertheless less than what is larger."""

    def __init__(self, at):
        self.at = at

    def __eq__(self, other):
        return abs(self.at - other.at) < 0.5

    def __lt__(self, other):
        return self.at < other.at

    def __le__(self, other):
        return self.at < other.at + 7.0

    __hash__ = None


FIRST, SECOND, NAN = Near(1.0), Near(1.2), float("nan")


@pytest.mark.parametrize(
    "compared",
    [
        lambda x: (FIRST, 1) < (SECOND, 0),
        lambda x: [FIRST, 1] >= [SECOND, 0],
        lambda x: (Near(3.0), 1) <= (Near(1.0), 0),
        lambda x: (Near(x[0]), 1) < (Near(x[1]), 2),
        lambda x: max((FIRST, 3), (SECOND, 0))[1] == 3,
        lambda x: (x, 1) < (x, 2),
        lambda x: (NAN, 1) < (NAN, 2),
        lambda x: ("a", x[0]) < ("a", x[1]),
        lambda x: ((1, x[0]), 3) < ((1, x[1]), 2),
        lambda x: (FIRST,) <= (FIRST, 1),
        lambda x: len(list(itertools.groupby([NAN, NAN]))) == 1,
    ],
)
def test_containers_compare_items_that_differ(compared: Any) -> None:
    agrees(lambda x: (2.0 if compared(x) else 1.0) * np.sum(x), W)
