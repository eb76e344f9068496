"""Whether an object of a library does what another one of its class does, by what they hold."""

from __future__ import annotations

import types
from typing import Any

import numpy as np


def is_alike(value: Any, other: Any) -> bool:
    """Whether two objects are of one class and hold the same: a distribution which a program has
    made, or changed, and the one that the library has."""
    if value is other:
        return True
    if type(value) is not type(other):
        return False
    ours, theirs = vars(value), vars(other)
    return ours.keys() == theirs.keys() and all(
        _same(item, theirs[name]) for name, item in ours.items() if name not in _TELLING
    )


_TELLING = frozenset({"name", "longname", "extradoc", "__doc__", "_ctor_param", "_random_state"})
"""What a distribution holds that its functions do not depend on."""


def _same(item: Any, other: Any) -> bool:
    if type(item) is not type(other):
        return False
    if isinstance(item, types.MethodType):
        return bool(item.__func__.__code__ == other.__func__.__code__)
    if isinstance(item, np.vectorize):
        return _same(item.pyfunc, other.pyfunc)
    return bool(item == other or (item != item and other != other))
