"""Containers and generators from outside whose classes have item methods, properties or draws of
their own: these run at each call, and not before."""

from __future__ import annotations

import collections
import functools
import operator
import random
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError

X = np.array([0.7, 1.3])
STATE = [1.0]


class ItemsOfAState(list):
    def __getitem__(self, place: Any) -> Any:
        return STATE[0]


class EntriesOfAState(collections.OrderedDict):
    def __getitem__(self, key: Any) -> Any:
        return STATE[0]


class ValuesOfAState(dict):
    def values(self) -> Any:
        return [STATE[0]]


class CountsOfAState(collections.Counter):
    def __getitem__(self, key: Any) -> Any:
        return STATE[0]


class PartsOfAState(tuple):
    def __getitem__(self, place: Any) -> Any:
        return STATE[0]


class FieldOfAState(namedtuple("FieldOfAState", "a b")):
    a = property(lambda self: STATE[0])


class DrawnOfAState(random.Random):
    def random(self) -> float:
        return STATE[0]


OF_A_STATE = {
    "list": ItemsOfAState([7.0]),
    "dict": EntriesOfAState(a=7.0),
    "counter": CountsOfAState(a=7),
    "values": ValuesOfAState(a=7.0),
    "tuple": PartsOfAState((7.0,)),
    "field": FieldOfAState(7.0, 8.0),
    "random": DrawnOfAState(1),
}


@pytest.mark.parametrize(
    "function",
    [
        lambda o: o["list"][0],
        lambda o: o["dict"]["a"],
        lambda o: o["counter"]["a"],
        lambda o: o["tuple"][0],
        lambda o: o["field"].a,
        lambda o: o["random"].random(),
        lambda o: o["values"].values()[0],
        lambda o: operator.getitem(o["list"], 0),
        lambda o: operator.itemgetter(0)(o["tuple"]),
        lambda o: operator.attrgetter("a")(o["field"]),
    ],
)
def test_methods_of_containers_from_outside_run_at_each_call(function):
    def read(x):
        STATE[0] = x[0]
        return function(OF_A_STATE) * x[1]

    assert gs.grad(read)(X).tolist() == X[::-1].tolist()


def test_a_field_beside_its_property_is_read_as_an_item():
    derivative = gs.value_and_grad(lambda x: OF_A_STATE["field"][0] * x[0])
    assert derivative(X)[0] == 7 * X[0]


class Counting(dict):
    def __getitem__(self, key: Any) -> Any:
        CALLS.append(key)
        return 2.0

    def __contains__(self, key: Any) -> bool:
        CALLS.append(key)
        return True


class Remembered(list):
    __getitem__ = functools.partialmethod(lambda self, place: STATE[0])


CALLS: list[str] = []
COUNTING, REMEMBERED = Counting(a=1.0), Remembered([1.0])


def test_methods_of_containers_do_not_run_where_a_function_is_compiled():
    CALLS.clear()
    derivative = gs.grad(lambda x: np.sum(x) * COUNTING["a"])
    assert (derivative(X).tolist(), CALLS) == ([2.0, 2.0], ["a"])
    assert (derivative(X).tolist(), CALLS) == ([2.0, 2.0], ["a", "a"])


def test_an_item_method_that_is_no_function_is_refused():
    with pytest.raises(UnsupportedError, match="`__getitem__` of its own"):
        gs.grad(lambda x: np.sum(x) * REMEMBERED[0])(X)
