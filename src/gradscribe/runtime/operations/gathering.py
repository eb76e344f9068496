"""The table of eager operations, continued: elements read and written at indices.

Whatever the kind of index, its elements have positions in the flat array, which are read as the
elements themselves would be. So there are three operations: take, put and add at positions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.runtime.arrays import composites, dtypes
from gradscribe.runtime.arrays.explaining import check_index_lengths, common_shape
from gradscribe.runtime.arrays.node_names import of_tensor
from gradscribe.runtime.arrays.rows import BOTH, IN_PLACE, IN_PLACE_FUNCTION, OUT, operation
from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.operations import indexing, shaping
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.operations.shaping import axis_of
from gradscribe.runtime.tensors.tensor import Array, Tensor, wrap

_GATHER, _TAKE = (Operation(name, composites.taken_flat) for name in ("Gather", "Take"))
_PUT = {
    name: Operation(name, composites.put_flat) for name in ("IndexPut", "Put", "MaskedScatter")
} | {"Scatter": Operation("Scatter", composites.put_flat, number=of_tensor(2, 0))}
_ADD = {
    name: Operation(name, composites.added_flat)
    for name in ("ScatterAdd", "IndexPut", "Put", "ScatterReduce", "IndexReduce")
}
_MULTIPLY, _AVERAGE, _EXTREMUM = (
    {name: Operation(name, composite) for name in ("ScatterReduce", "IndexReduce")}
    for composite in (
        composites.multiplied_flat,
        composites.averaged_flat,
        composites.extreme_flat,
    )
)


def positions(input: Tensor) -> Array:
    """The position of each element in the flat array."""
    places: Array = np.arange(input.array.size).reshape(input.array.shape)
    return places


def _put(
    rows: dict[str, Operation], name: str, input: Tensor, places: Array, values: Any
) -> Tensor:
    """A copy of input with values put, or added, at places."""
    return put_at(rows[name], input, places, values)


def put_at(row: Operation, input: Tensor, places: Array, values: Any) -> Tensor:
    """The operation of this row on a Tensor, places in it and values, as many as places."""
    if isinstance(values, Tensor):
        values = functions.to_dtype(values, input.array.dtype)
        if values.array.shape != places.shape:
            values = shaping.expand(values, places.shape)
    return apply(row, (input, places, values))


# --- along an axis ----------------------------------------------------------------------------


@operation(BOTH | OUT, shapes="(…), index (…) -> that of the index")
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """`out[i][j] = input[index[i][j]][j]`, the index standing at the axis dim."""
    return apply(_GATHER, (input, _along(input, dim, index, "gather")))


@operation(BOTH | OUT, shapes="(…), indices (…) -> that of the indices, broadcast")
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """The elements at indices along an axis, broadcast along the others; or in the flat array."""
    rank, given = input.array.ndim, integers_of(indices)
    if given.dtype != np.int64:
        name = dtypes.scalar_name(given.dtype)
        raise RuntimeError(
            f"torch.take_along_dim(): dtype of indices should be Long but got {name}"
        )
    if dim is None:
        return take(input, shaping.reshape(indices, -1))
    if given.ndim != rank:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {rank} dimensions for input, and {given.ndim} dimensions for indices"
        )
    if not rank:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    axis = axis_of(dim, rank)
    length, count = input.array.shape[axis], given.shape[axis]
    rest = [(*s[:axis], 1, *s[axis + 1 :]) for s in (input.array.shape, given.shape)]
    shape = common_shape(rest)
    input = shaping.expand(input, (*shape[:axis], length, *shape[axis + 1 :]))
    given = np.broadcast_to(given, (*shape[:axis], count, *shape[axis + 1 :]))
    return apply(_GATHER, (input, _along(input, axis, wrap(given), "gather")))


@operation(BOTH | IN_PLACE | OUT, shapes="(…), index (…), src (…) -> that of input")
def scatter(input: Tensor, dim: int, index: Tensor, src: Any = None, **options: Any) -> Tensor:
    """A copy with the elements of src (or one value) where `gather` would read."""
    src = options.get("value") if src is None else src
    reduce = options.get("reduce")
    places = _along(input, dim, index, "scatter")
    if isinstance(src, Tensor) and src.array.dtype != input.array.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    values = _trimmed(src, places.shape)
    if reduce == "add":
        return _put(_ADD, "ScatterAdd", input, places, values)
    if reduce == "multiply":
        return _put(_MULTIPLY, "ScatterReduce", input, places, values)
    if reduce is not None:
        raise RuntimeError("reduce argument must be either add or multiply.")
    return _put(_PUT, "Scatter", input, places, values)


@operation(BOTH | IN_PLACE | OUT, shapes="(…), index (…), src (…) -> that of input")
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """A copy to which the elements of src are added where `gather` would read."""
    places = _along(input, dim, index, "scatter")
    return _put(_ADD, "ScatterAdd", input, places, _trimmed(src, places.shape))


@operation(BOTH | IN_PLACE | OUT, shapes="(…), index (…), src (…) -> that of input")
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """A copy with the sums, products, means, greatest or least of what `scatter` puts there."""
    places = _along(input, dim, index, "scatter")
    values = _trimmed(src, places.shape)
    return reduced_at("ScatterReduce", input, places, values, reduce, include_self)


def reduced_at(
    name: str, input: Tensor, places: Array, values: Tensor, reduce: str, include_self: bool
) -> Tensor:
    """A copy with what the values that go to each place reduce to."""
    if reduce not in _NEUTRAL:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    if not include_self:
        input = _put(_PUT, "Scatter", input, places, _neutral(reduce, input.array.dtype))
    if reduce == "prod":
        return put_at(_MULTIPLY[name], input, places, values)
    if reduce in ("amax", "amin"):
        return _scattered_extremum(name, input, places, values, reduce)
    if reduce == "sum":
        return put_at(_ADD[name], input, places, values)
    counts = np.full(input.array.shape, float(include_self)).ravel()
    np.add.at(counts, places, 1.0)
    if input.array.dtype.kind == "b":
        raise NotImplementedError("\"scatter_reduce\" not implemented for 'Bool'")
    if not dtypes.is_differentiable(input.array.dtype):
        total = put_at(_ADD[name], input, places, values).array
        whole = np.maximum(counts, 1.0).astype(input.array.dtype).reshape(total.shape)
        return wrap(np.floor_divide(total, whole))
    shares = np.maximum(counts, 1.0).reshape(input.array.shape)
    return apply(_AVERAGE[name], (input, places, values, shares.astype(input.array.dtype)))


_NEUTRAL = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": -np.inf, "amin": np.inf}


def _neutral(reduce: str, dtype: dtypes.Dtype) -> Any:
    """What changes no reduction of this kind; integers have no infinities."""
    value = _NEUTRAL[reduce]
    if dtype.kind == "b":
        return value > 0
    if dtype.kind in "iu" and np.isinf(value):
        bounds = np.iinfo(dtype)
        return bounds.min if value < 0 else bounds.max
    return value


def _scattered_extremum(
    name: str, input: Tensor, places: Array, values: Tensor, reduce: str
) -> Tensor:
    """The greatest or least: the mean of those elements that are equal to it."""
    extreme = input.array.copy().ravel()
    (np.maximum if reduce == "amax" else np.minimum).at(extreme, places, values.array)
    if not dtypes.is_differentiable(extreme.dtype):
        return wrap(extreme.reshape(input.array.shape))
    chosen = values.array == extreme[places]
    is_own = input.array == extreme.reshape(input.array.shape)
    counts = is_own.astype(input.array.dtype).ravel()
    np.add.at(counts, places, chosen)
    shares = counts.reshape(input.array.shape)
    return apply(_EXTREMUM[name], (input, places, values, shares, is_own, chosen))


def _along(input: Tensor, dim: int, index: Tensor, name: str) -> Array:
    """The positions of `input[…][index[…]][…]`, the index standing at the axis dim."""
    given = integers_of(index)
    rank = input.array.ndim
    if max(given.ndim, 1) != max(rank, 1) and given.size:
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as "
            f"{'input' if name == 'gather' else 'self'} tensor"
        )
    if given.dtype.kind not in "iu":
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    axis = axis_of(dim, rank)
    if not given.size:
        return np.zeros(given.shape, np.int64)
    if not rank:
        return given
    if not given.ndim:
        places: Array = _along(input, dim, wrap(given[None]), name)[0]
        return places
    check_index_lengths(input.array.shape, given.shape, axis, name)
    length = input.array.shape[axis]
    outside = given[(given < 0) | (given >= length)]
    if outside.size:
        raise RuntimeError(
            f"index {outside[0]} is out of bounds for dimension {axis} with size {length}"
        )
    at: Array = np.zeros(given.shape, np.int64)
    for a, (size, count) in enumerate(zip(input.array.shape, given.shape, strict=True)):
        own = np.arange(count).reshape((count,) + (1,) * (rank - 1 - a))
        at = at * size + (given if a == axis else own)
    return at


def _trimmed(values: Any, shape: tuple[int, ...]) -> Any:
    """The part of values that an index of this shape uses."""
    if not isinstance(values, Tensor) or values.array.shape == shape or not values.array.ndim:
        return values
    if 0 in shape:
        return wrap(np.zeros(shape, values.array.dtype))
    return values[tuple(slice(length) for length in shape)]


def integers_of(index: Any) -> Array:
    """The array of an index."""
    array: Array = index.array if isinstance(index, Tensor) else np.asarray(index)
    return array


# --- anywhere ---------------------------------------------------------------------------------


@operation(BOTH | OUT, shapes="(…), index (…) -> that of the index")
def take(input: Tensor, index: Tensor) -> Tensor:
    """The elements at positions in the flat array."""
    return apply(_TAKE, (input, _within(index, input.array.size, "take")))


def _within(index: Any, size: int, name: str) -> Array:
    """The places in a flat array of this size; the error for one that is outside, or no place."""
    places = integers_of(index)
    if places.dtype != np.int64:
        given = dtypes.scalar_name(places.dtype)
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got {given}")
    outside = places[(places < -size) | (places >= size)]
    if outside.size:
        raise IndexError(
            f"out of range: tried to access index {outside[0]} on a tensor of {size} elements."
        )
    return places


@operation(BOTH | IN_PLACE, shapes="(…), index (…), source (…) -> that of input")
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with elements put, or added, at positions in the flat array."""
    places = _within(index, input.array.size, "put_")
    values = shaping.reshape(source, places.shape)
    return _put(_ADD if accumulate else _PUT, "Put", input, places, values)


@operation(BOTH | IN_PLACE | IN_PLACE_FUNCTION, shapes="(…), indices, values (…) -> that of input")
def index_put(
    input: Tensor, indices: tuple[Any, ...], values: Tensor, accumulate: bool = False
) -> Tensor:
    """A copy with values put, or added, at `input[indices]`."""
    static, operands = indexing.normalized(tuple(indices))
    places = positions(input)
    try:
        found = np.asarray(places[indexing.plain_index(static, (places, *operands))])
    except IndexError:
        indexing.explain(places.shape, static, operands)
        raise
    return _put(_ADD if accumulate else _PUT, "IndexPut", input, found, values)


@operation(BOTH | OUT, shapes="(…), (…) -> (k), of the elements chosen")
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where the mask holds."""
    if mask.array.dtype.kind != "b":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    common_shape([input.array.shape, mask.array.shape])
    if not max(input.array.ndim, mask.array.ndim):
        input = shaping.reshape(input, -1)
    given, chosen = np.broadcast_arrays(input.array, mask.array)
    if given.shape != input.array.shape:
        input = shaping.expand(input, given.shape)
    return indexing.taken(input, np.array(chosen), "MaskedSelect")


@operation(BOTH | IN_PLACE, shapes="(…), (…), (k) -> (…)")
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy with the elements of source, in order, where the mask holds."""
    if mask.array.ndim > input.array.ndim:
        input = shaping.expand(input, mask.array.shape)
    places = positions(input)[np.broadcast_to(mask.array, input.array.shape)]
    if source.array.size < places.size:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    values = shaping.reshape(source, (-1,))[: places.size]
    return _put(_PUT, "MaskedScatter", input, places, values)


_MASKED_FILL = Operation("MaskedFill", np.where, saved=("mask=0", "mask=0"), number=of_tensor(1))


@operation(BOTH | IN_PLACE, shapes="(…), (…) -> (…)")
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """`value` where the mask holds."""
    if mask.array.dtype.kind != "b":
        name = dtypes.cpp_name(mask.array.dtype)
        raise RuntimeError(
            f"masked_fill_ only supports boolean masks, but got mask with dtype {name}"
        )
    if isinstance(value, complex) and input.array.dtype.kind != "c":
        name = dtypes.c_name(input.array.dtype)
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")
    if np.ndim(value):
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{np.ndim(value)} dimension(s)."
        )
    if isinstance(value, Tensor):
        value = functions.to_dtype(value, input.array.dtype)
    elif not dtypes.is_differentiable(input.array.dtype):
        value = input.array.dtype.type(value).item()
    return apply(_MASKED_FILL, (mask.array, value, input))
