"""Arguments that hold numbers in a way that no derivative follows.

`gs.jvp` and `gs.hvp` differentiate along a tangent of each of their arguments. An object of any
class may be among these, for options and the like, with None as its tangent. A tangent that is
given for an object with numbers in it would be dropped.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from gradscribe.errors import ArgumentError
from gradscribe.ir.probing import is_dataclass, probe
from gradscribe.runtime.tensors.tensor import Tensor

_PLAIN = (
    *(type(None), str, bytes, bool, int, float, complex, np.generic, np.ndarray, Tensor, np.dtype),
    *(type, types.ModuleType, np.random.Generator, np.random.RandomState, np.ufunc),
    *(types.FunctionType, types.BuiltinFunctionType, types.MethodType, functools.partial),
)

_SEVERAL = (tuple, list, dict)

_MOST = 1_000
"""So many objects are looked at."""


def refuse_objects(primals: Sequence[Any], along: Sequence[Any], *, is_recorded: bool) -> None:
    """Raise an `ArgumentError` for an argument that is, or holds, an object in which there are
    numbers, and for which there is a tangent. along: the tangents; None where there is none."""
    if not isinstance(primals, (tuple, list)) or not isinstance(along, (tuple, list)):
        return  # it is told by those who use them
    for number, (value, tangent) in enumerate(zip(primals, along, strict=False)):
        for found in _objects(value, tangent, is_recorded):
            raise ArgumentError(
                f"argument {number} leads to an object of the class `{type(found).__name__}`, in "
                "which there are numbers that are not differentiated",
                "pass the arrays that are in it, or let it be a dataclass; give None as tangent of "
                "what is constant",
            )


def _objects(value: Any, along: Any, is_recorded: bool) -> Iterator[Any]:
    """The objects with numbers in an argument for which there are tangents."""
    if isinstance(value, _PLAIN) or along is None:
        return
    is_known = type(value) in _SEVERAL if is_recorded else isinstance(value, _SEVERAL)
    parts: Iterable[Any]
    if is_known and isinstance(value, dict):
        known = along if isinstance(along, dict) else {}
        parts = [(value[key], known[key]) for key in value if key in known]
    elif is_known or (isinstance(value, tuple) and hasattr(value, "_fields")):
        parts = zip(value, along, strict=False) if isinstance(along, (tuple, list)) else ()
    elif is_dataclass(type(value)):
        names = [field.name for field in dataclasses.fields(value)]
        parts = [(probe(value, name), probe(along, name)) for name in names]
    else:
        parts = ()
        if _holds_numbers(value):
            yield value
    for part, tangent in parts:
        yield from _objects(part, tangent, is_recorded)


def _holds_numbers(value: Any) -> bool:
    pending, seen = [value], set[int]()
    while pending and len(seen) < _MOST:
        item = pending.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, (float, complex, np.inexact, Tensor)):
            return True
        if isinstance(item, np.ndarray) and item.dtype.kind in "fc":
            return True
        if not isinstance(item, _PLAIN):
            pending += _held(item)
    return False


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
