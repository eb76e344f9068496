"""Images in another size, over arrays: each axis is multiplied by a matrix of weights."""

from __future__ import annotations

from typing import Any

import numpy as np


def resampled(x: Any, *matrices: Any) -> Any:
    """The last axes, each multiplied by a matrix (length of the result, length)."""
    for axis in range(len(matrices)):
        moved = np.moveaxis(x, axis - len(matrices), -1)
        x = np.moveaxis(moved @ matrices[axis].T, -1, axis - len(matrices))
    return x


def picked(x: Any, *places: Any) -> Any:
    """The last axes, of each the elements at these places."""
    for axis in range(len(places)):
        x = np.take(x, places[axis], axis=axis - len(places))
    return x


def part_means(length: int, count: int) -> Any:
    """The matrix that gives the mean of each of `count` equal parts of an axis."""
    place = np.arange(length)
    first = np.arange(count)[:, None] * length // count
    last = -(-(np.arange(count)[:, None] + 1) * length // count)
    inside = (first <= place) & (place < last)
    return inside / (last - first)


def sources(length: int, count: int, scale: Any, align_corners: bool) -> Any:
    """Where, counted in elements of an axis of this length, the elements of one of length `count`
    lie. scale: the given ratio of lengths, or None."""
    if align_corners:
        return np.arange(count) * ((length - 1) / (count - 1) if count > 1 else 0.0)
    step = length / count if scale is None else 1 / scale
    return (np.arange(count) + 0.5) * step - 0.5


def linear_weights(length: int, count: int, scale: Any, align_corners: bool) -> Any:
    """The matrix of linear interpolation."""
    at = np.clip(sources(length, count, scale, align_corners), 0, None)
    below = np.minimum(np.floor(at), length - 1)
    part = np.clip(at - below, 0, 1)[:, None]
    place = np.arange(length)
    above = np.minimum(below + 1, length - 1)
    return (below[:, None] == place) * (1 - part) + (above[:, None] == place) * part


def cubic_weights(length: int, count: int, scale: Any, align_corners: bool) -> Any:
    """The matrix of cubic convolution (Keys, 1981), with a = -0.75."""
    at = sources(length, count, scale, align_corners)
    below = np.floor(at)
    weights = np.zeros((count, length))
    for shift in range(-1, 3):
        distance = np.abs(at - below - shift)
        near = (1.25 * distance - 2.25) * distance**2 + 1
        far = -0.75 * (((distance - 5) * distance + 8) * distance - 4)
        place = np.clip(below + shift, 0, length - 1)
        weight = np.where(distance <= 1, near, far)
        weights = weights + (place[:, None] == np.arange(length)) * weight[:, None]
    return weights


def nearest_places(length: int, count: int, scale: Any, is_exact: bool) -> Any:
    """Of which elements those of an axis of length `count` are copies."""
    step = length / count if scale is None else 1 / scale
    place = np.floor((np.arange(count) + (0.5 if is_exact else 0.0)) * step)
    return np.clip(place, 0, length - 1).astype(np.int64)
