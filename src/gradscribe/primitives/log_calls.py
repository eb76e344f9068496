"""Calls of `logging` whose records go through code of the user's: it may read arrays, not store.

Comes in: a function or method of `logging` with its arguments. `goes_through_others` tells where a
handler, filter or formatter that is not the standard library's sees them; the call is made by
`only_shown` there, which compares the arrays afterwards.
"""

from __future__ import annotations

import logging
import logging.handlers
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradscribe.errors import UnsupportedError
from gradscribe.ir.probing import probe
from gradscribe.primitives.contract_kinds import STREAM
from gradscribe.primitives.static import static


def goes_through_others(callee: Any, receiver: Any) -> bool:
    """Whether code that is not the standard library's sees what this call logs. receiver: the
    logger or adapter, if the call is of a method."""
    if probe(callee, "__module__") != "logging":
        return False
    logger = receiver
    parts: list[Any] = []
    while isinstance(logger, logging.LoggerAdapter):
        parts.append(logger)
        logger = logger.logger
    if not isinstance(logger, logging.Logger):
        logger = logging.getLogger()
    return not all(map(_is_standard, [*parts, *_parts(logger)]))


def _parts(logger: logging.Logger | None) -> Iterator[Any]:
    """What a record of this logger goes through."""
    if logger is not None:
        yield from (logger, *logger.filters)
    while logger is not None:
        for handler in logger.handlers:
            yield from (handler, *handler.filters, handler.formatter)
        logger = logger.parent if logger.propagate else None


def _is_standard(part: Any) -> bool:
    is_own = _METHODS.isdisjoint(probe(part, "__dict__") or {})
    return part is None or (type(part).__module__ in _MODULES and is_own)


_METHODS = frozenset({"emit", "filter", "format", "handle", "process"})
_MODULES = ("logging", "logging.handlers")


def only_shown(function: Any, *args: Any, **keywords: Any) -> Any:
    """`function(*args, **keywords)`, where the arrays among the arguments are as they were
    afterwards."""
    given = list(_arrays_in(args))
    before = [array.tobytes() for array in given]
    result = function(*args, **keywords)
    if any(array.tobytes() != held for array, held in zip(given, before, strict=True)):
        raise UnsupportedError(
            f"a handler or filter changes an array that `{function.__name__}` is given to show",
            "log a copy: `array.copy()`",
        )
    return result


def _arrays_in(value: Any) -> Iterator[Any]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (tuple, list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _arrays_in(item)


only_shown.__gradscribe_contract__ = STREAM  # type: ignore[attr-defined]
static(logging.getLogger)  # there is one logger of each name
