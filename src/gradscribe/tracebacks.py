"""What tracebacks show: the frames of users, and of the code that was generated for them.

Where a public function is left by an error, the frames of this package are taken out of the
error's traceback, and before each frame of generated code an entry is put in for the user's
statement that it was compiled from. It goes by the traceback itself, so that a plain script, pytest
and notebooks show the same. (CPython 3.10 keeps the traceback of an error that is handled in a
second place: there the frame that `shorten` was called in stays.)

`errors.show_internal_frames` asks for all frames.
"""

from __future__ import annotations

import ast
import functools
import linecache
import os
import sys
from collections.abc import Callable, Iterator
from types import CodeType, TracebackType
from typing import Any, TypeVar

from gradscribe.errors import (
    ArgumentError,
    GradscribeError,
    SourceLocation,
    internal_frames_are_shown,
)

ORIGINS = "__origins__"
"""The global of generated code that tells of a line which statement of the user it stands for."""

_HOME = os.path.dirname(__file__) + os.sep
_MADE = "<gradscribe "
_STANDARD_LIBRARY = os.path.dirname(os.__file__)
_NAMES_OF_ENTRIES: dict[str, Any] = {"Exception": Exception}
"""The globals of the code behind entries for users' statements, by which they are known."""

F = TypeVar("F", bound=Callable[..., Any])


def shortened(function: F) -> F:
    """Decorator of a function that users call: errors leave it with short tracebacks.

    It costs a call. Where that counts, the function itself calls `shorten` in an `except`. Compiled
    code calls the function without this.
    """

    @functools.wraps(function)
    def called(*args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except Exception as error:
            refuse_endless(error)
            shorten(error)
            raise

    called.__gradscribe_function__ = function  # type: ignore[attr-defined]
    return called  # type: ignore[return-value]


def refuse_endless(error: BaseException) -> None:
    """Say of an error that has been met in reading arguments alone, and is that calls nest too
    deeply, what it means."""
    entries = _entries(error.__traceback__)
    is_ours = all(_is_own(e) or _is_standard(e) or _is_text(e) for e in entries)
    if isinstance(error, RecursionError) and is_ours:
        raise ArgumentError(
            "an argument, or what a function captures, contains itself or is nested too deeply",
            "pass its parts by themselves",
        ) from None


def shorten(error: BaseException) -> None:
    """Shorten the traceback of an error, and those of its causes; to be called in the `except`
    block of a public function, before a bare `raise`."""
    handled = error.__traceback__
    assert handled is not None
    raised = _innermost(handled)
    is_ours = raised is not None and _is_own(raised)
    if isinstance(error, GradscribeError) and _is_of_no_user(error.location):
        error.location = _place_of(handled)
    error.__traceback__ = shown = _shown(handled, isinstance(error, GradscribeError))
    is_first = shown is not None and shown.tb_frame is handled.tb_frame
    handled.tb_next = shown.tb_next if shown is not None and is_first else shown
    _shorten_chain(error)
    if is_ours and error.__cause__ is None:
        error.__suppress_context__ = False  # what is left was handled around the public function


def _shorten_chain(error: BaseException) -> None:
    """What an error arose from: errors that were raised and handled within this package say
    nothing to users, but what is named as a cause keeps at least the place where it was raised."""
    seen = {id(error)}
    while True:
        cause, context = error.__cause__, error.__context__
        if cause is not None:
            raised = cause.__traceback__
            cause.__traceback__ = _shown(raised) or _innermost(raised)
        elif not internal_frames_are_shown():
            while context is not None and context.__traceback__ is not None:
                was_handled_here = error.__suppress_context__ and _is_own(context.__traceback__)
                context.__traceback__ = _shown(context.__traceback__)
                if context.__traceback__ is not None and not was_handled_here:
                    break
                context = context.__context__
            error.__context__ = context
        following = cause or context
        if following is None or id(following) in seen:
            return
        seen.add(id(following))
        error = following


def _shown(traceback: TracebackType | None, is_refusal: bool = False) -> TracebackType | None:
    """The entries that are shown, and those for users' statements. is_refusal: the error says
    what it refuses, and not how a library came to it."""
    entries = _entries(traceback)
    if not internal_frames_are_shown():
        package = _package_of_user(entries)
        entries = [entry for entry, kept in zip(entries, _kept(entries), strict=True) if kept]
        while is_refusal and package and entries and _is_of_library(entries[-1], package):
            entries.pop()
    shown: TracebackType | None = None
    for entry in reversed(entries):
        shown = TracebackType(shown, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
        shown = _with_origin(shown)
    return shown


def _is_of_no_user(place: SourceLocation | None) -> bool:
    """Whether a place is none, or is in a function that this package has made for a call."""
    return place is None or place.filename.startswith(_MADE)


def _place_of(traceback: TracebackType) -> SourceLocation | None:
    """The user's statement whose generated code raised the error, if it was such."""
    places = (_origin(entry) for entry in reversed(_entries(traceback)))
    return next((p for p in places if not _is_of_no_user(p)), None)


def _innermost(traceback: TracebackType | None) -> TracebackType | None:
    """The last entry, which tells where the error was raised."""
    entries = _entries(traceback)
    return entries[-1] if entries else None


def _entries(traceback: TracebackType | None) -> list[TracebackType]:
    """The entries of a traceback, without those that were put in for users' statements."""
    entries = []
    while traceback is not None:
        if traceback.tb_frame.f_globals is not _NAMES_OF_ENTRIES:
            entries.append(traceback)
        traceback = traceback.tb_next
    return entries


def _kept(entries: list[TracebackType]) -> Iterator[bool]:
    """Whether each entry is shown: it is not this package's, nor the standard library's between two
    of those (decorators, context managers, visitors)."""
    own = [False, *map(_is_own, entries), False]
    for position, entry in enumerate(entries, 1):
        between = own[position - 1] and own[position + 1]
        yield not (own[position] or (between and _is_standard(entry)))


def _is_own(entry: TracebackType) -> bool:
    """Whether an entry is of this package, or of code that it made for itself."""
    if ORIGINS in entry.tb_frame.f_globals:
        place = _origin(entry)
        return place is not None and place.filename.startswith(_MADE)
    return entry.tb_frame.f_code.co_filename.startswith((_HOME, _MADE))


def _origin(entry: TracebackType) -> SourceLocation | None:
    """The statement that an entry of generated code stands for."""
    origins: Callable[[int], SourceLocation | None] | None
    origins = entry.tb_frame.f_globals.get(ORIGINS)
    return None if origins is None else origins(entry.tb_lineno)


def _package_of_user(entries: list[TracebackType]) -> str:
    """The package of the first function that this package has called."""
    own = list(map(_is_own, entries))
    within = entries[own.index(True) :] if any(own) else []
    called = (entry for entry in within if not (_is_own(entry) or _is_standard(entry)))
    return next(map(_package, called), "")


def _package(entry: TracebackType) -> str:
    return str(entry.tb_frame.f_globals.get("__name__")).partition(".")[0]


def _is_of_library(entry: TracebackType, package: str) -> bool:
    """Whether an entry is of an installed package, and not of this one."""
    filename = entry.tb_frame.f_code.co_filename
    is_installed = any(f"{os.sep}{d}-packages{os.sep}" in filename for d in ("site", "dist"))
    return is_installed and _package(entry) != package


def _is_standard(entry: TracebackType) -> bool:
    return os.path.dirname(entry.tb_frame.f_code.co_filename) == _STANDARD_LIBRARY


def _is_text(entry: TracebackType) -> bool:
    """Whether the code of an entry was made by `exec`, as the standard library does."""
    return entry.tb_frame.f_code.co_filename == "<string>"


def _with_origin(entry: TracebackType) -> TracebackType:
    """The entry, after one for the user's statement if it is of generated code."""
    place = _origin(entry)
    if place is None or place.filename.startswith(_MADE):
        return entry
    filename = entry.tb_frame.f_code.co_filename
    statement = linecache.getline(filename, entry.tb_lineno).partition("  # ")[0].strip()
    name = f"code compiled to `{statement}`"
    return _entry_of(place, name, entry)


def _entry_of(place: SourceLocation, name: str, following: TracebackType) -> TracebackType:
    """An entry that shows a place: that of a frame whose code raises an error there."""
    raised: TracebackType | None = None
    try:
        exec(_raising(place, name), _NAMES_OF_ENTRIES)
    except Exception as error:
        raised = error.__traceback__ and error.__traceback__.tb_next
    assert raised is not None, "the code does nothing else"
    return TracebackType(following, raised.tb_frame, raised.tb_lasti, raised.tb_lineno)


def _raising(place: SourceLocation, name: str) -> CodeType:
    """Code of this name that raises an error at a place."""
    end = place.end_column if place.end_column > place.column else place.column + 1
    span = {"lineno": place.line, "col_offset": place.column}
    span |= {"end_lineno": place.line, "end_col_offset": end}
    statement = ast.Raise(ast.Name("Exception", ast.Load(), **span), None, **span)
    code = compile(ast.Module([statement], []), place.filename, "exec")
    return code.replace(co_name=name)


def level_of_user() -> int:
    """How far above the caller the first frame of the user's is, as `warnings` counts."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("gradscribe."):
        level, frame = level + 1, frame.f_back
    return level
