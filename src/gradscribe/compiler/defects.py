"""What is no refusal and no exception of the user's program, met while a function is compiled.

Errors of `gradscribe.errors` leave the compiler as they are; so does what the user's own code
raises, where the compiler runs it. Any other exception goes in here, and comes out as one that
says that it is a defect, where in the user's source it was met, what to report and how to go on.
"""

from __future__ import annotations

import itertools
import linecache
import platform
import sys
import traceback
from collections.abc import Iterator
from types import FrameType, FunctionType
from typing import Any

import gast

from gradscribe.compiler.signatures import parameter_location
from gradscribe.errors import GradscribeError, InternalError
from gradscribe.frontend.state.frame import Frame
from gradscribe.ir.core import Function, Location, Operation, walk
from gradscribe.ir.probing import is_a

_OWN = frozenset({"gradscribe", "numpy", "scipy", "gast", "astunparse", *sys.stdlib_module_names})
"""The packages whose code the compiler runs for purposes of its own."""

_SPEAKING = ("gradscribe.api.", "gradscribe.runtime.")

_NAMED = ("gradscribe", "numpy", "scipy")
"""The packages whose versions are reported."""


def as_defect(error: Exception) -> InternalError | None:
    """The defect that an exception shows, which the compiler has let through; None for a refusal,
    and for an exception of the user's program."""
    if isinstance(error, GradscribeError):
        return None
    places = list(traceback.walk_tb(error.__traceback__))
    frames = [frame for frame, _ in places]
    if any(_is_of_program(frame) for frame in frames) or _is_meant(*places[-1]):
        return None
    said = f"{type(error).__name__}: {error}".removesuffix(": ")
    return InternalError(
        f"gradscribe failed to compile this, which is a defect of gradscribe ({said})",
        "run the function as it is, by `compile=False`; and please report the defect, with the "
        f"traceback, the function and these versions: {_versions()}",
        _last_place(frames),
    )


def _is_meant(frame: FrameType, line: int) -> bool:
    """Whether an error was raised by a statement of the layers that speak PyTorch's words."""
    module = frame.f_globals.get("__name__") or ""
    statement = linecache.getline(frame.f_code.co_filename, line).strip()
    return module.startswith(_SPEAKING) and statement.startswith("raise ")


def _is_of_program(frame: FrameType) -> bool:
    """Whether a frame runs code of the user, or of a library that the user's program calls. (What
    the compiler generates has no module.)"""
    return _is_users(frame.f_globals.get("__name__"))


def _is_users(module: str | None) -> bool:
    return module is not None and module.partition(".")[0] not in _OWN


def _versions() -> str:
    modules = [(name, sys.modules[name]) for name in _NAMED if name in sys.modules]
    named = [f"{name} {getattr(module, '__version__', '?')}" for name, module in modules]
    return ", ".join([*named, f"Python {platform.python_version()}", platform.platform(terse=True)])


def _last_place(frames: list[FrameType]) -> Location | None:
    """The place in the user's source that the innermost frames were busy with; failing that, where
    the function is defined."""
    held = [value for frame in reversed(frames) for value in frame.f_locals.values()]
    nodes = [value for value in held if is_a(value, gast.AST) and hasattr(value, "lineno")]
    places = itertools.chain.from_iterable(_places(value, nodes) for value in held)
    definitions = (_definition(value) for value in reversed(held))
    known = [place for place in itertools.chain(places, definitions) if place is not None]
    users = (place for place in known if not place.filename.startswith("<gradscribe"))
    return next(users, known[0] if known else None)


def _places(value: Any, nodes: list[gast.AST]) -> Iterator[Location | None]:
    """The places that a local variable of the compiler tells. nodes: the innermost ones that are
    lowered."""
    if is_a(value, Frame):
        own = set(gast.walk(value.source.node))
        node = next((node for node in nodes if node in own), value.source.node)
        yield value.called_at or value.source.location(node)
    elif is_a(value, Operation):
        yield value.location
    elif is_a(value, Function):
        yield from (operation.location for operation in walk(value.body))


def _definition(value: Any) -> Location | None:
    if not is_a(value, FunctionType) or not _is_users(value.__module__):
        return None
    name = value.__name__ if value.__name__ != "<lambda>" else "lambda"
    return parameter_location(value, name)
