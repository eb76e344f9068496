"""What is put in a list, or in a list that is in a list, is seen there when it is stored to.

Each function runs as it is, and compiled: right, or refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import AliasingError, GradscribeError, UnsupportedError


def rows(x, n):
    return [[x * j] for j in range(n)]


def all_items(x, n, y):
    items = [x * k for k in range(n)]
    items[:] = [y]
    return items


def a_section(x, n, y):
    items = [x * k for k in range(n)]
    items[n - 1 : n] = [y]
    return items[::-1]


def an_item_below(x, n, y):
    table = rows(x, n)
    table[0][0] = y
    return table[0]


def an_item_appended_below(x, n, y):
    table = rows(x, n)
    table[0].append(y)
    return table[0][::-1]


def all_items_below(x, n, y):
    table = rows(x, n)
    table[0][:] = [y]
    return table[0]


def an_item_two_levels_below(x, n, y):
    table = [[[x * j]] for j in range(n)]
    table[0][0].insert(0, y)
    return table[0][0]


PUTTING = [all_items, a_section, an_item_below, an_item_appended_below, all_items_below]
PUTTING += [an_item_two_levels_below]


@pytest.mark.parametrize("put", PUTTING)
def test_a_store_to_it_is_seen_in_the_list(put: Callable[..., Any]) -> None:
    def f(x, n):
        y = x * 2
        found = put(x, n, y)
        y[0] = 9.0
        return np.sum(found[0] * x)

    x = np.array([1.0, 2.0, 3.0])
    try:
        value = gs.value_and_grad(f)(x, 3)[0]
    except AliasingError:
        return
    assert value == f(x, 3)


def swapped(x, n):
    table = [[x * j, x * (j + 1)] for j in range(n)]
    table[0][0], table[0][1] = table[0][1], table[0][0]
    return np.sum(table[0][0] * x) + 2.0 * np.sum(table[0][1] * x)


def copied_across(x, n):
    table = rows(x, n)
    table[0][0] = table[n - 1][0]
    return np.sum(table[0][0] * x)


@pytest.mark.parametrize("function", [swapped, copied_across])
def test_items_of_inner_lists_change_places(function: Callable[..., Any]) -> None:
    x = np.array([1.0, 2.0, 3.0])
    value, gradient = gs.value_and_grad(function)(x, 3)
    assert value == function(x, 3)
    np.testing.assert_allclose(gradient, gs.grad(function, compile=False)(x, 3))


OUTSIDE = [[np.ones(3)], [np.ones(3)]]
OTHER = np.ones(3)


def bound(x):
    OUTSIDE[0][0] = OTHER
    return np.sum(OUTSIDE[0][0] * x)


def appended(x):
    OUTSIDE[0].append(x * 2)
    return np.sum(x**2)


def reversed_in_place(x):
    OUTSIDE[0].reverse()
    return np.sum(x**2)


def appended_in_a_loop(x):
    for row in OUTSIDE:
        row.append(x * 2)
    return np.sum(x**2)


@pytest.mark.parametrize("function", [bound, appended, reversed_in_place, appended_in_a_loop])
@pytest.mark.parametrize("with_tensors", [False, True])
def test_other_arrays_in_a_list_in_a_list_from_outside_are_refused(
    function: Callable[..., Any], with_tensors: bool
) -> None:
    with pytest.raises(UnsupportedError, match="a list from outside, gets other arrays"):
        if with_tensors:
            gs.differentiable(function)(gs.tensor([1.0, 2.0, 3.0], requires_grad=True))
        else:
            gs.grad(function)(np.ones(3))
    assert [len(row) for row in OUTSIDE] == [1, 1]


def test_the_elements_of_arrays_there_are_stored_to() -> None:
    table = [[np.ones(3)], [np.ones(3)]]
    row = table[0][0]

    def f(x):
        table[0][0][1] = 4.0
        return np.sum(table[0][0] * x)

    assert gs.grad(f)(np.ones(3)).tolist() == [1.0, 4.0, 1.0]
    assert table[0][0] is row and row.tolist() == [1.0, 4.0, 1.0]


GROWN: list[np.ndarray] = []
SHOWN = np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize("given", [lambda: [OTHER], lambda: (SHOWN[1],), lambda: SHOWN])
def test_extend_puts_the_very_arrays_there(given: Callable[[], Any]) -> None:
    GROWN.clear()

    def f(x):
        GROWN.extend(given())
        return np.sum(x**2)

    gs.grad(f)(np.ones(3))
    expected = list(given())
    assert len(GROWN) == len(expected)
    assert all(np.shares_memory(a, b) for a, b in zip(GROWN, expected, strict=True))


READ, TABLE, STATE = [np.ones(3)], [np.zeros(3)], {"y": np.ones(3)}


def stored_beside_a_list(x):
    total = np.sum(READ[-1] * x)
    y = x * 2
    STATE["y"] = y
    READ.append(y)
    return total


def test_what_a_list_got_is_what_is_stored_beside_it() -> None:
    READ[:] = [np.ones(3)]
    gs.grad(stored_beside_a_list)(np.ones(3))
    assert np.shares_memory(READ[-1], STATE["y"])


@pytest.mark.parametrize(
    "text", ["READ[0] = SHOWN[1]", "READ.insert(0, SHOWN[1])", "READ[:] = [y[1:]]"]
)
def test_views_in_lists_from_outside_are_refused_with_tensors(
    text: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    READ[:] = [np.ones(3)]
    monkeypatch.syspath_prepend(tmp_path)
    name = f"views_{abs(hash(text))}"
    source = f"def f(x):\n    y = x * 2\n    s = np.sum(READ[0] * x)\n    {text}\n    return s\n"
    (tmp_path / f"{name}.py").write_text(f"import numpy as np\nREAD = SHOWN = None\n{source}")
    module = __import__(name)
    module.READ, module.SHOWN = READ, SHOWN
    with pytest.raises(GradscribeError, match="a view is put in a list from outside"):
        gs.differentiable(module.f)(gs.tensor([1.0, 2.0, 3.0], requires_grad=True))
