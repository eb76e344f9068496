"""Zeros for elements, or for whole channels, by chance."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.runtime.operations import elementwise
from gradscribe.runtime.operations import inplace as changes
from gradscribe.runtime.tensors.randomness import Generator, source
from gradscribe.runtime.tensors.tensor import Tensor, wrap
from gradscribe.torchlike.nn.functional.rows import FUNCTIONAL, SAME, Function, named

_LEAST = -1.7580993408473766
"""What SELU goes to at minus infinity: -scale * alpha."""


def _times(input: Tensor, factor: Any, inplace: bool) -> Tensor:
    if inplace:
        return changes.update(input, elementwise.mul, wrap(factor))
    return elementwise.mul(input, wrap(factor))


def _scaled(input: Tensor, kept: Any, p: float, inplace: bool) -> Tensor:
    """Zeros for what is not kept; then of the same mean."""
    return _times(input, kept * np.asarray(1 / (1 - p) if p < 1 else 0, kept.dtype), inplace)


def _alpha(input: Tensor, kept: Any, p: float, inplace: bool) -> Tensor:
    """What is not kept set to the least value of SELU; then of the same mean and variance."""
    if p == 1:
        return _times(input, np.asarray(0, input.array.dtype), inplace)
    scale = 1 / math.sqrt((1 - p) * (1 + p * _LEAST**2))
    shift = (1 - kept) * np.asarray(_LEAST * scale, kept.dtype)
    shift = shift + np.asarray(-scale * p * _LEAST, kept.dtype)
    scaled = _times(input, kept * np.asarray(scale, kept.dtype), inplace)
    if inplace:
        return changes.update(scaled, elementwise.add, wrap(shift))
    return elementwise.add(scaled, wrap(shift))


def _each(shape: tuple[int, ...]) -> tuple[int, ...]:
    return shape


def _channels(shape: tuple[int, ...]) -> tuple[int, ...]:
    """For each channel of each sample."""
    return shape[:2] + (1,) * (len(shape) - 2)


def _channels_of_lines(shape: tuple[int, ...]) -> tuple[int, ...]:
    """For each channel; lines may come without a batch."""
    return (shape[0], 1) if len(shape) == 2 else _channels(shape)


_ABOUT = """

p: the probability of what is dropped. training: whether anything is; otherwise the result is input.
inplace: input itself is changed, and is the result. generator: where random numbers come from.
ValueError for p outside [0, 1]."""


def _made(
    name: str,
    meaning: str,
    dropped: Callable[[Tensor, Any, float, bool], Tensor],
    shape_of: Callable[[tuple[int, ...]], tuple[int, ...]],
    shapes: str = SAME,
    *,
    trains: bool = True,
) -> Function:
    """A function that drops by chance. shape_of: what is drawn for an input of a shape."""

    def function(
        input: Tensor,
        p: float = 0.5,
        training: bool = trains,
        inplace: bool = False,
        *,
        generator: Generator | np.random.Generator | None = None,
    ) -> Tensor:
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        if not training or p == 0:
            return input
        drawn = source(generator).random(shape_of(input.array.shape))
        return dropped(input, np.asarray(drawn >= p, input.array.dtype), p, inplace)

    return FUNCTIONAL.operation(shapes=shapes)(named(function, name, f"{meaning}{_ABOUT}"))


_CHANNELS = "Zeros for whole channels by chance, and the other elements over 1 - p."

dropout = _made(
    "dropout", "Zeros for elements by chance, and the others over 1 - p.", _scaled, _each
)
_made("dropout1d", _CHANNELS, _scaled, _channels_of_lines, "(n?, c, l) -> (n?, c, l)")
_made("dropout2d", _CHANNELS, _scaled, _channels, "(n, c, h, w) -> (n, c, h, w)")
_made("dropout3d", _CHANNELS, _scaled, _channels, "(n, c, d, h, w) -> (n, c, d, h, w)")
_made(
    "alpha_dropout",
    "The least value of SELU for elements by chance, then all scaled and shifted: what comes from\n"
    "SELU keeps mean and variance (Klambauer et al., 2017).",
    _alpha,
    _each,
    trains=False,
)
_made(
    "feature_alpha_dropout",
    "`alpha_dropout` of whole channels.",
    _alpha,
    _channels,
    "(n, c, …) -> (n, c, …)",
    trains=False,
)
