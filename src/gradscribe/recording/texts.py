"""Numbers that are read from texts, in a run that has made texts of what is differentiated.

Which text a number is of cannot be known where code that is not followed reads it: the digits may
have been cut, joined, written to a file or a database. So in such a run, code that is not followed
gives no numbers where it is given digits, or something that may hold any; what it is given as
numbers it may hand on.
"""

from __future__ import annotations

import datetime
import gc
import io
import itertools
import re
import types
import weakref
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from gradscribe.compiler.observing import HANDING_ON
from gradscribe.ir.probing import has, is_a, is_library_module, module_of_class, probe
from gradscribe.recording import builtin_types
from gradscribe.recording.arrays import is_recorded
from gradscribe.recording.levels import TOLD, refuse_told, tell, values_in

Callee = Any


def call(function: Callee, args: Any, kwargs: Any) -> Any:
    """What a function that is not followed gives, if that is not read from a text of what is
    differentiated."""
    if TOLD.get() is None or is_handing_on(function):
        return function(*args, **kwargs)
    if not TOLD.get():
        found = function(*args, **kwargs)
        if TOLD.get() and _Reached(found).numbers:  # by what it has called
            refuse_told()
        return found
    given = _Reached((probe(function, "__self__"), args, kwargs))
    if not given.has_texts:
        return function(*args, **kwargs)
    arrays = [(array, array.copy()) for array in given.numbers if is_a(array, np.ndarray)]
    found = function(*args, **kwargs)
    made = _Reached(found)
    is_read = made.is_cut or any(not given.holds(number) for number in made.numbers)
    is_read |= any(array.tobytes() != before.tobytes() for array, before in arrays)
    if is_read or _gives_rows(found):
        refuse_told()
    return found


HANDING_ON.add(call.__code__)


def _gives_rows(found: Any) -> bool:
    """Whether it is an iterator of an extension in C, as those of `csv` and of databases."""
    is_iterator = has(type(found), "__next__") and _is_opaque(type(found))
    return is_iterator and not is_a(found, io.IOBase)


def read(array: Any, value: Any) -> Any:
    """What is made of a value, an array whose numbers may not be read from texts."""
    if array.dtype.kind not in "SUTO" and any(map(is_text, values_in(value))):
        refuse_told()
    return array


def refuse_stored(target: Any, values: Any) -> None:
    """Refuse to store texts in an array of numbers."""
    is_of_numbers = is_recorded(target) or np.asarray(target).dtype.kind in "fc"
    if is_of_numbers and any(map(is_text, values_in(values))):
        refuse_told()


def note(found: list[Any]) -> None:
    """Note what is made of what is differentiated: nothing, where it may have been told, or
    texts."""
    if any(item is None or is_text(item) for item in found):
        tell()


def is_text(value: Any) -> bool:
    """Whether a value is a text that may hold a number, or an array in which there are texts."""
    if is_recorded(value):
        return False
    if isinstance(value, np.ndarray) and value.dtype == object:
        return any(isinstance(item, (str, bytes)) for item in value.flat)
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "SUT"
    return isinstance(value, (str, bytes, bytearray)) and _has_number(value)


def _has_number(text: str | bytes | bytearray) -> bool:
    """Whether a number begins somewhere in a text; the digits of a name as `v2` are none."""
    if isinstance(text, str):
        return re.search(r"\b\d", text) is not None
    return re.search(rb"\b\d", text) is not None


_HANDING_ON = frozenset(
    {"abc", "asyncio", "builtins", "collections", "concurrent", "contextlib", "contextvars"}
    | {"copy", "dataclasses", "enum", "functools", "gradscribe", "heapq", "inspect"}
    | {"itertools", "logging", "operator", "queue", "random", "threading", "time"}
    | {"traceback", "typing", "warnings", "weakref"}
)
"""Modules of functions that make no numbers of texts."""


def is_handing_on(function: Callee) -> bool:
    """Whether a function makes no numbers of texts. (Some look at their caller.)"""
    module = builtin_types.module_of(function).partition(".")[0]
    return module.removeprefix("_") in _HANDING_ON and function is not next


_MOST = 2_000
"""So many objects are looked at; of more, it is not known what they hold."""

_NUMBERS = (float, complex, np.inexact, Decimal, Fraction, datetime.timedelta)
_WITHOUT = (
    *(int, range, slice, type, np.dtype, np.generic, np.random.Generator, np.random.RandomState),
    *(types.NoneType, types.EllipsisType, types.ModuleType, types.FunctionType),
    *(types.BuiltinFunctionType, types.CodeType, types.FrameType, types.GeneratorType),
    *(map, filter, np.ufunc, weakref.ReferenceType),
)
"""What holds neither texts nor numbers."""


class _Reached:
    """What values hold. numbers: numbers, and arrays of numbers. has_texts: whether there is a
    number in a text, or something whose inside is not known. is_cut: whether they hold more."""

    def __init__(self, value: Any) -> None:
        self.numbers: list[Any] = []
        self.has_texts = False
        self._seen: dict[int, Any] = {}
        pending = [value]
        while pending and len(self._seen) < _MOST:
            item = pending.pop()
            if id(item) not in self._seen and not is_recorded(item):
                self._seen[id(item)] = item
                pending += self._look(item)
        self.is_cut = bool(pending)
        self.has_texts |= self.is_cut

    def holds(self, number: Any) -> bool:
        """Whether a number is one of these, or an array shares the memory of one."""
        if id(number) in self._seen:
            return True
        return is_a(number, np.ndarray) and any(
            is_a(array, np.ndarray) and np.may_share_memory(number, array) for array in self.numbers
        )

    def _look(self, item: Any) -> Iterator[Any]:
        """What is in an object."""
        if is_a(item, (str, bytes, bytearray)):
            self.has_texts |= _has_number(item)
        elif is_a(item, _NUMBERS):
            self.numbers.append(item)
        elif is_a(item, np.ndarray):
            return self._look_at_array(item)
        elif not is_a(item, _WITHOUT):
            if _is_opaque(type(item)):
                self.has_texts = True
            return iter(gc.get_referents(item))
        return iter(())

    def _look_at_array(self, array: Any) -> Iterator[Any]:
        if array.dtype.kind in "SUTO":
            return itertools.islice(array.flat, _MOST)
        if array.dtype.kind not in "biuMm" and array.size:
            self.numbers.append(array)
        return iter(())


_OPEN = frozenset({"builtins", "collections", "numpy"})
"""Packages whose objects show what they hold."""


def _is_opaque(cls: type) -> bool:
    """Whether objects of a class may hold what is not seen: it is one of an extension in C."""
    if module_of_class(cls).partition(".")[0] in _OPEN:
        return False
    return not any(type(own) is types.FunctionType for own in vars(cls).values())


def said_by(error: BaseException) -> str:
    """What an exception says; where the program's own objects would say it, the texts among what
    it carries: what makes a text of them is code of the program, which may do anything."""
    carried = vars(BaseException)["args"].__get__(error)
    teller = next(cls for cls in type(error).__mro__ if "__str__" in vars(cls))
    if is_library_module(module_of_class(teller)) and all(map(_tells_itself, carried)):
        return str(error)
    return " ".join(value for value in carried if type(value) is str)


def _tells_itself(value: Any) -> bool:
    if type(value) is tuple:
        return all(map(_tells_itself, value))
    return type(value) in _TELLING or is_a(value, (np.generic, np.dtype, np.ufunc))


_TELLING = (str, bytes, int, float, complex, bool, type(None), type)
"""Of whose objects Python makes the texts by itself."""
