"""Pooling: the greatest element under each position of a window."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradscribe.runtime.operations import shaping
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.tensors.tensor import Tensor, wrap
from gradscribe.torchlike.nn.formulas import pooling as formulas
from gradscribe.torchlike.nn.functional.rows import Function, Space, for_spaces
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

_PLACES = Operation("MaxPool", formulas.places_of_greatest, differentiable=False)
_TAKEN = Operation("MaxPoolWithIndices", formulas.taken, ("shape",))
_PUT = Operation("MaxUnpool", formulas.put, ("shape",))
_POOLED = "(n?, c, {space}) -> (n?, c, {made}), with return_indices twice"
_INDICES = "that of input; of indices int64"


def _greatest(input: Tensor, batch: Tensor, places: Any, rank: int, return_indices: bool) -> Any:
    """The greatest elements under windows that meet these places along each axis, and (if asked
    for) where they are."""
    table = formulas.table_of(places, deep(batch.shape[2:]))
    place = apply(_PLACES, (batch.detach(), wrap(table)))
    counts = tuple(len(each) for each in places)
    shape = (batch.shape[0], batch.shape[1], *counts[3 - rank :])
    values = apply(_TAKEN, (batch, place), (shape,))
    values = like(values, input, rank)
    return (values, like(shaping.reshape(place, shape), input, rank)) if return_indices else values


@for_spaces("max_pool{rank}d", _POOLED, dtypes=_INDICES)
def _max_pool(space: Space) -> Callable[..., Any]:
    def pooled(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        """max input[n, c, stride * p + dilation * k - padding] over all places k of a window, for
        each place p of the result.

        kernel_size, stride (by default, kernel_size), padding, dilation: a number for each axis, or
        one for all; what is padded is never the greatest. ceil_mode: the last window may reach
        beyond the end. return_indices: also where each element was, counted through all axes of
        space. RuntimeError for numbers and shapes that do not go together.
        """
        rank = len(space)
        name = f"max_pool{rank}d"
        batch = batch_of(input, rank, name)
        kernel, steps = window(name, kernel_size, stride, rank)
        margin, spread = triple(padding, rank, 0), triple(dilation, rank, 1)
        if min(spread) <= 0:
            raise RuntimeError(
                f"{name}() dilation must be greater than zero, but got {min(spread)}"
            )
        size = deep(batch.shape[2:])
        counts = counts_of(size, kernel, steps, margin, spread, ceil_mode)
        check_window(name, kernel, margin, spread, counts)
        places = [
            formulas.places_along(size[a], kernel[a], steps[a], margin[a], spread[a], counts[a])
            for a in range(3)
        ]
        return _greatest(input, batch, places, rank, return_indices)

    return pooled


@for_spaces("adaptive_max_pool{rank}d", _POOLED, dtypes=_INDICES)
def _adaptive_max_pool(space: Space) -> Callable[..., Any]:
    def pooled(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        """The greatest element of each of so many parts of input, of lengths as equal as can be.

        output_size: how many along each axis, or one number for all; None: as many as there are
        elements. return_indices: also where each element was, counted through all axes of space.
        RuntimeError for a negative number, ValueError for too many.
        """
        rank = len(space)
        batch = batch_of(input, rank, f"adaptive_max_pool{rank}d")
        size = deep(batch.shape[2:])
        counts = adaptive_counts(output_size, size, rank)
        places = [formulas.adaptive_places(n, count) for n, count in zip(size, counts, strict=True)]
        return _greatest(input, batch, places, rank, return_indices)

    return pooled


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


@for_spaces("max_unpool{rank}d", "(n?, c, {space}), (n?, c, {space}) -> (n?, c, {made})")
def _max_unpool(space: Space) -> Function:
    def unpooled(
        input: Tensor,
        indices: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        output_size: Any = None,
    ) -> Tensor:
        """Zeros, and the elements of input at the places that `max_pool{rank}d` has told of.

        kernel_size, stride, padding: those of `max_pool{rank}d`. output_size: the lengths of the
        result, where `max_pool{rank}d` makes the same of several; by default the least that windows
        fill. ValueError for one that it could not have been, RuntimeError for indices of another
        shape or outside the result.
        """
        if indices.shape != input.shape:
            raise RuntimeError(
                "Expected shape of indices to be same as that of the input tensor "
                f"({list(input.shape)}) but got indices tensor with shape: {list(indices.shape)}"
            )
        rank = len(space)
        batch = batch_of(input, rank, f"max_unpool{rank}d")
        kernel, steps = window(f"max_unpool{rank}d", kernel_size, stride, rank)
        margin, given = triple(padding, rank, 0), deep(batch.shape[2:])
        size = tuple(
            (n - 1) * s + k - 2 * p for n, s, k, p in zip(given, steps, kernel, margin, strict=True)
        )[3 - rank :]
        if output_size is not None:
            size = _chosen_size(tuple(output_size), size, steps[3 - rank :])
        _check_places(indices, size)
        shape = (batch.shape[0], batch.shape[1], *size)
        places = shaping.reshape(indices, (batch.shape[0], batch.shape[1], -1))
        return like(apply(_PUT, (batch, places), (shape,)), input, rank)

    return unpooled


def _check_places(indices: Tensor, size: tuple[int, ...]) -> None:
    """Raise PyTorch's error for places outside the result."""
    count = math.prod(size)
    outside = indices.array[(indices.array < 0) | (indices.array >= count)]
    if outside.size:
        volume = "x".join(str(length) for length in size)
        raise RuntimeError(
            f"Found an invalid max index: {outside[0]} (output volumes are of size {volume})"
        )
