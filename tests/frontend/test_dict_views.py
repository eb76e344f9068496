"""What loops and views see of a dict that changes."""

from __future__ import annotations

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from tests.frontend.oracles import check


def view_of_what_comes_later(x):
    d = {"a": x, "b": x * x}
    keys, values, pairs = d.keys(), d.values(), d.items()
    d["a"] = 3 * x
    d["c"] = x
    found = sum(item for _, item in pairs) * ("c" in keys)
    return found + sum(values) + len(keys) + max(values)


def item_of_a_later_trip(x):
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
        item_of_a_later_trip,
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


def grows_in_the_last_trip(x):
    d = {"a": x, "b": x}
    for key in d:
        if key == "b":
            d["c"] = x
    return x


@pytest.mark.parametrize("function", [grows, grows_while_counted, grows_in_the_last_trip])
def test_a_dict_that_grows_while_a_loop_runs_over_it(function) -> None:
    with pytest.raises(RuntimeError, match="changed size"):
        function(1.5)
    with pytest.raises(errors.UnsupportedError, match="changes the size of the dict"):
        gs.grad(function)(np.float64(1.5))
