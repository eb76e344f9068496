"""Pooling over arrays: the greatest element, or the sum, under each position of a window."""

from __future__ import annotations

from typing import Any

import numpy as np


def places_along(
    length: int, kernel: int, stride: int, margin: int, dilation: int, count: int
) -> Any:
    """The elements that each position of a window meets along an axis: (count, kernel). Those in
    the margin are replaced by others that it meets."""
    start = np.arange(count)[:, None] * stride - margin
    first = start + dilation * np.maximum(-(start // dilation), 0)
    last = start + dilation * ((length - 1 - start) // dilation)
    return np.clip(start + dilation * np.arange(kernel), first, last)


def adaptive_places(length: int, count: int) -> Any:
    """The elements that belong to each of `count` equal parts of an axis: (count, most of them)."""
    first = np.arange(count) * length // count
    last = -(-(np.arange(count) + 1) * length // count) - 1
    most = -(-length // count) + (1 if length % count else 0)
    return np.minimum(first[:, None] + np.arange(most), last[:, None])


def table_of(places: Any, lengths: Any) -> Any:
    """The places, in the flat array, of the elements of all windows: (in a window, windows)."""
    first, second, third = places
    whole = first[:, None, None, :, None, None] * (lengths[1] * lengths[2])
    whole = whole + second[None, :, None, None, :, None] * lengths[2]
    whole = whole + third[None, None, :, None, None, :]
    windows = first.shape[0] * second.shape[0] * third.shape[0]
    return np.ascontiguousarray(np.reshape(whole, (windows, -1)).T)


def places_of_greatest(x: Any, table: Any) -> Any:
    """For each channel and each window, the place in the flat array of its greatest element."""
    flat = np.reshape(x, (x.shape[0], x.shape[1], -1))
    best = np.take(flat, table[0], axis=-1)
    place = np.zeros(best.shape, np.int64) + table[0]
    for k in range(1, table.shape[0]):
        met = np.take(flat, table[k], axis=-1)
        better = (met > best) | (met != met)
        best = np.where(better, met, best)
        place = np.where(better, table[k], place)
    return place


def taken(x: Any, place: Any, shape: Any) -> Any:
    """The elements of each channel at these places in the flat array, in another shape."""
    area = x.size // (x.shape[0] * x.shape[1])
    channel = np.reshape(np.arange(x.shape[0] * x.shape[1]), (x.shape[0], x.shape[1], 1))
    return np.reshape(np.ravel(x)[np.ravel(place + area * channel)], shape)


def put(x: Any, place: Any, shape: Any) -> Any:
    """Zeros, with the elements of each channel at these places in the flat array."""
    area = 1
    for length in shape[2:]:
        area = area * length
    channel = np.reshape(np.arange(shape[0] * shape[1]), (shape[0], shape[1], 1))
    flat = np.zeros(shape[0] * shape[1] * area, x.dtype)
    flat[np.ravel(place + area * channel)] = np.ravel(x)
    return np.reshape(flat, shape)


def window_sums(x: Any, kernel: Any, stride: Any, counts: Any) -> Any:
    """The sum of what each position of a window meets, on three axes of space."""
    spans = [(count - 1) * step + 1 for count, step in zip(counts, stride, strict=True)]
    total = np.zeros((x.shape[0], x.shape[1], *counts), x.dtype)
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            for k in range(kernel[2]):
                total = (
                    total
                    + x[
                        :,
                        :,
                        i : i + spans[0] : stride[0],
                        j : j + spans[1] : stride[1],
                        k : k + spans[2] : stride[2],
                    ]
                )
    return total
