"""Calls of `logging` whose records go through code of others: it may read arrays, not store.

Comes in: a function or method of `logging` with its arguments. `goes_through_others` tells where a
handler, filter or formatter that is not the standard library's sees them; the call is made by
`only_shown` there, which compares the arrays afterwards.
"""

from __future__ import annotations

import logging
import logging.handlers
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from gradscribe.errors import UnsupportedError
from gradscribe.ir.probing import is_library_module, module_of_class, probe
from gradscribe.primitives.contract_kinds import SHOWN, STREAM
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
    return part is None or (module_of_class(type(part)) in _MODULES and is_own)


_METHODS = frozenset({"emit", "filter", "format", "handle", "process"})
_MODULES = ("logging", "logging.handlers")


def only_shown(function: Any, *args: Any, **keywords: Any) -> Any:
    """`function(*args, **keywords)`, where the arrays among the arguments are as they were
    afterwards."""
    before = list(_contents(args, set()))
    result = function(*args, **keywords)
    changed = [value for value, held in before if _held(value) != held]
    if any(isinstance(value, np.ndarray) for value in changed):
        raise UnsupportedError(
            f"a handler or filter changes an array that `{function.__name__}` is given to show",
            "log a copy: `array.copy()`",
        )
    if changed:
        raise UnsupportedError(
            f"a handler or filter changes what `{function.__name__}` is given to show",
            "log a copy, or the text: `str(…)`",
        )
    return result


def _contents(value: Any, seen: set[int]) -> Iterator[tuple[Any, Any]]:
    """The arrays, lists, dicts and objects in a value, each with what it holds."""
    held = _held(value)
    if held is not None and id(value) not in seen:
        seen.add(id(value))
        yield value, held
        for item in value if isinstance(value, list) else _values(value):
            yield from _contents(item, seen)
    elif isinstance(value, tuple):
        for item in value:
            yield from _contents(item, seen)


def _values(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else ()


def _held(value: Any) -> Any:
    """What an array, list, dict or object of the user's holds; None of other values."""
    if isinstance(value, np.ndarray):
        return value.tobytes()
    if isinstance(value, list):
        return [*map(id, value)]
    if isinstance(value, dict):
        return [(id(key), id(item)) for key, item in value.items()]
    is_object = not is_library_module(module_of_class(type(value))) and not isinstance(value, type)
    return _held(probe(value, "__dict__")) if is_object else None


def shown_to_users(function: Any, *args: Any, **keywords: Any) -> Any:
    """Likewise, where code of the user's sees what is shown, and may keep it."""
    return only_shown(function, *args, **keywords)


only_shown.__gradscribe_contract__ = STREAM  # type: ignore[attr-defined]
shown_to_users.__gradscribe_contract__ = SHOWN  # type: ignore[attr-defined]
static(logging.getLogger)  # there is one logger of each name
