"""The table of eager operations, continued: slices along an axis, read and written at indices.

A number counts as a vector of one element. The index is a vector, and stands for the axis; the
slices of a source are as many as it has elements, each of the shape of those that they meet.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.runtime.arrays import composites, dtypes
from gradscribe.runtime.arrays.node_names import of_tensor
from gradscribe.runtime.arrays.rows import BOTH, IN_PLACE, OUT, operation
from gradscribe.runtime.operations import indexing, shaping
from gradscribe.runtime.operations.eager import Operation
from gradscribe.runtime.operations.gathering import integers_of, positions, put_at, reduced_at
from gradscribe.runtime.operations.shaping import axis_of
from gradscribe.runtime.tensors.tensor import Array, Tensor

_ADD = Operation("IndexAdd", composites.added_flat)
_COPY = Operation("IndexCopy", composites.put_flat)
_FILL = Operation("IndexFill", composites.put_flat, number=of_tensor(2))


@operation(BOTH | OUT, shapes="(…, n, …), (k) -> (…, k, …)")
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices along an axis at these indices."""
    if np.ndim(index) > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    chosen, length = integers_of(index), (input.array.shape or (1,))[axis_of(dim, input.array.ndim)]
    if chosen.dtype not in (np.int64, np.int32):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if chosen.size and (chosen.min() < 0 or chosen.max() >= length):
        raise IndexError("index out of range in self")
    if not input.array.ndim:
        rows = index_select(shaping.reshape(input, 1), dim, index)
        return shaping.reshape(rows, ()) if rows.array.size == 1 else rows
    return indexing.at_axis(input, axis_of(dim, input.array.ndim), index, "IndexSelect")


@operation(BOTH | IN_PLACE | OUT, shapes="(…, n, …), (k), (…, k, …) -> (…, n, …)")
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """A copy to whose slices at indices those of source (times alpha) are added."""
    axis = _checked_source("index_add_", input, dim, index, source)
    outside = _first_outside(input, axis, index)
    if outside is not None and input.array.ndim > 1:
        raise RuntimeError(_out_of_bounds(outside, input, axis))
    if outside is not None:
        raise IndexError("index out of range in self")
    if isinstance(alpha, complex) and input.array.dtype.kind != "c":
        name = dtypes.c_name(input.array.dtype)
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")
    values = source if alpha == 1 else source * alpha
    return put_at(_ADD, input, _of_slices(input, axis, index), values)


@operation(BOTH | IN_PLACE | OUT, shapes="(…, n, …), (k), (…, k, …) -> (…, n, …)")
def index_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> Tensor:
    """A copy whose slices at indices are reduced with those of source."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(
            "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )
    axis = _checked_source("index_reduce_", input, dim, index, source)
    if _first_outside(input, axis, index) is not None:
        raise IndexError("index out of range in self")
    places = _of_slices(input, axis, index)
    values = shaping.reshape(source, places.shape)
    return reduced_at("IndexReduce", input, places, values, reduce, include_self)


@operation(BOTH | IN_PLACE | OUT, shapes="(…, n, …), (k), (…, k, …) -> (…, n, …)")
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """A copy whose slices at indices are those of source."""
    axis, given = axis_of(dim, input.array.ndim), integers_of(index)
    if given.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {given.ndim})")
    ranks = source.array.ndim, input.array.ndim
    if not ranks[0] and given.size != 1:
        raise IndexError(
            "index_copy_(): When source is scalar, index should have one element "
            f"(got {given.size})"
        )
    if all(ranks) and ranks[0] != ranks[1]:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must "
            f"match. Source dimensionality ({ranks[0]}), destination dimensionality ({ranks[1]})"
        )
    if given.dtype != np.int64:
        name = dtypes.scalar_name(given.dtype)
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {name}")
    kinds = [dtypes.scalar_name(tensor.array.dtype) for tensor in (input, source)]
    if kinds[0] != kinds[1]:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{kinds[0]} and (source) {kinds[1]}"
        )
    _check_slices_to_copy(input, axis, source)
    if ranks[0] and given.size != source.array.shape[axis]:
        raise IndexError(
            f"index_copy_(): Number of indices ({given.size}) should be equal to source.size(dim) "
            f"({source.array.shape[axis]})"
        )
    outside = _first_outside(input, axis, index)
    if outside is not None:
        raise IndexError(f"index_copy_(): {_out_of_bounds(outside, input, axis)}")
    places = _of_slices(input, axis, index)
    return put_at(_COPY, input, places, shaping.reshape(source, places.shape))


@operation(BOTH | IN_PLACE, shapes="(…, n, …), (k) -> (…, n, …)")
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """A copy whose slices at indices, which may count from the end, are filled with a value."""
    given, axis = integers_of(index), axis_of(dim, input.array.ndim)
    if given.dtype != np.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if given.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if np.ndim(value):
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{np.ndim(value)} dimension(s)."
        )
    if np.iscomplexobj(value) and input.array.dtype.kind != "c":
        raise RuntimeError(
            "index_fill_(): Converting complex Scalar to non-complex type is not supported"
        )
    length = (input.array.shape or (1,))[axis]
    outside = given[(given < -length) | (given >= length)]
    if outside.size:
        raise IndexError(_out_of_bounds(int(outside.flat[0]), input, axis))
    return put_at(_FILL, input, _of_slices(input, axis, index), value)


# --- operands ---------------------------------------------------------------------------------


def _of_slices(input: Tensor, axis: int, index: Tensor) -> Array:
    """The positions in the flat array of the slices at these indices."""
    places = positions(input).reshape(input.array.shape or (1,))
    return np.take(places, np.atleast_1d(integers_of(index)), axis=axis)


def _first_outside(input: Tensor, axis: int, index: Tensor) -> int | None:
    """The first index that is not a place along the axis."""
    given, length = integers_of(index), (input.array.shape or (1,))[axis]
    outside = given[(given < 0) | (given >= length)]
    return int(outside.flat[0]) if outside.size else None


def _out_of_bounds(place: int, input: Tensor, axis: int) -> str:
    length = (input.array.shape or (1,))[axis]
    return f"index {place} is out of bounds for dimension {axis} with size {length}"


def _checked_source(name: str, input: Tensor, dim: int, index: Tensor, source: Tensor) -> int:
    """The axis, once the operands of an operation that combines slices with those of a source
    are known to fit."""
    axis, given = axis_of(dim, input.array.ndim), integers_of(index)
    if given.ndim > 1:
        raise IndexError(
            f"{name}(): Index is supposed to be a vector, but got dim: {given.ndim} with type: "
            f"{dtypes.scalar_name(given.dtype)} and size: {list(given.shape)}"
        )
    if given.dtype not in (np.int64, np.int32):
        kind = dtypes.scalar_name(given.dtype)
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index but got: {kind}")
    kinds = [dtypes.scalar_name(tensor.array.dtype) for tensor in (input, source)]
    if kinds[0] != kinds[1]:
        raise RuntimeError(
            f"{name}(): self ({kinds[0]}) and source ({kinds[1]}) must have the same scalar type"
        )
    shape, present = source.array.shape, input.array.shape
    if axis < len(shape) and given.size != shape[axis]:
        raise RuntimeError(
            f"{name}(): Number of indices ({given.size}) should be equal to source.size(dim): "
            f"({shape[axis]}), for dim: {axis}"
        )
    if not shape and given.size != 1:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if len(shape) != len(present) or _others(shape, axis) != _others(present, axis):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(present)} source.shape = {list(shape)}"
        )
    return axis


def _check_slices_to_copy(input: Tensor, axis: int, source: Tensor) -> None:
    """The error for slices of a source that are not of the shape of those they replace."""
    wanted, given = (_others(tensor.array.shape, axis) for tensor in (input, source))
    if wanted != given:
        texts = [" ".join(map(str, lengths)) for lengths in (wanted, given)]
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
            f"slice shape: {texts[0]} at dimension {axis} and source slice shape: {texts[1]} at "
            "dimension 0."
        )


def _others(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """The lengths of the other axes."""
    return (*shape[:axis], *shape[axis + 1 :])
