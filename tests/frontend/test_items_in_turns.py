"""Iterators beside code that changes what their items are computed of, or that sees their effects.

Each program computes what plain Python does, where an item is computed when it is asked for, or is
refused: `check` and `refuses` say which.
"""

from __future__ import annotations

import functools
import itertools
import operator

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from tests.frontend.oracles import check

x4 = np.array([0.7, 1.3, 0.4, 1.9])


def five_times(v):
    return 5 * v


def positive(v):
    return v > 0


class Held:
    def __init__(self, items):
        self.items = items


MAKERS = {
    "map": lambda y: map(five_times, y),
    "map of a map": lambda y: map(five_times, map(abs, y)),
    "map of two": lambda y: map(operator.mul, y, [1.0, 2.0, 3.0, 4.0]),
    "zip": lambda y: zip(y, y),
    "enumerate": lambda y: enumerate(y),
    "enumerate of a map": lambda y: enumerate(map(five_times, y)),
    "iter": lambda y: iter(y),
    "generator": lambda y: (v * y[1] for v in y),
    "starmap": lambda y: itertools.starmap(operator.mul, enumerate(y, 2)),
    "dict": lambda y: map(lambda k: y[k], {0: "a", 1: "b"}),
}
"""Iterators that compute an item when it is asked for."""

AT_ONCE = {
    "chain": lambda y: itertools.chain(y, [1.0]),
    "accumulate": lambda y: itertools.accumulate(y),
    "pairwise": lambda y: itertools.pairwise(y),
    "cycle": lambda y: itertools.islice(itertools.cycle(y), 6),
    "tee": lambda y: itertools.tee(y)[0],
    "tee of a map": lambda y: itertools.tee(map(five_times, y))[1],
    "zip_longest": lambda y: itertools.zip_longest(y, y[1:], fillvalue=1.0),
}
"""Iterators whose items are computed together: refused where that makes a difference."""


def flat_sum(items):
    return sum(sum(i) if isinstance(i, tuple) else i for i in items)


def taken_in_two_places(make, x, as_list):
    y = list(x) if as_list else x.copy()
    items = make(y)
    first = next(items)
    y[1] = 7 * y[1]
    return flat_sum([first]) + flat_sum(items)


@pytest.mark.parametrize("as_list", [False, True])
@pytest.mark.parametrize("name", MAKERS)
def test_what_is_stored_between_two_items(name, as_list) -> None:
    make = MAKERS[name]
    check(lambda x: taken_in_two_places(make, x, as_list), x4)


@pytest.mark.parametrize("as_list", [False, True])
@pytest.mark.parametrize("name", AT_ONCE)
def test_what_is_stored_between_two_items_is_refused(name, as_list) -> None:
    make = AT_ONCE[name]
    with pytest.raises(errors.UnsupportedError, match=r"the program changes what|may share memory"):
        gs.grad(lambda x: taken_in_two_places(make, x, as_list))(x4)


@pytest.mark.parametrize("name", AT_ONCE)
def test_what_is_stored_elsewhere_is_not_refused(name) -> None:
    make = AT_ONCE[name]

    def beside(x):
        y, z, total = x.copy(), x.copy(), 0.0
        items = make(y)
        z[0] = 5 * z[0]
        for item in items:
            total = total + flat_sum([item]) * z[0]
            z[1] = total
        return total * z[1]

    check(beside, x4)


def list_that_grows(x):
    y = [x[0], x[1], x[2]]
    items = iter(y)
    first = next(items)
    y.append(x[0] ** 2)
    y.insert(0, first)
    return first + sum(items)


def list_that_shrinks(x):
    y = list(x)
    items = iter(y)
    first = next(items)
    y.pop()
    return first + 2 * sum(items)


def list_in_order_again(x):
    y = list(x)
    items = iter(y)
    first = next(items)
    y.sort()
    return first + 2 * next(items) * next(items)


def values_of_a_dict(x):
    named = {"a": x[0], "b": x[1]}
    values, pairs = iter(named.values()), iter(named.items())
    total = next(values) + next(pairs)[1]
    named["b"] = 7 * x[1]
    return total * next(values) + next(pairs)[1]


def variable_of_a_generator(x):
    k = 5.0
    scaled = (k * v for v in x)
    first = next(scaled)
    k = x[1]
    return first + sum(scaled)


def attribute_of_a_method(x):
    class Scale:
        def __init__(self):
            self.k = 2.0

        def times(self, v):
            return self.k * v

    scale = Scale()
    scaled = map(scale.times, x)
    first = next(scaled)
    scale.k = x[0]
    return first + sum(scaled)


def kept_in_containers(x):
    y = x.copy()
    held, listed, named = Held(map(five_times, y)), [iter(y)], {"m": (v * v for v in y)}
    total = next(held.items) + next(listed[0]) * next(named["m"])
    y[1] = 7 * y[1]
    return total + sum(held.items) + sum(listed[0]) * sum(named["m"])


def advanced_by_helpers(x):
    def first_of(items):
        return next(items)

    def store(z):
        z[1] = 7 * z[1]

    y = x.copy()
    items = map(five_times, y)
    first = first_of(items)
    store(y)
    return first + flat_sum(items)


def advanced_in_known_iterations(x):
    y, total = x.copy(), 0.0
    items = map(five_times, y)
    for k in range(3):
        total += next(items) * (k + 1)
        y[3] = 2 * y[3]
    return total + sum(items)


def elements_one_by_one(x):
    y = x.copy()
    items = iter(y.flat)
    first = next(items)
    y[1] = 7 * y[1]
    return first + 2 * sum(items)


def loop_over_a_generator(x):
    y, k, total = x.copy(), 1.0, 0.0
    for v in (k * u * y[3] for u in x):
        total += v
        y[3], k = 2 * y[3], k + v
    return total


def loop_over_a_generator_of_a_generator(x):
    y, total = x.copy(), 0.0
    for k, v in enumerate(map(five_times, (u * y[3] for u in x))):
        total += v * k
        y[3] = 2 * y[3]
    return total


@pytest.mark.parametrize(
    "function",
    [
        list_that_grows,
        list_that_shrinks,
        list_in_order_again,
        values_of_a_dict,
        variable_of_a_generator,
        attribute_of_a_method,
        kept_in_containers,
        advanced_by_helpers,
        advanced_in_known_iterations,
        elements_one_by_one,
        loop_over_a_generator,
        loop_over_a_generator_of_a_generator,
    ],
)
def test_items_are_what_they_are_when_they_are_asked_for(function) -> None:
    check(function, x4)


# -- effects -----------------------------------------------------------------------------------


def noting(seen, factor):
    def note(v):
        seen.append(factor * v)
        return v * seen[-2]

    return note


def by_turns(x):
    seen = [1.0]
    pairs = zip(map(noting(seen, 1.0), x), map(noting(seen, 2.0), x))
    return sum(a * b for a, b in pairs)


def by_turns_of_known_items(x):
    seen, y, total = [1.0], [x[0], x[1]], 0.0
    for a, b in zip(map(noting(seen, 1.0), y), (noting(seen, 2.0)(v) for v in y)):
        total += a * b * len(seen)
    return total


def one_in_the_other(x):
    seen = [1.0]
    a, b = map(noting(seen, 2.0), map(noting(seen, 1.0), [x[0], x[1]]))
    return a * b + sum(map(noting(seen, 2.0), map(noting(seen, 1.0), x)))


def between_two_items(x):
    seen = [1.0]
    items = map(noting(seen, 1.0), x)
    first, count = next(items), len(seen)
    return first * count + sum(items) * len(seen)


def left_by_any(x):
    seen = [1.0]
    found = any(v > 1 for v in map(noting(seen, 1.0), x))
    return x[0] * len(seen) * (1 + found)


def between_two_steps(x):
    seen = [1.0]

    def add(a, b):
        seen.append(b)
        return a + b

    return functools.reduce(add, map(noting(seen, 1.0), x), 0.0)


def all_at_once(x):
    y = x.copy()

    def items():
        for k in range(3):
            y[k] += y[k + 1]
            yield y[k]

    return sum(items()) * y[2]


def steps_of_known_items(x):
    seen, y = [1.0], [x[0], x[1], x[2]]

    def scaled(v):
        return v * seen[-1]

    def add(a, b):
        seen.append(b)
        return a + b * seen[-2]

    total = functools.reduce(add, map(scaled, y), 0.0)
    return total * sum(itertools.accumulate(map(scaled, y), add))


def asked_once(x):
    seen, y = [1.0], [x[0], x[1], x[2]]

    def large(v):
        seen.append(v)
        return v > 1

    kept = list(filter(large, y))
    least, *_ = sorted(y, key=lambda v: 0 if large(v) else 1)
    return kept[0] * len(seen) * seen[1] * least


def groups_one_by_one(x):
    total = 0.0
    for is_large, group in itertools.groupby(x, key=positive):
        total += sum(group) * (1 + is_large)
    rows = itertools.groupby([(0, x[0]), (0, x[1]), (1, x[2])], key=operator.itemgetter(0))
    found = {key: list(group) for key, group in rows}
    return total * found[0][1][1] * found[1][0][1]


@pytest.mark.parametrize(
    "function",
    [
        steps_of_known_items,
        asked_once,
        groups_one_by_one,
        by_turns,
        by_turns_of_known_items,
        one_in_the_other,
        between_two_items,
        left_by_any,
        between_two_steps,
        all_at_once,
    ],
)
def test_effects_of_items_come_in_their_order(function) -> None:
    check(function, x4)


def test_a_generator_of_which_all_items_are_taken_may_print(capsys) -> None:
    def printed(x):
        def items():
            for v in x:
                print("item")
                yield v * v

        return sum(items())

    np.testing.assert_array_equal(gs.grad(printed)(x4), 2 * x4)
    assert capsys.readouterr().out == "item\n" * 4


def filter_with_effects(x):
    seen, total = [1.0], 0.0
    for v in filter(noting(seen, 1.0), x):
        total += v * len(seen)
    return total


def map_of_a_filter(x):
    y = x.copy()

    def store(v):
        y[3] = 2 * y[3]
        return v

    return sum(map(store, filter(positive, y)))


def extended_by_a_map_of_a_filter(x):
    y, found = x.copy(), []

    def store(v):
        y[3] = 2 * y[3]
        return v

    found.extend(map(store, filter(positive, y)))
    return sum(found)


def any_of_a_filter(x):
    seen = [1.0]
    return x[0] * len(seen) * any(filter(noting(seen, 1.0), [x[0], x[1]]))


def generator_with_a_condition(x):
    class Scale:
        k = 1.0

    scale, total = Scale(), 0.0
    for v in (u * scale.k for u in x if u > 0):
        total += v
        scale.k = x[1]
    return total


def generator_that_calls_a_helper(x):
    k, total = [1.0], 0.0

    def scaled(u):
        return u * k[0]

    for v in (scaled(u) for u in x if u > 0):
        total += v
        k[0] = k[0] + 1
    return total


def filter_of_a_view(x):
    y, total = x.copy(), 0.0
    z = y[1:]
    for v in filter(positive, y):
        total += v
        z[2] = 2 * z[2]
    return total


def groups_by_a_key_that_changes(x):
    least, total = [1.0], 0.0
    for is_large, group in itertools.groupby(x, key=lambda v: v > least[0]):
        total += sum(group) * (1 + is_large)
        least[0] = 0.0
    return total


def largest_by_a_key_that_sees_the_items_come(x):
    seen = [1.0]
    return max((noting(seen, 1.0)(v) for v in x), key=lambda v: v * seen[-1])


@pytest.mark.parametrize(
    "function",
    [
        groups_by_a_key_that_changes,
        largest_by_a_key_that_sees_the_items_come,
        filter_with_effects,
        map_of_a_filter,
        extended_by_a_map_of_a_filter,
        any_of_a_filter,
        generator_with_a_condition,
        generator_that_calls_a_helper,
        filter_of_a_view,
    ],
)
def test_what_would_be_out_of_order_is_refused(function) -> None:
    with pytest.raises(errors.UnsupportedError, match="changes what"):
        gs.grad(function)(x4)


def test_a_group_is_empty_once_the_next_is_asked_for() -> None:
    def function(x):
        groups = [group for _, group in itertools.groupby([1, 1, 2])]
        return x[0] * len(list(groups[0]))

    with pytest.raises(errors.UnsupportedError, match="may have been taken before"):
        gs.grad(function)(x4)


# -- `a.flat` ----------------------------------------------------------------------------------


def sum_of_its_elements_twice(x):
    elements = x.flat
    return sum(elements) * x[0] + sum(elements)


def either_of_two(x):
    elements = (x * 1).flat if x[0] > 0 else (2 * x).flat
    section = elements[0:2]
    elements[0] = 5 * elements[0]
    return section[0] * section[1] + elements[0]


def set_in_a_loop(x):
    elements = x.copy().flat
    for _ in range(3):
        elements = (2 * x).flat
    section = elements[0:2]
    elements[0] = 5 * elements[0]
    return section[0] + elements[0]


def in_a_list(x):
    rows = [(v * x).flat for v in x]
    section = rows[int(x[1])][0:2]
    return section[0]


def returned_by_a_recursion(x):
    def doubled(a, n):
        return a.flat if n == 0 else doubled(2 * a, n - 1)

    elements = doubled(x, int(x[3]))
    section = elements[0:2]
    elements[0] = 5 * elements[0]
    return section[0] * section[1] + elements[0]


@pytest.mark.parametrize(
    "function",
    [sum_of_its_elements_twice, either_of_two, set_in_a_loop, in_a_list, returned_by_a_recursion],
)
def test_the_iterator_over_elements_is_followed_or_refused(function) -> None:
    with pytest.raises(errors.UnsupportedError):
        gs.grad(function)(x4)
    found, gradient = gs.value_and_grad(function, compile=False)(x4)
    assert found == function(x4)
    np.testing.assert_allclose(gradient, differences(function), rtol=1e-6)


def differences(function):
    steps = np.eye(len(x4)) * 1e-6
    return [(function(x4 + step) - function(x4 - step)) / 2e-6 for step in steps]


def test_sections_of_an_iterator_over_elements_are_copies_in_loops() -> None:
    def function(x):
        y, w, total = x.copy(), 2 * x, 0.0
        elements, others = y.flat, w.flat
        for _ in range(3):
            section = elements[0:2]
            elements[0] = 5 * elements[0]
            total += section[0]
            elements, others = others, elements
        return total + y.sum() * w.sum()

    check(function, x4)
