"""What loops and views see of a dict that changes."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from tests.frontend.oracles import agrees, check


def view_of_what_comes_later(x):
    d = {"a": x, "b": x * x}
    keys, values, pairs = d.keys(), d.values(), d.items()
    d["a"] = 3 * x
    d["c"] = x
    found = sum(item for _, item in pairs) * ("c" in keys)
    return found + sum(values) + len(keys) + max(values)


def item_of_a_later_iteration(x):
    d = {"a": x, "b": x * x}
    total = 0.0
    for _, item in d.items():
        total += item
        d["b"] = 5.0 * x
    return total


def item_counted(x):
    d = {"a": x, "b": x * x, "c": 1.0}
    total = 0.0
    for number, item in enumerate(d.values()):
        d["c"] = d["c"] * x
        total += number * item
    return total


def left_when_it_grows(x):
    d = {"a": x}
    for _ in d:
        d["b"] = x * x
        break
    return sum(d.values())


def caught_when_it_grows(x):
    d = {"a": x}
    total = x
    try:
        for key in d:
            d[key + "b"] = x * x
            total = total * 2
    except RuntimeError:
        total = total + d["ab"]
    return total


def taken_one_by_one(x):
    d = {"a": x, "b": x * x}
    (first, a), (second, b) = d.popitem(), d.popitem()
    return a * 3 + b + len(d) + len(first + second)


def taken_by_number(x):
    d = {k: x**k for k in range(int(x) + 3)}
    known = d.pop(2, 0.0) + d.pop(17, 0.5)
    key, item = d.popitem()
    return known + key * item + len(d)


@pytest.mark.parametrize(
    "function",
    [
        view_of_what_comes_later,
        item_of_a_later_iteration,
        item_counted,
        left_when_it_grows,
        caught_when_it_grows,
        taken_one_by_one,
        taken_by_number,
    ],
)
def test_a_view_shows_the_dict_as_it_is(function) -> None:
    check(function, 1.5)


def grows(x):
    d = {"a": x}
    for key in d:
        d[key + "b"] = x
    return x


def grows_while_counted(x):
    d = {"a": x}
    for number, (_, item) in enumerate(d.items()):
        d["b"] = item * number
    return x


def grows_in_the_last_iteration(x):
    d = {"a": x, "b": x}
    for key in d:
        if key == "b":
            d["c"] = x
    return x


@pytest.mark.parametrize("function", [grows, grows_while_counted, grows_in_the_last_iteration])
def test_a_dict_that_grows_while_a_loop_runs_over_it(function) -> None:
    with pytest.raises(RuntimeError, match="changed size"):
        function(1.5)
    with pytest.raises(errors.UnsupportedError, match="changes the size of the dict"):
        gs.grad(function)(np.float64(1.5))


# -- computed keys of dicts that the function has not made ---------------------------------------

RATES = {1: 0.5, 2: 1.5, 3: 2.5}


def looked_up(d, keys):
    total = 0.0
    for key in keys:
        total = total * 0.5 + d[key] ** 2 + d.get(key + 1, 1.0)
        if key + 2 in d:
            total += 1.0
    return total


def from_outside(d, keys):
    return sum(RATES[key + 1] * (d[0] + d[1]) ** (key + d[2]) for key in keys)


def graph_in_order(d, keys):
    graph, seen, order = {0: [1, 2], 1: [2], 2: []}, set(), []

    def visit(place):
        if place in seen:
            return
        seen.add(place)
        for other in graph[place]:
            visit(other)
        order.append(place)

    for place in keys:
        visit(place)
    return sum(d[place] * (k + 1) for k, place in enumerate(order))


@pytest.mark.parametrize("function", [looked_up, graph_in_order])
def test_keys_that_are_computed(function) -> None:
    check(function, {0: 1.5, 1: 0.3, 2: 0.7}, [0, 2, 1, 0])


def test_arrays_under_computed_keys() -> None:
    agrees(from_outside, {0: 1.5, 1: 0.3, 2: 0.7}, [0, 2, 1, 0])
    arrays = {0: np.array([1.5, 0.3]), 1: np.array([0.7, 0.2])}
    check(lambda d, keys: sum((d[key] ** 2).sum() for key in keys), arrays, [0, 1, 1])


def stored_under_a_computed_key(d, keys):
    for key in keys:
        d[key][0] += 1.0
    return d[0].sum()


def test_a_store_under_a_computed_key_is_ambiguous() -> None:
    arrays = {0: np.array([1.5, 0.3]), 1: np.array([0.7, 0.2])}
    with pytest.raises(errors.AliasingError):
        gs.grad(stored_under_a_computed_key)(arrays, [0, 1])


class Holder:
    pass


def view_in_an_attribute(x):
    counts, holder = {"a": 1.0}, Holder()
    holder.values = counts.values()
    collections._count_elements(counts, "a")
    return sum(holder.values) * x


def view_in_a_list(x):
    counts = {"a": 1.0}
    views = [counts.items(), counts.values()]
    collections._count_elements(counts, "a")
    return dict(views[0])["a"] * sum(views[1]) * x


def view_in_a_loop(x):
    counts, total = {"a": 1.0}, 0.0
    values = counts.values()
    for _ in range(3):
        collections._count_elements(counts, "a")
        total += sum(values) * x
    return total


def iterator_over_a_view(x):
    counts = {"a": 1.0}
    values, pairs = iter(counts.values()), zip(counts.values(), [x], strict=True)
    collections._count_elements(counts, "a")
    return next(values) * x + sum(a * b for a, b in pairs)


def values_of(x):
    counts = {"a": 1.0}
    values = counts.values()
    collections._count_elements(counts, "a")
    return (sum(values) + 10 * (2.0 in values) + max(values)) * x


@pytest.mark.parametrize(
    "function",
    [view_in_an_attribute, view_in_a_list, view_in_a_loop, iterator_over_a_view, values_of],
)
def test_views_show_what_compiled_code_has_written(function):
    assert gs.value_and_grad(function)(1.5) == (function(1.5), function(2.5) - function(1.5))
