"""Two mappings of one file are one memory at two addresses: a store to one is one to the other."""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import tempfile
from collections.abc import Callable
from multiprocessing import shared_memory
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import AliasingError, GradscribeError
from gradscribe.ir import mapped_memory
from tests.every_mode import BY, MODES, check_mode

X = np.array([1.0, 2.0, 0.5, -1.0])


def shared() -> list[Any]:
    one = shared_memory.SharedMemory(create=True, size=32)
    other = shared_memory.SharedMemory(name=one.name)
    one.unlink()
    KEPT.extend((one, other))
    return [np.ndarray(4, buffer=each.buf) for each in (one, other)]


KEPT: list[Any] = []
"""What must not end before the arrays in it do."""


def _mapped(number: int) -> list[Any]:
    os.ftruncate(number, 4096)
    return [np.frombuffer(mmap.mmap(number, 4096), count=4) for _ in range(2)]


def without_a_name() -> list[Any]:
    with tempfile.TemporaryFile() as file:
        return _mapped(file.fileno())


def in_memory() -> list[Any]:
    number = os.memfd_create("numbers")
    try:
        return _mapped(number)
    finally:
        os.close(number)


def by_ctypes() -> list[Any]:
    one, other = without_a_name()
    KEPT.append((ctypes.c_double * 4).from_buffer(other))
    return [one, np.ctypeslib.as_array(KEPT[-1])]


def _memmaps(change: Callable[[str], str]) -> list[Any]:
    path = tempfile.mktemp()
    np.zeros(4).tofile(path)
    one = np.memmap(path, dtype=float, mode="r+")
    if (after := change(path)) == path:
        other = np.memmap(path, dtype=float, mode="r+")
        os.unlink(path)
        return [one, other]
    return [one, np.memmap(after, dtype=float, mode="r+")]


def unlinked() -> list[Any]:
    return _memmaps(lambda path: path)


def renamed() -> list[Any]:
    return _memmaps(lambda path: (os.rename(path, path + "_2"), path + "_2")[1])


_TWICE = [shared, without_a_name, in_memory, by_ctypes, unlinked, renamed]


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="is told on Linux alone")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("made", _TWICE)
def test_a_store_to_one_is_not_missed_in_the_other(made: Any, mode: str) -> None:
    one, other = made()

    def captured(x):
        other[1] = 9.0
        return np.sum(one * x)

    one[:] = 1.0
    try:
        _, gradient = BY[mode](captured, X)
    except GradscribeError:
        assert mode != "recorded"
    else:
        np.testing.assert_allclose(gradient, [1.0, 9.0, 1.0, 1.0])


@pytest.mark.parametrize("made", _TWICE)
def test_arguments_of_one_file_are_refused(made: Any) -> None:
    one, other = made()

    def given(x, a, b):
        a[1] = 9.0
        return np.sum(b * x)

    with pytest.raises(AliasingError, match="`a` is stored to, and shares memory with `b`"):
        gs.grad(given)(X, other, one)
    with pytest.raises(AliasingError, match="shares memory with another"):
        gs.grad(given, compile=False)(X, other, one)
    found = gs.grad(given)(X[:2], other[:2], one[2:])
    np.testing.assert_array_equal(found, np.array(one[2:]))


def test_what_shows_the_other_mapping_is_not_read_after_a_store() -> None:
    with tempfile.TemporaryFile() as file:
        file.truncate(4096)
        maps = [mmap.mmap(file.fileno(), 4096) for _ in range(2)]
    one = np.frombuffer(maps[0], count=4)

    def stored(x):
        one[1] = 9.0
        return np.sum(x) * struct.unpack_from("d", maps[1], 8)[0]

    def packed(x):
        struct.pack_into("d", maps[1], 8, 9.0)
        return np.sum(x) * one[1]

    for function in (stored, packed):
        with pytest.raises(GradscribeError):
            gs.grad(function)(X)


def _private() -> list[Any]:
    return [np.frombuffer(mmap.mmap(-1, 4096), count=4) for _ in range(2)]


def _apart() -> list[Any]:
    with tempfile.TemporaryFile() as file:
        file.truncate(8192)
        maps = [mmap.mmap(file.fileno(), 8192) for _ in range(2)]
    return [np.frombuffer(maps[0], count=4), np.frombuffer(maps[1], count=4, offset=4096)]


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="is told on Linux alone")
@pytest.mark.parametrize("mode", ["gradient", "tangent", "cotangent", "tensor", "auto"])
@pytest.mark.parametrize("made", [_private, _apart])
def test_other_memory_is_no_other_name_of_it(made: Any, mode: str) -> None:
    one, other = made()
    one[:] = 1.0

    def captured(x):
        other[1] = 9.0
        return np.sum(one * x**2)

    check_mode(mode, captured, X)


def test_where_the_system_does_not_tell_any_two_may_be_one(monkeypatch: Any) -> None:
    monkeypatch.setattr(mapped_memory, "_MAPPINGS", "/nothing/there")
    one, other = _private()

    def given(x, a, b):
        a[1] = 9.0
        return np.sum(b * x)

    with pytest.raises(AliasingError, match="shares memory with `b`"):
        gs.grad(given)(X, other, one)
