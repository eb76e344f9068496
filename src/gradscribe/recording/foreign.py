"""Exceptions that packages raise only of values that record: of an array of objects, say, where
plain Python has one of numbers. They are refusals, also where the program handles them.

So are those that code in C raises in a run in which it was given a function that leads to what is
differentiated: it may have called that, and nothing tells what it has got from it.
"""

from __future__ import annotations

import dis
import gc
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradscribe.errors import GradscribeError
from gradscribe.ir.probing import is_a, is_installed, is_library_module, probe
from gradscribe.recording import exits, texts
from gradscribe.recording.arrays import is_active, is_recorded
from gradscribe.recording.levels import GIVEN_AWAY, REFUSED, refused, values_in

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
    if exits.is_of_recorded(error) or (GIVEN_AWAY.get() and _is_raised_in_c(error)):
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


def _is_raised_in_c(error: BaseException) -> bool:
    """Whether code in C that is not followed has raised this by itself: where it was called, or,
    where the exception is of a kind of its own, in a loop over what it gives, say."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return False
    code = traceback.tb_frame.f_code
    if code is texts.call.__code__:
        return True
    opcode = code.co_code[traceback.tb_lasti]
    return type(error).__module__ != "builtins" and dis.opname[opcode] not in _RAISING


_RAISING = frozenset({"RAISE_VARARGS", "RERAISE"})


def note_given(given: Any) -> None:
    """Note what code in C is given to call."""
    found = GIVEN_AWAY.get()
    if found is not None and not found:
        called = [v for v in values_in(given) if callable(v) and not is_recorded(v)]
        found += [True] if called and leads_to_active(called, by_code=True) else []


def handled(error: BaseException) -> None:
    """The program is about to handle an exception: not one that plain code would not raise."""
    is_other = isinstance(error, Exception) and not isinstance(error, GradscribeError)
    if is_other and is_raised_of_recorded(error):
        for refusal in REFUSED.get() or ():
            raise refusal from error
        raise refused(exits.of_recorded(error)) from None


def leads_to_active(start: Any, *, by_code: bool = False) -> bool:
    """Whether objects hold a value that is differentiated, in whatever they hold. by_code: or find
    one, as functions and classes of the user's."""
    pending, seen = [start], set[int]()
    while pending and len(seen) < _MOST:
        value = pending.pop()
        if is_recorded(value):
            if is_active(value):
                return True
        elif id(value) not in seen:
            seen.add(id(value))
            if not is_a(value, _LEADING_ANYWHERE):
                pending += _held(value)
            elif by_code and not is_library_module(probe(value, "__module__")):
                pending += _found_by(value)
    return False


def _found_by(value: Any) -> list[Any]:
    """What a function, or the methods of a class, may find."""
    if is_a(value, type):
        return list(vars(value).values())
    if not is_a(value, types.FunctionType):
        return []
    named = [value.__globals__.get(name) for name in value.__code__.co_names]
    return [value.__closure__, value.__defaults__, value.__kwdefaults__, value.__dict__, *named]


def _held(value: Any) -> Iterator[Any]:
    if is_a(value, np.ndarray):
        return iter(value.flat if value.dtype == object else ())
    return iter(gc.get_referents(value))


_LEADING_ANYWHERE = (
    *(type, types.ModuleType, types.FunctionType, types.FrameType, types.CodeType),
    *(types.BuiltinFunctionType, types.TracebackType),
)
"""What leads to more than it works on."""
