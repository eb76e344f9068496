"""Convolutions and their adjoints."""

from __future__ import annotations

from typing import Any

from gradscribe.runtime.operations import shaping
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.tensors.promotion import alike
from gradscribe.runtime.tensors.tensor import Tensor
from gradscribe.torchlike.nn.formulas import convolution as formulas
from gradscribe.torchlike.nn.functional.rows import Function, Space, for_spaces
from gradscribe.torchlike.nn.functional.windows import deep, like, triple

_STATIC = ("stride", "before", "after", "dilation", "groups", "sizes")
_CONVOLUTION = Operation("Convolution", formulas.convolution, _STATIC)
_TRANSPOSED = Operation("Convolution", formulas.transposed_convolution, _STATIC)


def _check(input: Tensor, weight: Tensor, rank: int, channels: int, groups: int) -> None:
    """Raise PyTorch's errors for shapes that do not go together."""
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if len(weight.shape) not in (rank + 1, rank + 2) or len(weight.shape) < 3:
        raise RuntimeError("weight should have at least three dimensions")
    if len(weight.shape) != rank + 2:
        given = len(weight.shape)
        raise RuntimeError(
            f"Expected {given}-dimensional input for {given}-dimensional weight"
            f"{list(weight.shape)}, but got {len(input.shape)}-dimensional input of size "
            f"{list(input.shape)} instead"
        )
    if weight.shape[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but "
            f"got weight of size {list(weight.shape)} instead"
        )
    if weight.shape[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, "
            f"but got weight of size {list(weight.shape)} instead"
        )
    if len(input.shape) not in (rank + 1, rank + 2):
        raise RuntimeError(
            f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input to conv{rank}d, but "
            f"got input of size: {list(input.shape)}"
        )
    found = input.shape[-rank - 1]
    if found != channels:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(weight.shape)}, expected "
            f"input{list(input.shape)} to have {channels} channels, but got {found} channels "
            "instead"
        )


def _margins(padding: Any, kernel: Any, stride: Any, dilation: Any, rank: int) -> Any:
    """How much is added before and after along each axis."""
    if padding == "valid":
        return (0, 0, 0), (0, 0, 0)
    if padding == "same":
        if max(stride) > 1:
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        whole = tuple(d * (k - 1) for d, k in zip(dilation, kernel, strict=True))
        before = tuple(total // 2 for total in whole)
        return before, tuple(total - left for total, left in zip(whole, before, strict=True))
    if isinstance(padding, str):
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    margin = triple(padding, rank, 0)
    return margin, margin


def _check_bias(weight: Tensor, bias: Tensor | None, channels: int) -> None:
    """The error for a bias that does not have a number for each channel."""
    if bias is not None and tuple(bias.shape) != (channels,):
        raise RuntimeError(
            f"Given weight of size {list(weight.shape)}, expected bias to be 1-dimensional with "
            f"{channels} elements, but got bias of size {list(bias.shape)} instead"
        )


def _convolved(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    rank: int,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Tensor:
    steps, spread = triple(stride, rank, 1), triple(dilation, rank, 1)
    if min(steps) <= 0:
        raise RuntimeError("non-positive stride is not supported")
    if not isinstance(padding, str) and min(triple(padding, rank, 0)) < 0:
        raise RuntimeError("negative padding is not supported")
    if min(spread) <= 0:
        raise RuntimeError("dilation should be greater than zero")
    _check(input, weight, rank, weight.shape[1] * groups, groups)
    _check_bias(weight, bias, weight.shape[0])
    kernel = deep(weight.shape[2:])
    before, after = _margins(padding, kernel, steps, spread, rank)
    batch = input if len(input.shape) == rank + 2 else shaping.unsqueeze(input, 0)
    size = deep(batch.shape[2:])
    reach = tuple(d * (k - 1) + 1 for d, k in zip(spread, kernel, strict=True))
    whole = tuple(n + p + q for n, p, q in zip(size, before, after, strict=True))
    if any(n < r for n, r in zip(whole, reach, strict=True)):
        seen = " x ".join(str(n) for n in whole[3 - rank :])
        wanted = " x ".join(str(k) for k in reach[3 - rank :])
        raise RuntimeError(
            f"Calculated padded input size per channel: ({seen}). Kernel size: ({wanted}). Kernel "
            "size can't be greater than actual input size"
        )
    counts = tuple((n - r) // s + 1 for n, r, s in zip(whole, reach, steps, strict=True))
    static = (steps, before, after, spread, groups, (kernel, counts))
    return like(_applied(_CONVOLUTION, batch, weight, bias, static), input, rank)


def _transposed(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    rank: int,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Tensor:
    _check(input, weight, rank, weight.shape[0], groups)
    _check_bias(weight, bias, weight.shape[1] * groups)
    kernel = deep(weight.shape[2:])
    steps, spread = triple(stride, rank, 1), triple(dilation, rank, 1)
    margin, more = triple(padding, rank, 0), triple(output_padding, rank, 0)
    if any(extra >= max(s, d) for extra, s, d in zip(more, steps, spread, strict=True)):
        raise RuntimeError("output padding must be smaller than either stride or dilation")
    batch = input if len(input.shape) == rank + 2 else shaping.unsqueeze(input, 0)
    counts = deep(batch.shape[2:])
    size = tuple(
        (n - 1) * s + d * (k - 1) + 1
        for n, s, d, k in zip(counts, steps, spread, kernel, strict=True)
    )
    before = tuple(-m for m in margin)
    after = tuple(e - m for e, m in zip(more, margin, strict=True))
    static = (steps, before, after, spread, groups, (kernel, counts, size))
    return like(_applied(_TRANSPOSED, batch, weight, bias, static), input, rank)


def _applied(
    operation: Operation, batch: Tensor, weight: Tensor, bias: Tensor | None, static: Any
) -> Tensor:
    operands = alike((batch, weight) if bias is None else (batch, weight, bias))
    return apply(operation, operands, static)


@for_spaces("conv{rank}d", "(n?, c, {space}), (o, c / groups, *kernel), (o)? -> (n?, o, {made})")
def _convolution(space: Space) -> Function:
    def convolution(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        """Σ weight[o, c, k] * input[n, c, stride * p + dilation * k - padding] + bias[o] over all
        channels c and places k of the kernel, for each place p of the result.

        stride, padding, dilation: a number for each axis, or one for all; input counts as 0
        outside. padding may be "valid" (none) or "same" (the result is as long as input). groups:
        channels of the result see those of input in the same of so many parts. RuntimeError for
        numbers and shapes that do not go together, and a kernel longer than the padded input.
        """
        return _convolved(input, weight, bias, len(space), stride, padding, dilation, groups)

    return convolution


@for_spaces(
    "conv_transpose{rank}d", "(n?, c, {space}), (c, o / groups, *kernel), (o)? -> (n?, o, {made})"
)
def _transposed_convolution(space: Space) -> Function:
    def transposed(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Tensor:
        """The adjoint of `conv{rank}d` with the same weight, plus bias[o]: each element of input,
        times the kernel, is added to the result at the places where the kernel would have met it.

        stride, padding, dilation, groups: those of `conv{rank}d`. output_padding: how much longer
        the result is, of the lengths that `conv{rank}d` makes as long as input. RuntimeError for
        numbers and shapes that do not go together.
        """
        rank, more = len(space), output_padding
        return _transposed(input, weight, bias, rank, stride, padding, more, groups, dilation)

    return transposed
