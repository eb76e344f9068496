"""Recursive functions that call themselves in a loop, which may make no iteration."""

from __future__ import annotations

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from tests.frontend.oracles import agrees, check

TREE = [[1, 2], [3], [], []]
v4 = np.array([1.5, 0.3, 2.2, 0.7])


def subtrees(children, w):
    def total(place):
        result = w[place]
        for child in children[place]:
            result += 0.5 * total(child) ** 2
        return result

    return total(0)


def sum_of_a_generator(children, w):
    def total(place):
        return w[place] ** 2 + sum(total(child) for child in children[place])

    return total(0)


def depths(children, w):
    def depth(place):
        return 1 + max([depth(child) for child in children[place]], default=0)

    return depth(0) * w[0]


def children_first(children, w):
    order = []

    def visit(place):
        for child in children[place]:
            visit(child)
        order.append(place)

    visit(0)
    return sum(w[place] * (k + 1) for k, place in enumerate(order))


def with_while(children, w):
    def go(place):
        result, k = w[place], 0
        while k < len(children[place]):
            result = result * 2 + go(children[place][k])
            k += 1
        return result

    return go(0)


@pytest.mark.parametrize(
    "function", [subtrees, sum_of_a_generator, depths, children_first, with_while]
)
def test_trees_as_lists_of_children(function) -> None:
    agrees(function, TREE, v4)


def partitions(n, x):
    def count(k, largest):
        total = 1.0 * (k == 0)
        for i in range(1, min(k, largest) + 1):
            total += x * count(k - i, i)
        return total

    return count(n, n)


def in_turns(n, x):
    def even(k):
        total = x
        for i in range(k):
            total += odd(i) * x
        return total

    def odd(k):
        total = 1.0
        for i in range(k):
            total -= 0.5 * even(i)
        return total

    return even(n)


@pytest.mark.parametrize("function", [partitions, in_turns])
def test_smaller_problems(function) -> None:
    check(function, 4, 1.5)


def without_end(n, x):
    def go(k):
        return go(k - 1) * x

    return go(n)


def test_a_recursion_without_end_is_refused() -> None:
    with pytest.raises(errors.UnsupportedError, match="never returns"):
        gs.grad(without_end, argnums=1)(4, 1.5)
