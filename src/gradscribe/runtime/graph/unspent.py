"""Generators of random numbers that a generated function draws from: to run it once more and leave
them as they were."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

_Generators = (np.random.Generator, np.random.RandomState, random.Random)


@contextlib.contextmanager
def random_numbers_unspent(
    function: Callable[..., Any], arguments: Sequence[Any]
) -> Iterator[bool]:
    """Within the block, a call of a generated function leaves its generators of random numbers as
    they are. Whether there are any."""
    reached = {id(g): g for g in (*function.__globals__.values(), *arguments)}
    found = [g for g in reached.values() if isinstance(g, _Generators)]
    before = [deepcopy(_state(generator)) for generator in found]
    try:
        yield bool(found)
    finally:
        for generator, state in zip(found, before, strict=True):
            _restore(generator, state)


def _state(generator: Any) -> Any:
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    return generator.get_state() if hasattr(generator, "get_state") else generator.getstate()


def _restore(generator: Any, state: Any) -> None:
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
    elif hasattr(generator, "set_state"):
        generator.set_state(state)
    else:
        generator.setstate(state)
