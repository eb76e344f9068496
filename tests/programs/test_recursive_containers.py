"""Recursive functions that fill what they are given: memos, lists of results, counters."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from tests.frontend.oracles import agrees, check

v3 = np.array([1.0, 2.1, 3.3])
w4 = np.array([0.57, 1.5, 0.3, 1.23])
l4 = np.array([3.0, 1.0, 2.0, 5.0, 4.0])


# -- memos -----------------------------------------------------------------------------------------


def fibonacci(n, x):
    def fib(k, memo):
        if k in memo:
            return memo[k]
        if k < 2:
            return x * k + 1.0
        memo[k] = fib(k - 1, memo) * 0.5 + fib(k - 2, memo) * x
        return memo[k]

    return fib(n, {})


def closed_over(n, x):
    memo = {}

    def fib(k):
        if k < 2:
            return x + k
        if k not in memo:
            memo[k] = fib(k - 1) + x * fib(k - 2)
        return memo[k]

    return fib(n) + len(memo)


def _steps(k, x, memo=None):
    if memo is None:
        memo = {}
    if k < 2:
        return x
    if k in memo:
        return memo[k]
    memo[k] = _steps(k - 1, x, memo) + x * _steps(k - 2, x, memo)
    return memo[k]


def made_by_default(n, x):
    return _steps(n, x)


def filled_before(n, x):
    memo = {0: x, 1: x * x}

    def f(i):
        if i in memo:
            return memo[i]
        memo[i] = f(i - 1) + 0.5 * f(i - 2)
        return memo[i]

    return f(n)


def tried(n, x):
    memo = {0: x, 1: x * x}

    def f(i):
        try:
            return memo[i]
        except KeyError:
            memo[i] = f(i - 1) + 0.5 * f(i - 2)
            return memo[i]

    return f(n)


def asked_by_get(n, x):
    memo = {0: x, 1: x * x}

    def f(i):
        known = memo.get(i)
        if known is not None:
            return known
        memo[i] = f(i - 1) + 0.5 * f(i - 2)
        return memo[i]

    return f(n)


def shared_by_two(n, x):
    memo = {}

    def even(i):
        if i == 0:
            return x
        if i not in memo:
            memo[i] = odd(i - 1) * x
        return memo[i]

    def odd(i):
        if i == 0:
            return 1.0
        if i not in memo:
            memo[i] = even(i - 1) + x
        return memo[i]

    return even(n) + odd(n - 1)


def one_for_each_iteration(n, x):
    total = 0.0
    for k in range(n):
        memo = {}

        def f(i, memo=memo):
            if i < 2:
                return x + i
            if i not in memo:
                memo[i] = f(i - 1) * x + f(i - 2)
            return memo[i]

        total += f(k)
    return total


class Sequence:
    def __init__(self, x):
        self.x = x
        self.known = {}
        self.calls = 0

    def term(self, n):
        self.calls += 1
        if n < 2:
            return self.x
        if n not in self.known:
            self.known[n] = self.term(n - 1) + 0.5 * self.term(n - 2) * self.x
        return self.known[n]


def in_an_attribute(n, x):
    terms = Sequence(x)
    return terms.term(n) * terms.calls


MEMOS = [
    fibonacci,
    closed_over,
    made_by_default,
    filled_before,
    tried,
    asked_by_get,
    shared_by_two,
    one_for_each_iteration,
    in_an_attribute,
]


@pytest.mark.parametrize("function", MEMOS)
def test_a_memo_by_number(function) -> None:
    check(function, 5, 1.3)


def by_pair(a, b):
    memo = {}

    def distance(i, j):
        if i == 0 or j == 0:
            return 1.0 * (i + j)
        if (i, j) not in memo:
            cost = (a[i - 1] - b[j - 1]) ** 2
            memo[i, j] = cost + min(distance(i - 1, j), distance(i, j - 1), distance(i - 1, j - 1))
        return memo[i, j]

    return distance(len(a), len(b))


def by_pair_in_lists(a, b):
    memo = [[-1.0] * (len(b) + 1) for _ in range(len(a) + 1)]

    def distance(i, j):
        if i == 0 or j == 0:
            return 1.0 * (i + j)
        if memo[i][j] < 0:
            cost = (a[i - 1] - b[j - 1]) ** 2
            memo[i][j] = cost + min(distance(i - 1, j), distance(i, j - 1), distance(i - 1, j - 1))
        return memo[i][j]

    return distance(len(a), len(b))


def by_pair_in_an_array(a, b):
    memo = np.full((len(a) + 1, len(b) + 1), -1.0)

    def distance(i, j):
        if i == 0 or j == 0:
            return 1.0 * (i + j)
        if memo[i, j] < 0:
            cost = (a[i - 1] - b[j - 1]) ** 2
            memo[i, j] = cost + min(distance(i - 1, j), distance(i, j - 1), distance(i - 1, j - 1))
        return memo[i, j]

    return distance(len(a), len(b))


@pytest.mark.parametrize("function", [by_pair, by_pair_in_lists, by_pair_in_an_array])
def test_a_memo_by_pair(function) -> None:
    agrees(function, v3, w4)


def length_of_it_as_argument(v):
    n = len(v)
    memo = -np.ones(n + 1)

    def best(i):
        if i >= n:
            return 0.0
        if memo[i] < 0:
            memo[i] = max(v[i] + best(i + 2), best(i + 1))
        return memo[i]

    return best(0)


def numbers_in_a_list(v):
    n = len(v)
    memo = [-1.0] * (n + 1)

    def best(i):
        if i >= n:
            return 0.0
        if memo[i] < 0:
            memo[i] = max(v[i] + best(i + 2), best(i + 1))
        return memo[i]

    return best(0)


def none_where_nothing_is_known(v):
    n = len(v)
    memo = [None] * (n + 1)
    memo[n] = 0.0

    def best(i):
        if i > n:
            return 0.0
        if memo[i] is None:
            memo[i] = max(v[i] + best(i + 2), best(i + 1))
        return memo[i]

    return best(0)


def none_in_rows(v):
    n = len(v)
    memo = [[None] * n for _ in range(n)]

    def cost(i, j):
        if i == 0 or j == 0:
            return 1.0 * (i + j)
        if memo[i][j] is None:
            memo[i][j] = v[i] * v[j] + min(cost(i - 1, j), cost(i, j - 1))
        return memo[i][j]

    return cost(n - 1, n - 1)


# -- lists ---------------------------------------------------------------------------------------


def in_order(v):
    found = []

    def visit(low, high):
        if low >= high:
            return
        middle = (low + high) // 2
        visit(low, middle)
        found.append(v[middle] ** 2)
        visit(middle + 1, high)

    visit(0, len(v))
    return sum(k * item for k, item in enumerate(found))


def given_and_returned(v):
    def go(i, found):
        if i == len(v):
            return found
        found.append(v[i] ** 2)
        return go(i + 1, found)

    return sum(k * item for k, item in enumerate(go(0, [])))


def taken_back(v):
    path, total = [], [0.0]

    def go(i):
        if i == len(v):
            total[0] += sum(p * p for p in path)
            return
        path.append(v[i])
        go(i + 1)
        path.pop()
        go(i + 1)

    go(0)
    return total[0]


def arrays(v):
    found = []

    def go(a, n):
        if n == 0:
            return
        found.append(a)
        go(a * 0.5, n - 1)

    go(v, 3)
    return sum(item.sum() * (k + 1) for k, item in enumerate(found))


def two_names_of_a_list(v):
    def go(i, a, b):
        if i == 0:
            return 0.0
        a.append(v[i])
        return go(i - 1, a, b) + len(b) * v[0]

    items = []
    return go(3, items, items)


def quicksort(v):
    a = [item for item in v]

    def sort(low, high):
        if low >= high:
            return
        i = low
        for j in range(low, high):
            if a[j] < a[high]:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[high] = a[high], a[i]
        sort(low, i - 1)
        sort(i + 1, high)

    sort(0, len(a) - 1)
    return sum(k * item for k, item in enumerate(a))


LISTS = [
    length_of_it_as_argument,
    numbers_in_a_list,
    none_where_nothing_is_known,
    none_in_rows,
    in_order,
    given_and_returned,
    taken_back,
    arrays,
    two_names_of_a_list,
    quicksort,
]


@pytest.mark.parametrize("function", LISTS)
def test_a_list_that_is_filled(function) -> None:
    agrees(function, l4)


def towers(n, x):
    first, second, third = [x * (n - k) for k in range(n)], [], []
    cost = [0.0]

    def move(k, source, target, other):
        if k == 0:
            return
        move(k - 1, source, other, target)
        disk = source.pop()
        target.append(disk)
        cost[0] += disk * disk
        move(k - 1, other, target, source)

    move(n, first, third, second)
    return cost[0] + third[0]


def adaptive(n, x):
    points = []

    def go(a, b, depth):
        middle = (a + b) / 2
        ends = math.exp(-x * a * a) + math.exp(-x * b * b)
        whole = (b - a) * ends / 2
        halves = (b - a) * (ends + 2 * math.exp(-x * middle * middle)) / 4
        if depth == 0 or abs(whole - halves) < 1e-3:
            points.append(middle)
            return halves
        return go(a, middle, depth - 1) + go(middle, b, depth - 1)

    return go(0.0, 1.0, n) + 0.1 * len(points)


# -- numbers ---------------------------------------------------------------------------------------


def nonlocal_number(n, x):
    total = 0

    def go(k):
        nonlocal total
        if k > 0:
            total += x**k
            go(k - 1)
            go(k - 2)

    go(n)
    return total


def numbers_in_a_dict(n, x):
    seen = {"calls": 0, "sum": 0.0}

    def go(k):
        seen["calls"] += 1
        if k <= 0:
            return x
        result = go(k - 1) * 0.5 + go(k - 2)
        seen["sum"] += result
        return result

    return go(n) * seen["calls"] + seen["sum"]


@dataclass
class Tally:
    total: float = 0.0
    items: list = field(default_factory=list)


def attributes(n, x):
    tally = Tally()

    def go(k):
        if k == 0:
            return
        tally.total += x**k
        tally.items.append(x * k)
        go(k - 1)

    go(n)
    return tally.total + sum(tally.items)


@pytest.mark.parametrize(
    "function", [towers, adaptive, nonlocal_number, numbers_in_a_dict, attributes]
)
def test_numbers_that_are_counted_on(function) -> None:
    check(function, 3, 1.2)


# -- refusals --------------------------------------------------------------------------------------


def stored_in_what_was_collected(v):
    found = []

    def go(a, n):
        if n > 0:
            found.append(a)
            go(a * 0.5, n - 1)

    a = v * 1.0
    go(a, 3)
    a[0] = 7.0
    return sum(item.sum() for item in found)


def new_attribute(v):
    tally = Tally()

    def go(k):
        if k == 0:
            tally.extra = v[0]
            return
        go(k - 1)

    go(3)
    return tally.extra if hasattr(tally, "extra") else v[1]


@pytest.mark.parametrize("function", [stored_in_what_was_collected, new_attribute])
def test_what_cannot_be_followed(function) -> None:
    with pytest.raises(errors.AliasingError, match="store"):
        gs.grad(function)(l4)
