"""Where a function that users give is defined, for errors that tell of it.

Comes in: a function, method or partial. Goes out: the place of its `def`. No source is parsed, so
that Tensors can tell it before the compiler is loaded.
"""

from __future__ import annotations

import functools
import linecache
import types
from collections.abc import Callable
from typing import Any

from gradscribe.ir.core import Location
from gradscribe.ir.probing import probe


def place_of(function: Callable[..., Any]) -> Location | None:
    """Where a function is defined; None where that is not known."""
    found: Any = function
    while not isinstance(found, types.FunctionType):
        if isinstance(found, functools.partial):
            found = found.func
        else:
            found = probe(found, "__func__") or probe(found, "__wrapped__")
        if found is None:
            return None
    code = found.__code__
    for line in range(code.co_firstlineno, code.co_firstlineno + _MOST_DECORATORS):
        text = linecache.getline(code.co_filename, line)
        statement = text.strip()
        if statement.startswith(("def ", "async def ")):
            start = len(text[: text.index(statement)].encode())
            end = start + len(statement.encode())
            return Location(code.co_filename, line, start, end, statement)
    return Location(code.co_filename, code.co_firstlineno, 0, 0, "")


_MOST_DECORATORS = 10
"""So many lines of decorators may stand before a `def`."""
