"""What is stored before an exception comes that the program handles: the handler, and what follows,
find it as Python does, or the exception is refused when it comes."""

from __future__ import annotations

import contextlib
import functools
import struct
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import GradscribeError

X = np.array([1.0, 2.0, 3.0])
OUTSIDE = np.ones(3)


def packed(x):
    w = np.ones(3)
    try:
        struct.pack_into("dd", w, 0, 5.0, "no")
    except struct.error:
        pass
    return np.sum(w * x)


def packed_and_suppressed(x):
    w = np.ones(3)
    with contextlib.suppress(struct.error):
        struct.pack_into("dd", w, 0, 5.0, "no")
    return np.sum(w * x)


def packed_outside(x):
    try:
        struct.pack_into("dd", OUTSIDE, 0, 5.0, "no")
    except struct.error:
        pass
    return np.sum(OUTSIDE * x)


def pack(w):
    struct.pack_into("dd", w, 0, 5.0, "no")


def packed_by_a_helper(x):
    w = np.ones(3)
    try:
        pack(w)
        w[2] = 7.0
    except struct.error:
        return np.sum(w * x)
    return x[0]


def put(x):
    w = np.ones(3)
    try:
        np.put(w, [0, 9], [5.0, 6.0])
    except IndexError:
        pass
    return np.sum(w * x)


def put_in_what_is_differentiated(x):
    w = x * 1.0
    try:
        np.put(w, [0, 9], [5.0, 6.0])
    except IndexError:
        pass
    return np.sum(w * x)


def extended(x):
    items = [1.0]

    def given():
        yield 2.0
        raise KeyError("stop")

    try:
        items.extend(given())
    except KeyError:
        pass
    return sum(items) * np.sum(x)


def extended_in_place(x):
    items = [1.0]
    try:
        items += (v for v in map(float, ["3", "no"]))
    except ValueError:
        pass
    return sum(items) * np.sum(x)


def extended_at_run_time(x):
    items = [1.0]
    try:
        items.extend(1.0 / (v - 2.0) for v in [3.0, float(x[1])])
    except ZeroDivisionError:
        pass
    return sum(items) * np.sum(x)


def updated(x):
    table = {"a": 1.0}
    try:
        table.update([("a", 2.0), ("b",)])
    except ValueError:
        pass
    return table["a"] * np.sum(x)


def divided_into(x):
    w = x * 1.0
    with np.errstate(divide="raise"):
        try:
            np.divide(1.0, np.array([2.0, 0.0, 4.0]), out=w)
        except FloatingPointError:
            pass
    return np.sum(np.minimum(w, 9.0) * x)


def divided_in_place(x):
    w = x * 1.0
    with np.errstate(divide="raise"):
        try:
            w /= np.array([2.0, 0.0, 4.0])
        except FloatingPointError:
            pass
    return np.sum(np.minimum(w, 9.0) * x)


def fill(out):
    out[0] = 6.0
    raise KeyError("full")


filling = gs.primitive(fill, writes=("out",))


def filled(x):
    w = np.ones(3)
    try:
        filling(w)
    except KeyError:
        pass
    return np.sum(w * x)


PROGRAMS = [
    *(packed, packed_and_suppressed, packed_outside, packed_by_a_helper, put),
    *(put_in_what_is_differentiated, extended, extended_in_place, extended_at_run_time, updated),
    *(divided_into, divided_in_place, filled),
]


@pytest.mark.parametrize("compile_", [True, False, "auto"])
@pytest.mark.parametrize("function", PROGRAMS)
def test_what_is_stored_before_an_exception_is_seen_or_refused(
    function: Any, compile_: Any
) -> None:
    OUTSIDE[:] = 1.0
    expected, left = function(X.copy()), OUTSIDE.copy()
    for transform in (gs.value_and_grad, gs.vjp):
        OUTSIDE[:] = 1.0
        try:
            if transform is gs.vjp:
                value, _ = gs.vjp(function, X.copy(), compile=compile_)
            else:
                value, _ = gs.value_and_grad(function, compile=compile_)(X.copy())
        except GradscribeError:
            continue
        assert value == expected
        np.testing.assert_array_equal(OUTSIDE, left)


@pytest.mark.parametrize(
    "function", [packed, packed_outside, put, extended, updated, divided_into, filled]
)
def test_recorded_it_is_seen(function: Any) -> None:
    OUTSIDE[:] = 1.0
    expected = function(X.copy())
    OUTSIDE[:] = 1.0
    assert gs.value_and_grad(function, compile=False)(X.copy())[0] == expected


def stored_last(x):
    w = np.ones(3)
    try:
        w[0] = float("no") if x[0] > 5.0 else x[1]
    except ValueError:
        w[1] = 2.0
    return np.sum(w * x)


def appended_last(x):
    items = [x[0]]
    try:
        items.append(1 / (int(x[1]) - 2))
    except ZeroDivisionError:
        items.append(x[2])
    return items[0] * items[1]


@pytest.mark.parametrize("function", [stored_last, appended_last])
@pytest.mark.parametrize("x", [X, X * 6.0])
def test_what_is_stored_last_is_not_stored_when_an_exception_comes(function: Any, x: Any) -> None:
    assert gs.value_and_grad(function)(x)[0] == function(x)


def in_a_side_of_an_expression(x):
    try:
        v = float("no") if x[0] > 5.0 else x[1]
    except ValueError:
        v = x[2]
    return v * x[0]


def behind_and(x):
    try:
        v = (x[0] > 5.0 and {}["a"]) or x[1]
    except KeyError:
        v = x[2]
    return v * x[0]


def in_a_loop_of_a_helper(x):
    def first(n):
        return next(float("no") if i > 0 else x[1] for i in range(n))

    try:
        return first(2 if x[0] > 5.0 else 1) * x[0]
    except ValueError:
        return x[2]


@pytest.mark.parametrize(
    "function", [in_a_side_of_an_expression, behind_and, in_a_loop_of_a_helper]
)
@pytest.mark.parametrize("x", [X, X * 6.0])
def test_what_one_side_of_an_expression_raises_comes_when_it_is_taken(
    function: Any, x: Any
) -> None:
    assert gs.value_and_grad(function)(x)[0] == function(x)


UNREAD: dict[str, Any] = {}
exec(  # a class without source
    """
class Filling:
    def __init__(self, array):
        array[0] = 1.0
        array[1] = 1.0
""",
    UNREAD,
)
FILLING = functools.partial(UNREAD["Filling"])
OUTSIDE = np.zeros(1)


def not_read_again(x):
    scratch = np.zeros(1)
    try:
        FILLING(scratch)
    except IndexError:
        return np.sum(x * x)
    return np.sum(x)


def read_again(x):
    scratch = np.zeros(1)
    try:
        FILLING(scratch)
    except IndexError:
        pass
    return np.sum(x) * scratch[0]


def read_under_another_name(x):
    scratch = np.zeros(1)
    held = [scratch]
    try:
        FILLING(scratch)
    except IndexError:
        pass
    return np.sum(x) * held[0][0]


def read_by_a_function(x):
    scratch = np.zeros(1)

    def read():
        return scratch[0]

    try:
        FILLING(scratch)
    except IndexError:
        pass
    return np.sum(x) * read()


def filled_or_not(scratch):
    try:
        FILLING(scratch)
    except IndexError:
        return 3.0
    return 2.0


def read_by_the_caller(x):
    scratch = np.zeros(1)
    return filled_or_not(scratch) * np.sum(x) * scratch[0]


def of_the_module(x):
    return filled_or_not(OUTSIDE) * np.sum(x)


def in_each_iteration(x):
    total = 0.0
    scratch = np.zeros(1)
    for _ in range(3):
        total = total + x[0] * scratch[0]
        try:
            FILLING(scratch)
        except IndexError:
            total = total + x[1]
    return total


@pytest.mark.parametrize(
    "function",
    [
        *(not_read_again, read_again, read_under_another_name, read_by_a_function),
        *(read_by_the_caller, of_the_module, in_each_iteration),
    ],
)
def test_what_unread_code_has_stored_before_it_raised_is_not_read(function: Any) -> None:
    x = np.array([0.7, 1.3])
    OUTSIDE[0] = 0.0
    expected = function(x)
    after = OUTSIDE[0]
    for options in ({}, {"compile": "auto"}, {"compile": False}):
        OUTSIDE[0] = 0.0
        try:
            value, _ = gs.value_and_grad(function, **options)(x)
        except gs.errors.UnsupportedError:
            assert function is not not_read_again
            continue
        assert (value, OUTSIDE[0]) == (expected, after)
