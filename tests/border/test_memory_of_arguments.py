"""Arguments in memory that other objects show: a call that would see what is there is refused."""

from __future__ import annotations

import array
import ctypes
import mmap
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs


class Point(ctypes.Structure):
    _fields_ = [("a", ctypes.c_double), ("b", ctypes.c_double)]


PACKED = array.array("d", [1.0, 2.0])
BYTES = bytearray(16)
MAPPED = mmap.mmap(-1, 16)
VIEW = memoryview(BYTES).cast("d")
NUMBERS = (ctypes.c_double * 2)(1.0, 2.0)
NUMBER = ctypes.c_double(1.0)
POINTER = ctypes.cast(NUMBERS, ctypes.POINTER(ctypes.c_double))
POINT = Point(1.0, 2.0)
OWN = np.array([1.0, 2.0])
OWN_POINTER = OWN.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def item_of_an_array(x, y):
    x[0] = 3.0
    return np.sum(y) * PACKED[0]


def sum_of_an_array(x, y):
    x[0] = 3.0
    return np.sum(y) * sum(PACKED)


def unpacked(x, y):
    x[0] = 3.0
    return np.sum(y) * struct.unpack_from("d", BYTES, 0)[0]


def unpacked_of_a_map(x, y):
    x[0] = 3.0
    return np.sum(y) * struct.unpack_from("d", MAPPED, 0)[0]


def item_of_a_view(x, y):
    x[0] = 3.0
    return np.sum(y) * VIEW[0]


def item_in_ctypes(x, y):
    x[0] = 3.0
    return np.sum(y) * NUMBERS[0]


def value_in_ctypes(x, y):
    x[0] = 3.0
    return np.sum(y) * NUMBER.value


def pointed_to(x, y):
    x[0] = 3.0
    return np.sum(y) * POINTER.contents.value


def field(x, y):
    x[0] = 3.0
    return np.sum(y) * POINT.a


def item_stored(x, y):
    PACKED[0] = 3.0
    return np.sum(y) * x[0]


def value_stored(x, y):
    NUMBER.value = 3.0
    return np.sum(y) * x[0]


def field_stored(x, y):
    POINT.a = 3.0
    return np.sum(y) * x[0]


def packed_into(x, y):
    before = y * x[0]
    struct.pack_into("d", BYTES, 0, 3.0)
    return np.sum(before) * x[0]


_SHOWN: dict[Callable[..., Any], Any] = {
    **{item_of_an_array: PACKED, sum_of_an_array: PACKED, unpacked: BYTES},
    **{unpacked_of_a_map: MAPPED, item_of_a_view: BYTES, item_in_ctypes: NUMBERS},
    **{value_in_ctypes: NUMBER, pointed_to: NUMBERS, field: POINT, item_stored: PACKED},
    **{value_stored: NUMBER, field_stored: POINT, packed_into: BYTES},
}
Y = np.array([2.0, 3.0])


def shown_by(function: Callable[..., Any]) -> Any:
    x = np.frombuffer(_SHOWN[function], dtype=float)
    x[:] = np.arange(1.0, len(x) + 1)
    return x


def by_gradient(function: Callable[..., Any], x: Any, **options: Any) -> Any:
    return gs.value_and_grad(function, 1, **options)(x, Y.copy())


def by_tensors(function: Callable[..., Any], x: Any) -> Any:
    y = gs.tensor(Y, requires_grad=True)
    out = gs.differentiable(function)(x, y)
    out.backward()
    return out.item(), y.grad.numpy()


def forward(function: Callable[..., Any], x: Any) -> Any:
    return gs.jvp(lambda y: function(x, y), (Y.copy(),), (np.array([1.0, 0.0]),))


@pytest.mark.parametrize("function", _SHOWN, ids=lambda function: function.__name__)
@pytest.mark.parametrize("options", [{}, {"compile": "auto"}, {"compile": False}], ids=str)
def test_memory_that_is_shown_is_refused(function: Callable[..., Any], options: Any) -> None:
    x = shown_by(function)
    with pytest.raises(gs.errors.UnsupportedError):
        by_gradient(function, x, **options)


@pytest.mark.parametrize("function", _SHOWN, ids=lambda function: function.__name__)
@pytest.mark.parametrize("mode", [by_tensors, forward])
def test_it_is_refused_in_each_mode(function: Callable[..., Any], mode: Callable[..., Any]) -> None:
    x = shown_by(function)
    with pytest.raises(gs.errors.UnsupportedError):
        mode(function, x)


@pytest.mark.parametrize("function", [field, value_in_ctypes, pointed_to, item_of_an_array])
@pytest.mark.parametrize("options", [{}, {"compile": False}], ids=str)
def test_other_memory_is_not(function: Callable[..., Any], options: Any) -> None:
    for x in (np.ones(2), np.frombuffer(bytearray(np.ones(2).tobytes()), dtype=float)):
        value, gradient = by_gradient(function, x, **options)
        expected = function(np.ones(2), Y)
        assert value == expected
        np.testing.assert_allclose(gradient, expected / np.sum(Y))


def test_it_is_asked_at_each_call() -> None:
    gradient = gs.value_and_grad(field, 1)
    assert gradient(np.ones(2), Y)[0] == field(np.ones(2), Y)
    with pytest.raises(gs.errors.AliasingError):
        gradient(np.frombuffer(POINT, dtype=float), Y)


def through_a_pointer(x, y):
    x[0] = 3.0
    return np.sum(y) * OWN_POINTER[0]


def test_a_pointer_into_an_array_is_known() -> None:
    with pytest.raises(gs.errors.AliasingError, match="OWN_POINTER"):
        by_gradient(through_a_pointer, OWN)
    with pytest.raises(gs.errors.AliasingError, match="OWN_POINTER"):
        by_gradient(through_a_pointer, OWN[:1])
    assert by_gradient(through_a_pointer, np.ones(2))[0] == np.sum(Y)


def of_a_point(point, x, y):
    x[0] = 3.0
    return np.sum(y) * point.a


def test_an_object_among_the_arguments_is_that_of_the_call() -> None:
    gradient = gs.value_and_grad(of_a_point, 2)
    first, second = Point(1.0, 2.0), Point(4.0, 2.0)
    memory = np.frombuffer(first, dtype=float)
    assert gradient(second, memory.copy(), Y)[0] == 4.0 * np.sum(Y)
    with pytest.raises(gs.errors.AliasingError, match="point"):
        gradient(first, memory, Y)
    assert gradient(second, memory, Y)[0] == 4.0 * np.sum(Y)


TABLE = {number: [number] for number in range(20_000)}


def looked_up(x, y):
    x[0] = 3.0
    return np.sum(y) * len(TABLE[3]) * x[0]


@pytest.mark.parametrize("options", [{}, {"compile": False}], ids=str)
def test_large_tables_are_not_taken_to_show_an_argument(options: Any) -> None:
    assert by_gradient(looked_up, np.ones(2), **options)[0] == 3.0 * np.sum(Y)
