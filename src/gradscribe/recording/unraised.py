"""Errors that Python does not raise, as those of finalizers and of callbacks that C calls: of what
recording alone has caused, the run is refused when it is over."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradscribe.errors import GradscribeError
from gradscribe.recording import exits, foreign
from gradscribe.recording.levels import is_running, refused


@contextmanager
def refusing() -> Iterator[None]:
    """Within the block, such errors are noted; others go where they went before."""
    before = sys.unraisablehook

    def note(unraisable: Any) -> None:
        error = unraisable.exc_value
        if is_running() and isinstance(error, GradscribeError):
            refused(error)
        elif is_running() and error is not None and foreign.is_raised_of_recorded(error):
            refused(exits.of_recorded(error))
        else:
            before(unraisable)

    sys.unraisablehook = note
    try:
        yield
    finally:
        if sys.unraisablehook is note:
            sys.unraisablehook = before
