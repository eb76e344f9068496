"""Classes derived from built-in containers, numbers and texts: what they have of their own is
asked, or refused."""

from __future__ import annotations

import abc
import array
import collections
import enum
import functools
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError

X = np.array([0.7, 1.3])


class Items(list):
    def __contains__(self, item: object) -> bool:
        return True


class Twice(tuple):
    def __iter__(self) -> Any:
        return iter([4.0, 4.0])


class Table(dict):
    def values(self) -> Any:
        return [2.0, 3.0]


class All(frozenset):
    def __len__(self) -> int:
        return 11


class Shown(list):
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


class Everything:
    def __contains__(self, item: object) -> bool:
        return True


class Mixed(Everything, list):
    pass


class Offset(float):
    def __add__(self, other: Any) -> Any:
        return float(self) * 10 + other


class Named(str):
    scale: float


class Kind(enum.IntEnum):
    A, B = 2, 3

    @property
    def scale(self) -> float:
        return SCALE


class Ratio(float, enum.Enum):
    HALF = 0.5


class Shifted(enum.IntEnum):
    A = 2

    def __add__(self, other: Any) -> Any:
        return int(self) * 10 + other


def plus_default(x, offset=Offset(2.0)):
    return offset + x[0]


SCALE, OFFSET, NAMED, OFFSETS, MIXED = 3.0, Offset(2.0), Named("a"), [1.0, Offset(2.0)], Mixed()
ITEMS, TWICE, TABLE, ALL = Items([1.0]), Twice((1.0, 2.0)), Table(a=1.0), All([1])
SHOWN, VECTOR, HOLDER = Shown([1.0, 2.0]), Vector(1.0, 2.0), Holder()


@pytest.mark.parametrize(
    ("function", "value"),
    [
        (lambda x: x[0] if 7.0 in ITEMS else x[1], 0.7),
        (lambda x: x[0] if 7.0 in HOLDER.items else x[1], 0.7),
        (lambda x: sum(TWICE) * x[0], 5.6),
        (lambda x: sum({**TABLE}.values()) * x[0] if len(TABLE) > 1 else sum(TABLE.values()), 5.0),
        (lambda x: len(ALL) * x[0], 7.7),
        (lambda x: Point(x[0]).a, 7.0),
        (lambda x: x[0] if 7.0 in MIXED else x[1], 0.7),
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


class Log(array.array):
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


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n: OFFSET + x[0],
        lambda x, n: (OFFSETS[1] + 1.0) * x[0],
        lambda x, n: x[0] if isinstance(OFFSET, Offset) else x[1],
        lambda x, n: plus_default(x),
        lambda x, n: n + x[0],
        lambda x, n: Shifted.A + x[0],
        lambda x, n: sum([kind + x[0] for kind in Shifted]),
    ],
)
def test_classes_derived_from_numbers_are_no_numbers(function):
    with pytest.raises(gs.errors.UnsupportedError, match=r"of a class derived from (float|int)"):
        gs.grad(function)(X, OFFSET)
    assert gs.value_and_grad(function, compile=False)(X, OFFSET)[0] == function(X, OFFSET)


def test_members_of_enumerations_are_what_they_are(monkeypatch):
    def f(x, kind):
        chosen = x[0] if kind is Kind.A else x[1]
        return chosen * kind * kind.scale + Ratio.HALF * x[Kind.A - 1]

    gradient = gs.grad(f)
    assert gradient(X, Kind.A).tolist() == [6, 0.5]
    assert gradient(X, Kind.B).tolist() == [0, 9.5]
    monkeypatch.setitem(globals(), "SCALE", 1.0)
    assert gradient(X, Kind.A).tolist() == [2, 0.5]


def test_attributes_of_texts_are_read_at_each_call(monkeypatch):
    NAMED.scale = 2.0
    gradient = gs.grad(lambda x: x[0] * NAMED.scale)
    assert gradient(X).tolist() == [2, 0]
    NAMED.scale = 3.0
    assert gradient(X).tolist() == [3, 0]
    other = Named("a")
    other.scale = 4.0
    monkeypatch.setitem(globals(), "NAMED", other)
    assert gradient(X).tolist() == [4, 0]


def matched(x, items):
    match items:
        case Shown() | Plain():
            return 2 * np.sum(x)
    return np.sum(x)


class Plain(tuple):
    pass


@pytest.mark.parametrize("items", [Shown(), Shown([1.0, 2.0]), Shown([1.0, "a"]), Plain((1.0,))])
@pytest.mark.parametrize(
    "function",
    [
        matched,
        lambda x, items: (2.0 if isinstance(items, (Shown, Plain)) else 1.0) * np.sum(x),
        lambda x, items: (1.0 if type(items) in (list, tuple) else 2.0) * np.sum(x),
        lambda x, items: (1.0 if type([items][0]) in (list, tuple) else 2.0) * np.sum(x),
    ],
)
def test_arguments_are_of_their_class(function, items):
    assert gs.grad(function)(X, items).tolist() == [2, 2]
    assert gs.grad(lambda x: function(x, items))(X).tolist() == [2, 2]
    plain = list(items) if isinstance(items, list) else tuple(items)
    assert gs.grad(function)(X, plain).tolist() == [1, 1]


class Doubling(functools.partial):
    def __call__(self, *args):
        return super().__call__(*args) * 2


class DoublingMethod(functools.partialmethod):
    def __get__(self, owner, cls=None):
        method = super().__get__(owner, cls)
        return lambda x: method(x) * 2


class DoublingProperty(property):
    def __get__(self, owner, cls=None):
        return super().__get__(owner, cls) * 2


class DoublingCached(functools.cached_property):
    def __get__(self, owner, cls=None):
        return super().__get__(owner, cls) * 2


class DoublingClassMethod(classmethod):
    def __get__(self, owner, cls=None):
        method = super().__get__(owner, cls)
        return lambda x: method(x) * 2


class DoublingQueue(collections.deque):
    def append(self, item):
        super().append(item * 2)


class Constant(collections.defaultdict):
    def __missing__(self, key):
        return 4.0


class Missing(dict):
    def __missing__(self, key):
        return key + 2.0


class Never(list):
    def __bool__(self):
        return False


class WithDescriptors:
    def _times(self, factor, x):
        return factor * x

    method = DoublingMethod(_times, 3.0)
    double = DoublingProperty(lambda self: 2.0)
    cached = DoublingCached(lambda self: 2.0)

    @DoublingClassMethod
    def of_class(cls, x):
        return x * 3


def by_a_partial(x):
    return np.sum(TIMES(x))


def by_a_partial_method(x):
    return np.sum(WITH.method(x))


def by_a_property(x):
    return np.sum(x) * WITH.double


def by_a_cached_property(x):
    return np.sum(x) * WithDescriptors().cached


def by_a_class_method(x):
    return np.sum(WithDescriptors.of_class(x))


def by_a_queue(x):
    queue = QUEUE
    queue.append(2.0)
    return np.sum(x) * queue[-1]


def by_a_default(x):
    return np.sum(x) * CONSTANT["absent"]


def by_a_missing_key(x):
    return sum([x[i] * MISSING[i] for i in range(2)])


def by_its_truth(x):
    return np.sum(x) if NEVER else np.sum(x * x)


WITH, TIMES = WithDescriptors(), Doubling(np.multiply, 3.0)
QUEUE, CONSTANT, MISSING = DoublingQueue([1.0]), Constant(float), Missing()
NEVER = Never([1.0])


@pytest.mark.parametrize(
    "function",
    [
        by_a_partial,
        by_a_partial_method,
        by_a_property,
        by_a_cached_property,
        by_a_class_method,
        by_a_queue,
        by_a_default,
        by_a_missing_key,
        by_its_truth,
    ],
)
def test_classes_derived_from_those_of_python_mean_what_they_say(function):
    x = np.array([0.5, 1.5])
    expected = function(x)
    for derive in (
        lambda: gs.value_and_grad(function)(x)[0],
        lambda: gs.jvp(function, (x,), (x,))[0],
    ):
        try:
            found = derive()
        except UnsupportedError:
            continue
        assert found == expected


class Abstract(abc.ABC):
    """What is registered later is of it."""


class Registered:
    pass


def test_what_is_registered_is_asked_at_each_call():
    held = Registered()

    def asking(x):
        return np.sum(x * x) if isinstance(held, Abstract) else np.sum(x)

    x = np.array([0.5, 3.0])
    value = gs.value_and_grad(asking)
    assert value(x)[0] == 3.5
    Abstract.register(Registered)
    assert value(x)[0] == 9.25
