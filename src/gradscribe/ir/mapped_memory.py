"""Memory that is mapped from files: two mappings of one file are the same memory at two addresses.

Comes in: an array, or another object that shows memory. Goes out: the file, as the system knows it
(also one that has no name any more, and that of `multiprocessing.shared_memory`), which is looked
up once for each mapping. Memory that a process has for itself alone (`mmap(-1, …)`) is of none.
"""

from __future__ import annotations

import ctypes
import mmap
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from gradscribe.ir.probing import is_a, probe


class File(NamedTuple):
    """device, number: which file it is. start: the place in it where the mapping begins. name: by
    which it was opened."""

    device: int
    number: int
    start: int
    name: str


ANYWHERE = File(-1, -1, 0, "")
"""Some file, where the system does not tell which."""

_found: WeakKeyDictionary[mmap.mmap, File | None] = WeakKeyDictionary()


def exporter_of(shown: Any) -> Any:
    """The object that an array has its memory from: itself, if that is its own."""
    while (below := _below(shown)) is not None:
        shown = below
    return shown


def _below(shown: Any) -> Any:
    if is_a(shown, memoryview):
        return shown.obj
    if is_a(shown, OF_CTYPES):
        held = shown._objects  # what it was made in (`from_buffer`)
        views = held.values() if isinstance(held, dict) else ()
        return shown._b_base_ or next((view for view in views if is_a(view, memoryview)), None)
    return probe(shown, "base") if is_a(shown, np.ndarray) else None


OF_CTYPES = (ctypes._SimpleCData, ctypes.Array, ctypes.Structure, ctypes.Union)


def file_of(shown: Any) -> File | None:
    """The file that its memory is mapped from, if it is."""
    mapping = exporter_of(shown)
    if not isinstance(mapping, mmap.mmap):
        return None
    if mapping not in _found:
        _found[mapping] = _look_up(_address(mapping))
    return _found[mapping]


def place_in_file(shown: Any, address: int) -> int:
    """The place, in the file that its memory is mapped from, of the byte at an address."""
    file, mapping = file_of(shown), exporter_of(shown)
    assert file is not None
    return file.start + address - _address(mapping)


def _address(mapping: mmap.mmap) -> int:
    address: int = np.frombuffer(mapping, np.uint8).__array_interface__["data"][0]
    return address


def _look_up(address: int) -> File | None:
    try:
        with open(_MAPPINGS, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                start, _, end = line.partition(" ")[0].partition("-")
                if int(start, 16) <= address < int(end, 16):
                    return _file(line, address - int(start, 16))
    except OSError:  # another system
        pass
    return ANYWHERE


_MAPPINGS = "/proc/self/maps"


def _file(line: str, ahead: int) -> File | None:
    """What a line tells of a file: "start-end rwxp offset device number name"."""
    _, _, offset, device, number, *name = line.rstrip("\n").split(maxsplit=5)
    major, _, minor = device.partition(":")
    if number == "0":
        return None
    place = (int(major, 16) << 32) + int(minor, 16)
    return File(place, int(number), int(offset, 16) + ahead, "".join(name))
