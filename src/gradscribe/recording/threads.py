"""Threads that a function starts in a recorded run: what they call is part of the run, too, and a
refusal there, which ends only the thread, is raised at the end."""

from __future__ import annotations

import _thread
import contextvars
import sys
from collections.abc import Callable
from concurrent.futures import Executor
from threading import Thread
from types import BuiltinFunctionType, MethodType
from typing import Any

from gradscribe.errors import GradscribeError
from gradscribe.ir.probing import is_a, probe
from gradscribe.primitives import interpreter
from gradscribe.recording import exits, foreign
from gradscribe.recording.levels import REFUSED

Callee = Any


def is_starting(method: Callee) -> bool:
    """Whether calling this hands a function to another thread."""
    if type(method) is BuiltinFunctionType:
        return method in interpreter.STARTING
    if type(method) is not MethodType:
        return False
    owner, name = method.__self__, method.__name__
    if is_a(owner, Thread):
        return name == "start"
    if is_a(owner, Executor):
        return name in ("submit", "map")
    return _is_pool(owner) and name in _HANDING


_HANDING = frozenset(
    {"apply", "apply_async", "imap", "imap_unordered", "map", "map_async", "starmap"}
    | {"starmap_async"}
)


def _is_pool(owner: Any) -> bool:
    """Whether this is a pool of threads of `multiprocessing`."""
    pool = probe(sys.modules.get("multiprocessing.pool"), "ThreadPool")
    return pool is not None and is_a(owner, pool)


def starting(method: Any, callee_of: Callable[[Callee], Callee]) -> Callee:
    """`thread.start`, or what a pool of threads is given, of functions that run recorded."""

    def start(*args: Any, **kwargs: Any) -> Any:
        owner: Any = method.__self__
        if owner is _thread or is_a(owner, Executor) or _is_pool(owner):
            return method(_carried(args[0], callee_of), *args[1:], **kwargs)
        if getattr(owner, "_target", None) is not None:
            owner._target = callee_of(owner._target)
        owner.run = _carried(owner.run, callee_of)
        return method()

    return start


def _carried(function: Callee, callee_of: Callable[[Callee], Callee]) -> Callee:
    """A function that goes on with the run in another thread."""
    context, followed = contextvars.copy_context(), callee_of(function)

    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return context.copy().run(followed, *args, **kwargs)
        except Exception as error:  # of the program, which may raise anything
            refused = context.get(REFUSED)
            if refused is not None and isinstance(error, GradscribeError):
                refused.append(error)
            elif refused is not None and foreign.is_raised_of_recorded(error):
                refused.append(exits.of_recorded(error))
            raise

    return run
