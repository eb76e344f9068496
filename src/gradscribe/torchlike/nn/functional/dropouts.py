"""Zeros for elements, or for whole channels, by chance."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from gradscribe.runtime.operations import elementwise
from gradscribe.runtime.operations import inplace as changes
from gradscribe.runtime.tensors.randomness import Generator, source
from gradscribe.runtime.tensors.tensor import Tensor, wrap

# fmt: off
__all__ = [
    "alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout",
]
# fmt: on

Source: TypeAlias = "Generator | np.random.Generator"
"""Where random numbers come from."""

_LEAST = -1.7580993408473766
"""What SELU goes to at minus infinity: -scale * alpha."""


def _check_probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _kept(input: Tensor, p: float, rank: int, generator: Source | None) -> Any:
    """1 for what is kept, 0 for the rest: for each element, or for the first axes."""
    shape = input.array.shape
    shape = shape if rank < 0 else shape[:rank] + (1,) * (len(shape) - rank)
    return np.asarray(source(generator).random(shape) >= p, input.array.dtype)


def _times(input: Tensor, factor: Any, inplace: bool) -> Tensor:
    if inplace:
        return changes.update(input, elementwise.mul, wrap(factor))
    return elementwise.mul(input, wrap(factor))


def _dropped(
    input: Tensor, p: float, training: bool, inplace: bool, generator: Source | None, rank: int
) -> Tensor:
    """Zeros for elements (rank -1), or along all axes but the first `rank`."""
    _check_probability(p)
    if not training or p == 0:
        return input
    kept = _kept(input, p, rank, generator)
    return _times(input, kept * np.asarray(1 / (1 - p) if p < 1 else 0, kept.dtype), inplace)


def dropout(
    input: Tensor,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    generator: Source | None = None,
) -> Tensor:
    """Zeros with probability p, and the other elements over 1 - p, when training."""
    return _dropped(input, p, training, inplace, generator, -1)


def dropout1d(
    input: Tensor,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    generator: Source | None = None,
) -> Tensor:
    """`dropout` of whole channels, (batch, channels, length)."""
    rank = 1 if len(input.shape) == 2 else 2
    return _dropped(input, p, training, inplace, generator, rank)


def dropout2d(
    input: Tensor,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    generator: Source | None = None,
) -> Tensor:
    """`dropout` of whole channels, (batch, channels, height, width)."""
    return _dropped(input, p, training, inplace, generator, 2)


def dropout3d(
    input: Tensor,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    generator: Source | None = None,
) -> Tensor:
    """`dropout` of whole channels, (batch, channels, depth, height, width)."""
    return _dropped(input, p, training, inplace, generator, 2)


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


def alpha_dropout(
    input: Tensor,
    p: float = 0.5,
    training: bool = False,
    inplace: bool = False,
    *,
    generator: Source | None = None,
) -> Tensor:
    """`dropout` that keeps mean and variance of what comes from SELU (Klambauer et al., 2017)."""
    _check_probability(p)
    if not training or p == 0:
        return input
    return _alpha(input, _kept(input, p, -1, generator), p, inplace)


def feature_alpha_dropout(
    input: Tensor,
    p: float = 0.5,
    training: bool = False,
    inplace: bool = False,
    *,
    generator: Source | None = None,
) -> Tensor:
    """`alpha_dropout` of whole channels."""
    _check_probability(p)
    if not training or p == 0:
        return input
    return _alpha(input, _kept(input, p, 2, generator), p, inplace)
