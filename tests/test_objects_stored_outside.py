"""Objects, lists and dicts that are stored outside, or returned, are what the program has made:
with the attributes that they have, and one object under all of its names."""

from __future__ import annotations

import functools
import threading
import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError

X = np.array([0.3, -0.8, 1.5])
TABLE: dict[Any, Any] = {}
LOG: list[Any] = []
CONFIG: dict[str, Any] = {"weights": [1.0, 2.0], "count": 3}


class Doubled:
    def __init__(self, v):
        self.v = v * 2


class Swapped:
    def __init__(self, first, second):
        self.first = second
        self.second = first


class Counted:
    def __init__(self, v, step=1):
        self.v = v
        self.n = 0
        self.step = step


class Slotted:
    __slots__ = ("late", "v")

    def __init__(self, v):
        self.v = v


@dataclass
class Prepared:
    v: float
    half: float = field(init=False)

    def __post_init__(self):
        self.half = self.v / 2
        self.calls = 1


class Grid:
    cache: dict[int, Grid] = {}  # noqa: RUF012

    def __init__(self, n):
        self.n = n

    @functools.cached_property
    def points(self):
        return np.linspace(0, 1, self.n)

    @classmethod
    def of(cls, n):
        if n not in cls.cache:
            cls.cache[n] = cls(n)
        return cls.cache[n]


def of_all_kinds(x):
    late = Slotted(1.0)
    late.late = 2.0
    prepared = Prepared(3.0)
    prepared.half = 7.0
    counted = Counted(2.0)
    counted.n += 1
    TABLE["all"] = [Doubled(2.0), Swapped(1.0, 2.0), counted, late, prepared]
    return np.sum(x**2)


def a_cache_of_objects(x):
    return np.sum(Grid.of(3).points * x**2)


def one_object_under_two_names(x):
    item = Counted(1.0)
    TABLE["a"] = item
    TABLE["b"] = (item, [item])
    LOG.append(item)
    item.n = 5
    return np.sum(x)


def one_list_under_two_names(x):
    items = [1.0]
    TABLE["a"], TABLE["b"] = items, {"again": items}
    items.append(2.0)
    return np.sum(x) * len(items)


def what_is_put_in_is_changed(x):
    TABLE["inner"] = {}
    LOG.append(TABLE["inner"])
    TABLE["inner"]["key"] = 1.0
    return np.sum(x)


def part_of_an_object(x):
    item = Counted([1.0])
    LOG.append(item.v)
    item.v.append(2.0)
    TABLE["item"] = item
    return np.sum(x)


def from_outside_under_other_names(x):
    TABLE["config"] = CONFIG
    TABLE["weights"] = CONFIG["weights"]
    return np.sum(x) * CONFIG["count"]


FUNCTIONS = [of_all_kinds, a_cache_of_objects, one_object_under_two_names]
FUNCTIONS += [one_list_under_two_names, what_is_put_in_is_changed, part_of_an_object]


@pytest.fixture(autouse=True)
def _():
    cleared()


def cleared():
    TABLE.clear()
    LOG.clear()
    Grid.cache.clear()


def told(value, seen):
    """A value, in which what is met again is the number of what was met first."""
    if isinstance(value, (list, dict)) or hasattr(value, "__dict__") or type(value) is Slotted:
        if id(value) in seen:
            return seen[id(value)]
        seen[id(value)] = len(seen)
    if isinstance(value, (list, tuple)):
        return type(value)([told(item, seen) for item in value])
    if isinstance(value, dict):
        return {key: told(item, seen) for key, item in value.items()}
    if type(value) is Slotted:
        return "Slotted", value.v, value.late
    if hasattr(value, "__dict__"):
        return type(value).__name__, told(vars(value), seen)
    return value.tolist() if isinstance(value, np.ndarray) else value


def state():
    return told([TABLE, LOG, Grid.cache, CONFIG], {})


@pytest.mark.parametrize("options", [{}, {"compile": "auto"}, {"compile": False}], ids=str)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_what_is_stored_is_what_the_program_has_made(function, options):
    cleared()
    expected = [function(X) for _ in range(3)]
    wanted = state()
    cleared()
    value_and_grad = gs.value_and_grad(function, **options)
    assert [value_and_grad(X)[0] for _ in range(3)] == expected
    assert state() == wanted


def test_what_comes_from_outside_is_itself_under_another_name():
    cleared()
    gs.grad(from_outside_under_other_names)(X)
    assert TABLE["config"] is CONFIG
    assert TABLE["weights"] is CONFIG["weights"]


MIXED: list[Any] = []
"""Its items differ in type: it is found item by item, and is one value when it is sorted."""


def sorts_what_it_stores(x):
    TABLE["sorted"] = MIXED
    MIXED.sort()
    return np.sum(x * x) * sum(MIXED) * TABLE["sorted"][0]


def sorts_what_it_stores_within(x):
    if x[0] > 0:
        MIXED.sort()
    TABLE["sorted"] = (MIXED, 1.0)
    MIXED.append(x[0])
    return np.sum(x * x) * sum(MIXED)


def turns_what_it_stores(x):
    TABLE["sorted"] = [MIXED]
    MIXED.reverse()
    return np.sum(x * x) * MIXED[0]


def sorts_an_argument(x, mixed, holder):
    holder.inner = mixed
    mixed.sort()
    return np.sum(x * x) * sum(mixed)


_NUMBERS = (np.float64(0.5), 0.5, 0.15)


@pytest.mark.parametrize(
    ("function", "mixed"),
    [
        (sorts_what_it_stores, _NUMBERS),
        (sorts_what_it_stores_within, _NUMBERS),
        (turns_what_it_stores, _NUMBERS),
        (turns_what_it_stores, (None, 0.5)),
    ],
)
@pytest.mark.parametrize("tensors", [False, True])
def test_a_list_that_is_stored_and_rearranged_is_itself(function, mixed, tensors):
    TABLE.clear()
    MIXED[:] = mixed
    function(X)
    wanted = [float(v or 0.0) for v in MIXED]
    TABLE.clear()
    MIXED[:] = mixed
    if tensors:
        gs.differentiable(function)(gs.tensor(X, requires_grad=True)).backward()
    else:
        gs.grad(function)(X)
    stored = TABLE["sorted"]
    assert stored is MIXED or stored[0] is MIXED
    assert [float(v or 0.0) for v in MIXED] == wanted


def test_an_argument_that_is_stored_and_rearranged_is_itself():
    holder, mixed = Holder(None), [np.float64(0.5), 0.5, 0.15]
    x = gs.tensor(X, requires_grad=True)
    gs.differentiable(sorts_an_argument)(x, mixed, holder).backward()
    assert holder.inner is mixed
    assert mixed == [0.15, 0.5, 0.5]


def test_objects_that_are_returned_are_as_they_were_made():
    def both(x):
        made = Doubled(x * 1.0)
        return made, Swapped(made, x)

    (made, swapped), along = gs.jvp(both, (X,), (X,))
    np.testing.assert_array_equal(made.v, 2 * X)
    assert swapped.second is made
    np.testing.assert_array_equal(swapped.first, X)
    np.testing.assert_array_equal(along[0].v, 2 * X)
    assert gs.vjp(both, X)[0][0].v.tolist() == (2 * X).tolist()


class Holder:
    def __init__(self, inner: Any) -> None:
        self.inner = inner


def test_a_returned_object_takes_a_cotangent_of_its_class():
    for options in ({}, {"compile": "auto"}):
        made, pullback = gs.vjp(lambda x: Holder(x * x), X, **options)
        assert made.inner.tolist() == (X * X).tolist()
        assert pullback(Holder(np.ones(3)))[0].tolist() == (2 * X).tolist()
    made, pullback = gs.vjp(lambda x: [Holder([Slotted(x * x)]), x], X, compile=False)
    assert pullback([None, np.ones(3)])[0].tolist() == [1, 1, 1]
    with pytest.raises(gs.errors.ArgumentError, match="an object of the class `Holder`"):
        pullback([made[0], np.ones(3)])
    with pytest.raises(gs.errors.ArgumentError, match="an object of the class `Holder`"):
        gs.jvp(lambda x: Holder([Slotted(x * x)]), (X,), (X,), compile=False)


def test_what_contains_itself_is_refused():
    class Node:
        def __init__(self, v):
            self.v = v
            self.me = self

    def stored(x):
        TABLE["node"] = Node(2.0)
        return np.sum(x**2)

    def returned(x):
        items = [x]
        items.append(items)
        return items

    with pytest.raises(UnsupportedError, match="contains itself"):
        gs.grad(stored)(X)
    with pytest.raises(UnsupportedError, match="contains itself"):
        gs.jvp(returned, (X,), (X,))


def keeps_dtypes(x):
    LOG.append(x.dtype)
    LOG.extend([np.result_type(x, np.float32), (x[0] > 1).dtype, np.float64])
    LOG.append((x.dtype, {"a": x.dtype, x.dtype: [x.dtype]}))
    LOG.append(functools.partial(np.zeros, 2, x.dtype).args)
    TABLE["dtype"] = x.dtype
    return np.sum(np.zeros(3, dtype=x.dtype) + x)


def test_a_dtype_is_kept_as_such(capsys) -> None:
    def shown(call) -> str:
        LOG.clear()
        TABLE.clear()
        call(X)
        return repr((LOG, TABLE))

    assert shown(gs.grad(keeps_dtypes, compile=True)) == shown(keeps_dtypes)
    gs.grad(lambda x: print(x.dtype, [x.dtype]) or np.sum(x), compile=True)(X)
    assert capsys.readouterr().out == "float64 [dtype('float64')]\n"


def test_a_function_of_a_dtype_has_that_for_a_default() -> None:
    def keeps(x):
        def made(n, dtype=x.dtype):
            return np.zeros(n, dtype)

        LOG.append(made)
        return np.sum(x)

    LOG.clear()
    gs.grad(keeps, compile=True)(X)
    assert LOG[0].__defaults__ == (X.dtype,)
    assert isinstance(LOG[0].__defaults__[0], np.dtype)


SETTINGS = types.SimpleNamespace(a=1.0, b=2.0)


def deletes_and_stores_again(x):
    del SETTINGS.a
    SETTINGS.a = 3.0
    return np.sum(x)


def stores_in_two_orders(x):
    if x[0] > 0:
        SETTINGS.c = 1.0
        SETTINGS.d = 2.0
    else:
        SETTINGS.d = 3.0
        SETTINGS.c = 4.0
    return np.sum(x)


def stores_the_first_one_late(x):
    made = types.SimpleNamespace()
    if x[0] > 1:
        made.a = 1.0
    made.b = 2.0
    made.a = 3.0
    LOG.append(made)
    return np.sum(x)


def changes_what_is_given_away(x):
    made = types.SimpleNamespace(a=1.0, b=2.0)
    LOG.append(made)
    del made.a
    made.a = 3.0
    return np.sum(x)


def stores_in_one_order(x):
    made = types.SimpleNamespace()
    if x[0] > 0:
        made.a = x[0]
        made.b = 1.0
    else:
        made.a = x[1]
        made.b = 2.0
    for k in range(3):
        made.c = float(k)
        made.a = made.a * 2.0
    del made.c
    made.c = 5.0
    SETTINGS.b = 7.0
    SETTINGS.c = 8.0
    LOG.append(made)
    return made.a


@pytest.fixture
def settings():
    vars(SETTINGS).clear()
    vars(SETTINGS).update({"a": 1.0, "b": 2.0})
    LOG.clear()
    yield


@pytest.mark.parametrize(
    "program",
    [
        deletes_and_stores_again,
        stores_in_two_orders,
        stores_the_first_one_late,
        changes_what_is_given_away,
    ],
    ids=lambda f: f.__name__,
)
def test_attributes_in_an_order_that_is_not_followed_are_refused(program, settings) -> None:
    with pytest.raises(UnsupportedError):
        gs.grad(program, compile=True)(X)


def test_attributes_that_are_stored_in_one_order_keep_it(settings) -> None:
    gs.grad(stores_in_one_order, compile=True)(X)
    assert list(vars(LOG[0])) == ["a", "b", "c"]
    assert list(vars(SETTINGS)) == ["a", "b", "c"]


class Local(threading.local):
    scale = 5.0


LOCAL = Local()


def test_attributes_of_threads_are_stored() -> None:
    def stored(x):
        LOCAL.scale = LOCAL.scale + 1.0
        return np.sum(x**2) * LOCAL.scale

    assert gs.grad(stored)(np.ones(2)).tolist() == [12.0, 12.0]
    assert LOCAL.scale == 6.0
