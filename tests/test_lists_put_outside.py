"""Lists whose items are known one by one, put in lists that are seen outside: each object that is
found in two places afterwards is one object there, as in plain Python, or it is refused."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError

V = np.zeros(2)
MIXED: list[Any] = [0.5, V[0]]
TABLE: dict[str, Any] = {}
HOLDER = SimpleNamespace(items=MIXED)
FIRST: list[Any] = []
SECOND: list[Any] = []


def reset() -> None:
    for rows in (FIRST, SECOND):
        rows[:] = [[V[0]], [V[1], V[0]]]
    MIXED[:] = [0.5, V[0]]
    TABLE.clear()
    TABLE["k"] = [0.5, V[0]]
    HOLDER.items = [0.5, V[0]]


def total(x):
    rows = sum([sum(row) for row in FIRST]) + sum([sum(row) for row in SECOND])
    return np.sum(x**2) + rows


def stored(x):
    FIRST[0] = MIXED
    return total(x)


def stored_from_a_dict(x):
    FIRST[0] = TABLE["k"]
    return total(x)


def stored_from_an_attribute(x):
    FIRST[0] = HOLDER.items
    return total(x)


def stored_in_a_loop(x):
    for i in range(2):
        FIRST[i] = MIXED
    return total(x)


def stored_by_a_slice(x):
    FIRST[:] = [MIXED, MIXED]
    return total(x)


def stored_in_two_lists(x):
    made = [0.5, V[1]]
    FIRST[0] = made
    SECOND[0] = made
    return total(x)


def stored_twice(x):
    made = [0.5, V[1]]
    FIRST[0] = made
    FIRST[1] = made
    return total(x)


def stored_in_a_dict_too(x):
    made = [0.5, V[1]]
    FIRST[0] = made
    TABLE["n"] = made
    return total(x)


def stored_in_an_attribute_before(x):
    made = [0.5, V[1]]
    HOLDER.items = made
    FIRST[0] = made
    return total(x)


def held_by_a_list_before(x):
    holding = [MIXED]
    FIRST[0] = holding[0]
    return total(x)


def held_by_a_list_that_is_stored_later(x):
    rows = [[V[1] * 0] for _ in range(int(x.size))]
    rows[0] = MIXED
    TABLE["n"] = rows
    return total(x)


def made_for_each(x):
    for i in range(2):
        FIRST[i] = [0.5, V[1]]
    TABLE["n"] = [0.5, V[1]]
    return total(x)


def objects() -> list[list[bool]]:
    found = [MIXED, *TABLE.values(), HOLDER.items, *FIRST, *SECOND, *TABLE.get("n", [])]
    return [[one is other for one in found] for other in found]


FUNCTIONS = [
    *(stored, stored_from_a_dict, stored_from_an_attribute, stored_in_a_loop, stored_by_a_slice),
    *(stored_in_two_lists, stored_twice, stored_in_a_dict_too, stored_in_an_attribute_before),
    *(held_by_a_list_before, held_by_a_list_that_is_stored_later, made_for_each),
]


@pytest.mark.parametrize("compile", [True, False])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_objects_outside_are_those_of_plain_python(function: Any, compile: bool) -> None:
    reset()
    value, expected = function(np.ones(2)), objects()
    reset()
    try:
        found, gradient = gs.value_and_grad(function, compile=compile)(np.ones(2))
    except UnsupportedError:
        assert compile and function is not made_for_each
        return
    assert found == value
    assert gradient.tolist() == [2.0, 2.0]
    assert objects() == expected


def test_a_list_that_is_an_argument_is_not_copied_into_another_one() -> None:
    def put(x, rows, row):
        rows[0] = row
        return np.sum(x**2) + sum([sum(r) for r in rows])

    rows = [[V[0]], [V[1], V[0]]]
    with pytest.raises(UnsupportedError, match="is elsewhere, too"):
        gs.grad(put)(np.ones(2), rows, [0.5, V[0]])
    assert rows == [[0.0], [0.0, 0.0]]
