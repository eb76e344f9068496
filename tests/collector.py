"""The cycle collector, where much is compiled in one process."""

from __future__ import annotations

import gc


def collect_seldom() -> None:
    """What is alive now is not gone through again. Compiled functions are many small objects
    that live long: looking for cycles among all of them took a fifth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)
