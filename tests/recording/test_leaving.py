"""What a function stores outside in a recorded run is plain when the run is over."""

import contextvars
import functools
import gc
import itertools
import operator
import types
from collections import Counter, deque
from typing import Any, NamedTuple

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError
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


def _method(self, other):
    return self * other


KEPT: contextvars.ContextVar[Any] = contextvars.ContextVar("kept")


class Failed(Exception):
    def __init__(self, kept):
        super().__init__()
        self.kept = kept


class Mangled:
    __slots__ = ("__kept",)

    def __init__(self, kept):
        self.__kept = kept

    def kept(self):
        return self.__kept


class Shadowed:
    kept = property(lambda self: vars(self)["kept"])

    def __init__(self, kept):
        vars(self)["kept"] = kept


REPLACED = {
    "a default": (lambda y: lambda v, k=y: k, lambda f: f.__defaults__[0]),
    "a default by name": (lambda y: lambda v, *, k=y: k, lambda f: f.__kwdefaults__["k"]),
    "partial": (lambda y: functools.partial(np.add, y, 1.0), lambda p: p.args[0]),
    "partial by name": (lambda y: functools.partial(np.add, x2=y), lambda p: p.keywords["x2"]),
    "partial of a method": (lambda y: functools.partial(y.dot, 1.0), lambda p: p()),
    "a bound function": (lambda y: types.MethodType(_method, y), lambda m: m.__self__),
    "bound to a tuple": (lambda y: types.MethodType(len, (y,)), lambda m: m.__self__[0]),
    "what a generator returned": (StopIteration, lambda e: e.value),
    "an exception": (Failed, lambda e: e.kept),
    "an attribute behind a property": (Shadowed, lambda o: o.kept),
    "a slot": (Mangled, lambda o: o.kept()),
    "a context variable": (lambda y: KEPT.set(y) and None, lambda _: KEPT.get()),
}


@pytest.mark.parametrize(("keep", "kept"), REPLACED.values(), ids=REPLACED)
def test_what_is_kept_is_plain(keep, kept):
    log = []

    def loss(x):
        log.append(keep(x * 2))
        return np.sum(x)

    gs.grad(loss, compile=False)(np.arange(3.0))
    assert type(kept(log[0])) is np.ndarray and kept(log[0]).tolist() == [0.0, 2.0, 4.0]


def test_what_is_kept_in_frozen_objects_is_plain():
    log = deque()
    gc.freeze()

    def loss(x):
        log.append(2 * x)
        return np.sum(x)

    gs.grad(loss, compile=False)(np.ones(2))
    assert type(log[0]) is np.ndarray


def held(array):
    yield "suspended"
    yield array


def sent_to():
    item = None
    while True:
        item = yield item


def started(generator, item=None):
    next(generator)
    if item is not None:
        generator.send(item)
    return generator


def cached(array):
    @functools.lru_cache
    def give():
        return array + 0

    give()
    return give


def in_an_array(array):
    kept = np.empty(1, dtype=object)
    kept[0] = array
    return kept


LEFT = {
    "suspended": (lambda y: started(held(y)), "`generator`"),
    "not started": (held, "`generator`"),
    "sent to": (lambda y: started(sent_to(), y), "`generator`"),
    "an iterator": (itertools.repeat, "`repeat`"),
    "an iterator over tuples": (lambda y: itertools.product([y], [1]), "`product`"),
    "arguments": (lambda y: operator.methodcaller("dot", y), "`methodcaller`"),
    "a slice": (lambda y: slice(y, None), "`slice`"),
    "a property": (property, "`property`"),
    "a cache": (cached, r"`\S*lru_cache\S*`|`_lru_list_elem`"),
    "an array of objects": (in_an_array, "array of objects"),
    "in a list": (lambda y: [{"a": (in_an_array(y),)}], "array of objects"),
}


@pytest.mark.parametrize(("keep", "name"), LEFT.values(), ids=LEFT)
def test_what_cannot_be_made_plain_is_refused(keep, name):
    log = []

    def loss(x):
        log.append(keep(x * 2))
        return np.sum(x)

    for run in (
        lambda: gs.grad(loss, compile=False)(np.arange(3.0)),
        lambda: gs.jvp(loss, (np.arange(3.0),), (np.ones(3),), compile=False),
    ):
        with pytest.raises(UnsupportedError, match=name):
            run()
    log.clear()

    def not_left(x):
        here = keep(x * 2)
        around = [here]
        around.append(around)
        return np.sum(x) * len(around)

    assert gs.grad(not_left, compile=False)(np.arange(3.0)).tolist() == [2.0, 2.0, 2.0]


def test_frames_of_exceptions_keep_what_has_no_derivative_any_more():
    log = []

    def failing(array, *numbers):
        raise KeyError("of the program")

    def loss(x):
        try:
            failing(x * 2, x[0], x[1])
        except KeyError as error:
            log.append(error)
        return np.sum(x)

    gs.grad(loss, compile=False)(np.arange(3.0))
    frame = log[0].__traceback__.tb_next.tb_frame
    array, (number, _) = frame.f_locals["array"], frame.f_locals["numbers"]
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
