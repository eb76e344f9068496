"""Calls for which Python raises whatever the values are: what leaves the compiler is caught as
Python's exception is."""

from __future__ import annotations

import collections
import copy
import heapq
import itertools

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import GradscribeError, InternalError

CALLS = {
    "an axis that is none": lambda x: np.size([[x[0], 1.0], [2.0, x[1]]], np.int64(2)),
    "a list of axes": lambda x: np.size(x, [0, 1]),
    "an order of axes": lambda x: np.squeeze(x, {0, 1}),
    "a number that is sorted": lambda x: x[0].sort(),
    "an `out` that is no array": lambda x: np.exp(x, True),
    "a dtype that is none": lambda x: np.asarray(x, {1, 2}),
    "a dtype of numbers": lambda x: np.asarray([x, x], [1, 2]),
    "a dtype that is a module": lambda x: np.array([x[0], 1.0], collections),
    "decimals that are none": lambda x: x.round(None),
    "a start that is a generator": lambda x: sum(x, (t for t in x)),
    "what has no hash": lambda x: collections.Counter([[x[0]], [x[1]]]),
    "a memo that is none": lambda x: copy.deepcopy(x, [1, 2]),
    "a dict of two": lambda x: dict({"a": x[0]}, {"b": x[1]}),
    "a text that is no choice": lambda x: np.array(x, copy="a"),
    "a casting that is none": lambda x: np.add(x, x, casting="z"),
    "a list that fills": lambda x: x.copy().fill([1, 2]),
    "a heap that is an array": lambda x: heapq.heapify(np.ones(2)),
    "a heap that is a tuple": lambda x: heapq.heappop((x[0], x[1])),
    "a heap that is a deque": lambda x: heapq.heappushpop(collections.deque(x), x[0]),
    "a slice of a deque": lambda x: collections.deque(x)[0:1],
    "no inverse by a modulus": lambda x: pow(2, -1, 4) * x[0],
    "a modulus of zero": lambda x: pow(2, 3, 0) * x[0],
    "a modulus of a float": lambda x: pow(x[0], 2, 5),
    "fewer copies than none": lambda x: itertools.tee(x, -1),
    "the most common of fewer than none": lambda x: collections.Counter([1]).most_common(-1)[0],
}


@pytest.mark.parametrize("function", CALLS.values(), ids=CALLS)
def test_what_python_raises_is_caught(function):
    x = np.array([0.5, 1.5, 2.0])
    with pytest.raises(Exception) as python:
        function(x)
    kind = next(cls for cls in python.type.__mro__ if cls.__module__ == "builtins")
    with pytest.raises((GradscribeError, kind)) as raised:
        gs.vjp(function, x)
    assert not isinstance(raised.value, InternalError)


def test_the_message_says_what_python_says():
    with pytest.raises(TypeError, match="return arrays must be of ArrayType") as raised:
        gs.grad(lambda x: np.sum(np.exp(x, True)))(np.ones(2))
    assert "np.exp(x, True)" in str(raised.value)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.linalg.norm(np.array([1.0, 2.0]), np.array(x[0] * 1.0)),
        lambda x: np.linalg.norm(x, range(3)),
    ],
)
def test_the_order_of_a_norm_is_known(function):
    with pytest.raises(GradscribeError, match="must be known when the function is compiled"):
        gs.vjp(function, np.array([0.5, 1.5, 2.0]))


def test_parts_that_are_integers():
    def parts(x):
        return True.real, bool(x[0] > 0).real, np.size("ab"), x[0]

    value, _ = gs.vjp(parts, np.ones(2))
    assert value == parts(np.ones(2))
    assert [type(item) for item in value] == [int, int, int, np.float64]


def test_powers_by_a_modulus():
    def weighted(x):
        total = pow(3, -1, 7) * x[0]
        for i in range(3):
            total += (pow(i + 2, -1, 7) + pow(i + 2, 10 ** (i + 6), 7)) * x[i]
        return total

    np.testing.assert_array_equal(gs.grad(weighted)(np.ones(3)), [11.0, 9.0, 6.0])


@pytest.mark.parametrize(
    "call", [lambda: pow(2, -1, 4), lambda: heapq.heapify(np.ones(3)), lambda: (1, "a") < (1, 2)]
)
def test_what_python_raises_is_handled(call):
    def guarded(x):
        try:
            call()
        except (ValueError, TypeError):
            return 2 * np.sum(x)
        return np.sum(x)

    assert gs.grad(guarded)(np.ones(2)).tolist() == [2.0, 2.0]
