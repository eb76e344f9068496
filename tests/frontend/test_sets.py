"""Sets of integers: their items in Python's order."""

from __future__ import annotations

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from tests.frontend.oracles import agrees, check

KEYS = [3, 1, 20, 3, 7]
GRAPH = [[1, 2], [0, 3], [0], [1]]
v4 = np.array([1.5, 0.3, 2.0, 0.7])


def grown(keys, x):
    seen = set()
    for key in keys:
        seen.add(key)
    return sum(key * x for key in seen) + len(seen)


def in_its_order(keys, x):
    total = 0.0
    for key in set(keys):
        total = total * 0.5 + x * key
    return total


def in_order(keys, x):
    return sum(x**key for key in sorted({key % 4 for key in keys})) * max(set(keys))


def of_pairs(keys, x):
    pairs = set()
    for key in keys:
        pairs.add((key % 2, key))
    return sum(a * x + b for a, b in sorted(pairs))


def combined(keys, x):
    first, second = set(keys), {key % 5 for key in keys}
    second.update([1, 40])
    both = first.union(second)
    both.add(11)
    either = first | second
    either -= {20}
    return (
        sum(x**key for key in sorted(first & second))
        + sum(both)
        + sum(either) * x
        + len(second.difference(first))
    )


def taken(keys, x):
    left, total = set(keys), 0.0
    while left:
        total = total * 0.5 + x * left.pop()
    return total


@pytest.mark.parametrize("function", [grown, in_its_order, in_order, of_pairs, combined, taken])
def test_items_of_a_set(function) -> None:
    check(function, KEYS, 1.1)


def breadth_first(graph, weights):
    seen, frontier, depth, cost = {0}, [0], 0, 0.0
    while frontier:
        following = []
        for place in frontier:
            cost += weights[place] ** 2 * (depth + 1)
            for other in graph[place]:
                if other not in seen:
                    seen.add(other)
                    following.append(other)
        frontier = following
        depth += 1
    return cost + sum(seen) * weights[0]


def depth_first(graph, weights):
    seen = set()

    def visit(place):
        seen.add(place)
        total = weights[place] ** 2
        for other in graph[place]:
            if other not in seen:
                total += 0.5 * visit(other)
        return total

    return visit(0)


@pytest.mark.parametrize("function", [breadth_first, depth_first])
def test_a_graph_is_walked_through(function) -> None:
    agrees(function, GRAPH, v4)


def other_items_later(keys, x):
    seen, total = {0}, 0.0
    for key in keys:
        for item in seen:
            total += x * item
        seen.add(x * key)
    return total


def by_another_name(keys, x):
    seen = set(keys)
    other = seen if x > 1 else set(keys)
    other.add(x * 9)
    return sum(seen) * x


def in_a_recursion(keys, x):
    seen = set(keys)

    def go(k):
        seen.add(k * x)
        return 0.0 if k == 0 else go(k - 1)

    return go(2) + sum(seen) * x


@pytest.mark.parametrize("function", [other_items_later, by_another_name, in_a_recursion])
def test_what_is_differentiated_is_not_taken_from_a_set(function) -> None:
    with pytest.raises(errors.UnsupportedError):
        gs.grad(function, argnums=1)(KEYS, 1.5)
