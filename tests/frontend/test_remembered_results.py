"""Functions from outside that remember their results are computed anew: that is refused where they
read what the program changes, and the same elsewhere."""

from __future__ import annotations

import functools
import math
import struct
from dataclasses import dataclass, field

import numpy as np
import pytest

import gradscribe as gs

TABLE = np.arange(4.0)


class Model:
    def __init__(self, rate):
        self.rate = rate
        self.levels = [1.0, 2.0]

    @functools.cache
    def scaled(self, n):
        return self.rate * n

    @functools.lru_cache(maxsize=8)
    def level(self, n):
        return self.levels[n]


@functools.cache
def entry(n):
    return TABLE[n] * MODEL.scaled(2)


MODEL, CALLS = Model(3.0), []


def of_a_table(x):
    CALLS.append(1)
    return entry(2) * x + entry(3) * x**2


def of_a_method(x):
    return MODEL.scaled(2) * x * MODEL.level(1)


def of_a_model_in_here(x):
    return Model(2.0).scaled(3) * x


def of_an_argument(x, model):
    return model.scaled(3) * x


@pytest.mark.parametrize(
    ("function", "arguments", "slope"),
    [
        *((of_a_table, (), 12.0 + 2 * 18.0 * 2.0), (of_a_method, (), 12.0)),
        *((of_a_model_in_here, (), 6.0), (of_an_argument, (Model(5.0),), 15.0)),
    ],
)
def test_what_they_compute_is_a_constant(function, arguments, slope):
    assert gs.grad(function)(2.0, *arguments) == slope


def changed_after_a_call(again=False):
    table = [1.0]

    @functools.lru_cache
    def first(n):
        return table[n]

    def program(x):
        before = first(0)
        table[0] += 5.0
        return before * x + first(0) * x**2 if again else before * x

    return program


def changed_between():
    return changed_after_a_call(again=True)


def changed_by_way_of_another():
    table = {"a": 2.0}

    @functools.cache
    def inner(key):
        return table[key]

    @functools.cache
    def outer(key):
        return inner(key) + 1

    def program(x):
        table["a"] = 3.0
        return outer("a") * x

    return program


def with_another_attribute():
    model = Model(3.0)

    def program(x):
        before = model.scaled(1) * x
        model.rate = 5.0
        return before

    return program


def with_another_item():
    model = Model(3.0)

    def program(x):
        before = model.level(1) * x
        model.levels[1] = 5.0
        return before + model.level(1) * x

    return program


@pytest.mark.parametrize(
    "make",
    [
        *(changed_between, changed_after_a_call, changed_by_way_of_another),
        *(with_another_attribute, with_another_item),
    ],
)
def test_what_they_read_must_not_change(make):
    with pytest.raises(gs.errors.UnsupportedError, match="reads what the program changes"):
        gs.grad(make())(2.0)
    program, plain = make(), make()
    assert gs.value_and_grad(program, compile=False)(2.0)[0] == plain(2.0)


@functools.cache
def pair(n):
    return n, n + 1


@pytest.mark.parametrize("compile", ["auto", False])
def test_what_they_return_is_one_object_in_recorded_runs(compile):
    def program(x):
        return x if pair(1) is pair(1) else 3.0 * x

    assert gs.grad(program, compile=compile)(2.0) == 1


class Near:
    def __init__(self, at):
        self.at = at

    def __eq__(self, other):
        return abs(self.at - other.at) < 0.5

    def __hash__(self):
        return 1


@dataclass(frozen=True)
class Key:
    scale: float
    times: int


@dataclass(frozen=True)
class Tagged:
    scale: float
    tag: str = field(compare=False)


class Weights:
    def __init__(self, held):
        self.held = held

    @functools.lru_cache(None)
    def first(self, k):
        return float(self.held[0]) * k


@functools.cache
def sign(v):
    return math.copysign(1.0, v)


@functools.cache
def kind(v, _):
    return 2.0 if type(v) is int else 3.0


@functools.cache
def at(item):
    return item.at


@functools.cache
def scale(key):
    return key.scale


@functools.cache
def length(key):
    return float(len(key.tag))


def signs_of_zeros(x):
    return sign(0.0) * x[0] + sign(-0.0) * x[1]


def kinds_of_ones(x):
    return kind(1, 2) * x[0] + kind(1.0, 2) * x[1]


def near_objects(x):
    return at(Near(1.0)) * x[0] + at(Near(1.2)) * x[1]


def equal_but_for_a_part(x):
    return length(Tagged(1.0, "a")) * x[0] + length(Tagged(1.0, "bc")) * x[1]


def method_of_a_changed_object(x):
    weights = Weights(np.ones(3))
    before = weights.first(2.0)
    weights.held[0] = 9.0
    return before * x[0] + weights.first(2.0) * x[1]


def variable_that_changes(x):
    of_table = functools.lru_cache(None)(lambda k: TABLE[1] * k)
    before = of_table(2.0)
    TABLE[1] = 5.0
    after = of_table(2.0)
    TABLE[1] = 1.0
    return before * x[0] + after * x[1]


CHANGING = [
    *(signs_of_zeros, kinds_of_ones, near_objects, equal_but_for_a_part),
    *(method_of_a_changed_object, variable_that_changes),
]


@pytest.mark.parametrize("program", CHANGING)
def test_what_is_remembered_for_equal_arguments_is_not_computed_anew(program):
    for remembering in (sign, kind, at, length, Weights.first):
        remembering.cache_clear()
    with pytest.raises(gs.errors.UnsupportedError, match="that remembers its results"):
        gs.grad(program)(np.ones(2))
    found = gs.grad(program, compile=False)(np.ones(2))
    assert found.tolist() == [program([1.0, 0.0]), program([0.0, 1.0])]


def objects_as_keys(x):
    return scale(Key(1.0, 2)) * x[0] + scale(Key(2.0, 2)) * x[1]


def methods_of_objects_in_a_loop(x):
    weights, total = Weights(np.ones(3)), 0.0
    for k in range(2):
        total += weights.first(float(k)) * x[k]
    return total


def methods_of_two_objects(x):
    first, second = Weights(np.ones(3)), Weights(np.full(3, 2.0))
    second.name = "second"
    return first.first(1.0) * x[0] + second.first(1.0) * x[1]


@pytest.mark.parametrize(
    "program", [objects_as_keys, methods_of_objects_in_a_loop, methods_of_two_objects]
)
def test_objects_that_do_not_change_may_be_arguments(program):
    found = gs.grad(program)(np.ones(2))
    assert found.tolist() == [program([1.0, 0.0]), program([0.0, 1.0])]


def test_a_view_of_what_is_remembered_is_not_stored_to():
    @functools.lru_cache
    def table(n):
        return np.arange(float(n))

    def stored(x):
        view = np.frombuffer(table(3))
        view[0] = 5.0
        return np.sum(table(3) * x)

    def read(x):
        return np.sum(np.frombuffer(table(3)) * x)

    with pytest.raises(gs.errors.UnsupportedError, match="read-only"):
        gs.grad(stored)(np.ones(3))
    np.testing.assert_array_equal(gs.grad(read)(np.ones(3)), [0.0, 1.0, 2.0])


@pytest.mark.parametrize(
    "store",
    [
        lambda array: array.fill(1.0),
        lambda array: array.sort(),
        lambda array: np.copyto(array, 1.0),
        lambda array: struct.pack_into("d", array, 0, 1.0),
    ],
)
def test_what_shows_bytes_is_not_stored_to(store):
    data = np.arange(3.0).tobytes()

    def program(x):
        array = np.frombuffer(data)
        try:
            store(array)
        except (TypeError, ValueError):
            return np.sum(x)
        return np.sum(array) * np.sum(x)

    with pytest.raises(gs.errors.UnsupportedError, match=r"read-only|others may have"):
        gs.grad(program)(np.ones(3))
