"""Arguments of functions of one, two or three axes of space, which all are run on three."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradscribe.runtime.arrays.size import sizes
from gradscribe.runtime.operations import shaping
from gradscribe.runtime.tensors.tensor import Tensor


def deep(space: Sequence[int]) -> tuple[int, ...]:
    """Lengths of axes of space, axes of length one before them."""
    return (1,) * (3 - len(space)) + tuple(space)


def triple(given: Any, rank: int, filling: int) -> tuple[int, ...]:
    """A number for each of the three axes: `given` is one for all of the last axes, or one for
    each; `filling` is for those before them."""
    numbers = sizes((given,))
    if len(numbers) == 1:
        numbers = numbers * rank
    if len(numbers) != rank:
        raise RuntimeError(f"expected one number or {rank}, but got {list(numbers)}")
    return (filling,) * (3 - rank) + numbers


def batch_of(input: Tensor, rank: int, name: str) -> Tensor:
    """The input as a batch."""
    given = len(input.shape)
    if given not in (rank + 1, rank + 2):
        raise RuntimeError(
            f"{name}() Expected {rank + 1}D or {rank + 2}D input tensor, but got "
            f"{list(input.shape)}"
        )
    return input if given == rank + 2 else shaping.unsqueeze(input, 0)


def like(result: Tensor, input: Tensor, rank: int) -> Tensor:
    return result if len(input.shape) == rank + 2 else shaping.squeeze(result, 0)


def counts_of(
    size: Any, kernel: Any, stride: Any, margin: Any, dilation: Any, ceil_mode: bool
) -> tuple[int, ...]:
    """How many positions the window has along each axis."""
    counts = []
    for n, k, s, p, d in zip(size, kernel, stride, margin, dilation, strict=True):
        room = n + 2 * p - d * (k - 1) - 1
        count = (-(-room // s) if ceil_mode else room // s) + 1
        if ceil_mode and (count - 1) * s >= n + p:
            count -= 1
        counts.append(count)
    return tuple(counts)


def window(name: str, kernel_size: Any, stride: Any, rank: int) -> tuple[Any, Any]:
    """The size of the window, and its steps: by default, as long as it is."""
    kernel = triple(kernel_size, rank, 1)
    has_stride = not (stride is None or (isinstance(stride, (tuple, list)) and not len(stride)))
    steps = triple(stride, rank, 1) if has_stride else kernel
    if min(kernel) <= 0:
        raise RuntimeError(f"{name}() kernel_size must be greater than zero, but got {min(kernel)}")
    if min(steps) <= 0:
        raise RuntimeError(f"{name}() stride must be greater than zero, but got {min(steps)}")
    return kernel, steps


def check_window(name: str, kernel: Any, margin: Any, dilation: Any, counts: Any) -> None:
    """Raise PyTorch's errors for margins that are too wide, and windows that are too large."""
    for k, p, d in zip(kernel, margin, dilation, strict=True):
        if p < 0:
            raise RuntimeError(f"{name}() padding must be non-negative, but got {p}")
        if 2 * p > d * (k - 1) + 1:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, "
                f"kernel_size={k} and dilation={d}"
            )
    if min(counts) <= 0:
        raise RuntimeError(f"{name}() Invalid computed output size: {min(counts)}")


def adaptive_counts(output_size: Any, size: Any, rank: int) -> tuple[int, ...]:
    """The size of the result: None stands for that of the input."""
    many = isinstance(output_size, (tuple, list))
    if many and len(output_size) not in (1, rank):
        raise ValueError("Input dimension should be at least " + str(len(output_size) + 1))
    given = tuple(output_size) if many else (output_size,)
    if any(count is not None and count < 0 for count in given):
        raise RuntimeError(
            f"elements of output_size must be greater than or equal to 0 but received {list(given)}"
        )
    given = given * rank if len(given) == 1 else given
    kept = (n if count is None else count for n, count in zip(size[3 - rank :], given, strict=True))
    return deep(tuple(kept))
