"""The conditions under which functions are compiled.

The garbage collector rests: compiling makes many objects, nearly all of which live on, and a
quarter of its time went into looking for cycles among them. The stack has room: what follows an
early `return` is lowered inside of the branch that it leaves, so that fifty of them nest.

And it has room in one piece. CPython (3.11 and later) keeps frames in chunks of 16 KiB, and gives a
chunk back to the system when the first frame in it returns: a loop whose calls stand at the edge of
one maps and unmaps memory in each iteration, a hundred times slower than a call. A compiler nests
calls so deep, and so often, that some of its loops always stand there; up to a third of its time
went into it. A frame that asks for more than a chunk gets one of twice its size.
"""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from gradscribe.compiler.defects import as_defect

_CALLS = 4000
"""How many calls may nest in compiling, whatever is nested around it already."""

_SLOTS = 1 << 17
"""How many values a frame says to hold, so that 1 MiB is left for those of the calls in it."""

F = TypeVar("F", bound=Callable[..., Any])


def compiling(function: F) -> F:
    """A function that compiles, under these conditions. What its caller has set is as it was
    afterwards."""

    @functools.wraps(function)
    def compile(*args: Any) -> Any:
        collects, limit = gc.isenabled(), sys.getrecursionlimit()
        gc.disable()
        sys.setrecursionlimit(max(limit, _depth() + _CALLS))
        try:
            return _in_one_chunk(function, *args)
        except Exception as error:
            defect = as_defect(error)
            if defect is None:
                raise
            raise defect from error
        finally:
            sys.setrecursionlimit(limit)
            if collects:
                gc.enable()

    return compile  # type: ignore[return-value]


def _in_one_chunk(function: Callable[..., Any], *args: Any) -> Any:
    return function(*args)


if sys.version_info >= (3, 11):
    _in_one_chunk.__code__ = _in_one_chunk.__code__.replace(co_stacksize=_SLOTS)


def _depth() -> int:
    """How many calls are nested now."""
    depth, frame = 0, sys._getframe()
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    return depth
