"""Whether an object may lead to the memory of arrays and containers: by addresses (and places in
files that are mapped), and as far as Python's garbage collector can see. What points to memory of
which nothing is known may point to any.
"""

from __future__ import annotations

import collections
import ctypes
import dis
import functools
import gc
import sys
import types
import weakref
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from gradscribe.ir.mapped_memory import OF_CTYPES
from gradscribe.ir.overlaps import Position, positions
from gradscribe.ir.probing import is_a, is_library_module, module_of_class, probe

_PLAIN = (
    *(str, bytes, int, float, complex, type(None), type(Ellipsis), range, np.generic, np.dtype),
    *(type, types.ModuleType, types.CodeType, types.FrameType),
)


class Memory:
    """The memory of some arrays and containers. most: so many objects are followed. in_doubt: what
    leads to more, or to memory of which nothing is known, is taken to lead to any, else to none."""

    def __init__(self, owners: Iterable[Any], *, most: int = 5_000, in_doubt: bool = True) -> None:
        self._most, self._in_doubt = most, in_doubt
        found = list(owners)
        self._objects = {id(below): below for owner in found for below in _memories(owner)}
        self._ranges = [bounds for owner in found for bounds in _extents(owner)]

    def is_shown_by(self, target: Any) -> bool:
        """Whether an object may lead to it."""
        pending, seen = [target] if self._objects else [], set[int]()
        while pending:
            item = pending.pop()
            if is_a(item, _PLAIN) or id(item) in seen:
                continue
            seen.add(id(item))
            if len(seen) > self._most:
                return self._in_doubt
            if self._is_of(item) or (self._in_doubt and _points_anywhere(item)):
                return True
            pending += _led_to(item)
        return False

    def _is_of(self, item: Any) -> bool:
        if any(id(base) in self._objects for base in _bases(item)):
            return True
        ranges = _extents(item)
        return any(
            low < end and start < high for low, high in ranges for start, end in self._ranges
        )


def _memories(owner: Any) -> Iterator[Any]:
    """An array or container, and whose memory it shows: the buffer of an object may lead to it."""
    bases = list(_bases(owner))
    yield from bases
    if not is_a(bases[-1], (np.ndarray, *_CONTAINERS)):
        yield from (held for held in gc.get_referents(bases[-1]) if not is_a(held, _PLAIN))


_CONTAINERS = (list, dict, set, collections.deque)


def _bases(item: Any) -> Iterator[Any]:
    """An object, and those whose memory it shows; neither plain values nor what all lead to."""
    while item is not None and not is_a(item, _PLAIN):
        yield item
        item = item.obj if is_a(item, memoryview) else probe(item, "base")


def _extents(item: Any) -> Iterable[tuple[Position, Position]]:
    """Where the memory of an object begins and ends, where it is known."""
    bounds = _bounds(item)
    return () if bounds is None else positions(item, *bounds)


def _bounds(item: Any) -> tuple[int, int] | None:
    """The addresses where the memory of an object begins and ends, where it is known."""
    if is_a(item, OF_CTYPES):
        start = ctypes.addressof(item)
        return start, start + ctypes.sizeof(item)
    if module_of_class(type(item)) == "_cffi_backend":
        return _bounds_of_cffi(item)
    with suppress(TypeError, ValueError, BufferError):
        array = item if is_a(item, np.ndarray) else np.asarray(memoryview(item))
        return np.lib.array_utils.byte_bounds(array)
    return None


def _bounds_of_cffi(item: Any) -> tuple[int, int] | None:
    backend = sys.modules["_cffi_backend"]
    if not _owns_memory_of_cffi(item):
        return None
    kind = backend.typeof(item)
    try:
        size = backend.sizeof(kind.item) if kind.kind == "pointer" else backend.sizeof(item)
    except ValueError:  # a handle of an object of Python's
        return None
    start = int(backend.cast(backend.new_primitive_type("uintptr_t"), item))
    return start, start + size


def _owns_memory_of_cffi(item: Any) -> bool:
    return type(item).__name__ in ("__CDataOwn", "__CDataOwnGC", "__CDataFromBuf")


def _led_to(item: Any) -> Iterable[Any]:
    """What an object holds or is bound to; of a function, what it may read by name."""
    if is_a(item, types.FunctionType):
        if is_library_module(probe(item, "__module__")):
            return ()
        return [*_named(item), *_cells(item), item.__defaults__, item.__kwdefaults__, item.__dict__]
    if is_a(item, np.ndarray):
        return item.ravel().tolist() if item.dtype.hasobject else ()
    if is_a(item, weakref.ReferenceType):
        return [item()]
    if is_a(item, ctypes.py_object):
        return [item.value]
    if type(item).__qualname__ == "CPUDispatcher":  # of Numba
        return [item.py_func]
    return [*gc.get_referents(item), *_bases(item)]


def asks_which(function: Any) -> bool:
    """Whether a function, or one of the user's that it finds by name, asks by `is` or `id` which
    object something is, other than None."""
    if not is_a(function, types.FunctionType):
        return False
    named = (item for item in _named(function) if is_a(item, types.FunctionType))
    own = (item for item in named if not is_library_module(item.__module__))
    return any(_asks_which(item.__code__) for item in (function, *own))


@functools.lru_cache(maxsize=512)
def _asks_which(code: types.CodeType) -> bool:
    before = None
    if any("id" in each.co_names for each in _codes(code)):
        return True
    for instruction in (i for each in _codes(code) for i in dis.get_instructions(each)):
        if instruction.opname == "IS_OP" and not (
            before is not None and before.opname == "LOAD_CONST" and before.argval is None
        ):
            return True
        before = instruction
    return False


def _named(function: types.FunctionType) -> Iterator[Any]:
    """What a function may read by name: of the namespace around it, and of modules of the user's
    that stand there."""
    names = {name for code in _codes(function.__code__) for name in code.co_names}
    spaces = [function.__globals__]
    for space in spaces:
        for name in names & space.keys():
            yield space[name]
            if isinstance(space[name], types.ModuleType):
                inner = vars(space[name])
                if not is_library_module(inner.get("__name__")) and all(
                    inner is not space for space in spaces
                ):
                    spaces.append(inner)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code of a function, and of those that are defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _cells(function: types.FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # it is empty yet
            yield cell.cell_contents


_KNOWN = frozenset({"numpy", "scipy", "pandas"} | sys.stdlib_module_names)
"""Packages of whose objects the garbage collector sees what they hold."""

_POINTERS = frozenset("PzZ")


def _points_anywhere(item: Any) -> bool:
    """Whether an object may point to memory of which nothing is known."""
    cls = type(item)
    if module_of_class(cls) == "_cffi_backend":
        return _is_pointer_of_cffi(item)
    is_pointer = is_a(item, ctypes._Pointer) or (
        is_a(item, ctypes._SimpleCData) and cls._type_ in _POINTERS and item.value is not None
    )
    if is_pointer:
        return not item._objects and not probe(item, "__dict__")
    if is_a(item, OF_CTYPES) or module_of_class(cls).partition(".")[0] in _KNOWN:
        return False
    return not callable(item) and not _is_of_python(cls)


def _is_pointer_of_cffi(item: Any) -> bool:
    backend = sys.modules["_cffi_backend"]
    is_data = is_a(item, backend._CDataBase) and backend.typeof(item).kind != "function"
    return is_data and not _owns_memory_of_cffi(item)


def _is_of_python(cls: type) -> bool:
    """Whether a class is written in Python."""
    return "__dict__" in vars(cls) or any(
        isinstance(member, types.FunctionType) for member in vars(cls).values()
    )
