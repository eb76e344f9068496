"""Convolutions over arrays, as one matrix product for each sample.

Everything is done for three axes of space; there are axes of length one before where there are
fewer. `columns` lays the elements under each position of a kernel out as the rows of a matrix
(im2col), and `folded` adds such a matrix up again: each is the adjoint of the other, and so are
`convolution` and `transposed_convolution`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.torchlike.nn.formulas.padding import framed


def columns(x: Any, kernel: Any, stride: Any, dilation: Any, counts: Any) -> Any:
    """What each element of a kernel meets at its positions: (batch, channels, *kernel, *counts)."""
    met = np.empty((x.shape[0], x.shape[1], *kernel, *counts), x.dtype)
    spans = [(count - 1) * step + 1 for count, step in zip(counts, stride, strict=True)]
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            for k in range(kernel[2]):
                p, q, r = i * dilation[0], j * dilation[1], k * dilation[2]
                met[:, :, i, j, k] = x[
                    :,
                    :,
                    p : p + spans[0] : stride[0],
                    q : q + spans[1] : stride[1],
                    r : r + spans[2] : stride[2],
                ]
    return met


def folded(met: Any, kernel: Any, stride: Any, dilation: Any, counts: Any, size: Any) -> Any:
    """The sums of what `columns` has laid out, each at its place: (batch, channels, *size)."""
    x = np.zeros((met.shape[0], met.shape[1], *size), met.dtype)
    spans = [(count - 1) * step + 1 for count, step in zip(counts, stride, strict=True)]
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            for k in range(kernel[2]):
                p, q, r = i * dilation[0], j * dilation[1], k * dilation[2]
                x[
                    :,
                    :,
                    p : p + spans[0] : stride[0],
                    q : q + spans[1] : stride[1],
                    r : r + spans[2] : stride[2],
                ] += met[:, :, i, j, k]
    return x


def convolution(
    x: Any,
    weight: Any,
    *bias: Any,
    stride: Any,
    before: Any,
    after: Any,
    dilation: Any,
    groups: int,
    sizes: Any,
) -> Any:
    """The sums of x (batch, channels, *space) times the weights (channels of the result, channels
    in a group, *kernel) at each position. sizes: of the kernel and of the result, on three axes."""
    kernel, counts = sizes
    space = x.shape[2:]
    deep = np.reshape(x, (x.shape[0], x.shape[1], *(1,) * (3 - len(space)), *space))
    if max(before) > 0 or max(after) > 0:
        deep = framed(deep, before, after, 0)
    met = deep
    if kernel != (1, 1, 1) or stride != (1, 1, 1):
        met = columns(deep, kernel, stride, dilation, counts)
    area = kernel[0] * kernel[1] * kernel[2]
    positions = counts[0] * counts[1] * counts[2]
    rows = np.reshape(met, (x.shape[0], groups, x.shape[1] // groups * area, positions))
    matrix = np.reshape(weight, (groups, weight.shape[0] // groups, -1))
    result = np.reshape(matrix @ rows, (x.shape[0], weight.shape[0], *counts[3 - len(space) :]))
    return with_bias(result, bias)


def transposed_convolution(
    x: Any,
    weight: Any,
    *bias: Any,
    stride: Any,
    before: Any,
    after: Any,
    dilation: Any,
    groups: int,
    sizes: Any,
) -> Any:
    """The adjoint of a convolution. weight: (channels, channels of the result in a group, *kernel).
    sizes: of the kernel, of x, and of the result before the margin is cut off, on three axes."""
    kernel, counts, size = sizes
    rank = x.ndim - 2
    channels = weight.shape[1]
    rows = np.reshape(
        x, (x.shape[0], groups, x.shape[1] // groups, counts[0] * counts[1] * counts[2])
    )
    matrix = np.reshape(weight, (groups, x.shape[1] // groups, -1))
    met = np.reshape(
        np.swapaxes(matrix, 1, 2) @ rows, (x.shape[0], groups * channels, *kernel, *counts)
    )
    whole = folded(met, kernel, stride, dilation, counts, size)
    cut = framed(whole, before, after, 0)
    result = np.reshape(cut, (*cut.shape[:2], *cut.shape[5 - rank :]))
    return with_bias(result, bias)


def with_bias(result: Any, bias: Any) -> Any:
    """A number added to each channel, if there is a bias."""
    if len(bias) == 0:
        return result
    return result + np.reshape(bias[0], (-1, *(1,) * (result.ndim - 2)))


def blocks(x: Any, kernel: Any, stride: Any, before: Any, dilation: Any, counts: Any) -> Any:
    """The blocks under a window that slides over images, as columns."""
    met = columns(framed(x, before, before, 0), kernel, stride, dilation, counts)
    area = kernel[0] * kernel[1] * kernel[2]
    return np.reshape(met, (x.shape[0], x.shape[1] * area, counts[0] * counts[1] * counts[2]))


def image(x: Any, kernel: Any, stride: Any, before: Any, dilation: Any, sizes: Any) -> Any:
    """The images that are the sums of blocks given as columns. sizes: how many blocks there are
    along each axis, and the size of the images with their margin."""
    counts, size = sizes
    area = kernel[0] * kernel[1] * kernel[2]
    met = np.reshape(x, (x.shape[0], x.shape[1] // area, *kernel, *counts))
    whole = folded(met, kernel, stride, dilation, counts, size)
    margin = (-before[0], -before[1], -before[2])
    return framed(whole, margin, margin, 0)
