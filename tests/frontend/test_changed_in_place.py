"""Statements that change what another name has, too: `op=` of containers, functions that are kept
by unread code, conversions that may copy."""

from __future__ import annotations

import array
import ctypes
import operator

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import AliasingError, GradscribeError

X = np.array([1.0, 2.0, 3.0])
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)


def repeated(x):
    items = [x[0], x[1]]
    same = items
    same *= 2
    return sum(items)


def repeated_item(x):
    held = {"a": [x[0]]}
    same = held["a"]
    held["a"] *= 3
    return sum(same)


def repeated_by_operator(x):
    items = [x[0]]
    operator.imul(items, 2)
    return sum(items)


def repeated_of_unknown_length(x):
    items = [x[i] for i in range(int(x[0]) + 1)]
    same = items
    same *= 2
    return sum((i + 1) * item for i, item in enumerate(items))


def united(x):
    items = {1}
    same = items
    same |= {2, 3}
    return len(items) * x[0]


def intersected(x):
    items = {1, 2}
    same = items
    same &= {2}
    return len(items) * x[0]


def joined_bytes(x):
    text = bytearray(b"a")
    same = text
    same += b"bc"
    return len(text) * x[0]


def joined_numbers(x):
    numbers = array.array("d", [1.0, 2.0])
    same = numbers
    same *= 2
    return len(numbers) * x[0]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (repeated, [2, 2, 0]),
        (repeated_item, [3, 0, 0]),
        (repeated_by_operator, [2, 0, 0]),
        (repeated_of_unknown_length, [4, 6, 0]),
        (united, [3, 0, 0]),
        (intersected, [1, 0, 0]),
        (joined_bytes, [3, 0, 0]),
        (joined_numbers, [4, 0, 0]),
    ],
)
def test_an_augmented_assignment_changes_the_object_that_other_names_have(function, expected):
    value, gradient = gs.value_and_grad(function)(X)
    assert value == function(X)
    assert np.array_equal(gradient, expected)


def test_the_items_of_a_list_that_is_added_to_itself_are_in_it_twice():
    def program(x):
        items = [[x[i]] for i in range(int(x[0]) + 1)]
        items += items
        items[0].append(x[2])
        return sum(sum(item) for item in items)

    with pytest.raises(GradscribeError):
        gs.grad(program)(X)


def test_a_known_set_that_gets_fewer_items_in_place_is_refused():
    def program(x):
        items = {1, 2}
        same = items
        same -= {2}
        return len(items) * x[0]

    with pytest.raises(GradscribeError, match="a set whose items are known is changed in place"):
        gs.grad(program)(X)


def test_a_recursive_function_may_not_store_to_what_it_has_put_in_a_list():
    def program(x):
        kept = []

        def step(n, y):
            kept.append(y)
            if n == 0:
                return
            y[n] = y[n - 1] * x[n]
            step(n - 1, y)

        step(2, x * 1.0)
        return np.sum(kept[0] * kept[-1])

    with pytest.raises(AliasingError, match="this stores into `y`"):
        gs.grad(program)(X)


def test_a_list_that_a_kept_function_changes_is_read_anew():
    def program(x):
        items = [0.0]

        def call_back(v):
            items[0] = 2.0 * v
            return v

        CALLBACK(call_back)(2.0)
        return items[0] * x[0]

    assert gs.grad(program)(X)[0] == 4.0


def test_a_list_of_active_numbers_that_a_kept_function_changes_is_an_error():
    def program(x):
        items = [x[0]]

        def call_back(v):
            items[0] = 2.0 * v
            return v

        CALLBACK(call_back)(2.0)
        return items[0] * x[0]

    with pytest.raises(GradscribeError):
        gs.grad(program)(X)


def test_a_list_may_be_changed_between_calls_which_may_change_it():
    def program(x):
        items = [0.0]

        def call_back(v):
            items[0] = 2.0 * v
            return v

        function = CALLBACK(call_back)
        items[0] = 1.0
        function(2.0)
        return items[0] * x[0]

    assert gs.grad(program)(X)[0] == 4.0


NUMBERS = np.ones(2)


def change_numbers(v):
    NUMBERS[0] = v
    return v


CHANGES_NUMBERS = CALLBACK(change_numbers)


def test_what_a_function_changes_that_compiled_code_calls_back_is_refused():
    def program(x):
        NUMBERS[0] = 1.0
        CHANGES_NUMBERS(3.0)
        return NUMBERS[0] * x[0]

    with pytest.raises(GradscribeError):
        gs.grad(program)(X)


def test_the_jacobian_of_a_function_that_gives_an_array_away():
    def program(x):
        CALLBACK(lambda v: x[0] * v)
        return 0.0

    assert np.array_equal(gs.jacobian(program)(X), [0, 0, 0])


def test_an_object_that_does_something_when_it_goes_is_refused():
    def program(x):
        seen = np.ones(3)

        class Going:
            def __del__(self):
                seen[0] = 5.0

        going = Going()
        del going
        return np.sum(seen * x)

    with pytest.raises(GradscribeError, match="`Going` has a `__del__`"):
        gs.grad(program)(X)


@pytest.mark.parametrize(
    "convert",
    [
        lambda y: np.asarray(y, order="F"),
        lambda y: np.array(y, copy=None, order="F"),
        lambda y: y.astype(float, order="F", copy=False),
    ],
)
def test_a_conversion_to_another_order_in_memory_copies(convert):
    def program(x):
        y = np.outer(x, x)
        convert(y)[0, 0] = 5.0
        return np.sum(y)

    for compile in (True, False):
        assert np.allclose(gs.grad(program, compile=compile)(X), [12, 12, 12])
