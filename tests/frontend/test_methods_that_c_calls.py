"""Code in C that is given an object calls its methods, wherever the object stands: what these
change outside is read anew, or refused."""

from __future__ import annotations

import array
import copy
import ctypes
import decimal
import json
import os
import pickle
import re
import sys
import weakref
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import GradscribeError

X = np.array([0.5, 1.2])
COUNT = 1.0
ITEMS = [1.0]


class Counter:
    def count(self, *_: Any) -> None:
        global COUNT
        COUNT += 1.0
        ITEMS.append(2.0)


COUNTER = Counter()


class Counted:
    """Each way to look at it is counted, by another object."""

    def __init__(self, counter: Counter) -> None:
        self.counter = counter

    def write(self, text: Any) -> None:
        self.counter.count()

    def __float__(self) -> float:
        self.counter.count()
        return 1.0

    def __radd__(self, other: Any) -> Any:
        self.counter.count()
        return other

    def __fspath__(self) -> str:
        self.counter.count()
        return os.devnull

    def __repr__(self) -> str:
        self.counter.count()
        return "counted"


COUNTED = Counted(COUNTER)


class Scaled:
    def scale(self) -> float:
        return 2.0


SCALED, SCALE = Scaled(), Scaled.scale


def replaces(item: Any) -> Any:
    Scaled.scale = lambda self: 3.0
    return item


def written_by_json(x):
    json.dump(1, COUNTED)
    return x[0] * COUNT


def written_by_pickle(x):
    pickle.dump(1, COUNTED)
    return x[0] * len(ITEMS)


def written_by_numpy(x):
    np.savetxt(COUNTED, np.ones(2))
    return x[0] * COUNT


def shown_in_a_list(x):
    repr([COUNTED])
    return x[0] * COUNT


def shown_in_a_dict(x):
    text = str({"a": COUNTED})
    return x[0] * len(ITEMS) + 0.0 * len(text)


def formatted(x):
    text = "%s" % [COUNTED]
    return x[0] * COUNT + 0.0 * len(text)


def put_into_an_array(x):
    array.array("d", [Counted(COUNTER)])
    return x[0] * COUNT


def made_a_number_of_c(x):
    ctypes.c_double(Counted(COUNTER))
    return x[0] * COUNT


def added_to_a_decimal(x):
    decimal.Decimal(2) + Counted(COUNTER)
    return x[0] * COUNT


def made_a_path(x):
    os.fspath(Counted(COUNTER))
    return x[0] * COUNT


def told_of_an_end(x):
    weakref.ref(Counter(), COUNTER.count)
    return x[0] * COUNT


class Reversed:
    def __reversed__(self) -> Any:
        COUNTER.count()
        return iter([1.0])


def reversed_for_its_effect(x):
    reversed(Reversed())
    return x[0] * COUNT


def method_replaced_by_a_hook(x):
    json.loads("{}", object_hook=replaces)
    return x[0] * SCALED.scale()


def method_replaced_by_an_expression(x):
    re.sub("a", lambda found: replaces("b"), "ba")
    return x[0] * SCALED.scale()


def class_replaced(x):
    class Other:
        def scale(self):
            return 5.0

    scaled = Scaled()
    scaled.__class__ = Other
    return x[0] * scaled.scale()


PROGRAMS = (
    *(written_by_json, written_by_pickle, written_by_numpy, shown_in_a_list, shown_in_a_dict),
    *(formatted, put_into_an_array, made_a_number_of_c, added_to_a_decimal, made_a_path),
    *(
        reversed_for_its_effect,
        told_of_an_end,
        method_replaced_by_a_hook,
        method_replaced_by_an_expression,
    ),
    class_replaced,
)


@pytest.fixture(autouse=True)
def _at_the_beginning():
    begin()
    yield
    begin()


def begin() -> None:
    global COUNT
    COUNT, ITEMS[:] = 1.0, [1.0]
    Scaled.scale = SCALE


@pytest.mark.parametrize("options", [{}, {"compile": "auto"}, {"compile": False}], ids=str)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_what_a_method_changes_is_read_anew_or_refused(program, options) -> None:
    expected = program(X)
    begin()
    try:
        value, gradient = gs.value_and_grad(program, **options)(X)
    except GradscribeError:
        assert options != {"compile": False}
        return
    assert value == expected
    np.testing.assert_allclose(gradient, [expected / X[0], 0.0])


class Child:
    """Knows its parent by a weak proxy, as trees and caches do."""

    def __init__(self, parent):
        self.parent, self.weights = weakref.proxy(parent), np.ones(3)


ORPHAN, ORPHANS = Child(Counter()), [Child(Counter())]


@pytest.mark.parametrize("options", [{}, {"compile": "auto"}, {"compile": False}], ids=str)
@pytest.mark.parametrize(
    "show", [repr, print, id, hash, sys.getsizeof, copy.copy, type], ids=lambda show: show.__name__
)
def test_what_a_weak_proxy_stood_for_may_be_gone(show, options):
    def program(x):
        show(ORPHAN)
        show(ORPHANS[0])
        return x @ ORPHAN.weights * x[0]

    try:
        found = gs.grad(program, **options)(np.arange(3.0)).tolist()
    except gs.errors.UnsupportedError:
        assert not options and show in (print, id, hash, copy.copy)
    else:
        assert found == [3, 0, 0]
