"""Exceptions that packages raise only of values that record: of an array of objects, say, where
plain Python has one of numbers. They are refusals, also where the program handles them."""

from __future__ import annotations

import gc
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradscribe.errors import GradscribeError
from gradscribe.ir.probing import is_a, is_installed, probe
from gradscribe.recording import exits
from gradscribe.recording.arrays import is_active, is_recorded
from gradscribe.recording.levels import refused

_OWN = frozenset({"gradscribe", "numpy", "scipy"})
"""Packages whose functions take what records."""

_MOST = 20_000
"""So many objects are looked at."""


def guarded(function: Callable[..., Any], caller: str) -> Callable[..., Any]:
    """A function of a package, called in a module of this name: what it raises of values that
    record, the program may not handle."""
    if not _is_of_package(function, caller):
        return function

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:  # packages may raise anything
            if isinstance(error, GradscribeError) or not is_raised_of_recorded(error):
                raise
            raise refused(exits.of_recorded(error)) from None

    return call


def _is_of_package(function: Any, caller: str) -> bool:
    """Whether a function is one of a package that its caller is not of."""
    package = _top(probe(function, "__module__"))
    code = probe(function, "__code__")
    is_other = code is not None and _top(caller) not in (package, "gradscribe")
    return is_other and package not in _OWN and is_installed(code.co_filename)


def _top(module: Any) -> str:
    return str(module).partition(".")[0]


def is_raised_of_recorded(error: BaseException) -> bool:
    """Whether code of a package, that works on what is differentiated, has raised this."""
    if exits.is_of_recorded(error):
        return True
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        is_own = _top(frame.f_globals.get("__name__")) in _OWN
        if (
            not is_own
            and is_installed(frame.f_code.co_filename)
            and leads_to_active(frame.f_locals)
        ):
            return True
        traceback = traceback.tb_next
    return False


def handled(error: BaseException) -> None:
    """The program is about to handle an exception: not one that plain code would not raise."""
    is_other = isinstance(error, Exception) and not isinstance(error, GradscribeError)
    if is_other and is_raised_of_recorded(error):
        raise refused(exits.of_recorded(error)) from None


def leads_to_active(start: Any) -> bool:
    """Whether objects hold a value that is differentiated, in whatever they hold."""
    pending, seen = [start], set[int]()
    while pending and len(seen) < _MOST:
        value = pending.pop()
        if is_recorded(value):
            if is_active(value):
                return True
        elif id(value) not in seen and not is_a(value, _LEADING_ANYWHERE):
            seen.add(id(value))
            pending += _held(value)
    return False


def _held(value: Any) -> Iterator[Any]:
    if is_a(value, np.ndarray):
        return iter(value.flat if value.dtype == object else ())
    return iter(gc.get_referents(value))


_LEADING_ANYWHERE = (
    *(type, types.ModuleType, types.FunctionType, types.FrameType, types.CodeType),
    *(types.BuiltinFunctionType, types.TracebackType),
)
"""What leads to more than it works on."""
