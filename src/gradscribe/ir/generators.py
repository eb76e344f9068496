"""Random generators of NumPy and of Python: values at run time, known by the names of their
classes, as importing `numpy.random` takes a while."""

from __future__ import annotations

from abc import ABC
from typing import Any

import numpy as np

from gradscribe.ir.probing import probe

_CLASSES = {
    ("numpy.random._generator", "Generator"),
    ("numpy.random.mtrand", "RandomState"),
    ("random", "Random"),
}


class RandomGenerator(ABC):  # noqa: B024  (its subclasses are found by the hook)
    """A random generator of NumPy or of Python, of a class that draws as theirs do."""

    @classmethod
    def __subclasshook__(cls, other: type) -> bool:
        bases = other.__mro__
        known = next((c for c in bases if (c.__module__, c.__qualname__) in _CLASSES), None)
        if known is None:
            return False
        names = {name for base in bases[: bases.index(known)] for name in vars(base)}
        return names.isdisjoint({*dir(known)} - {*dir(_Empty)})


class _Empty:
    """What every class has."""


def made_by(callee: Any) -> type | None:
    """The class of the generator that a callable makes."""
    if isinstance(callee, type):
        return callee if issubclass(callee, RandomGenerator) else None
    is_default = probe(callee, "__name__", "") == "default_rng"
    return np.random.Generator if is_default and callee is np.random.default_rng else None
