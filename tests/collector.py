"""The cycle collector, where much is compiled in one process."""

from __future__ import annotations

import gc


def rest() -> None:
    """Leave what is there alone, and hardly ever look for cycles in what follows. Compiled
    functions are many small objects that live long: to go through all of them, again and again,
    took a sixth of the time."""
    gc.freeze()
    gc.set_threshold(10_000_000)


def collect() -> None:
    """Free what has been left alone, too: a gigabyte after some ten thousand tests."""
    gc.unfreeze()
    gc.collect()
    rest()
