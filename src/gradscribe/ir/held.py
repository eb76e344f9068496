"""What an object holds: the values that its attributes and items lead to."""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from gradscribe.ir.probing import probe

HOLD_NOTHING = (
    *(type(None), str, bytes, bool, int, float, complex, np.generic, np.ndarray, np.dtype),
    *(type, types.ModuleType, np.random.Generator, np.random.RandomState, np.ufunc),
    *(types.FunctionType, types.BuiltinFunctionType, types.MethodType, functools.partial),
)
"""Classes of values in which nothing is looked for."""

_MOST = 1_000
"""So many values are looked at."""


def reached(value: Any) -> Iterator[Any]:
    """A value, and what it leads to, each once."""
    pending, seen = [value], set[int]()
    while pending and len(seen) < _MOST:
        item = pending.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        yield item
        if not isinstance(item, HOLD_NOTHING):
            pending += _held(item)


def _held(item: Any) -> Iterable[Any]:
    """What an object, or a container of any class, holds."""
    members = [own for cls in type(item).__mro__ for own in vars(cls).items()]
    slots = [name for name, own in members if isinstance(own, types.MemberDescriptorType)]
    found = [*(probe(item, "__dict__") or {}).values(), *(probe(item, name) for name in slots)]
    if isinstance(item, (dict, types.MappingProxyType)):
        found += item.values()
    elif isinstance(item, (tuple, list, set, frozenset, collections.deque)):
        found += item
    return found
