"""The numbers of nodes: PyTorch numbers the forms of a function ("MeanBackward1")."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Number = Callable[[Sequence[bool], Mapping[str, Any]], int]
"""Of a call: which operands are Tensors, and the static arguments."""


def along_axes(_: Sequence[bool], static: Mapping[str, Any]) -> int:
    """0 of all elements, 1 along axes."""
    return int(static.get("axis") is not None)


def taken_along(_: Sequence[bool], static: Mapping[str, Any]) -> int:
    """0 of all elements, 1 along an axis."""
    return int("axis" in static)


def taken_of_all(_: Sequence[bool], static: Mapping[str, Any]) -> int:
    """0 along an axis, 1 of all elements."""
    return int("axis" not in static)


def alone(are_tensors: Sequence[bool], _: Mapping[str, Any]) -> int:
    """1 where there is one operand, 0 where there are others."""
    return int(len(are_tensors) == 1)


def of_tensor(position: int, number: int = 1) -> Number:
    """One number where the operand at a position is a Tensor, the other where it is a number."""
    return lambda are_tensors, _: number if are_tensors[position] else 1 - number


def power(are_tensors: Sequence[bool], _: Mapping[str, Any]) -> int:
    """0 of a number as exponent, 1 of two Tensors, 2 of a number as base."""
    return int(are_tensors[1]) if are_tensors[0] else 2
