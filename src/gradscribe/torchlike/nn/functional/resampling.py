"""Images in another size, and channels that become space."""

from __future__ import annotations

import math
from typing import Any

from gradscribe.runtime.arrays.rows import FUNCTION
from gradscribe.runtime.operations import rearranging
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.tensors.tensor import Tensor, wrap
from gradscribe.torchlike.nn.formulas import resampling as formulas
from gradscribe.torchlike.nn.functional.means import part_means
from gradscribe.torchlike.nn.functional.rows import FUNCTIONAL

_RESAMPLED = Operation("Upsample", formulas.resampled)
_PICKED = Operation("UpsampleNearest", formulas.picked)
_RANKS = {"linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2}
_RESIZED = "(n, c, *space) -> (n, c, *size)"

FUNCTIONAL.also("channel_shuffle", rearranging.channel_shuffle, FUNCTION)
FUNCTIONAL.also("pixel_shuffle", rearranging.pixel_shuffle, FUNCTION)
FUNCTIONAL.also("pixel_unshuffle", rearranging.pixel_unshuffle, FUNCTION)


@FUNCTIONAL.operation(shapes=_RESIZED)
def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """input in another size.

    size, or scale_factor: a number for each axis of space, or one for all. mode: "nearest",
    "nearest-exact", "area" (means), "linear", "bilinear", "trilinear" or "bicubic" (polynomials
    between elements). align_corners: the outermost elements stay at the corners.
    recompute_scale_factor: the factor is that of the lengths. ValueError for sizes or
    align_corners that cannot be, NotImplementedError for axes that a mode does not have, and for
    antialias.
    """
    rank = len(input.shape) - 2
    if antialias:
        raise NotImplementedError("interpolate() with antialias=True: use avg_pool first")
    if align_corners is not None and mode not in _RANKS:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear "
            "| bicubic | trilinear"
        )
    if rank not in (1, 2, 3) or _RANKS.get(mode, rank) != rank:
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported (got "
            f"{rank + 2}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area "
            f"| nearest-exact (got {mode})"
        )
    space = tuple(input.shape[2:])
    counts, scales = _sizes(space, size, scale_factor)
    if recompute_scale_factor:
        scales = (None,) * rank
    if mode == "area":
        return part_means(input, rank, counts)
    if mode in ("nearest", "nearest-exact"):
        is_exact = mode == "nearest-exact"
        places = tuple(
            wrap(formulas.nearest_places(n, count, scale, is_exact))
            for n, count, scale in zip(space, counts, scales, strict=True)
        )
        return apply(_PICKED, (input, *places))
    if mode not in _RANKS:
        raise NotImplementedError(f"unknown mode of interpolation: {mode}")
    weights = formulas.cubic_weights if mode == "bicubic" else formulas.linear_weights
    matrices = tuple(
        wrap(weights(n, count, scale, bool(align_corners)).astype(input.array.dtype))
        for n, count, scale in zip(space, counts, scales, strict=True)
    )
    return apply(_RESAMPLED, (input, *matrices))


def _sizes(space: Any, size: Any, scale_factor: Any) -> tuple[Any, Any]:
    """The lengths of the result, and the factors that were given."""
    rank = len(space)
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        counts = tuple(size) if isinstance(size, (tuple, list)) else (size,) * rank
        if len(counts) != rank:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input "
                f"with spatial dimensions of {list(space)} and output size of {size}. Please "
                "provide input tensor in (N, C, d1, d2, ...,dK) format and output size in (o1, o2, "
                "...,oK) format."
            )
        return counts, (None,) * rank
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    many = isinstance(scale_factor, (tuple, list))
    scales = tuple(scale_factor) if many else (scale_factor,) * rank
    if len(scales) != rank:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input "
            f"with spatial dimensions of {list(space)} and scale_factor of shape {scale_factor}. "
            "Please provide input tensor in (N, C, d1, d2, ...,dK) format and scale_factor in (s1, "
            "s2, ...,sK) format."
        )
    return tuple(math.floor(n * scale) for n, scale in zip(space, scales, strict=True)), scales


@FUNCTIONAL.operation(shapes=_RESIZED)
def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """`interpolate`, under an older name."""
    return interpolate(input, size, scale_factor, mode, align_corners)


@FUNCTIONAL.operation(shapes=_RESIZED)
def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate`, mode "nearest"."""
    return interpolate(input, size, scale_factor, "nearest")


@FUNCTIONAL.operation(shapes=_RESIZED)
def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate`, mode "bilinear", align_corners=True."""
    return interpolate(input, size, scale_factor, "bilinear", True)
