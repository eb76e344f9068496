"""`sum` in a recorded run: from CPython 3.12 on it compensates what it rounds off of floats, which
it does not see in numbers that record."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from gradscribe.recording.arrays import RecordedNumber
from gradscribe.recording.levels import plain


def total(values: Iterable[Any], /, start: Any = 0) -> Any:
    """`sum(values, start)`, in the bits, too. What is added to correct it has no derivative."""
    is_plain = type(values) in (list, tuple) and not any(type(v) is RecordedNumber for v in values)
    if sys.version_info < (3, 12) or is_plain or isinstance(start, (str, bytes, bytearray)):
        return sum(values, start)
    items, found = iter(values), start
    if type(start) is int:
        found = _of_integers(items, start)
    if _is_float(found):
        found = _compensated(items, found)
    for item in items:
        found = found + item
    return found


def _of_integers(items: Iterator[Any], found: Any) -> Any:
    """The sum up to the first item that is no integer, with it."""
    for item in items:
        found = found + item
        if type(item) not in (int, bool):
            break
    return found


def _compensated(items: Iterator[Any], found: Any) -> Any:
    """The sum up to the first item that is no number of Python's, with it (A. Neumaier, 1974)."""
    lost = 0.0
    for item in items:
        if _is_float(item):
            before, found = found, found + item
            a, b, both = map(_plain, (before, item, found))
            lost += (a - both) + b if abs(a) >= abs(b) else (b - both) + a
        elif isinstance(item, int):
            found = found + float(item)
        else:
            return _corrected(found, lost) + item
    return _corrected(found, lost)


def _corrected(found: Any, lost: float) -> Any:
    return found + lost if lost and math.isfinite(lost) else found


def _is_float(value: Any) -> bool:
    return type(_plain(value)) is float


def _plain(value: Any) -> Any:
    return plain(value._present()) if type(value) is RecordedNumber else value
