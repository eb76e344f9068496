"""The blocks of images that convolutions work on."""

from __future__ import annotations

from typing import Any

from gradscribe.runtime.operations import shaping
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.tensors.tensor import Tensor
from gradscribe.torchlike.nn.formulas import convolution as formulas
from gradscribe.torchlike.nn.functional.rows import FUNCTIONAL
from gradscribe.torchlike.nn.functional.windows import deep, triple

_UNFOLD = Operation("Im2Col", formulas.blocks, ("kernel", "stride", "before", "dilation", "counts"))
_FOLD = Operation("Col2Im", formulas.image, ("kernel", "stride", "before", "dilation", "sizes"))


def _block_counts(size: Any, kernel: Any, stride: Any, margin: Any, dilation: Any) -> Any:
    """How many blocks there are along each axis."""
    return tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(size, kernel, stride, margin, dilation, strict=True)
    )


@FUNCTIONAL.operation(shapes="(n?, c, h, w) -> (n?, c * kernel elements, positions)")
def unfold(
    input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """The blocks under a window that slides over images, as columns.

    kernel_size, dilation, padding, stride: a number for each axis, or one for both; images count
    as 0 outside. RuntimeError for a window longer than the padded image.
    """
    kernel, steps = triple(kernel_size, 2, 1), triple(stride, 2, 1)
    spread, margin = triple(dilation, 2, 1), triple(padding, 2, 0)
    batch = input if len(input.shape) == 4 else shaping.unsqueeze(input, 0)
    counts = _block_counts(deep(batch.shape[2:]), kernel, steps, margin, spread)
    if min(counts) <= 0:
        raise RuntimeError(
            f"Given input with spatial size {tuple(batch.shape[2:])}, kernel_size={kernel[1:]}, "
            f"dilation={spread[1:]}, padding={margin[1:]}, calculated shape of the array of "
            f"sliding blocks as {counts[1:]}, but its components must be at least one."
        )
    result = apply(_UNFOLD, (shaping.unsqueeze(batch, 2),), (kernel, steps, margin, spread, counts))
    return result if len(input.shape) == 4 else shaping.squeeze(result, 0)


@FUNCTIONAL.operation(shapes="(n?, c * kernel elements, positions) -> (n?, c, h', w')")
def fold(
    input: Tensor,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Tensor:
    """The images of size output_size that are the sums of blocks given as columns: the adjoint of
    `unfold`, with its numbers. RuntimeError for columns that are not such."""
    kernel, steps = triple(kernel_size, 2, 1), triple(stride, 2, 1)
    spread, margin = triple(dilation, 2, 1), triple(padding, 2, 0)
    size = triple(output_size, 2, 1)
    counts = _block_counts(size, kernel, steps, margin, spread)
    area = kernel[1] * kernel[2]
    if input.shape[-2] % area:
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
            f"but got input.size(1)={input.shape[-2]} and kernel_size={kernel[1:]}."
        )
    if input.shape[-1] != counts[1] * counts[2]:
        raise RuntimeError(
            f"Given output_size={size[1:]}, kernel_size={kernel[1:]}, dilation={spread[1:]}, "
            f"padding={margin[1:]}, stride={steps[1:]}, expected size of input's dimension 2 to "
            f"match the calculated number of sliding blocks {counts[1]} * {counts[2]} = "
            f"{counts[1] * counts[2]}, but got input.size(2)={input.shape[-1]}."
        )
    batch = input if len(input.shape) == 3 else shaping.unsqueeze(input, 0)
    whole = tuple(n + 2 * p for n, p in zip(size, margin, strict=True))
    images = apply(_FOLD, (batch,), (kernel, steps, margin, spread, (counts, whole)))
    result = shaping.squeeze(images, 2)
    return result if len(input.shape) == 3 else shaping.squeeze(result, 0)
