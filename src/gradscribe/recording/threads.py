"""Threads that a function starts in a recorded run: what they call is part of the run, too, and a
refusal there, which ends only the thread, is raised at the end."""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from concurrent.futures import Executor
from threading import Thread
from types import MethodType
from typing import Any

from gradscribe.errors import GradscribeError
from gradscribe.recording.levels import REFUSED

Callee = Any


def is_starting(method: Callee) -> bool:
    """Whether calling this hands a function to another thread."""
    if type(method) is not MethodType:
        return False
    owner, name = method.__self__, method.__name__
    if isinstance(owner, Thread):
        return name == "start"
    return isinstance(owner, Executor) and name in ("submit", "map")


def starting(method: Any, callee_of: Callable[[Callee], Callee]) -> Callee:
    """`thread.start`, or `executor.submit` and `executor.map`, of functions that run recorded."""

    def start(*args: Any, **kwargs: Any) -> Any:
        owner: Any = method.__self__
        if isinstance(owner, Executor):
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
        except GradscribeError as error:
            refused = context.get(REFUSED)
            if refused is not None:
                refused.append(error)
            raise

    return run
