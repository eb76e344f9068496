"""A fresh stack for a computation that is nested deeply."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context


def in_thread(function: Callable[[], object]) -> None:
    """Call a function in a thread of its own, under the context variables of the caller, and wait
    for it. What it raises is raised here."""
    errors: list[BaseException] = []

    def call() -> None:
        try:
            function()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=copy_context().run, args=(call,))
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
