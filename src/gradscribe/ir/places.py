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
    first = line = code.co_firstlineno
    if linecache.getline(code.co_filename, first).lstrip().startswith("@"):
        line = next((n for n in range(first, first + _MOST) if _defines(code, n)), first)
    text = linecache.getline(code.co_filename, line)
    statement = text.strip()
    start = len(text[: text.find(statement)].encode())
    return Location(code.co_filename, line, start, start + len(statement.encode()), statement)


def _defines(code: types.CodeType, line: int) -> bool:
    return linecache.getline(code.co_filename, line).lstrip().startswith(("def ", "async def "))


_MOST = 20
"""So many lines of decorators may stand before a `def`."""
