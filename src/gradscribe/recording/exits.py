"""Where a value of a recorded run would leave it: for a number of Python's, an array that does not
record, memory, the key of a dict, a text. As long as a derivative goes through it, that is refused;
afterwards it is the plain value."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

import numpy as np

from gradscribe.compiler.observing import ORIGINALS
from gradscribe.errors import GradscribeError, NoDerivativeError, raised_as
from gradscribe.ir.probing import is_library_module
from gradscribe.recording import packing
from gradscribe.recording.arrays import RecordedArray, RecordedNumber, is_active, shown
from gradscribe.recording.levels import is_running, plain, refuse_told, refused, tell
from gradscribe.recording.texts import said_by

Recorded = Any
Array = Any

NO_ATTRIBUTE = raised_as(NoDerivativeError, AttributeError)
"""NumPy asks for such attributes, and goes on where there are none."""


def taken_out(
    what: str, advice: str = "", kind: type[GradscribeError] = NoDerivativeError
) -> GradscribeError:
    """The error for a value that would leave the record."""
    error = kind(
        f"{what} takes a value that is differentiated out of the record of the run",
        advice or "use functions of NumPy on it, or make what is done to it a `gs.primitive`",
    )
    return refused(error) if kind is NoDerivativeError else error


def to_number(kind: type, name: str) -> Any:
    def method(self: Recorded) -> Any:
        if is_active(self) and sys._getframe(1).f_code is _MESSAGE:
            return kind(told(self))
        if is_active(self):
            raise taken_out(
                f"`{name}` (or a function that calls it, of `math`, of C, or a store to an array "
                "that does not record)",
                "use NumPy's function on it (`np.exp`, not `math.exp`), an array made by "
                "`np.zeros_like(x)` to store it in, or make compiled code a `gs.primitive`",
            )
        return kind(plain(self._present()))

    return method


_MESSAGE = logging.LogRecord.getMessage.__code__
"""The code that makes the text of what is logged: `"%f" % x` converts a number."""


def array_protocol(self: Array, dtype: Any = None, copy: bool | None = None) -> Any:
    """`np.asarray(x)`, and what code in C asks for."""
    if dtype is not None and np.dtype(dtype) == object:
        return _objects(self)
    if is_active(self):
        raise taken_out("`np.array` or `np.asarray` (or code in C)", _NO_ARRAY)
    array = self._shared()
    if copy or (dtype is not None and array.dtype != np.dtype(dtype)):
        return np.array(array, dtype)
    return array.view()


_NO_ARRAY = (
    "for `np.array([a, b])` write `np.stack([a, b])` or `np.array([a, b], like=x)`, leave out "
    "`np.asarray`; make compiled code a `gs.primitive`"
)


def array_of_number(self: Recorded, dtype: Any = None, copy: bool | None = None) -> Any:
    """`np.array([x, …])`, and what code in C asks for."""
    if is_active(self) and (dtype is None or np.dtype(dtype) != object):
        raise taken_out("`np.array` or `np.asarray` (or code in C)", _NO_ARRAY)
    array = np.empty((), object)
    array[()] = self
    return array if is_active(self) else np.asarray(plain(self._present()), dtype)


def _objects(self: Array) -> Any:
    """An array of the numbers that an array has, as Python's."""
    value = self._present()
    array = np.empty(plain(value).size, object)
    array[:] = [shown(item).item() for item in packing.unpacked(value)]
    return array.reshape(plain(value).shape)


def hashed(self: RecordedNumber) -> int:
    if is_active(self):
        raise refused(
            NoDerivativeError(
                "a number that is differentiated cannot be the key of a dict, a set or a cache: an "
                "equal one would be taken for it",
                "use no cache, or a key that is not differentiated",
            )
        )
    return hash(plain(self._present()))


def reduce(self: Recorded, protocol: Any = None) -> Any:
    if is_active(self):
        raise taken_out("pickling")
    shows_memory = type(self) is RecordedArray and protocol is not None and protocol >= _BUFFERS
    value = self._shared() if shows_memory else plain(self._present())
    return value.__reduce__() if protocol is None else value.__reduce_ex__(protocol)


_BUFFERS = 5
"""The first protocol of pickling that gives the memory of an array, and no copy of it."""


def told(self: Recorded) -> Any:
    """A plain value that a text is made of."""
    if is_active(self):
        tell()
        if any(map(_may_read, _codes_not_followed())):
            refuse_told()
    return plain(self._present())


_READING = frozenset(
    {"Decimal", "Fraction", "array", "asarray", "astype", "complex", "eval", "exec", "float"}
    | {"float64", "fromfile", "fromstring", "genfromtxt", "int", "literal_eval", "load", "loads"}
    | {"loadtxt", "read", "read_csv"}
)
"""Names of functions that read numbers from texts."""


def _codes_not_followed() -> Iterator[CodeType]:
    """The code of the user's, up to the first that is followed, in which a text is made."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and _is_own(frame):
        frame = frame.f_back
    while frame is not None and not _is_own(frame):
        if is_running() and id(frame.f_code) in ORIGINALS:
            return
        yield frame.f_code
        frame = frame.f_back


def _is_own(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).partition(".")[0] == "gradscribe"


def _may_read(code: CodeType) -> bool:
    return _names(code, _READING)


def _names(code: CodeType, names: frozenset[str]) -> bool:
    """Whether code, or what is defined in it, names one of these."""
    return not names.isdisjoint(code.co_names) or any(
        _names(each, names) for each in code.co_consts if isinstance(each, CodeType)
    )


def objects(self: Recorded) -> Any:
    """`x.astype(object)`."""
    return _objects(self) if type(self) is RecordedArray else self.item()


_SHOWN = {"RecordedArray": "numpy.ndarray", "RecordedNumber": "numpy.float64"}
"""What records, and what it is to the user."""

_SWALLOWED = (*_SHOWN, "__array__ method not producing an array")
"""What Python, and code in C, say of what records."""


_LACKING = re.compile(
    "is not (iterable|callable|subscriptable|reversible|an iterator)|has no len|unhashable type"
    "|cannot unpack non-iterable|does not support (item|the context)"
)
"""What Python says of classes without a method of its own. What records has those of NumPy."""


def is_of_recorded(error: BaseException) -> bool:
    """Whether Python, or code in C, raises this of what records, and not of what it stands for.
    Where it is raised of that, too, its text is as there then."""
    said = said_by(error)
    if not any(name in said for name in _SWALLOWED):
        return False
    if not isinstance(error, TypeError) or _LACKING.search(said) is None:
        return True
    error.args = (told_as_numpy(error),)
    return False


def told_as_numpy(error: BaseException) -> str:
    """What Python, or code in C, says of what records, in the names of what it stands for."""
    said = said_by(error)
    for name, shown_as in _SHOWN.items():
        said = said.replace(name, shown_as)
    return _CONTRADICTION.sub(r"must be a \1 that does not record", said)


_CONTRADICTION = re.compile(r"must be (\S+), not \1(?!\S)")


def of_recorded(error: BaseException) -> GradscribeError:
    """The error for what Python raises of a value that records: it may be a mistake of the
    program, or code in C that takes nothing but arrays. Its class is Python's, its frames too."""
    said = told_as_numpy(error)
    made = raised_as(NoDerivativeError, type(error))(
        f"{type(error).__name__}, of what is differentiated: {said}",
        "correct it, if plain Python raises here, too; else use functions of NumPy, or make what "
        "is done here a `gs.primitive`",
    )
    return made.with_traceback(error.__traceback__)


_SPECIAL = frozenset({"__dlpack__", "__dlpack_device__"})
"""Attributes that NumPy asks for where a program asks for memory."""


def is_asked_for(name: str) -> bool:
    """Whether the program itself, or a function that it calls, asks for an attribute of Python's
    own; NumPy asks for some of all objects, and goes on where there are none."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and _is_own(frame):
        frame = frame.f_back
    if frame is None or name in _SPECIAL:
        return name in _SPECIAL
    code, module = frame.f_code, str(frame.f_globals.get("__name__"))
    return name in code.co_names or (name in code.co_consts and not is_library_module(module))
