"""Pooling: the greatest element under each position of a window."""

from __future__ import annotations

import math
from typing import Any

from gradscribe.runtime.operations import shaping
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.tensors.tensor import Tensor, wrap
from gradscribe.torchlike.nn.formulas import pooling as formulas
from gradscribe.torchlike.nn.functional.windows import (
    adaptive_counts,
    batch_of,
    check_window,
    counts_of,
    deep,
    like,
    triple,
    window,
)

# fmt: off
__all__ = [
    "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d", "max_pool1d", "max_pool2d",
    "max_pool3d", "max_unpool1d", "max_unpool2d", "max_unpool3d",
]
# fmt: on

_PLACES = Operation("MaxPool", formulas.places_of_greatest, differentiable=False)
_TAKEN = Operation("MaxPoolWithIndices", formulas.taken, ("shape",))
_PUT = Operation("MaxUnpool", formulas.put, ("shape",))


def _greatest(input: Tensor, batch: Tensor, places: Any, rank: int) -> tuple[Tensor, Tensor]:
    """The greatest elements under windows that meet these places along each axis, and where they
    are."""
    table = formulas.table_of(places, deep(batch.shape[2:]))
    place = apply(_PLACES, (batch.detach(), wrap(table)))
    counts = tuple(len(each) for each in places)
    shape = (batch.shape[0], batch.shape[1], *counts[3 - rank :])
    values = apply(_TAKEN, (batch, place), (shape,))
    indices = shaping.reshape(place, shape)
    return like(values, input, rank), like(indices, input, rank)


def _max_pooled(
    input: Tensor,
    rank: int,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
) -> tuple[Tensor, Tensor]:
    name = f"max_pool{rank}d"
    batch = batch_of(input, rank, name)
    kernel, steps = window(name, kernel_size, stride, rank)
    margin, spread = triple(padding, rank, 0), triple(dilation, rank, 1)
    if min(spread) <= 0:
        raise RuntimeError(f"{name}() dilation must be greater than zero, but got {min(spread)}")
    size = deep(batch.shape[2:])
    counts = counts_of(size, kernel, steps, margin, spread, ceil_mode)
    check_window(name, kernel, margin, spread, counts)
    places = [
        formulas.places_along(size[a], kernel[a], steps[a], margin[a], spread[a], counts[a])
        for a in range(3)
    ]
    return _greatest(input, batch, places, rank)


def _adaptive_max(input: Tensor, rank: int, output_size: Any) -> tuple[Tensor, Tensor]:
    batch = batch_of(input, rank, f"adaptive_max_pool{rank}d")
    size = deep(batch.shape[2:])
    counts = adaptive_counts(output_size, size, rank)
    places = [formulas.adaptive_places(n, count) for n, count in zip(size, counts, strict=True)]
    return _greatest(input, batch, places, rank)


def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The greatest element under each position of a window; return_indices: and its place."""
    both = _max_pooled(input, 1, kernel_size, stride, padding, dilation, ceil_mode)
    return both if return_indices else both[0]


def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The greatest element under each position of a window; return_indices: and its place."""
    both = _max_pooled(input, 2, kernel_size, stride, padding, dilation, ceil_mode)
    return both if return_indices else both[0]


def max_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The greatest element under each position of a window; return_indices: and its place."""
    both = _max_pooled(input, 3, kernel_size, stride, padding, dilation, ceil_mode)
    return both if return_indices else both[0]


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The greatest element of each of so many equal parts; return_indices: and its place."""
    both = _adaptive_max(input, 1, output_size)
    return both if return_indices else both[0]


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The greatest element of each of so many equal parts; return_indices: and its place."""
    both = _adaptive_max(input, 2, output_size)
    return both if return_indices else both[0]


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The greatest element of each of so many equal parts; return_indices: and its place."""
    both = _adaptive_max(input, 3, output_size)
    return both if return_indices else both[0]


def _chosen_size(
    given: tuple[int, ...], usual: tuple[int, ...], steps: tuple[int, ...]
) -> tuple[int, ...]:
    """The size that is named, which is less than a step away from the usual one."""
    size = given[-len(usual) :]
    for axis, (length, expected, step) in enumerate(zip(size, usual, steps, strict=True)):
        if not expected - step < length < expected + step:
            raise ValueError(
                f'invalid output_size "{size}" (dim {axis} must be between {expected - step} and '
                f"{expected + step})"
            )
    return size


def _unpooled(
    input: Tensor,
    indices: Tensor,
    rank: int,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    output_size: Any,
) -> Tensor:
    if indices.shape != input.shape:
        raise RuntimeError(
            "Expected shape of indices to be same as that of the input tensor "
            f"({list(input.shape)}) but got indices tensor with shape: {list(indices.shape)}"
        )
    batch = batch_of(input, rank, f"max_unpool{rank}d")
    kernel, steps = window(f"max_unpool{rank}d", kernel_size, stride, rank)
    margin, given = triple(padding, rank, 0), deep(batch.shape[2:])
    size = tuple(
        (n - 1) * s + k - 2 * p for n, s, k, p in zip(given, steps, kernel, margin, strict=True)
    )[3 - rank :]
    if output_size is not None:
        size = _chosen_size(tuple(output_size), size, steps[3 - rank :])
    count = math.prod(size)
    outside = indices.array[(indices.array < 0) | (indices.array >= count)]
    if outside.size:
        volume = "x".join(str(length) for length in size)
        raise RuntimeError(
            f"Found an invalid max index: {outside[0]} (output volumes are of size {volume})"
        )
    shape = (batch.shape[0], batch.shape[1], *size)
    places = shaping.reshape(indices, (batch.shape[0], batch.shape[1], -1))
    return like(apply(_PUT, (batch, places), (shape,)), input, rank)


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Zeros, and the elements that `max_pool1d` has chosen at their places."""
    return _unpooled(input, indices, 1, kernel_size, stride, padding, output_size)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Zeros, and the elements that `max_pool2d` has chosen at their places."""
    return _unpooled(input, indices, 2, kernel_size, stride, padding, output_size)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Zeros, and the elements that `max_pool3d` has chosen at their places."""
    return _unpooled(input, indices, 3, kernel_size, stride, padding, output_size)
