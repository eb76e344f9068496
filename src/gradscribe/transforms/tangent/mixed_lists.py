"""Tangents of lists that hold integers beside numbers with tangents, as in `[(0, x), (1, y)]`.

What stands for an integer in the tangent of a list is the integer itself, for the structure that it
belongs to. Where an array is made of such a list, its tangent has a zero there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.errors import UnsupportedError
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Operation, Value
from gradscribe.ir.types import Array, Scalar, Sequence, Tuple, Type, is_differentiable
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.transforms.derivatives.inlining import Inline


def without_integers(
    inline: Inline, builder: Builder, operation: Operation, tangent: Value
) -> Value:
    """The tangent of an array that was made of the tangents of lists, with zeros for integers."""
    mixed = [operand for operand in operation.operands if _is_mixed(operand.type)]
    if not mixed:
        return tangent
    makers = (PRIMITIVES[np.array], PRIMITIVES[np.asarray])
    assert operation.primitive in makers, "functions make an array of a list first"
    mask = _mask(mixed[0].type)
    while mask.shape[0] == 1:
        mask = mask[0]
    arguments = {"tangent": tangent, "mask": _nested(mask)}
    masked: Value = inline(builder, _times, arguments, builder.location)
    return masked


def refuse_integers(operation: Operation) -> None:
    """Refuse to give such a list to a user's rule, which would take integers for tangents."""
    if any(_is_mixed(operand.type) for operand in operation.operands):
        raise UnsupportedError(
            "the tangent of a list that holds integers beside numbers which are differentiated",
            "hold floats in it, or make an array of it first: `np.array(items)`",
            operation.location,
        )


def _times(tangent, mask):  # type: ignore[no-untyped-def]
    return tangent * np.array(mask)


def _is_mixed(type_: Type) -> bool:
    if not isinstance(type_, (Sequence, Tuple)):
        return False
    flags = set(_flags(type_))
    return flags == {False, True}


def _flags(type_: Type) -> Any:
    """Which of the numbers in a list or tuple have tangents."""
    if isinstance(type_, Sequence):
        yield from _flags(type_.item)
    elif isinstance(type_, Tuple):
        for item in type_.items:
            yield from _flags(item)
    elif isinstance(type_, (Array, Scalar)):
        yield is_differentiable(type_)


def _mask(type_: Type) -> np.ndarray[Any, Any]:
    """1 where an element has a tangent, else 0, in an array that broadcasts to what is made."""
    if isinstance(type_, Sequence):
        return _mask(type_.item)[None]
    if isinstance(type_, Tuple):
        return np.stack(np.broadcast_arrays(*map(_mask, type_.items)))
    rank = type_.rank if isinstance(type_, Array) else 0
    return np.full((1,) * rank, float(is_differentiable(type_)))


def _nested(mask: np.ndarray[Any, Any]) -> Any:
    """An array as tuples in tuples."""
    return tuple(map(_nested, mask)) if mask.ndim else mask.item()
