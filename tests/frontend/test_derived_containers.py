"""Classes derived from built-in containers: what they have of their own is asked, or refused."""

from __future__ import annotations

import array
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import gradscribe as gs

X = np.array([0.7, 1.3])


class Items(list):  # type: ignore[type-arg]
    def __contains__(self, item: object) -> bool:
        return True


class Twice(tuple):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        return iter([4.0, 4.0])


class Table(dict):  # type: ignore[type-arg]
    def values(self) -> Any:
        return [2.0, 3.0]


class All(frozenset):  # type: ignore[type-arg]
    def __len__(self) -> int:
        return 11


class Shown(list):  # type: ignore[type-arg]
    def __repr__(self) -> str:
        return "shown"

    def total(self) -> Any:
        return sum(self)


class Point(namedtuple("Point", "a b")):
    def __new__(cls, a: Any, b: Any = 2.0) -> Any:
        return super().__new__(cls, a * 10, b)


class Vector(namedtuple("Vector", "a b")):
    def __add__(self, other: Any) -> Any:
        return Vector(self.a + other.a, self.b)


class Holder:
    items = Items([1.0, 2.0])


ITEMS, TWICE, TABLE, ALL = Items([1.0]), Twice((1.0, 2.0)), Table(a=1.0), All([1])
SHOWN, VECTOR, HOLDER = Shown([1.0, 2.0]), Vector(1.0, 2.0), Holder()


@pytest.mark.parametrize(
    ("function", "value"),
    [
        (lambda x: x[0] if 7.0 in ITEMS else x[1], 0.7),
        (lambda x: x[0] if 7.0 in HOLDER.items else x[1], 0.7),
        (lambda x: sum(TWICE) * x[0], 5.6),
        (lambda x: sum(TABLE.values()) * x[0], 3.5),
        (lambda x: sum({**TABLE}.values()) * x[0] if len(TABLE) > 1 else sum(TABLE.values()), 5.0),
        (lambda x: len(ALL) * x[0], 7.7),
        (lambda x: Point(x[0]).a, 7.0),
    ],
)
def test_what_its_class_means_otherwise_is_refused(function, value):
    assert function(X) == pytest.approx(value)
    with pytest.raises(gs.errors.UnsupportedError, match="of its own"):
        gs.grad(function)(X)
    assert gs.value_and_grad(lambda x: x[0] * 0 + function(x), compile="auto")(X)[0] == (
        pytest.approx(value)
    )


def test_a_plain_dict_is_not_mistaken_for_one_that_came_before():
    gradient = gs.grad(lambda x, table: sum(table.values()) * np.sum(x))
    assert gradient(X, {"a": 1.0}).tolist() == [1, 1]
    with pytest.raises(gs.errors.UnsupportedError, match="a Table, which has a `values` of its"):
        gradient(X, TABLE)


def test_methods_that_containers_have_not_change_no_meaning():
    assert gs.grad(lambda x: sum(SHOWN) * x[0])(X).tolist() == [3, 0]
    assert gs.grad(lambda x: sum(VECTOR + VECTOR) * x[0])(X).tolist() == [4, 0]
    assert gs.grad(lambda x: (Vector(x[0], 1.0) + VECTOR).a)(X).tolist() == [1, 0]


class Log(array.array):  # type: ignore[type-arg]
    def ones(self) -> float:
        return float(super().count(1.0))


class Name(str):
    def vowels(self) -> int:
        return super().count("a")


LOG, NAME = Log("d", [1.0, 2.0, 1.0]), Name("banana")


def test_methods_of_base_classes_in_c_are_given_their_object():
    assert gs.grad(lambda x: LOG.ones() * x[0])(X).tolist() == [2, 0]
    with pytest.raises(gs.errors.UnsupportedError, match="the method `count` is not supported"):
        gs.grad(lambda x: NAME.vowels() * x[0])(X)
