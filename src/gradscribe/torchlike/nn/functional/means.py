"""Pooling: the mean, or the norm, of what each position of a window meets."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.operations import elementwise, reductions, shaping
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.tensors.tensor import Tensor, wrap
from gradscribe.torchlike.nn.formulas import padding as margins
from gradscribe.torchlike.nn.formulas import pooling as formulas
from gradscribe.torchlike.nn.formulas import resampling
from gradscribe.torchlike.nn.functional.rows import (
    FUNCTIONAL,
    SPACES,
    Function,
    Space,
    for_spaces,
)
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

_SUMS = Operation("AvgPool", formulas.window_sums, ("kernel", "stride", "counts"))
_FRAMED = Operation("ConstantPadNd", margins.framed, ("before", "after", "value"))
_RESAMPLED = Operation("AdaptiveAvgPool", resampling.resampled)
_POOLED = "(n?, c, {space}) -> (n?, c, {made})"


def _covered(
    size: Any, kernel: Any, stride: Any, margin: Any, counts: Any, count_include_pad: bool
) -> list[Any]:
    """How many elements of each axis count at each position of the window."""
    covered = []
    for n, k, s, p, count in zip(size, kernel, stride, margin, counts, strict=True):
        starts = [i * s - p for i in range(count)]
        low, high = (-p, n + p) if count_include_pad else (0, n)
        covered.append([min(start + k, high) - max(start, low) for start in starts])
    return covered


def _sums(batch: Tensor, kernel: Any, stride: Any, margin: Any, counts: Any) -> Tensor:
    """The sum under each position of the window, on three axes."""
    size = deep(batch.shape[2:])
    solid = shaping.reshape(batch, (batch.shape[0], batch.shape[1], *size))
    after = tuple(
        max((count - 1) * s + k - n - p, 0)
        for count, s, k, n, p in zip(counts, stride, kernel, size, margin, strict=True)
    )
    if max(margin) > 0 or max(after) > 0:
        solid = apply(_FRAMED, (solid,), (margin, after, 0))
    return apply(_SUMS, (solid,), (kernel, stride, counts))


def _avg_pooled(
    input: Tensor,
    rank: int,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    name = f"avg_pool{rank}d"
    batch = batch_of(input, rank, name)
    kernel, steps = window(name, kernel_size, stride, rank)
    margin, size = triple(padding, rank, 0), deep(batch.shape[2:])
    counts = counts_of(size, kernel, steps, margin, (1, 1, 1), ceil_mode)
    check_window(name, kernel, margin, (1, 1, 1), counts)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    total = _sums(batch, kernel, steps, margin, counts)
    covered = _covered(size, kernel, steps, margin, counts, count_include_pad)
    if divisor_override is not None:
        means = functions.div(total, divisor_override)
    elif all(each.count(each[0]) == len(each) for each in covered):
        means = functions.div(total, covered[0][0] * covered[1][0] * covered[2][0])
    else:
        first, second, third = (wrap(np.array(each, batch.array.dtype)) for each in covered)
        means = functions.div(total, first[:, None, None] * second[:, None] * third)
    shape = (batch.shape[0], batch.shape[1], *counts[3 - rank :])
    return like(shaping.reshape(means, shape), input, rank)


@FUNCTIONAL.operation(shapes="(n?, c, l) -> (n?, c, l')")
def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """`avg_pool2d` along one axis, with its arguments (but for the divisor) and errors."""
    return _avg_pooled(input, 1, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


@for_spaces("avg_pool{rank}d", _POOLED, spaces=SPACES[1:])
def _avg_pool(space: Space) -> Function:
    def pooled(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        """Σ input[n, c, stride * p + k - padding] / count over all places k of a window, for each
        place p of the result.

        kernel_size, stride (by default, kernel_size), padding: a number for each axis, or one for
        all. ceil_mode: the last window may reach beyond the end. count: divisor_override, or how
        many elements the window meets, zeros of the padding among them if count_include_pad.
        RuntimeError for numbers and shapes that do not go together, and for a divisor of 0.
        """
        divisor = divisor_override
        return _avg_pooled(
            input, len(space), kernel_size, stride, padding, ceil_mode, count_include_pad, divisor
        )

    return pooled


def part_means(input: Tensor, rank: int, output_size: Any) -> Tensor:
    """The means of so many parts along each axis of space."""
    batch = batch_of(input, rank, f"adaptive_avg_pool{rank}d")
    space = tuple(batch.shape[2:])
    counts = adaptive_counts(output_size, deep(space), rank)[3 - rank :]
    if all(count == 1 for count in counts):
        return like(reductions.mean(batch, tuple(range(2, rank + 2)), True), input, rank)
    dtype = batch.array.dtype
    matrices = tuple(
        wrap(resampling.part_means(n, count).astype(dtype))
        for n, count in zip(space, counts, strict=True)
    )
    return like(apply(_RESAMPLED, (batch, *matrices)), input, rank)


@for_spaces("adaptive_avg_pool{rank}d", _POOLED)
def _adaptive_avg_pool(space: Space) -> Function:
    def pooled(input: Tensor, output_size: Any) -> Tensor:
        """The mean of each of so many parts of input, of lengths as equal as can be.

        output_size: how many along each axis, or one number for all; None: as many as there are
        elements. RuntimeError for a negative number, ValueError for too many.
        """
        return part_means(input, len(space), output_size)

    return pooled


@for_spaces("lp_pool{rank}d", _POOLED)
def _lp_pool(space: Space) -> Function:
    def pooled(
        input: Tensor,
        norm_type: float,
        kernel_size: Any,
        stride: Any = None,
        ceil_mode: bool = False,
    ) -> Tensor:
        """(Σ x^norm_type)^(1 / norm_type) over the elements x that a window meets, for each of its
        places.

        kernel_size, stride, ceil_mode, errors: those of `avg_pool{rank}d`.
        """
        rank = len(space)
        powers = elementwise.pow(input, norm_type)
        means = _avg_pooled(powers, rank, kernel_size, stride, 0, ceil_mode, True, None)
        kernel = triple(kernel_size, rank, 1)
        size = elementwise.mul(elementwise.sign(means), elementwise.relu(elementwise.abs(means)))
        whole = elementwise.mul(size, kernel[0] * kernel[1] * kernel[2])
        return elementwise.pow(whole, 1.0 / norm_type)

    return pooled
