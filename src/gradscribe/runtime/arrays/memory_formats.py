"""Memory formats: the order in which the elements of an array lie in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.runtime.arrays.dtypes import memory_format as named

contiguous_format, preserve_format = named("contiguous_format"), named("preserve_format")
channels_last, channels_last_3d = named("channels_last"), named("channels_last_3d")

_AXES = {channels_last: 4, channels_last_3d: 5}


def is_arranged(array: Any, memory_format: Any) -> bool:
    """Whether an array lies in memory in this format (by default in the order of its axes)."""
    if memory_format not in _AXES:
        return bool(array.flags.c_contiguous)
    if array.ndim != _AXES[memory_format]:
        return False
    return bool(np.moveaxis(array, 1, -1).flags.c_contiguous)


def arranged(array: Any, memory_format: Any) -> Any:
    """The array, or a copy in this format where it is not in it."""
    if memory_format not in _AXES:
        return np.ascontiguousarray(array)
    if array.ndim != _AXES[memory_format]:
        raise RuntimeError(
            f"required rank {_AXES[memory_format]} tensor to use {memory_format.name} format"
        )
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1)


def laid_out_as(model: Any, array: Any) -> Any:
    """The array, or a copy whose elements lie in memory as those of another do."""
    if array.strides == model.strides:
        return array
    if array.flags.c_contiguous and model.flags.c_contiguous:
        return array
    result = empty_as(model, array.dtype)
    result[...] = array
    return result


def empty_as(model: Any, dtype: Any) -> Any:
    """Memory laid out as that of an array, where that has no gaps; else in the order of its
    axes."""
    extent = model.itemsize
    for step, length in sorted(zip(model.strides, model.shape, strict=True)):
        if length > 1 and step != extent:
            return np.empty(model.shape, dtype)
        extent *= length
    return np.empty_like(model, dtype)
