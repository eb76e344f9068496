"""The errors that users see: what is wrong, where in their source, and what to write instead.

Every error that can be pinned to a place in the user's program is shown like one of Python's
own syntax errors, followed by advice:

    a `with` statement cannot be differentiated
      File "model.py", line 12
        with open(path) as file:
             ^^^^^^^^^^
    Instead: read the file before the function is called, and pass the data in.

This is the ground of the package: it imports nothing of it, and every layer may raise these.
"""

from __future__ import annotations

import functools
import linecache
import os
from typing import Any, Protocol

_AS_IT_IS = "run the function as it is: `compile=False`"
IN_PART = 'compile the rest, and run such calls as they are: `compile="auto"`'
"""Ways out of what cannot be compiled."""

_internal_frames = os.environ.get("GRADSCRIBE_INTERNAL_FRAMES", "") not in ("", "0")


def show_internal_frames(show: bool = True) -> None:
    """Show the frames of gradscribe itself in tracebacks, or hide them, as they are unless the
    environment says `GRADSCRIBE_INTERNAL_FRAMES=1`."""
    global _internal_frames
    _internal_frames = show


def internal_frames_are_shown() -> bool:
    """Whether tracebacks show the frames of gradscribe itself."""
    return _internal_frames


class SourceLocation(Protocol):
    """What an error needs of a place in the source (`gradscribe.ir.Location` fits).

    line counts from 1; column and end_column are offsets into that line of the file, in UTF-8
    bytes as in `ast`; statement is shown where the file cannot be read.
    """

    @property
    def filename(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...
    @property
    def end_column(self) -> int: ...
    @property
    def statement(self) -> str: ...


class GradscribeError(Exception):
    """Base of all errors raised by gradscribe.

    what: one sentence without a final period. advice: what to write or call instead, or "".
    location: the place in the user's source, where there is one.
    """

    way_out = ""
    """How the function that the place is in can be differentiated without being compiled, if
    nothing else is refused."""

    def __init__(self, what: str, advice: str = "", location: SourceLocation | None = None) -> None:
        super().__init__(what, advice, location)
        self.what = what
        self.advice = advice
        self.location = location
        self.calls: list[object] = []
        """The calls in whose compilation it was met, the innermost first, where they are noted."""

    def __str__(self) -> str:
        lines = [self.what]
        if self.location is not None:
            lines += excerpt(self.location)
        if self.advice:
            lines.append(f"Instead: {self.advice}")
        if self.way_out and (self.location is not None or isinstance(self, SourceNotFoundError)):
            lines.append(f"Or {self.way_out}")
        return "\n".join(lines)


class UnsupportedError(GradscribeError, NotImplementedError):
    """The program uses something that is not compiled; nothing was differentiated."""

    way_out = _AS_IT_IS


class AliasingError(UnsupportedError):
    """A store into memory that another live value may share, in a way types cannot tell."""


class UnknownTypeError(UnsupportedError):
    """A value comes of a call that is not looked into, and only the run tells its type."""

    way_out = IN_PART


class CompiledCodeError(UnsupportedError):
    """Code that has neither source nor rule is given what is differentiated."""

    way_out = ""


class UnsupportedDtypeError(UnsupportedError, TypeError):
    """An array or scalar of a dtype that is not computed with (object, str, datetime64, …)."""

    way_out = ""


class UnsupportedPathError(UnsupportedError, TypeError):
    """A call takes a path of the program that is not compiled, beside one that is; often Python
    raises there, too."""


class NoDerivativeError(UnsupportedError):
    """An operation without derivative stands where one is needed."""

    way_out = ""

    is_open = False
    """Whether there is a derivative after all if the function is continuous here."""

    is_of_kink = False
    """Whether that is the mean of those to both sides."""

    is_by_chance = False
    """Whether it is known to jump only at some of the matrices nearby."""

    is_by_text = False
    """Whether it would have to pass through a text or a file."""


class SourceNotFoundError(GradscribeError):
    """A function whose source cannot be read (a builtin, `exec`, the plain interactive prompt)."""

    way_out = _AS_IT_IS


class MissingLibraryError(GradscribeError, ImportError):
    """A function that needs a library which is optional and is not installed."""


class NotSpecializedError(GradscribeError, AttributeError):
    """Generated source was asked for before the function was compiled for any types."""


class ArgumentError(GradscribeError, TypeError):
    """Arguments that do not fit: argnums out of range, a mismatched structure, a wrong type."""


class ShapeError(ArgumentError, ValueError):
    """An argument of another shape than it must have."""


class ReadOnlyError(ArgumentError, ValueError):
    """An array that is stored to is read-only; plain Python raises a `ValueError`."""


class RuleError(ArgumentError, ValueError, RuntimeError):
    """A rule that a user gave, of a `gs.primitive` or a `Function`, returns what does not fit; the
    place is that of the rule. PyTorch raises a `RuntimeError`."""


class NonScalarError(ArgumentError):
    """A gradient was asked of a function whose result is not one real number."""


class InternalError(GradscribeError):
    """A defect of gradscribe itself, met while a function was compiled; its cause is chained. It is
    no refusal: what failed should have been compiled, or refused with the reason."""


class CheckError(GradscribeError, AssertionError):
    """Two ways of computing one derivative do not agree (`gradscribe.testing`)."""


def raised_as(kind: type[GradscribeError], *others: type[BaseException]) -> type[GradscribeError]:
    """The kind of error that is of these classes of exceptions, too: plain Python raises them in
    its place, and they are what programs catch. Of classes that are no built-in ones, it is their
    built-in bases."""
    bases = [base for other in others for base in _built_in(other)]
    bases = [base for base in dict.fromkeys(bases) if not issubclass(kind, base)]
    return _joined((kind, *bases)) if bases else kind


def _built_in(cls: type[BaseException]) -> list[type[BaseException]]:
    if cls.__module__ == "builtins":
        return [cls] if issubclass(cls, Exception) else []
    return [base for direct in cls.__bases__ for base in _built_in(direct)]


@functools.cache
def _joined(classes: tuple[Any, ...]) -> Any:
    kind, *bases = classes
    namespace = {
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "__doc__": kind.__doc__,
        "way_out": "",
        "__reduce__": lambda self: (_made_again, (kind, tuple(bases), self.args)),
    }
    try:
        return type(kind.__name__, classes, namespace)
    except TypeError:  # exceptions whose objects are laid out in different ways
        return kind


def _made_again(
    kind: type[GradscribeError], bases: tuple[type[BaseException], ...], args: tuple[Any, ...]
) -> GradscribeError:
    return raised_as(kind, *bases)(*args)


def excerpt(location: SourceLocation) -> list[str]:
    """The lines that show a place: file and line number, the source line, a caret line."""
    header = f'  File "{location.filename}", line {location.line}'
    source = linecache.getline(location.filename, location.line).rstrip()
    if not source.strip():
        return [header, f"    {location.statement}"] if location.statement else [header]
    raw = source.encode()
    start = len(raw[: location.column].decode(errors="replace"))
    end = len(raw[: location.end_column].decode(errors="replace"))
    if end <= start:
        end = len(source)
    indent = len(source) - len(source.lstrip())
    start = max(start, indent)
    carets = " " * (start - indent) + "^" * max(1, end - start)
    return [header, f"    {source[indent:]}", f"    {carets}"]
