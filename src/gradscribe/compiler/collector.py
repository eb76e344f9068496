"""Python's garbage collector rests while a function is compiled.

Compiling makes many objects, nearly all of which live on: a quarter of the time went into
looking for cycles among them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """No garbage is collected inside, if that was not the caller's choice already."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
