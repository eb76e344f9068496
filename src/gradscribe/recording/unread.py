"""Calls of code that is not followed, in C, from a recorded run: what it does to arrays that the
run knows of, it does by their methods, or to the arrays that it is given in their place."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from gradscribe.recording import texts


def call(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """What the code gives."""
    return texts.call(function, args, kwargs)


def is_storing() -> bool:
    """Whether such code is what calls the function that asks, to store to an array that records.
    Item by item it does not do what it does to memory: of rows that it swaps, one would be there
    twice."""
    frame: FrameType | None = sys._getframe(2)
    is_direct = True
    while frame is not None and str(frame.f_globals.get("__name__")).startswith(_OWN):
        if frame.f_code is call.__code__:
            return True
        frame, is_direct = frame.f_back, False
    return is_direct and frame is not None and _is_calling(frame)


_OWN = __name__.rpartition(".")[0]


def _is_calling(frame: FrameType) -> bool:
    """Whether a function of Python's calls something, and does not store by itself."""
    opcode = _opcodes(frame.f_code)[frame.f_lasti]
    return dis.opname[opcode].startswith("CALL")


_known: dict[int, tuple[CodeType, bytes]] = {}


def _opcodes(code: CodeType) -> bytes:
    known = _known.get(id(code))
    if known is None:
        if len(_known) > 1024:
            _known.clear()
        known = _known[id(code)] = code, code.co_code
    return known[1]
