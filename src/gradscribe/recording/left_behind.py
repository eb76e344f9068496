"""What a recorded run leaves in objects where it cannot be made plain: in suspended generators,
caches, iterators, arrays of objects. As they outlive the run, it is refused.

The frames of exceptions that are kept are left alone: their variables are what they were.
"""

from __future__ import annotations

import gc
import inspect
import sys
from collections.abc import Iterator, Sequence
from types import AsyncGeneratorType, CoroutineType, FrameType, GeneratorType, MethodType
from typing import Any
from weakref import ref

from gradscribe.errors import UnsupportedError
from gradscribe.ir.probing import is_a
from gradscribe.recording.arrays import is_recorded

_SUSPENDED = (GeneratorType, CoroutineType, AsyncGeneratorType)


def refuse(created: Sequence[ref[Any]]) -> None:
    """Refuse a run that is over, of whose values others hold some. created: its values."""
    if not held(created):
        return
    gc.collect()
    holder = _holder_of(held(created))
    if holder is not None:
        raise UnsupportedError(
            f"a function that runs as it is leaves arrays or numbers that record in {holder}, "
            "which outlives the call",
            "keep them in a list, a dict or an attribute",
        )


def held(created: Sequence[ref[Any]]) -> list[Any]:
    """What there still is of the values of a run."""
    return [value for weak in created if (value := weak()) is not None]


def _holder_of(left: list[Any]) -> str | None:
    """What holds values, or tuples and methods that hold them, in words; None where nothing but
    frames does."""
    level, seen, holders = left, set[int](), list[Any]()
    while level:
        holders = _holders(level, [left, holders])
        if level is left and _are_elsewhere(left, holders):
            return "an array of objects (or an object in C)"
        frames = [holder for holder in holders if is_a(holder, FrameType)]
        holders += [h for h in _holders(frames, [holders]) if is_a(h, _SUSPENDED)]
        for holder in holders:
            if not (is_recorded(holder) or is_a(holder, (FrameType, tuple, MethodType))):
                return f"a `{type(holder).__name__}`"
        level = [h for h in holders if is_a(h, (tuple, MethodType)) and id(h) not in seen]
        seen.update(map(id, level))
    return None


def _holders(items: list[Any], own: Sequence[Any]) -> list[Any]:
    """What holds objects, beside lists of this module."""
    known = {id(each) for each in (items, *own)}
    return list(filter(lambda holder: id(holder) not in known, gc.get_referrers(*items)))


def _are_elsewhere(left: list[Any], holders: list[Any]) -> bool:
    """Whether something that does not tell what it holds has one of these."""
    known = {id(item) for holder in holders for item in gc.get_referents(holder)}
    if all(id(value) in known for value in left):
        return False
    for frame in _running():
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # of a function
            known.update(map(id, frame.f_locals.values()))
    return any(id(value) not in known for value in left)


def _running() -> Iterator[FrameType]:
    """The frames of all threads."""
    for innermost in sys._current_frames().values():
        frame: FrameType | None = innermost
        while frame is not None:
            yield frame
            frame = frame.f_back
