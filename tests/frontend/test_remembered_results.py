"""Functions from outside that remember their results are computed anew: that is refused where they
read what the program changes, and the same elsewhere."""

from __future__ import annotations

import functools

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
