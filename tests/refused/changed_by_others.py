"""What unread code does to what it is given, and runs do not follow."""

from __future__ import annotations

import collections
import contextlib
import ctypes
import logging
import re
import sqlite3
import weakref

import numpy as np

from tests.refused import refused

X = np.array([0.7, 1.3, -0.4])
WEIGHTS = np.ones(3)

count = collections._count_elements
updating = ctypes.pythonapi.PyDict_Update
updating.argtypes = [ctypes.py_object, ctypes.py_object]


class Halves(logging.Handler):
    def emit(self, record):
        record.args[0][...] /= 2


LOGGER = logging.Logger("halves")
LOGGER.addHandler(Halves())


class Appends(logging.Handler):
    def emit(self, record):
        record.args[0].append(1.0)


APPENDING = logging.Logger("appends")
APPENDING.addHandler(Appends())


@refused("a handler or filter changes an array that `info` is given to show", X)
def shown_to_a_handler(x):
    y = x * 2
    LOGGER.info("%s", y)
    return np.sum(y)


@refused("a handler or filter changes what `info` is given to show", X)
def list_shown_to_a_handler(x):
    items = [1.0]
    APPENDING.info("%s %s", items, 0)
    return np.sum(x) * len(items)


@refused("`_count_elements` changed what there is in a container, which is not followed", X)
def counts_of_more_keys(x):
    counts = {"a": 1}
    count(counts, "ab")
    return counts["a"] * np.sum(x)


@refused("`__call__` changed which items a dict has, which is not followed", X)
def other_items_in_a_dict(x):
    items = {"a": [1.0], "b": (2,)}
    updating(items, {"a": 3})
    return np.sum(x) * len(items)


@refused("`_count_elements` put something of another kind in 'a', which is not followed", X)
def count_of_a_flag(x):
    counts = {"a": True}
    count(counts, "a")
    return counts["a"] * np.sum(x)


@refused("`sub` put something else than such numbers in a list, which is not followed", X)
def integer_among_floats(x):
    ones = [1.0 for v in x if v > 0]
    re.sub("a", lambda match: ones.append(2) or "", "a")
    return ones[0] * np.sum(x)


@refused("a function has given `total` another object, which is not followed", X)
def variable_of_another_class(x):
    total = 1.0

    def more(match):
        nonlocal total
        total = 2
        return ""

    re.sub("a", more, "aa")
    return total * np.sum(x)


def heavier(match):
    WEIGHTS[0] += 1.0
    return ""


@refused("`sub` has changed what is read outside, which is not followed", X)
def array_of_a_module(x):
    before = np.sum(WEIGHTS * x)
    re.sub("a", heavier, "aa")
    return before + np.sum(WEIGHTS * x)


@refused("numbers are stored to an array of integers, which cuts them off", X)
def float_among_integers(x):
    y = np.array([1 if x[0] > 0 else x[0], 2])
    y[0] = x[1]
    return y[0]


@contextlib.contextmanager
def doubled(array):
    array *= 2
    yield
    array /= 2


@refused("the context manager `doubled` may change what it is given", X)
def an_array_in_a_context_manager_of_a_function(x):
    weights = np.ones(3)
    with doubled(weights):
        total = weights @ x
    return total * x


def failing():
    WEIGHTS[0] += 1.0
    raise ValueError


DATABASE = sqlite3.connect(":memory:", check_same_thread=False)
DATABASE.create_function("failing", 0, failing)


@refused("a call that raises has changed what is read outside, which is not followed", X)
def array_of_a_database_that_raises(x):
    before = np.sum(WEIGHTS * x)
    try:
        DATABASE.execute("select failing()").fetchall()
    except sqlite3.OperationalError:
        return before + np.sum(WEIGHTS * x)
    return before


@contextlib.contextmanager
def added():
    WEIGHTS[0] += 1.0
    yield
    WEIGHTS[0] += 1.0


@refused("entering this manager has changed what is read outside, which is not followed", X)
def array_that_a_manager_changes(x):
    before = np.sum(WEIGHTS * x)
    with added():
        return before + np.sum(WEIGHTS * x)


@refused(
    "`execute`, whose code cannot be read, may look for `WEIGHTS` from outside, to which this "
    "function stores only when it returns",
    X,
)
def array_stored_to_before_a_call(x):
    WEIGHTS[1] = 2.0
    DATABASE.execute("select 1")
    return np.sum(WEIGHTS * x)


class Box:
    pass


@refused(
    "`finalize` tells how long an object that is made here lives, which is not known",
    X,
)
def told_of_the_end_of_an_object(x):
    weights, box = np.ones(3), Box()
    weakref.finalize(box, weights.fill, 5.0)
    del box
    return np.sum(weights * x)
