"""Which statement of a compiled function made the NaN, or the error, of a backward.

The generated code is run once more, one operation a statement (`codegen.stepwise`), and each NaN
is followed back from the results to where it came up: to an operation of the adjoint that was given
none by another one. What the primal computed does not count, as in PyTorch, where an operation's
backward is blamed for a NaN that it makes of a saved one.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from gradscribe.codegen import Line, Stepwise


def culprit(code: Stepwise, arguments: Sequence[Any]) -> str:
    """What to tell of the statement that makes a NaN, or raises an error; "" if there is none."""
    search = _Search(code)
    before = sys.gettrace()
    sys.settrace(search.enter)
    try:
        code.function(*arguments)
    except Exception as error:
        return _told(search.raising(error), "whose derivative fails")
    finally:
        sys.settrace(before)
    return _told(search.origin(), "whose derivative is NaN")


def _told(found: tuple[Line, str] | None, what: str) -> str:
    if found is None or found[0].location is None:
        return ""
    line, name = found
    place = line.location
    assert place is not None
    return (
        f'  File "{place.filename}", line {place.line}, {what}\n    {place.statement}\n'
        f"  In the generated {name}, one operation a line\n    {line.text}\n"
    )


_number = itertools.count().__next__


@dataclass(eq=False)
class _Event:
    """A variable came to hold a NaN. sources: what had put those there that it was made of."""

    line: Line
    function: str
    sources: list[_Event]
    number: int = field(default_factory=_number)


@dataclass(eq=False)
class _Frame:
    """A call that is under way. current: its statement; clean: the variables that this reads, and
    that hold no NaN. writers: for the variables that hold a NaN of the adjoint, what put it there.
    given: those that the current statement was given by calls."""

    current: Line | None = None
    clean: frozenset[str] = frozenset()
    writers: dict[str, _Event] = field(default_factory=dict)
    given: list[_Event] = field(default_factory=list)

    def begin(self, line: Line | None, values: Mapping[str, Any]) -> None:
        """A statement begins, with these values of the variables."""
        self.current = line
        reads = () if line is None else line.reads
        self.clean = frozenset(n for n in reads if n in values and not has_nan(values[n]))

    def read(self) -> list[_Event]:
        """Where the NaNs came from that the current statement reads."""
        names = self.current.reads if self.current is not None else ()
        return [*(self.writers[name] for name in names if name in self.writers), *self.given]


class _Search:
    """Follows the statements of one run."""

    def __init__(self, code: Stepwise) -> None:
        self._code = code
        self._frames: dict[FrameType, _Frame] = {}
        self._result: _Event | None = None
        self._raised: dict[int, tuple[Line, str]] = {}

    def enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        """A trace function; only the generated code is followed."""
        if frame.f_code.co_filename != self._code.filename or frame.f_code.co_name == "<module>":
            return None
        caller = None if frame.f_back is None else self._frames.get(frame.f_back)
        own = self._frames[frame] = _Frame()
        sources = [] if caller is None else caller.read()
        if caller is not None and caller.current is not None and sources:
            passed = _Event(caller.current, _name(frame.f_back), sources)
            own.writers = {n: passed for n, value in frame.f_locals.items() if has_nan(value)}
        return self._step

    def _step(self, frame: FrameType, event: str, argument: Any) -> Any:
        own = self._frames[frame]
        if event == "exception":
            if own.current is not None:
                self._raised.setdefault(id(argument[1]), (own.current, _name(frame)))
            return self._step
        if event == "return":
            self._finish(frame, own, argument)
            del self._frames[frame]
        elif (line := self._code.lines.get(frame.f_lineno)) is not own.current:
            self._finish(frame, own)
            own.begin(line, frame.f_locals)
        return self._step

    def _finish(self, frame: FrameType, own: _Frame, result: Any = None) -> None:
        """Note what the current statement has left in the variables; result: what it returns."""
        line, sources = own.current, own.read()
        own.given = []
        if line is None:
            return
        values = frame.f_locals
        event = _Event(line, _name(frame), sources) if _is_followed(line, sources) else None
        for name in line.writes | own.clean:
            if event is not None and name in values and has_nan(values[name]):
                self._wrote(name, event, values, own)
            else:
                own.writers.pop(name, None)
        if event is not None and has_nan(result):
            caller = None if frame.f_back is None else self._frames.get(frame.f_back)
            if caller is None:
                self._result = event
            else:
                caller.given.append(event)

    @staticmethod
    def _wrote(name: str, event: _Event, values: Mapping[str, Any], own: _Frame) -> None:
        """A variable holds a NaN now, and so may others of the same memory."""
        own.writers[name] = event
        value = values[name]
        own.writers.update(
            (other, event)
            for other, shared in values.items()
            if other not in own.writers
            and isinstance(value, np.ndarray)
            and isinstance(shared, np.ndarray)
            and np.may_share_memory(value, shared)
            and has_nan(shared)
        )

    def origin(self) -> tuple[Line, str] | None:
        """Where, among all that the result's NaN came from, there was one first."""
        if self._result is None:
            return None
        events = [e for e in _reached(self._result) if e.line.location is not None]
        born = [e for e in events if not e.sources] or events
        if not born:
            return None
        first = min(born, key=lambda event: event.number)
        return first.line, first.function

    def raising(self, error: BaseException) -> tuple[Line, str] | None:
        """The statement that raised an error."""
        return self._raised.get(id(error))


def _is_followed(line: Line, sources: Iterable[_Event]) -> bool:
    """Whether a NaN that a statement leaves is one of the adjoint: it is if the statement was
    given such a one, or computes something of the adjoint, and is no head of a loop, which takes
    values from the record."""
    if line.location is None:
        return bool(sources)
    return line.location.role != "primal" and not line.text.startswith("for ")


def _reached(event: _Event) -> Iterator[_Event]:
    """An event, and all that led to it."""
    seen, pending = {event}, [event]
    while pending:
        found = pending.pop()
        yield found
        new = [source for source in found.sources if source not in seen]
        seen.update(new)
        pending += new


def _name(frame: FrameType | None) -> str:
    return "" if frame is None else frame.f_code.co_name


def has_nan(value: Any) -> bool:
    """Whether there is a NaN in an array, a number or a Tensor, or in a list or tuple of such."""
    if isinstance(value, (tuple, list)):
        return any(map(has_nan, value))
    array = getattr(value, "array", value)
    if not isinstance(array, (np.ndarray, float, complex, np.inexact)):
        return False
    array = np.asarray(array)
    return array.dtype.kind in "fc" and bool(np.isnan(array).any())
