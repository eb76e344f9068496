"""Margins around images."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.tensors.tensor import Tensor
from gradscribe.torchlike.nn.formulas import padding as formulas
from gradscribe.torchlike.nn.functional.rows import FUNCTIONAL

_CONSTANT = Operation("ConstantPadNd", formulas.framed, ("before", "after", "value"))
_PAD = Operation("Pad", np.pad, ("pad_width", "mode"))
_NAMES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@FUNCTIONAL.operation(shapes="(…, n, m) -> (…, n + top + bottom, m + left + right)")
def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """input with more elements before and after along its last axes, fewer for a negative number.

    pad: (left, right, top, bottom, …), from the last axis on. mode: "constant" (value, by default
    0), "reflect", "replicate" or "circular". RuntimeError for numbers that do not go with the
    shape, ValueError for a value in another mode, NotImplementedError for what no mode does.
    """
    widths = tuple(pad)
    rank = len(input.shape)
    if len(widths) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(widths) > 2 * rank:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(widths)} and input of dimension {rank}"
        )
    before, after = widths[-2::-2], widths[::-2]
    if mode == "constant":
        return apply(_CONSTANT, (input,), (before, after, 0 if value is None else value))
    if value is not None and value != 0:
        raise ValueError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in _NAMES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    _check(input, before, after, mode)
    if mode == "circular" and min(widths) < 0:
        input, before, after = _shrunk(input, before, after)
    grown_before = tuple(max(width, 0) for width in before)
    grown_after = tuple(max(width, 0) for width in after)
    free = ((0, 0),) * (rank - len(before))
    ends = (*free, *zip(grown_before, grown_after, strict=True))
    grown = apply(_PAD, (input,), (ends, _NAMES[mode]))
    if min(*before, *after) >= 0:
        return grown
    return _shrunk(grown, before, after)[0]


def _shrunk(
    input: Tensor, before: tuple[int, ...], after: tuple[int, ...]
) -> tuple[Tensor, tuple[int, ...], tuple[int, ...]]:
    """Without the margins that are negative, and those that are left."""
    less = (tuple(min(width, 0) for width in each) for each in (before, after))
    result = apply(_CONSTANT, (input,), (*less, 0))
    return result, tuple(max(w, 0) for w in before), tuple(max(w, 0) for w in after)


def _check(input: Tensor, before: Sequence[int], after: Sequence[int], mode: str) -> None:
    """Raise PyTorch's errors for margins that these modes do not have."""
    rank, count = len(input.shape), len(before)
    if not (count in (1, 2, 3) and rank - count in (1, 2)):
        raise NotImplementedError(
            "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now"
        )
    shape = input.shape
    if mode != "replicate" and math.prod(shape[-count:]) == 0:
        raise RuntimeError(f"Expected non-zero dimensions for input but got {list(shape)}")
    for length, left, right in zip(shape[-count:], before, after, strict=True):
        if mode == "reflect" and max(left, right) >= length:
            raise RuntimeError(
                "Argument #4: Padding size should be less than the corresponding input dimension, "
                f"but got: padding ({left}, {right}) at dimension {rank - 1} of input "
                f"{list(shape)}"
            )
        if mode == "circular" and max(left, right) > length:
            raise RuntimeError("Padding value causes wrapping around more than once.")
