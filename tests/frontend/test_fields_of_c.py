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
    CONFIG.linear = CONFIG.linear + 2
    return np.sum(x) * CONFIG.linear


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
