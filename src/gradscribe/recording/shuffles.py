"""Shuffling arrays of a recorded run: generators of random numbers put items in another order, and
do not look at them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.ir.probing import is_a, probe
from gradscribe.recording.arrays import is_active, is_recorded
from gradscribe.recording.levels import plain


def is_shuffling(method: Any) -> bool:
    """Whether it is `generator.shuffle`."""
    owner = probe(method, "__self__")
    is_generator = is_a(owner, (np.random.Generator, np.random.RandomState))
    return is_generator and probe(method, "__name__") == "shuffle"


def shuffling(method: Callable[..., None], otherwise: Callable[..., None]) -> Callable[..., None]:
    """The method, for arrays with a derivative: their positions are shuffled in their place."""

    def shuffle(x: Any, *args: Any, **kwargs: Any) -> None:
        if not is_recorded(x) or not is_active(x):
            otherwise(x, *args, **kwargs)
            return
        array = plain(x._present())
        positions = np.empty_like(array, dtype=np.intp)
        positions[...] = np.arange(array.size).reshape(array.shape)
        positions.flags.writeable = x._writeable
        method(positions, *args, **kwargs)
        x[...] = np.ravel(x)[positions]

    return shuffle
