"""The table of eager operations, continued: padding, and channels of images moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import composites
from gradscribe.runtime.arrays.rows import FUNCTION, operation
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.tensors.tensor import Tensor

_PAD = Operation("ConstantPadNd", np.pad, ("pad_width", "mode", "constant_values"))
_REGROUPED = {
    name: Operation(name, composites.regrouped, ("parts", "order", "shape"))
    for name in ("ChannelShuffle", "PixelShuffle", "PixelUnshuffle")
}


@operation(FUNCTION, shapes="(…, n) -> (…, before + n + after), along each axis padded")
def constant_pad_nd(input: Tensor, pad: Sequence[int], value: Any = 0) -> Tensor:
    """Padded with a value: pairs of lengths, for the last axis first; negative ones cut off."""
    rank, count = input.array.ndim, len(pad) // 2
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if count > rank:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. Pad "
            f"length is {len(pad)} while the input has {rank} dimensions."
        )
    pairs = [(pad[2 * i], pad[2 * i + 1]) for i in range(count)]
    ends = ((0, 0),) * (rank - count) + tuple(reversed(pairs))
    kept = tuple(
        slice(max(-before, 0), n - max(-after, 0))
        for (before, after), n in zip(ends, input.array.shape, strict=True)
    )
    cut = input[kept] if any(min(pair) < 0 for pair in ends) else input
    widths = tuple((max(before, 0), max(after, 0)) for before, after in ends)
    return apply(_PAD, (cut,), (widths, "constant", value))


def _regroup(
    name: str, input: Tensor, parts: tuple[int, ...], order: tuple[int, ...], shape: Any
) -> Tensor:
    """The last axes taken apart, put in another order, and together in another shape."""
    batch = tuple(input.shape[:-3])
    first = len(batch)
    moved = (*range(first), *(first + axis for axis in order))
    return apply(_REGROUPED[name], (input,), ((*batch, *parts), moved, (*batch, *shape)))


@operation(FUNCTION, shapes="(n, c, …) -> (n, c, …)")
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """The channels in turn: the first of each of so many groups, the second of each, and so on.
    RuntimeError where they are no multiple of groups."""
    whole = tuple(input.shape)
    if len(whole) < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(whole)}"
        )
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if whole[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {whole[1]} channels and {groups} "
            "groups."
        )
    parts = (whole[0], groups, whole[1] // groups, *whole[2:])
    order = (0, 2, 1, *range(3, len(parts)))
    return apply(_REGROUPED["ChannelShuffle"], (input,), (parts, order, whole))


@operation(FUNCTION, shapes="(…, c r², n, m) -> (…, c, n r, m r), r being upscale_factor")
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """result[c, r * i + a, r * j + b] = input[r² * c + r * a + b, i, j], r being upscale_factor.
    RuntimeError where channels are no multiple of r², or r is not above 0."""
    r = upscale_factor
    if len(input.shape) < 3:
        raise RuntimeError(
            "pixel_shuffle expects input to have at least 3 dimensions, but got input with "
            f"{len(input.shape)} dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    channels, rows, columns = input.shape[-3:]
    if channels % r**2:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of"
            f" upscale_factor, but input.size(-3)={channels} is not divisible by {r**2}"
        )
    parts = (channels // r**2, r, r, rows, columns)
    shape = (channels // r**2, rows * r, columns * r)
    return _regroup("PixelShuffle", input, parts, (0, 3, 1, 4, 2), shape)


@operation(FUNCTION, shapes="(…, c, n r, m r) -> (…, c r², n, m), r being downscale_factor")
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """The inverse of `pixel_shuffle`. RuntimeError where lengths are no multiple of r."""
    r = downscale_factor
    if len(input.shape) < 3:
        raise RuntimeError(
            "pixel_unshuffle expects input to have at least 3 dimensions, but got input with "
            f"{len(input.shape)} dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    channels, rows, columns = input.shape[-3:]
    for name, length in (("height", rows), ("width", columns)):
        if length % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({-2 if name == 'height' else -1})={length} is not divisible by {r}"
            )
    parts = (channels, rows // r, r, columns // r, r)
    shape = (channels * r * r, rows // r, columns // r)
    return _regroup("PixelUnshuffle", input, parts, (0, 2, 4, 1, 3), shape)
