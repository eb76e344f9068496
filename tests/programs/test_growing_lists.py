"""Lists that loops append to and pop from: right derivatives, no copy of a list in each
iteration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs


def recurrence(x, n):
    terms = [x, x * x]
    for _ in range(n):
        terms.append(terms[-1] * 0.5 + 0.1 * terms[-2] * terms[-2])
    return terms[-1]


def depth_first(x, n):
    stack = [(x, 0)]
    total = 0.0
    while stack:
        v, depth = stack.pop()
        total += v * v
        if depth < n:
            stack.append((v * 0.6, depth + 1))
            stack.append((np.sin(v), depth + 1))
    return total


def breadth_first(x, n):
    queue = [x]
    head = 0
    total = 0.0
    while head < len(queue):
        v = queue[head]
        head += 1
        total += np.sin(v) * v
        if len(queue) < n:
            queue.append(v * 0.5)
            queue.append(v + 0.1)
    return total


def table(x, n):
    memo = [x] * (n + 2)
    for k in range(2, n + 1):
        memo[k] = memo[k - 1] * 0.5 + memo[k - 2] * memo[k - 1]
    return memo[n]


def two_lists(x, n):
    lists = {"a": [x], "b": [x * x]}
    for _ in range(n):
        lists["a"].append(lists["b"][-1] * 0.9)
        lists["b"].append(np.sin(lists["a"][-1]))
    return lists["a"][-1] + lists["b"][-1]


def until_small(x, n):
    terms = [x]
    for _ in range(n):
        terms.append(np.cos(terms[-1]) * terms[0])
        if terms[-1] < -2.0:
            return terms[-1]
    return terms[-1] * terms[-2]


def arrays(x, n):
    states = [x]
    for _ in range(n):
        y = states[-1].copy()
        y[0] = y[1] * y[2]
        states.append(y)
        if len(states) > 3:
            states.append(states[-1] * np.sum(states[-3] * states[-2]))
    return np.sum(states[-1])


NUMBERS = [recurrence, depth_first, breadth_first, table, two_lists, until_small]


@pytest.mark.parametrize("function", NUMBERS)
def test_list_is_not_copied_in_each_iteration(function: Any) -> None:
    source = gs.differentiable(function).specialize(0.5, 5).gradient_source
    assert not [line for line in source.splitlines() if line.endswith(".copy()")], source


@pytest.mark.parametrize("function", NUMBERS)
def test_derivative_through_a_list_of_numbers(function: Any) -> None:
    gs.testing.check_grad(function, 0.5, 4)


def test_derivative_through_a_list_of_arrays() -> None:
    gs.testing.check_grad(arrays, np.array([0.5, 0.6, 0.7]), 4)


def test_tuples_that_are_popped_are_taken_apart_at_once() -> None:
    source = gs.differentiable(depth_first).specialize(0.5, 5).gradient_source
    assert "        v, depth = stack.pop()\n" in source or "        v, depth = t.pop()\n" in source
