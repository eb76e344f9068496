"""Iterators: their items are computed when something takes them, and they are taken once."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from tests.frontend.oracles import agrees, check

x4 = np.array([1.0, 2.5, 3.0, 4.0])


def total_of(items):
    total = 0.0
    for item in items:
        total = total + item**2
    return total


class Held:
    def __init__(self, items):
        self.items = items


# -- computed when they are taken ------------------------------------------------------------


def generator_reads_names_late(x):
    k = 2.0
    scaled = (v * k for v in x)
    k = 3.0
    return sum(scaled)


def generator_takes_its_first_iterable_at_once(x):
    scaled = (v * 2 for v in x)
    x = x[:1]
    return sum(scaled) * x[0]


def map_reads_the_array_late(x):
    y = x.copy()
    doubled = map(lambda v: v * 2, y)
    y[0] = y[0] * 10
    return sum(doubled)


def zip_reads_the_lists_late(x):
    items = [x[0]]
    pairs = zip(items, items)
    items.append(x[1])
    return sum(a * b for a, b in pairs)


def combinations_read_at_once(x):
    items = [x[0], x[1]]
    pairs = itertools.combinations(items, 2)
    items[0] = x[2]
    return sum(a * b for a, b in pairs)


def never_taken(x):
    printed = []
    map(printed.append, [x[0]])
    return x[1] * (1 + len(printed))


def by_turns(x):
    seen = [x[0] * 0]

    def noted(v):
        seen.append(v)
        return v * 2

    total = 0.0
    for a, b in zip(map(noted, x), x, strict=True):
        total = total + a * b * seen[-1]
    return total


def numbered_by_turns(x):
    return sum(i * v for i, v in enumerate(map(np.sin, x), 1))


def of_another_function(x):
    def scaled(k):
        return (v * k for v in x)

    return sum(scaled(2.0)) * sum(scaled(3.0))


LATE = [
    generator_reads_names_late,
    generator_takes_its_first_iterable_at_once,
    map_reads_the_array_late,
    zip_reads_the_lists_late,
    combinations_read_at_once,
    never_taken,
    by_turns,
    numbered_by_turns,
    of_another_function,
]


@pytest.mark.parametrize("function", LATE)
def test_items_are_computed_when_they_are_taken(function) -> None:
    check(function, x4)


# -- taken once ------------------------------------------------------------------------------


def by_a_name(x):
    pairs = zip(x, x[1:], strict=False)
    total = 0.0
    for a, b in pairs:
        total = total + a * b
    return total


def by_a_helper(x):
    return total_of(v * 2 for v in x) + total_of(map(np.sin, x))


def by_an_attribute(x):
    held = Held(map(np.sin, x))
    return sum(held.items)


def by_items_of_a_list(x):
    return sum(sum(items) for items in [map(np.sin, x), map(np.cos, x)])


def on_one_path(x):
    squares = (v * v for v in x)
    total = 0.0
    if x[0] > 0:
        total = sum(squares)
    return total


def made_in_each_iteration(x):
    total = 0.0
    for k in range(3):
        pairs = zip(x, x[::-1], strict=True)
        for a, b in pairs:
            total = total + k * a * b
    return total


def by_unpacking(x):
    a, b, c, d = map(lambda v: v * 2, x)
    return a * b + c * d


def by_stars(x):
    return np.stack([*map(np.sin, x)]).sum() + max(*(v for v in x))


def by_methods(x):
    items = [x[0]]
    items.extend(v * 2 for v in x)
    items += map(np.cos, x)
    named = dict(zip("abcd", x, strict=True))
    named.update(zip("ab", x[2:], strict=True))
    return sum(items) + named["a"] * named["c"]


def by_functions(x):
    least, most = min(map(abs, x)), max(v for v in x)
    pair = tuple(sorted(reversed([x[1], x[0]])))
    return math.prod(v + 1 for v in x) * least + math.fsum(map(np.sin, x)) * most + pair[1]


def from_an_iterator(x):
    return np.fromiter((v * v for v in x), dtype=float).sum()


def truth_of_an_iterator(x):
    pairs = zip(x, x, strict=True)
    return x[0] ** 2 if pairs else x[1]


def an_iterator_of_an_iterator(x):
    items = iter(iter([x[0], x[1]]))
    return sum(items)


def one_by_one(x):
    items = iter(x)
    product = next(items) * next(items)
    for v in items:
        product = product + v * v
    return product


def one_by_one_and_a_default(x):
    items = iter([x[0], x[1]])
    return next(items) + 2 * next(items) + next(items, 5.0)


def header_and_rows(x):
    rows = zip(x, x[::-1], strict=True)
    a, b = next(rows)
    numbered = enumerate(map(np.sin, x))
    next(numbered)
    return a * b + sum(c * d for c, d in rows) + sum(i * v for i, v in numbered)


def next_in_known_iterations(x):
    items = iter(x)
    total = 0.0
    for _ in range(2):
        total += next(items) ** 2
    return total


def first_match(x):
    v = 10.0
    found = next(i for i, u in enumerate(x) if u > 2)
    return x[found] ** 2 + next((v for v in x if v > 99), v) * x[0]


def no_match(x):
    try:
        return next(v for v in x if v > 99)
    except StopIteration:
        return x[0] ** 3


ONCE = [
    one_by_one,
    one_by_one_and_a_default,
    header_and_rows,
    next_in_known_iterations,
    first_match,
    no_match,
    by_a_name,
    by_a_helper,
    by_an_attribute,
    by_items_of_a_list,
    on_one_path,
    made_in_each_iteration,
    by_unpacking,
    by_stars,
    by_methods,
    by_functions,
    from_an_iterator,
    truth_of_an_iterator,
    an_iterator_of_an_iterator,
]


@pytest.mark.parametrize("function", ONCE)
def test_items_may_be_taken_once(function) -> None:
    check(function, x4)


MAKERS = {
    "zip": lambda x: zip(x, strict=True),
    "map": lambda x: map(np.sin, x),
    "filter": lambda x: filter(lambda v: v > 2, [x[0], x[1]]),
    "enumerate": lambda x: enumerate(x),
    "reversed": lambda x: reversed(x),
    "iter": lambda x: iter([x[0], x[1]]),
    "chain": lambda x: itertools.chain(x, x),
    "accumulate": lambda x: itertools.accumulate(x),
    "product": lambda x: itertools.product(x[:2], x[2:]),
    "generator": lambda x: (v * 2 for v in x),
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_second_taker_is_refused(name) -> None:
    make = MAKERS[name]

    def twice(x):
        items = make(x)
        return len(list(items)) + 2.0 * len(list(items)) + x[0]

    with pytest.raises(errors.UnsupportedError, match="may have been taken before"):
        gs.grad(twice)(x4)


def test_perhaps_taken_before() -> None:
    def after_a_branch(x):
        squares = (v * v for v in x)
        total = sum(squares) if x[0] > 0 else 0.0
        return total + sum(squares)

    with pytest.raises(errors.UnsupportedError, match="may have been taken before"):
        gs.grad(after_a_branch)(x4)


def test_next_of_what_may_have_no_items() -> None:
    def of_a_mask(x):
        return next(iter(x[x > 2]))

    with pytest.raises(errors.UnsupportedError, match="may have no items"):
        gs.grad(of_a_mask)(x4)


def test_taken_in_every_iteration() -> None:
    def in_a_loop(x, n):
        pairs = zip(x, x, strict=True)
        total = 0.0
        for _ in range(n):
            for a, b in pairs:
                total = total + a * b
        return total

    with pytest.raises(errors.UnsupportedError, match="that is made before it"):
        gs.grad(in_a_loop)(x4, 3)


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda x: np.sum(v for v in x), "NumPy takes no iterator"),
        (lambda x: np.array(v for v in x).sum(), "NumPy takes no iterator"),
        (lambda x: x[0] * len(zip(x, strict=True)), "iterator"),
        (lambda x: map(np.sin, x)[0], "cannot be indexed"),
        (lambda x: sum(i * x for i, _ in zip(itertools.count(), itertools.count())), "no end"),
    ],
)
def test_what_is_no_sequence_is_refused(function, what) -> None:
    with pytest.raises(errors.UnsupportedError, match=what):
        gs.grad(function)(x4)


# -- backwards -------------------------------------------------------------------------------


class Row:
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items) - 1

    def __getitem__(self, k):
        return self.items[k]

    def __iter__(self):
        return iter([1.0, 2.0])


class TwoWays(Row):
    def __reversed__(self):
        return iter([self.items[0], 5.0])


def zipped_with_a_range_backwards(x, n):
    total = 1.0
    for k, v in zip(reversed(range(n)), x, strict=False):
        total = total * v + x[k] * v
    return total


def zipped_with_steps_backwards(x, n):
    total = 1.0
    for k, v in zip(reversed(range(1, 3 * n, 3)), x, strict=False):
        total = total * v + k * v * v
    return total


def counted_range_with_steps(x, n):
    return sum((k + 1) * x[i] ** 2 for k, i in enumerate(range(n - 1, -1, -2)))


def counted_range_backwards(x, n):
    return sum((k + 1) * x[i] ** 2 for k, i in enumerate(reversed(range(0, n, 2))))


def object_with_numbered_items(x, n):
    total = float(n)
    for v in reversed(Row(x)):
        total = total * v + v
    return total


def object_that_says_it(x, n):
    total = float(n)
    for v in reversed(TwoWays(x)):
        total = total * v + v
    return total


def object_beside_others(x, n):
    total = float(n)
    for v, w in zip(reversed(Row(x)), x):
        total = total * v + w
    return total


def items_of_an_object(x, n):
    a, b, c = reversed(Row(x))
    return a * n + b * a + c * b * a


def reduced(x, n):
    total = functools.reduce(lambda a, b: a * b + b, reversed(x))
    pairs = zip(reversed(x), [1.0, x[0], x[1], 3.0])
    a, b = functools.reduce(lambda a, b: (a[0] * b[1], a[1] + b[0]), pairs)
    items = itertools.accumulate(enumerate(reversed([x[0], x[1]])), lambda a, b: (n, a[1] * b[1]))
    return total + a * b + sum(k * v for k, v in items)


def reduced_by_index(x, n):
    total = functools.reduce(lambda a, b: a * b + b, reversed(Row(x)))
    return total + functools.reduce(lambda a, b: a * x[b], reversed(range(1, n + 2)), x[0])


@pytest.mark.parametrize("n", [0, 1, 3, 4])
@pytest.mark.parametrize(
    "function",
    [
        object_beside_others,
        items_of_an_object,
        reduced,
        zipped_with_a_range_backwards,
        zipped_with_steps_backwards,
        counted_range_with_steps,
        counted_range_backwards,
        object_with_numbered_items,
        object_that_says_it,
    ],
)
def test_backwards(function, n) -> None:
    check(function, x4, n)


def test_items_by_index_are_reduced_backwards() -> None:
    check(reduced_by_index, x4, 2)


# -- what has no items ----------------------------------------------------------------------------


def sum_of_nested(items):
    total = 0.0
    for item in items:
        try:
            iter(item)
        except TypeError:
            total = total + item
        else:
            total = total + 10 * sum(item)
    return total


@pytest.mark.parametrize("items", [np.array([0.5, 1.5]), [1.0, [2.0, 3.0]]])
def test_iter_of_a_number_raises(items):
    check(sum_of_nested, items)


def last_or_itself(x):
    try:
        *_, last = x
    except TypeError:
        last = x * x
    return last


def first_of_loop(x):
    try:
        for i, item in enumerate(x):
            x = item * (i + 3)
    except TypeError:
        x = x * 2
    return x


def counted(x):
    try:
        return len(x) * np.sum(x)
    except TypeError:
        return x * 3


@pytest.mark.parametrize("function", [last_or_itself, first_of_loop, counted])
@pytest.mark.parametrize("x", [2.0, np.float64(2.0), np.array([0.5, 1.5])])
def test_numbers_have_no_items(function, x):
    check(function, x)


def squares_beside_a_shorter_range(x):
    total = 0.0
    for _, a in zip(range(0, x.shape[0], 2), x):
        total = total + a * a
    return total


def test_a_range_whose_numbers_are_not_read_still_ends_the_loop() -> None:
    agrees(squares_beside_a_shorter_range, np.arange(1.0, 6.0))
