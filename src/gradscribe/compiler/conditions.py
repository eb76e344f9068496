"""The conditions under which functions are compiled.

The garbage collector rests: compiling makes many objects, nearly all of which live on, and a
quarter of its time went into looking for cycles among them. The stack has room: what follows an
early `return` is lowered inside of the branch that it leaves, so that fifty of them nest.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_ROOM = 4000
"""How many calls may nest in compiling, whatever is nested around it already."""


@contextmanager
def compiling() -> Iterator[None]:
    """Compile inside. What the caller has set is as it was afterwards."""
    collects, limit = gc.isenabled(), sys.getrecursionlimit()
    gc.disable()
    sys.setrecursionlimit(max(limit, _depth() + _ROOM))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        if collects:
            gc.enable()


def _depth() -> int:
    """How many calls are nested now."""
    depth, frame = 0, sys._getframe()
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    return depth
