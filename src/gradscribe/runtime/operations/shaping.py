"""The table of eager operations, continued: shapes, joining and splitting."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import composites, dtypes, explaining
from gradscribe.runtime.arrays.explaining import expanded, out_of_range, permuted, stacked
from gradscribe.runtime.arrays.node_names import along_axes
from gradscribe.runtime.arrays.rows import AXES, BOTH, MAIN, METHOD, operation
from gradscribe.runtime.arrays.size import sizes
from gradscribe.runtime.operations.adaptors import enter_row, joined
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.operations.pieces import pieces
from gradscribe.runtime.tensors.tensor import Array, Tensor, wrap


def _reshaped(array: Any, shape: tuple[int, ...]) -> Any:
    for index, length in enumerate(shape):
        if length < -1:
            raise RuntimeError(
                f"invalid shape dimension {length} at index {index} of shape {list(shape)}"
            )
    try:
        return np.reshape(array, shape)
    except ValueError:
        if shape.count(-1) > 1:
            raise RuntimeError("only one dimension can be inferred") from None
        if -1 in shape and 0 in shape and not array.size:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {list(shape)} because the "
                "unspecified dimension size -1 can be any value and is ambiguous"
            ) from None
        message = f"shape '{list(shape)}' is invalid for input of size {array.size}"
        raise RuntimeError(message) from None


VIEW = enter_row(
    Operation(
        "View", np.reshape, ("shape",), positional=True, view=True, run=_reshaped, saved=("sizes",)
    )
)
_EXPAND = enter_row(
    Operation(
        "Expand",
        np.broadcast_to,
        ("shape",),
        positional=True,
        view=True,
        saved=("sizes",),
        explain=expanded,
    )
)
_PERMUTE = enter_row(
    Operation(
        "Permute",
        np.transpose,
        ("axes",),
        view=True,
        run=np.ndarray.transpose,
        saved=("dims:axes*",),
        explain=permuted,
    )
)
_TRANSPOSE = enter_row(
    Operation(
        "Transpose",
        np.swapaxes,
        ("axis1", "axis2"),
        view=True,
        saved=("dim0:axis1 dim1:axis2", "dim0:axis1 dim1:axis2"),
        in_place=1,
    )
)
_SAME_AXES = Operation(
    "Transpose",
    np.transpose,
    view=True,
    saved=("dim0:axis1 dim1:axis2", "dim0:axis1 dim1:axis2"),
    in_place=1,
)
_FLIP = Operation("Flip", composites.flip, ("axis",), saved=("dims:axis*",))
_T = Operation("T", np.transpose, view=True, in_place=1)
_SQUEEZE = enter_row(
    Operation(
        "Squeeze",
        np.squeeze,
        ("axis",),
        view=True,
        saved=("sizes", "dim:axis. sizes", "", "sizes", "dim:axis. sizes"),
        number=along_axes,
        in_place=3,
    )
)
_UNSQUEEZE = enter_row(
    Operation(
        "Unsqueeze",
        np.expand_dims,
        ("axis",),
        view=True,
        saved=("dim:axis", "dim:axis"),
        in_place=1,
    )
)


@operation(BOTH, shapes="(…) -> (shape), of as many elements; one length may be -1")
def reshape(input: Tensor, *args: Any, shape: Any = None) -> Tensor:
    """The same elements in another shape; a view where that is possible."""
    if shape is None and not args:
        raise TypeError('reshape() missing 1 required positional arguments: "shape"')
    return apply(VIEW, (input,), (sizes(args if shape is None else (shape,)),))


@operation(METHOD, shapes="(…) -> (shape), of as many elements; one length may be -1")
def view(input: Tensor, *shape: Any, dtype: Any = None) -> Tensor:
    """A view of another shape, or (given a dtype) of another element type."""
    if len(shape) == 1 and isinstance(shape[0], (np.dtype, dtypes.PublicDtype)):
        (dtype,) = shape
    if dtype is not None:
        return view_of_type(input, dtypes.to_dtype(dtype))
    if not shape:
        raise TypeError("view() received an invalid combination of arguments - got ()")
    return only_view(reshape(input, *shape), input)


def only_view(result: Tensor, input: Tensor) -> Tensor:
    """The result; raises PyTorch's error where it is no view, but a copy."""
    if input.array.size and not np.shares_memory(result.array, input.array):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return result


def view_of_type(input: Tensor, dtype: dtypes.Dtype) -> Tensor:
    """The same memory as elements of another type."""
    _check_sizes(input.array, dtype)
    viewed = wrap(input.array.view(dtype))
    viewed._counter = input._counter
    return viewed


def _check_sizes(array: Array, wanted: dtypes.Dtype) -> None:
    """Raise PyTorch's errors for elements that cannot be seen as others of another size."""
    if array.itemsize == wanted.itemsize:
        return
    names = f"{dtypes.scalar_name(array.dtype)} as {dtypes.scalar_name(wanted)}"
    view = f"to view {names} (different element sizes)"
    if not array.ndim:
        raise RuntimeError(f"self.dim() cannot be 0 {view}")
    times = wanted.itemsize // array.itemsize
    if times > 1 and array.shape[-1] % times:
        raise RuntimeError(
            f"self.size(-1) must be divisible by {times} {view}, but got {array.shape[-1]}"
        )
    step = array.strides[-1] // array.itemsize
    if step != 1:
        raise RuntimeError(f"self.stride(-1) must be 1 {view}, but got {step}")


@operation(METHOD, shapes="(…), (…) -> that of other")
def view_as(input: Tensor, other: Tensor) -> Tensor:
    """`view` in the shape of another Tensor."""
    return view(input, other.array.shape)


@operation(METHOD, shapes="(…), (…) -> that of other")
def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """`reshape` to the shape of another Tensor."""
    return reshape(input, other.array.shape)


@operation(BOTH, shapes="(…) -> (size)")
def ravel(input: Tensor) -> Tensor:
    """All elements along one axis, next to each other in memory."""
    return reshape(input.contiguous(), -1)


@operation(BOTH, shapes="(…, n, …, m, …) -> (…, n … m, …)")
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The axes from start_dim to end_dim as one."""
    shape = input.array.shape
    if len(shape) == 1:
        return input
    first, last = axis_of(start_dim, len(shape)), axis_of(end_dim, len(shape))
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if shape and first == last:
        return input
    length = math.prod(shape[first : last + 1])
    return reshape(input, (*shape[:first], length, *shape[last + 1 :]))


@operation(METHOD, shapes="(…) -> (shape), to which it broadcasts; -1 keeps a length")
def expand(input: Tensor, *shape: Any, size: Any = None) -> Tensor:
    """Broadcast to a shape, in which -1 leaves an axis as it is."""
    given = sizes(shape if size is None else (size,))
    return apply(_EXPAND, (input,), (expanded_shape(input, given),))


def expanded_shape(input: Tensor, given: tuple[int, ...]) -> tuple[int, ...]:
    """The lengths given, those of the Tensor in the places of -1."""
    present = input.array.shape
    if len(given) < len(present):
        name = dtypes.type_name(input.array.dtype)
        raise RuntimeError(
            f"expand({name}{{{list(present)}}}, size={list(given)}): the number of sizes provided "
            f"({len(given)}) must be greater or equal to the number of dimensions in the tensor "
            f"({len(present)})"
        )
    padded = (None,) * (len(given) - len(present)) + tuple(present)
    for axis, (new, old) in reversed([*enumerate(zip(given, padded, strict=True))]):
        _check_expanded(
            new, old, axis, f"Target sizes: {list(given)}.  Tensor sizes: {list(present)}"
        )
    return tuple(old if new == -1 else new for new, old in zip(given, padded, strict=True))


def _check_expanded(new: int, old: int | None, axis: int, of_which: str) -> None:
    """Raise PyTorch's error for an axis that cannot be broadcast to a length."""
    if old is None and new < 0:
        raise RuntimeError(
            f"The expanded size of the tensor ({new}) isn't allowed in a leading, non-existing "
            f"dimension {axis}"
        )
    if old not in (None, 1, new) and new != -1:
        raise RuntimeError(
            f"The expanded size of the tensor ({new}) must match the existing size ({old}) at "
            f"non-singleton dimension {axis}.  {of_which}"
        )


MAIN.also("broadcast_to", expand, BOTH)


@operation(METHOD, shapes="(…), (…) -> that of other")
def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """Broadcast to the shape of another Tensor."""
    return expand(input, other.array.shape)


@operation(BOTH, shapes="(…) -> (…)")
def permute(input: Tensor, *args: Any, dims: Any = None) -> Tensor:
    """The axes in another order."""
    order, rank = sizes(args if dims is None else (dims,)), input.array.ndim
    if len(order) != rank:
        raise RuntimeError(
            "permute: number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {rank} is not equal "
            f"to len(dims) = {len(order)}"
        )
    if len({axis_of(dim, rank) for dim in order}) < rank:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return apply(_PERMUTE, (input,), (order,))


def reversed_axes(input: Tensor) -> Tensor:
    """All axes in the other order."""
    return apply(_PERMUTE, (input,), (tuple(range(input.array.ndim - 1, -1, -1)),))


@operation(
    BOTH | AXES,
    aliases=(
        "swapaxes",
        "swapdims",
    ),
    shapes="(…, n, …, m, …) -> (…, m, …, n, …)",
)
def transpose(input: Tensor, dim0: Any = None, dim1: Any = None, *dims: int) -> Tensor:
    """Two axes exchanged; as in NumPy, all axes reversed where none are named, and all axes in a
    new order where more than two are."""
    if dim0 is None:
        return reversed_axes(input)
    if dim1 is None:
        return permute(input, dim0)
    if dims:
        return permute(input, dim0, dim1, *dims)
    if not input.array.ndim:
        axis_of(dim0, 0), axis_of(dim1, 0)
        return apply(_SAME_AXES, (input,))
    return apply(_TRANSPOSE, (input,), (dim0, dim1))


swapaxes = transpose


@operation(BOTH, shapes="(…) -> (…)")
def flip(input: Tensor, *args: Any, dims: Any = None) -> Tensor:
    """A copy with these axes in the other direction."""
    if dims is None and not args:
        raise TypeError('flip() missing 1 required positional arguments: "dims"')
    rank = input.array.ndim
    named = [axis_of(dim, rank) for dim in sizes(args if dims is None else (dims,))]
    twice = next((axis for place, axis in enumerate(named) if axis in named[:place]), None)
    if twice is not None:
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    return apply(_FLIP, (input,), (tuple(named) if rank else (),))


@operation(BOTH | AXES, shapes="(n, m) -> (m, n)")
def t(input: Tensor) -> Tensor:
    """The transpose of a matrix."""
    if input.array.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {input.array.ndim}D"
        )
    return apply(_T, (input,))


@operation(BOTH | AXES, shapes="(…, 1, …) -> (…)")
def squeeze(input: Tensor, dim: Any = None, *, axis: Any = None) -> Tensor:
    """Without the axes of length one, or without those named that have length one."""
    named = axis if dim is None else dim
    if named is not None:
        named = axes_of_length_one(input.array.shape, named)
    return apply(_SQUEEZE, (input,), (named,))


def axes_of_length_one(shape: tuple[int, ...], dim: Any) -> tuple[int, ...]:
    """The named ones of these axes that have length one."""
    named = tuple(map(operator.index, dim if isinstance(dim, (tuple, list)) else (dim,)))
    taken = [axis_of(d, len(shape)) for d in named]
    for place, d in enumerate(taken):
        if d in taken[:place]:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return tuple(d for d, axis in zip(named, taken, strict=True) if shape and shape[axis] == 1)


@operation(BOTH | AXES, numpy_names=("expand_dims",), shapes="(…) -> (…, 1, …)")
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """With a new axis of length one."""
    return apply(_UNSQUEEZE, (input,), (operator.index(dim),))


def axis_of(dim: int, rank: int) -> int:
    """An axis counted from the front; PyTorch's errors where there is none such."""
    if not hasattr(dim, "__index__"):
        raise TypeError(f"an axis must be an int, not {type(dim).__name__}")
    if not -max(rank, 1) <= dim < max(rank, 1):
        raise out_of_range(dim, rank)
    return dim % rank if rank else 0


cat = joined(
    "cat",
    "The Tensors one after another along an axis.",
    Operation(
        "Cat",
        np.concatenate,
        ("axis",),
        sequence=True,
        saved=("dim:axis",),
        explain=explaining.joined,
    ),
    aliases=("concat", "concatenate"),
    shapes="(…, n, …), (…, m, …), … -> (…, n + m + …, …)",
)
stack = joined(
    "stack",
    "The Tensors beside each other, along a new axis.",
    Operation("Stack", np.stack, ("axis",), sequence=True, saved=("dim:axis",), explain=stacked),
    shapes="(…) for each of n -> (…, n, …)",
)


@operation(BOTH, shapes="(…, n, …) -> n of (…)")
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along an axis."""
    axis = axis_of(dim, input.array.ndim)
    if not input.array.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return pieces(input, axis, every_index(input.array.shape[axis]), "Unbind")


def every_index(length: int) -> tuple[int, ...]:
    """The indices along an axis."""
    return tuple(range(length))


@operation(BOTH, shapes="(…, n, …) -> (…, size, …) for each piece")
def split(input: Tensor, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces along an axis, of one size (the last may be smaller) or of these sizes."""
    if not input.array.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    axis = axis_of(dim, input.array.ndim)
    shape = input.array.shape
    places = places_of_pieces(shape[axis], split_size, dim)
    if isinstance(split_size, int):
        return pieces(input, axis, places, "Split", split_size=split_size, self_sym_sizes=shape)
    lengths = tuple(split_size)
    return pieces(input, axis, places, "SplitWithSizes", split_sizes=lengths, self_sym_sizes=shape)


def places_of_pieces(length: int, split_size: int | Sequence[int], axis: int) -> tuple[slice, ...]:
    """Where the pieces of an axis are, of one size or of these sizes."""
    if isinstance(split_size, int):
        if split_size < 0:
            raise RuntimeError(
                f"split expects split_size be non-negative, but got split_size={split_size}"
            )
        if split_size == 0 and length > 0:
            raise RuntimeError(
                "split_size can only be 0 if dimension size is 0, but got dimension size of "
                f"{length}"
            )
        starts = range(0, max(length, 1), max(split_size, 1))
        return tuple(slice(start, min(start + split_size, length)) for start in starts)
    ends = np.cumsum(split_size).tolist()
    if ends[-1] != length:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {length} (input tensor's size "
            f"at dimension {axis}), but got split_sizes={list(split_size)}"
        )
    return tuple(map(slice, [0, *ends], ends))


@operation(BOTH, shapes="(…, n, …) -> (…, size, …) for each piece")
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` pieces of equal size along an axis."""
    if not input.array.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    length = input.array.shape[axis_of(dim, input.array.ndim)]
    return split(input, sizes_of_chunks(length, chunks), dim)


def sizes_of_chunks(length: int, chunks: int) -> int | tuple[int, ...]:
    """The size of each of at most so many pieces of an axis."""
    if chunks < 1:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    return -(-length // chunks) if length else (0,) * chunks
