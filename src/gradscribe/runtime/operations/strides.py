"""The table of eager operations, continued: views by steps in memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import composites
from gradscribe.runtime.arrays.rows import AXES, BOTH, IN_PLACE_FUNCTION, operation
from gradscribe.runtime.operations.eager import Operation, apply, mark_view
from gradscribe.runtime.tensors.array_methods import memory_of
from gradscribe.runtime.tensors.tensor import Array, Tensor
from gradscribe.runtime.tensors.views import overlaps

_AS_STRIDED = Operation(
    "AsStrided",
    composites.strided,
    ("size", "stride", "storage_offset"),
    view=True,
    run=composites.strided,
    saved=("size:size* stride:stride* storage_offset:storage_offset",),
    in_place=1,
)


@operation(BOTH | AXES | IN_PLACE_FUNCTION, shapes="(…) -> (size)")
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """The elements at these steps in memory along each axis, from an offset (its own) on."""
    size, stride = tuple(size), tuple(stride)
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(step < 0 for step in stride):
        raise RuntimeError(
            "as_strided: Negative strides are not supported at the moment, got strides: "
            f"{list(stride)}"
        )
    if any(length < 0 for length in size):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(size)} and "
            f"strides={list(stride)}"
        )
    first = input.storage_offset() if storage_offset is None else storage_offset
    view = _in_memory(input.array, size, stride, first)
    reached = _reached(size, stride, first)
    static = size, stride, storage_offset
    result = apply(_AS_STRIDED, (input, *_places(input, reached)), static)
    result.array = view
    base = input if input._view_of is None else input._view_of.base
    result._view_of = None
    mark_view(result, _AS_STRIDED, (base, *_places(base, reached)), static)
    if result._view_of is not None and input._view_of is not None:
        result._view_of.origin = result._view_of.origin or input._view_of.origin
    return result


def _in_memory(array: Array, size: Sequence[int], stride: Sequence[int], first: int) -> Array:
    """The array of these elements of the memory of another one."""
    memory, itemsize = memory_of(array), array.itemsize
    last = first + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    needed = (last + 1) * itemsize if prod(size) else 0
    if needed > memory.nbytes:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {first}, and "
            f"itemsize {itemsize} requiring a storage size of {needed} are out of bounds for "
            f"storage of size {memory.nbytes}"
        )
    flat = memory.reshape(-1, order="A")
    steps = [step * itemsize for step in stride]
    offset = min(first * itemsize, memory.nbytes)
    view: Array = np.ndarray(size, array.dtype, flat, offset, steps)
    view.flags.writeable = view.flags.writeable and not overlaps(view)
    return view


def _reached(size: Sequence[int], stride: Sequence[int], first: int) -> Array:
    """Where in memory each element stands, counted in elements."""
    places = np.full(size, first, np.int64)
    for axis, (length, step) in enumerate(zip(size, stride, strict=True)):
        along = (1,) * axis + (length,) + (1,) * (len(size) - axis - 1)
        places += step * np.arange(length).reshape(along)
    return places


def _places(input: Tensor, reached: Array) -> tuple[Array, Array]:
    """The places in the flat Tensor of elements that are told by where in memory they stand, and
    whether they are among its elements."""
    own = _reached(input.shape, input.stride(), input.storage_offset()).reshape(-1)
    order = np.argsort(own, kind="stable")
    found = np.searchsorted(own, reached, sorter=order)
    places: Array = order[np.minimum(found, len(order) - 1)] if len(order) else found
    inside = np.equal(own[places], reached) if len(order) else np.zeros(reached.shape, bool)
    return np.where(inside, places, 0), inside
