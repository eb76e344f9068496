"""What an object holds in a way of C's, which its class describes, is read of the object."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import gradscribe as gs


class Inner(ctypes.Structure):
    _fields_ = [("values", ctypes.c_double * 2), ("count", ctypes.c_int)]


class Config(ctypes.Structure):
    _fields_ = [
        *(("linear", ctypes.c_int), ("scale", ctypes.c_double), ("bits", ctypes.c_uint, 3)),
        *(("inner", Inner), ("text", ctypes.c_char_p), ("nothing", ctypes.c_void_p)),
    ]

    @property
    def twice(self):
        return self.scale * 2.0


CONFIG = Config(0, 1.5, 5, Inner((1.0, 2.0), 7), b"abc", None)
X = np.array([1.1, 0.7, 1.9])


def by_truth(x):
    return np.sum(x) if CONFIG.linear else np.sum(x**2)


def by_value(x):
    return np.sum(x) * CONFIG.scale + CONFIG.bits


def by_comparison(x):
    return np.sum(x) * (CONFIG.bits == 5) + (CONFIG.nothing is None) * x[0]


def by_class(x):
    return np.sum(x**2) if isinstance(CONFIG.linear, int) else np.sum(x)


def by_property(x):
    return np.sum(x) * CONFIG.twice


def of_what_is_in_it(x):
    return np.sum(x) * CONFIG.inner.values[1] + CONFIG.inner.count * x[0]


def of_its_text(x):
    return np.sum(x) * len(CONFIG.text)


def stored(x):
    count = CONFIG.linear + 2
    CONFIG.linear = count
    return np.sum(x) * count + CONFIG.scale


PROGRAMS = [
    *(by_truth, by_value, by_comparison, by_class, by_property, of_what_is_in_it, of_its_text),
    stored,
]


def prepare(number: int) -> None:
    CONFIG.linear, CONFIG.scale, CONFIG.bits = number, 1.5 + number, 5 - number
    CONFIG.inner.count, CONFIG.text = 7 + number, b"abc" + b"d" * number
    CONFIG.inner.values[1] = 2.0 + number


@pytest.mark.parametrize("program", PROGRAMS)
def test_fields_are_those_of_the_object_at_each_call(program: Any) -> None:
    compiled = gs.value_and_grad(program)
    for number in (0, 1, 0):
        prepare(number)
        expected, left = program(X), CONFIG.linear
        prepare(number)
        value, gradient = compiled(X)
        assert value == expected
        assert CONFIG.linear == left
        prepare(number)
        recorded = gs.grad(program, compile=False)(X)
        np.testing.assert_allclose(gradient, recorded)


class Small(ctypes.Structure):
    _fields_ = [("count", ctypes.c_uint8), ("scale", ctypes.c_double)]


class Either(ctypes.Union):
    _fields_ = [("number", ctypes.c_double), ("bits", ctypes.c_int64)]


SMALL, EITHER, ERROR = Small(0, 1.5), Either(1.0), ValueError(1)
POINTER, SAME, BYTES = ctypes.pointer(SMALL), Small.from_buffer(SMALL), np.frombuffer(SMALL, "u1")
LOG = np.zeros(3)


def converted(x):
    SMALL.count = 300
    return np.sum(x) * SMALL.count


def by_a_pointer(x):
    POINTER.contents.scale = 4.0
    return np.sum(x) * SMALL.scale


def by_another_object(x):
    before = SMALL.scale
    SAME.scale = 5.0
    return np.sum(x) * (SMALL.scale + before)


def by_an_array(x):
    before = SMALL.scale
    BYTES[8:] = 0
    return np.sum(x) * (SMALL.scale + before)


def by_another_member(x):
    before = EITHER.bits
    EITHER.number = 3.0
    return np.sum(x) * (EITHER.bits != before)


def made_a_tuple(x):
    ERROR.args = [1, 2]
    return np.sum(x) * (3 if isinstance(ERROR.args, tuple) else 1)


@pytest.mark.parametrize(
    "program",
    [converted, by_a_pointer, by_another_object, by_an_array, by_another_member, made_a_tuple],
)
def test_what_c_may_change_is_not_read_after_a_store(program: Any) -> None:
    with pytest.raises(
        gs.errors.UnsupportedError, match=r"kept in C|another name|read and changed"
    ):
        gs.grad(program)(X)
    for compile in (False, "auto"):
        SMALL.scale, EITHER.number, ERROR.args = 1.5, 1.0, (1,)
        expected = program(X)
        SMALL.scale, EITHER.number, ERROR.args = 1.5, 1.0, (1,)
        assert gs.value_and_grad(program, compile=compile)(X)[0] == expected


def test_an_array_of_other_memory_may_be_stored_to() -> None:
    def program(x):
        LOG[0] = SMALL.scale
        return np.sum(x) * SMALL.scale

    SMALL.scale = 1.5
    np.testing.assert_array_equal(gs.grad(program)(X), np.full(3, 1.5))
    assert LOG[0] == 1.5


class Failing:
    pass


Failing.__get__ = staticmethod(lambda owner, cls=None: 5.0)  # type: ignore[attr-defined]


class Holder:
    value = Failing()


HOLDER = Holder()


def test_what_such_a_class_raises_is_raised() -> None:
    def program(x):
        return np.sum(x) * HOLDER.value

    with pytest.raises(TypeError, match="positional arguments"):
        gs.grad(program)(X)
