"""Objects that code in C has kept may hold what is differentiated after a later call of it."""

from __future__ import annotations

import ctypes
import struct
from contextvars import ContextVar
from typing import Any

import numpy as np
import pytest

from gradscribe.errors import GradscribeError, NoDerivativeError
from tests.every_mode import BY, MODES, check_mode, differences

plain = pytest.importorskip("tests.border.compiled_code").plain
remember = ctypes.CDLL(plain._name).remember
remember.argtypes = [ctypes.c_void_p, ctypes.c_long]
scale_remembered = plain.scale_remembered
BUFFER = bytearray(16)
IN_C = (ctypes.c_double * 2).from_buffer(BUFFER)
KEPT: ContextVar[Any] = ContextVar("kept")
X = np.array([3.0, 4.0])


class Pair(ctypes.Structure):
    _fields_ = (("a", ctypes.c_double), ("b", ctypes.c_double))


def structure(x):
    pair = Pair(1.0, 2.0)
    remember(ctypes.byref(pair), 2)
    scale_remembered(float(x[0]))
    return x[1] * float(pair.b)


def number(x):
    one = ctypes.c_double(1.5)
    remember(ctypes.addressof(one), 1)
    scale_remembered(float(x[0]))
    return x[1] * float(one.value)


def buffer(x):
    held = bytearray(struct.pack("dd", 1.0, 2.0))
    view = (ctypes.c_double * 2).from_buffer(held)
    remember(view, 2)
    scale_remembered(float(x[0]))
    return x[1] * float(struct.unpack_from("d", held, 8)[0])


def from_outside(x):
    struct.pack_into("dd", BUFFER, 0, 1.0, 2.0)
    remember(IN_C, 2)
    scale_remembered(float(x[0]))
    return x[1] * float(struct.unpack_from("d", BUFFER)[0])


def kept_before(x):
    scale_remembered(float(x[0]))
    return x[1] * float(struct.unpack_from("d", BUFFER)[0])


def in_a_loop(x):
    total = 0.0
    pair = Pair(1.0, 2.0)
    for _ in range(2):
        total = total + x[1] * float(pair.b)
        scale_remembered(float(x[0]))
        remember(ctypes.byref(pair), 2)
    return total


def of_a_list(x):
    numbers = [1.0, 2.0]
    KEPT.set(numbers)
    KEPT.get().append(float(x[0]))
    return x[1] * numbers[-1]


def by_its_method(x):
    numbers = [1.0, 2.0]
    KEPT.set(numbers)
    list.append(KEPT.get(), float(x[0]))
    return x[1] * numbers[2]


def of_a_dict(x):
    numbers = {"a": 1.0}
    KEPT.set(numbers)
    KEPT.get().update({"a": float(x[0])})
    return x[1] * numbers["a"]


def in_an_attribute(x):
    pair = Pair(1.0, 2.0)
    holder = {"pair": pair}
    KEPT.set(holder)
    KEPT.get()["pair"].a = float(x[0])
    return x[1] * float(pair.a)


_KEPT = [
    *(structure, number, buffer, from_outside, kept_before, in_a_loop),
    *(of_a_list, by_its_method, of_a_dict, in_an_attribute),
]


@pytest.fixture(autouse=True)
def _registered():
    remember(IN_C, 2)
    BUFFER[:] = struct.pack("dd", 1.0, 2.0)


def _reset(function: Any) -> Any:
    """The function, called each time on what there was at first."""

    def call(x: Any) -> Any:
        remember(IN_C, 2)
        BUFFER[:] = struct.pack("dd", 1.0, 2.0)
        return function(x)

    return call


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("function", _KEPT)
def test_what_was_kept_has_no_known_derivative_after_a_call(mode: str, function: Any) -> None:
    if mode in ("gradient", "tangent", "cotangent", "tensor"):
        with pytest.raises(GradscribeError) as error:
            BY[mode](function, X)
        if function is not in_an_attribute:
            assert isinstance(error.value, NoDerivativeError)
            assert error.value.what.startswith("no derivative is known of")
        return
    try:
        _, gradient = BY[mode](function, X)
    except GradscribeError:
        return
    np.testing.assert_allclose(gradient, differences(_reset(function), X), rtol=1e-6)


def nothing_enters(x):
    pair = Pair(1.0, 2.0)
    remember(ctypes.byref(pair), 2)
    scale_remembered(3.0)
    return np.sum(x) * float(pair.b) * float(pair.a)


def read_before(x):
    pair = Pair(1.0, 2.0)
    remember(ctypes.byref(pair), 2)
    y = x[1] * float(pair.b)
    remember(IN_C, 2)
    scale_remembered(1.0)
    return y * x[0]


def printed(x):
    pair = Pair(1.0, 2.0)
    remember(ctypes.byref(pair), 2)
    print("at", float(x[0]))
    return np.sum(x) * float(pair.b)


def of_its_own(x):
    pair, own = Pair(1.0, 2.0), Pair(3.0, 4.0)
    remember(ctypes.byref(pair), 2)
    scale_remembered(float(x[0]))
    return np.sum(x) * float(own.b)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("function", [nothing_enters, read_before, printed, of_its_own])
def test_what_nothing_differentiated_has_reached_is_a_constant(mode: str, function: Any) -> None:
    if mode in ("auto", "recorded") and function is of_its_own:
        return  # where it runs as it is, what is given to C is refused
    check_mode(mode, function, X)
