"""Properties whose getter and setter are compiled code, as those of objects of Numba's."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs

X = np.array([1.0, 2.0])


class Definition(ctypes.Structure):
    """CPython's `PyMethodDef`."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("code", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    )


KEPT: list[Any] = []


def built_in(function: Callable[[Any, Any], Any]) -> Any:
    """A built-in function of one argument, a method of what has no such attribute."""
    code = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object)(function)
    definition = Definition(b"accessor", ctypes.cast(code, ctypes.c_void_p), 8, None)
    KEPT.extend((code, definition))
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return make(ctypes.addressof(definition), object(), None)


class Box:
    def __init__(self) -> None:
        self.held = 2.0
        self.reads = 0

    def counted(self) -> float:
        self.reads += 1
        return self.held

    value = property(built_in(lambda _, box: box.counted()))


BOX = Box()


def value(x):
    return float(BOX.value) * np.sum(x)


def value_twice(x):
    return (float(BOX.value) + float(BOX.value)) * np.sum(x)


def value_if_there(x):
    return float(getattr(BOX, "value", 1.0)) * np.sum(x)


@pytest.mark.parametrize("function", [value, value_twice, value_if_there])
def test_it_is_read_where_the_program_reads_it(function) -> None:
    gradient = gs.value_and_grad(function, compile=True)
    for held in 2.0, 3.0:
        BOX.held, BOX.reads = held, 0
        expected, reads = function(X), BOX.reads
        BOX.reads = 0
        found, slope = gradient(X)
        assert (found, BOX.reads) == (expected, reads)
        assert slope.tolist() == [expected / 3.0] * 2


GETTER = vars(Box)["value"].fget


def called(x):
    GETTER(BOX)
    return float(GETTER(BOX)) * np.sum(x)


def test_a_method_of_what_has_no_such_attribute_is_called_by_itself() -> None:
    BOX.held, BOX.reads = 2.0, 0
    assert gs.grad(called, compile=True)(X).tolist() == [2.0, 2.0]
    assert BOX.reads == 2
