"""Arguments that hold numbers in a way that no derivative follows.

`gs.jvp` and `gs.hvp` differentiate along a tangent of each of their arguments. An object of any
class may be among these, for options and the like, with None as its tangent. A tangent that is
given for an object with numbers in it would be dropped.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from gradscribe.errors import ArgumentError
from gradscribe.ir.held import HOLD_NOTHING, reached
from gradscribe.ir.probing import is_dataclass, probe
from gradscribe.runtime.tensors.tensor import Tensor

_SEVERAL = (tuple, list, dict)


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
    if isinstance(value, (*HOLD_NOTHING, Tensor)) or along is None:
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
    return any(map(_is_number, reached(value)))


def _is_number(item: Any) -> bool:
    is_array = isinstance(item, np.ndarray) and item.dtype.kind in "fc"
    return is_array or isinstance(item, (float, complex, np.inexact, Tensor))
