"""Memory of arrays from outside that other objects from outside show, too.

A function stores to an array that it finds outside, and gives an object from outside to code that
cannot be read: a bound method of that array, a pointer to it, a table that was made of it. What it
stores is written to the array at the end; that code would read what was there before. So this is
refused. Comes in: the objects that such code is given. What they lead to is known as far as
Python's garbage collector can see; what points to memory of which nothing is known (`void *`, an
object of a class in C) may point to any.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import types
import weakref
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from gradscribe.frontend import outside
from gradscribe.frontend.dependencies import is_library
from gradscribe.frontend.lowering import Lowering
from gradscribe.ir.probing import probe

_MOST = 5_000
"""So many objects are followed; what leads to more may lead to any."""

_PLAIN = (
    *(str, bytes, int, float, complex, type(None), type(Ellipsis), range, np.generic, np.dtype),
    *(type, types.ModuleType, types.CodeType, types.FrameType),
)


def refuse_stores(lowering: Lowering) -> None:
    """Refuse stores to arrays from outside whose memory an object shows that unread code is given,
    too."""
    stored = [
        memory
        for storage, memory in lowering.outside.memory.items()
        if storage in lowering.changes.stored
    ]
    if not stored:
        return
    for target, name in lowering.outside.shown.values():
        if may_show(target, stored):
            outside.refuse_changed(lowering, name)


def may_show(target: Any, stored: Iterable[Any]) -> bool:
    """Whether an object may lead to the memory of one of these owners."""
    wanted = {id(owner) for owner in stored}
    pending, seen = [target], set[int]()
    while pending:
        item = pending.pop()
        if isinstance(item, _PLAIN) or id(item) in seen:
            continue
        seen.add(id(item))
        if len(seen) > _MOST or not wanted.isdisjoint(map(id, _owners(item))):
            return True
        if _points_anywhere(item):
            return True
        pending += _led_to(item)
    return False


def _owners(item: Any) -> Iterator[Any]:
    """An object, and those whose memory it shows."""
    yield item
    base = outside.memory_of(item)
    yield base
    if not isinstance(item, (np.ndarray, memoryview)):
        with suppress(TypeError, ValueError, BufferError):
            yield outside.memory_of(memoryview(item))


def _led_to(item: Any) -> Iterable[Any]:
    """What an object holds or is bound to; of a function, what it may read by name."""
    if isinstance(item, types.FunctionType):
        if is_library(item):
            return ()
        names = item.__code__.co_names
        held = [item.__globals__[name] for name in names if name in item.__globals__]
        cells = [cell for cell in item.__closure__ or () if _is_filled(cell)]
        return [*held, *(cell.cell_contents for cell in cells), item.__defaults__, item.__dict__]
    if isinstance(item, np.ndarray):
        return item.ravel().tolist() if item.dtype.hasobject else ()
    if isinstance(item, weakref.ReferenceType):
        return [item()]
    if type(item).__qualname__ == "CPUDispatcher":  # of Numba
        return [item.py_func]
    return [*gc.get_referents(item), probe(item, "base"), probe(item, "obj")]


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


_KNOWN = frozenset({"numpy", "scipy", "pandas"} | sys.stdlib_module_names)
"""Packages of whose objects the garbage collector sees what they hold."""

_POINTERS = frozenset("PzZO")


def _points_anywhere(item: Any) -> bool:
    """Whether an object may point to memory of which nothing is known."""
    cls = type(item)
    if cls.__module__ == "_cffi_backend" or isinstance(item, ctypes._Pointer):
        return not _is_function_of_cffi(item)
    if isinstance(item, ctypes._SimpleCData) and cls._type_ in _POINTERS:
        return True
    if isinstance(item, (ctypes._SimpleCData, ctypes.Array, ctypes.Structure, ctypes.Union)):
        return item._b_base_ is None and not item._b_needsfree_ and not item._objects
    if cls.__module__.partition(".")[0] in _KNOWN or _is_of_python(cls):
        return False
    return not callable(item)


def _is_function_of_cffi(item: Any) -> bool:
    backend = sys.modules.get("_cffi_backend")
    try:
        return backend is not None and backend.typeof(item).kind == "function"
    except (TypeError, AttributeError):
        return not isinstance(item, getattr(backend, "_CDataBase", ()))


def _is_of_python(cls: type) -> bool:
    """Whether a class is written in Python."""
    return "__dict__" in vars(cls) or any(
        isinstance(member, types.FunctionType) for member in vars(cls).values()
    )
