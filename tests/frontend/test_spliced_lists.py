"""Lists that other items are put into, or taken out of, anywhere: slices of other lengths."""

from __future__ import annotations

import numpy as np
import pytest

from tests.frontend.oracles import agrees

x4 = np.array([0.7, 1.3, 2.1, 0.4])


def weighted(items):
    return sum(item * item * (k + 1) for k, item in enumerate(items))


def taken_out(x, n):
    items = list(x)
    del items[1:n]
    del items[-1:0]
    return weighted(items)


def put_in(x, n):
    items = list(x)
    items[1:n] = [x[0] * x[1], x[2], 2.0]
    items[n:1] = [v * v for v in x if v > 0.5]
    items[len(items) :] = items[:2]
    items[-n:-1] = []
    return weighted(items)


def in_order(x, n):
    items = []
    for v in x:
        place = 0
        while place < len(items) and items[place] < v:
            place += 1
        items[place:place] = [v]
    return weighted(items)


def seen_by_others(x, n):
    items = [v for v in x]
    others = items
    items[1:3] = []
    others.append(x[0])
    return weighted(items) * len(others)


def in_a_loop(x, n):
    items = [v for v in x if v > 0.5]
    for i in range(n):
        items[i : i + 1] = [items[i] * 2, items[i]]
        if len(items) > 4:
            del items[1:3]
    return weighted(items)


def made_anew_in_a_loop(x, n):
    items = [v for v in x if v > 0.5]
    for i in range(n):
        items = items[:i] + [items[i] * 2] + items[i:]
    return weighted(items)


def shorter_in_a_loop(x, n):
    items = [v for v in x if v > 0.1]
    for i in range(n):
        items = items[1:]
        items[0] = items[0] * x[i]
    return weighted(items)


def arrays(x, n):
    rows = [x * i for i in range(n)]
    rows[1:2] = [x * x, x + 1]
    rows[-1:] = []
    return sum((row * row).sum() * (i + 1) for i, row in enumerate(rows))


def stored_to_in_loops(x, n):
    items = [v for v in x if v > 0.1]
    for i in range(n):
        for k in range(1, len(items)):
            if k > i:
                items[k] = items[k] * items[k - 1]
    return weighted(items[:2])


def displayed(x, n):
    large = [v for v in x if v > 0.5]
    items = [x[0], *large, *large[1:], 2 * x[n]]
    return weighted(items)


def displayed_in_a_loop(x, n):
    total, items = 0.0, [v for v in x if v > 0.5]
    for i in range(n):
        items = [total, *items[1:], items[0] * x[i]]
        total += sum(items)
    return total


def of_iterators(x, n):
    return weighted([*map(np.sin, x), *(v * v for v in x if v > 1), *range(n)])


def of_many(x, n):
    return weighted([0.0, *np.outer(x, np.ones(20)).ravel(), x[0]])


def taken_from_the_end(x, n):
    items = [v * v for v in x]
    del items[-2]
    return weighted(items) + items.pop(-2) * x[0]


def taken_from_the_end_in_a_loop(x, n):
    items, total = [v * v for v in x], 0.0
    for k in range(1, n + 1):
        total += items.pop(-k if k < 3 else 0) * k
        total += weighted(items)
    return total


def taken_at_numbers_of_few_bits(x, n):
    items, total = [v * v for v in x] * 100, 0.0
    for k in np.array([-3, -1, 0, 2, -100], np.int8):
        total += items.pop(k) * x[0]
    return total + weighted(items)


def arrays_taken_from_the_end(x, n):
    rows = [x * (i + 1) for i in range(n + 1)]
    total = rows.pop(-2)[1] * x[0]
    for k in range(-2, 0):
        del rows[k]
        total += sum((row * row).sum() * (i + 1) for i, row in enumerate(rows))
    return total


def put_before_the_end(x, n):
    items = [v * v for v in x]
    for k in range(-7, 8, n):
        items.insert(k, x[0] * k)
        items.insert(-k, items[k % len(items)] * 2)
    return weighted(items)


def removed_by_value(x, n):
    items = [v * v for v in x]
    items.remove(items[-2])
    return weighted(items)


@pytest.mark.parametrize(
    "function",
    [
        taken_from_the_end,
        taken_from_the_end_in_a_loop,
        taken_at_numbers_of_few_bits,
        arrays_taken_from_the_end,
        put_before_the_end,
        removed_by_value,
        displayed,
        displayed_in_a_loop,
        of_iterators,
        of_many,
        taken_out,
        put_in,
        in_order,
        seen_by_others,
        in_a_loop,
        made_anew_in_a_loop,
        shorter_in_a_loop,
        arrays,
        stored_to_in_loops,
    ],
)
def test_slices_of_lists_are_replaced(function) -> None:
    agrees(function, x4, 3)
