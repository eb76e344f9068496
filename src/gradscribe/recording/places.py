"""What tells of the interpreter, which runs other code than the program's, and of the places in it.
A library asks for its own use: pandas counts references, to warn."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable
from typing import Any

from gradscribe.errors import UnsupportedError
from gradscribe.ir.probing import is_installed, is_library_module
from gradscribe.primitives import interpreter
from gradscribe.recording.levels import refused

Function = Callable[..., Any]


def refusing(function: Function) -> Function:
    """A function that tells of the interpreter."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        if _is_asked_by_a_library():
            return function(*args, **kwargs)
        raise refused(
            UnsupportedError(
                f"`{function.__name__}` is not supported: what it gives differs from run to run",
                "call it outside, and pass the result in",
            )
        )

    return refuse


def filtering(function: Function) -> Function:
    """A function that makes a filter of warnings."""

    def call(*args: Any, **kwargs: Any) -> Any:
        given = inspect.signature(function).bind(*args, **kwargs).arguments
        is_recording = inspect.isbuiltin(getattr(warnings, "_showwarnmsg_impl", None))
        if interpreter.asks_for_places(given, is_recording) and not _is_asked_by_a_library():
            raise refused(
                UnsupportedError(
                    f"`{function.__name__}` asks where warnings come from, which is not where the "
                    "program is",
                    "tell them apart by their category and message, and show them always, or never",
                )
            )
        return function(*args, **kwargs)

    return call


def _is_asked_by_a_library() -> bool:
    """Whether what has called what calls this belongs to one."""
    caller = sys._getframe(2)
    is_library = is_library_module(caller.f_globals.get("__name__"))
    return is_library or is_installed(caller.f_code.co_filename)
