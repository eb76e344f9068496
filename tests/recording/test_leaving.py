"""What a function stores outside in a recorded run is plain when the run is over."""

from collections import Counter, deque
from typing import Any, NamedTuple

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.recording.arrays import is_recorded


class Slots:
    __slots__ = ("kept",)


class Owner:
    pass


def test_plain_values_take_the_place_of_recorded_ones():
    log = []
    owner, slots, queue, table = Owner(), Slots(), deque(), {}
    state = None

    def loss(x):
        nonlocal state
        y = 2 * x
        state = slots.kept = owner.kept = y
        log.append(y)
        log.append(y[1:])
        queue.append(y[0])
        table["a"] = [y]
        return np.sum(y**2)

    assert gs.grad(loss, compile=False)(np.arange(3.0)).tolist() == [0.0, 8.0, 16.0]
    kept = [state, slots.kept, owner.kept, log[0], table["a"][0]]
    assert all(type(value) is np.ndarray and value.tolist() == [0.0, 2.0, 4.0] for value in kept)
    assert type(queue[0]) is np.float64 and queue[0] == 0.0
    log[0][2] = 7.0
    assert log[1].tolist() == [2.0, 7.0], "a view is a view"


@pytest.mark.parametrize("store", [setattr, type.__setattr__], ids=str)
def test_attributes_of_classes_are_plain(store):
    class Counted:
        total = 0.0
        array: Any = None

    def loss(x):
        for item in x:
            store(Counted, "total", Counted.total + item)
        Counted.array = 2 * x
        return Counted.total * np.sum(Counted.array)

    x = np.arange(3.0)
    for _ in range(4):
        Counted.total = 0.0
        assert gs.grad(loss, compile=False)(x).tolist() == [12.0, 12.0, 12.0]
        kept = [np.zeros(1) for _ in range(100)]  # in memory that was free
        assert type(Counted.total) is np.float64 and Counted.total == 3.0
        assert type(Counted.array) is np.ndarray and Counted.array.tolist() == [0.0, 2.0, 4.0]
        assert len(kept) == 100


def test_what_exceptions_hold_is_plain():
    log = []

    def loss(x):
        try:
            raise ValueError(2 * x, "text")
        except ValueError as error:
            log.append(error)
        return np.sum(x)

    gs.grad(loss, compile=False)(np.arange(3.0))
    array, text = log[0].args
    assert type(array) is np.ndarray and array.tolist() == [0.0, 2.0, 4.0] and text == "text"


class Pair(NamedTuple):
    first: Any
    second: Any


def test_tuples_hold_plain_values():
    log = []

    def loss(x):
        pair = Pair(x * 2, (x[0], "text"))
        log.extend([pair, (pair, [pair])])
        return np.sum(x)

    gs.grad(loss, compile=False)(np.arange(3.0))
    pair, (same, (again,)) = log
    assert type(pair) is Pair and pair is same is again
    assert type(pair.first) is np.ndarray and pair.first.tolist() == [0, 2, 4]
    assert type(pair.second[0]) is np.float64 and pair.second == (0.0, "text")


def test_what_cannot_be_replaced_has_no_derivative_any_more():
    log = []

    def held(array, number):
        yield "suspended"
        yield array, number

    def loss(x):
        log.append(held(x * 2, x[0]))
        next(log[0])
        return np.sum(x)

    gs.grad(loss, compile=False)(np.arange(3.0))
    array, number = next(log[0])
    assert is_recorded(array) and type(array + 1) is np.ndarray
    assert float(number) == 0.0 and np.asarray(array).tolist() == [0.0, 2.0, 4.0]
    assert gs.grad(lambda x: np.sum(x * array), compile=False)(np.ones(3)).tolist() == [0, 2, 4]


def test_an_error_leaves_plain_values():
    log = []

    def loss(x):
        log.append(3 * x)
        raise KeyError("of the program")

    with pytest.raises(KeyError, match="of the program"):
        gs.grad(loss, compile=False)(np.ones(2))
    assert type(log[0]) is np.ndarray


def test_what_an_inner_run_leaves_is_a_value_of_the_outer_one():
    def outer(x):
        kept = []

        def inner(y):
            kept.append(x * y)
            return np.sum(y)

        gs.grad(inner)(np.ones(2))
        return np.sum(kept[0] * x)

    assert gs.grad(outer, compile=False)(np.array([2.0, 3.0])).tolist() == [4.0, 6.0]


class Adding(dict):
    updates = 0

    def update(self, *args, **kwargs):
        self.updates += 1
        super().update(*args, **kwargs)


class Counting(list):
    stores = 0

    def __setitem__(self, position, item):
        self.stores += 1
        super().__setitem__(position, item)


def test_methods_of_derived_containers_are_left_alone():
    counter, table, rows = Counter(), Adding(a=1.0), Counting([1.0, 2.0])

    def counted(x):
        for i in range(len(x)):
            counter[i % 2] += x[i]
        table["a"] = table["a"] * x[0]
        rows[0] = rows[1] * x[1]
        return counter[0] * counter[1] * rows[0] * table["a"]

    def left():
        return dict(counter), dict(table), list(rows), table.updates, rows.stores

    x = np.array([1.1, 1.2, 1.3])
    expected = counted(x), left()
    counter.clear()
    table["a"], rows[:] = 1.0, [1.0, 2.0]
    rows.stores = 0
    value, _ = gs.value_and_grad(counted, compile=False)(x)
    assert (value, left()) == expected


@pytest.mark.parametrize("name", ["copy", "sum", "tolist", "__len__"])
def test_methods_of_arrays_are_those_of_plain_ones_afterwards(name):
    kept = []

    def keeping(x):
        y = x * 2
        kept.append(getattr(y, name))
        return np.sum(y)

    gs.grad(keeping, compile=False)(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(kept[0](), getattr(np.array([2.0, 4.0]), name)())
