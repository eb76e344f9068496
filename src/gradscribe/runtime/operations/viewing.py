"""The table of eager operations, continued: views of parts, axes moved, elements repeated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from gradscribe.runtime.arrays import composites, dtypes
from gradscribe.runtime.arrays.explaining import common_shape, without_matrix
from gradscribe.runtime.arrays.rows import BOTH, FUNCTION, IN_PLACE, METHOD, OUT, operation
from gradscribe.runtime.arrays.size import in_tuple, sizes
from gradscribe.runtime.operations import indexing, shaping
from gradscribe.runtime.operations.adaptors import enter_row
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.operations.shaping import axis_of, permute
from gradscribe.runtime.tensors.tensor import Tensor, wrap

_DIAGONAL = enter_row(
    Operation(
        "Diagonal",
        np.diagonal,
        ("offset", "axis1", "axis2"),
        view=True,
        saved=("offset:offset dim1:axis1 dim2:axis2 sizes",),
        explain=without_matrix("diagonal"),
    )
)
_UNFOLD = Operation("Unfold", sliding_window_view, ("window_shape", "axis"), view=True)
_ROLL = enter_row(
    Operation("Roll", np.roll, ("shift", "axis"), saved=("shifts:shift* dims:axis*",))
)
_ROT90 = Operation("Rot90", np.rot90, ("k", "axes"))
_REPEAT = Operation("Repeat", np.tile, ("reps",), saved=("repeats:reps* sizes",))
_INTERLEAVE = Operation("RepeatInterleave", np.repeat, ("repeats", "axis"))
_TRIL = enter_row(Operation("Tril", np.tril, ("k",), saved=("diagonal:k",)))
_TRIU = enter_row(Operation("Triu", np.triu, ("k",), saved=("diagonal:k",)))

# --- parts ------------------------------------------------------------------------------------


@operation(BOTH, shapes="(…, n, …) -> (…)")
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The slice at one index of an axis."""
    if not input.array.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    axis = axis_of(dim, input.array.ndim)
    length = input.array.shape[axis]
    if not -length <= index < length:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.array.shape)} "
            f"at dimension {axis}"
        )
    return indexing.at_axis(input, axis, index)


@operation(BOTH, shapes="(…, n, …) -> (…, length, …)")
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """The part of an axis of this length from start."""
    if not input.array.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    axis = axis_of(dim, input.array.ndim)
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    whole, first = input.array.shape[axis], int(start)
    if not -whole <= first <= whole:
        raise IndexError(
            f"start out of range (expected to be in range of [{-whole}, {whole}], but got {first})"
        )
    first += whole if first < 0 else 0
    if first + length > whole:
        raise RuntimeError(f"start ({first}) + length ({length}) exceeds dimension size ({whole}).")
    return indexing.at_axis(input, axis, slice(first, first + length))


@operation(BOTH, shapes="(…, n, m) -> (…, k)")
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of two axes, as the last axis."""
    rank = input.array.ndim
    if axis_of(dim1, rank) == axis_of(dim2, rank):
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return apply(_DIAGONAL, (input,), (offset, dim1, dim2))


@operation(METHOD, shapes="(…, n, …) -> (…, windows, …, size)")
def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """All windows of this size along an axis, so many steps apart, as the last axis."""
    axis = axis_of(dimension, input.array.ndim)
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if not input.array.ndim and size < 2:
        return shaping.reshape(input, -1)[:size]
    input, length = _lined(input), (input.array.shape or (1,))[axis]
    if size > length:
        raise RuntimeError(
            f"maximum size for tensor at dimension {axis} is {length} but size is {size}"
        )
    windows = apply(_UNFOLD, (input,), (size, axis))
    if step == 1:
        return windows
    return indexing.at_axis(windows, axis, slice(None, None, step))


@operation(BOTH, shapes="(…, n, …) -> (…, size, …) for each piece")
def tensor_split(input: Tensor, indices_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """So many pieces along an axis, of nearly equal size, or the pieces between these indices."""
    if not input.array.ndim:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    axis = axis_of(dim, input.array.ndim)
    if isinstance(indices_or_sections, Tensor):
        indices_or_sections = indices_or_sections.tolist()
    places = places_between(input.array.shape[axis], indices_or_sections)
    return indexing.at_places(input, axis, places)


def places_between(length: int, ends: Any) -> tuple[slice, ...]:
    """Where the pieces of an axis are: so many, or those between these indices."""
    if isinstance(ends, int):
        if ends < 1:
            raise RuntimeError(f"number of sections must be larger than 0, got {ends}")
        size, longer = divmod(length, ends)
        ends = [size * i + min(i, longer) for i in range(1, ends)]
    return tuple(map(slice, [0, *ends], [*ends, None]))


@operation(BOTH, shapes="(n, m, …) -> (n, size, …) for each piece")
def hsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Pieces along the second axis."""
    dim = 1 if input.array.ndim > 1 else 0
    return _split_evenly("hsplit", input, indices_or_sections, dim, 1)


@operation(BOTH, shapes="(n, …) -> (size, …) for each piece")
def vsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Pieces along the first axis."""
    return _split_evenly("vsplit", input, indices_or_sections, 0, 2)


@operation(BOTH, shapes="(n, m, k, …) -> (n, m, size, …) for each piece")
def dsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Pieces along the third axis."""
    return _split_evenly("dsplit", input, indices_or_sections, 2, 3)


def _split_evenly(
    name: str, input: Tensor, indices_or_sections: Any, dim: int, least: int
) -> tuple[Tensor, ...]:
    """Pieces of equal length along an axis, or between indices. least: so many axes are needed."""
    rank = input.array.ndim
    if rank < least:
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {least} dimension{'s' * (least > 1)}, "
            f"but got a tensor with {rank} dimensions!"
        )
    length = input.array.shape[dim]
    if isinstance(indices_or_sections, int) and length % (indices_or_sections or length + 1):
        raise RuntimeError(
            f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
            f"{length} is not divisible by the split_size {indices_or_sections}!"
        )
    return tensor_split(input, indices_or_sections, dim)


@operation(BOTH, shapes="(…, n, …) -> (…, size, …) for each piece")
def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces of these sizes along an axis."""
    return shaping.split(input, list(split_sizes), dim)


# --- axes -------------------------------------------------------------------------------------


@operation(BOTH, aliases=("moveaxis",), shapes="(…) -> (…)")
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Axes moved to other places, the others staying in order."""
    return permute(input, *order_moved(source, destination, input.array.ndim))


def order_moved(source: Any, destination: Any, rank: int) -> tuple[int, ...]:
    """The order of the axes after some have been moved."""
    taken = [axis_of(dim, rank) for dim in in_tuple(source)]
    given = [axis_of(dim, rank) for dim in in_tuple(destination)]
    for name, dims, axes in (("source", source, taken), ("destination", destination, given)):
        if len({*axes}) != len(axes):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(in_tuple(dims))})")
    if len(taken) != len(given):
        raise RuntimeError(
            "movedim: Invalid source or destination dims: source ("
            f"{list(in_tuple(source))} dims) should contain the same number of dims as destination "
            f"({list(in_tuple(destination))} dims)"
        )
    if not rank:
        return ()
    order = [dim for dim in range(rank) if dim not in taken]
    for place, dim in sorted(zip(given, taken, strict=True)):
        order.insert(place, dim)
    return tuple(order)


@operation(BOTH, shapes="(…, n, m) -> (…, m, n)")
def adjoint(input: Tensor) -> Tensor:
    """The last two axes exchanged, the elements conjugated."""
    if input.array.ndim < 2:
        raise RuntimeError(
            "tensor.adjoint() is only supported on matrices or batches of matrices. Got "
            f"{input.array.ndim}-D tensor."
        )
    conjugate: Tensor = shaping.transpose(input, -2, -1).conj()
    return conjugate


@operation(BOTH, shapes="(…, n m, …) -> (…, n, m, …)")
def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """One axis as several of these lengths."""
    shape = input.array.shape
    axis = axis_of(dim, len(shape))
    known = math.prod(n for n in sizes if n != -1)
    if (shape[axis] % known if -1 in sizes else shape[axis] != known) != 0:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {axis} "
            f"({shape[axis]}) in the input tensor"
        )
    return shaping.view(input, (*shape[:axis], *sizes, *shape[axis + 1 :]))


@operation(FUNCTION, shapes="(…), (…), … -> (…) for each")
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The Tensors, all of the shape that they broadcast to."""
    shape = common_shape([tensor.array.shape for tensor in tensors])
    return tuple(
        tensor if tensor.array.shape == shape else shaping.expand(tensor, shape)
        for tensor in tensors
    )


# --- copies -----------------------------------------------------------------------------------


@operation(BOTH, shapes="(…) -> (…)")
def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """The elements shifted along axes, around their ends."""
    if not input.array.ndim and dims not in (None, ()):
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    named = None if dims is None or dims == () else sizes((dims,))
    shifted = sizes((shifts,))
    if not shifted:
        raise RuntimeError("`shifts` required")
    count = 1 if named is None else len(named)
    if len(shifted) != count:
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(shifted)}, "
            f"dims:{0 if named is None else count}"
        )
    return apply(_ROLL, (input,), (sizes((shifts,)), named) if named else (shifts, None))


@operation(BOTH, shapes="(…, n, m, …) -> (…, m, n, …)")
def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """A plane turned by so many right angles."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if input.array.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input.array.ndim}")
    if dims[0] == dims[1]:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    return apply(_ROT90, (input,), (k, tuple(dims)))


@operation(BOTH, shapes="(n, m, …) -> (n, m, …)")
def fliplr(input: Tensor) -> Tensor:
    """The second axis in the other direction."""
    if input.array.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return shaping.flip(input, 1)


@operation(BOTH, shapes="(n, …) -> (n, …)")
def flipud(input: Tensor) -> Tensor:
    """The first axis in the other direction."""
    if not input.array.ndim:
        raise RuntimeError("Input must be >= 1-d.")
    return shaping.flip(input, 0)


@operation(METHOD, shapes="(…, n) -> (…, times n), along each axis")
def repeat(input: Tensor, *repeats: Any) -> Tensor:
    """The whole Tensor, so many times along each axis."""
    times = sizes(repeats)
    if len(times) < input.array.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor"
        )
    return apply(_REPEAT, (input,), (times,))


@operation(BOTH, shapes="(…, n) -> (…, times n), along each axis")
def tile(input: Tensor, *dims: Any) -> Tensor:
    """The whole Tensor, so many times along the last axes."""
    return apply(_REPEAT, (input,), (sizes(dims),))


@operation(BOTH, shapes="(…, n, …) -> (…, sum of repeats, …)")
def repeat_interleave(
    input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each element so many times, along an axis or in the flat array; given only how many times,
    the positions."""
    if repeats is None:
        return repeat_interleave(wrap(np.arange(input.array.size)), input)
    if dim is None:
        input, dim = shaping.flatten(input), 0
    if isinstance(repeats, Tensor):
        _check_repeats(repeats.array, input.array.shape[dim])
        index = np.repeat(np.arange(input.array.shape[dim]), repeats.array)
        return indexing.at_axis(input, axis_of(dim, input.array.ndim), index, "IndexSelect")
    return apply(_INTERLEAVE, (input,), (int(repeats), dim))


def _check_repeats(repeats: Any, length: int) -> None:
    """Raise PyTorch's errors for numbers of times that do not fit an axis of this length."""
    if repeats.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if repeats.dtype.kind not in "iu":
        name = dtypes.scalar_name(repeats.dtype)
        raise NotImplementedError(f""""repeat_interleave" not implemented for '{name}'""")
    if repeats.size not in (1, length):
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{repeats.size} and input.size(0) = {length}"
        )
    if (repeats < 0).any():
        raise RuntimeError("repeats can not be negative")


@operation(BOTH | IN_PLACE | OUT, shapes="(…, n, m) -> (…, n, m)")
def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """Zeros above a diagonal."""
    _check_plane(input, "tril")
    return apply(_TRIL, (input,), (diagonal,))


@operation(BOTH | IN_PLACE | OUT, shapes="(…, n, m) -> (…, n, m)")
def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """Zeros below a diagonal."""
    _check_plane(input, "triu")
    return apply(_TRIU, (input,), (diagonal,))


def _check_plane(input: Tensor, name: str) -> None:
    if input.array.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")


def _lined(input: Tensor) -> Tensor:
    """A Tensor that has an axis: of one without axes, the view that has one."""
    return input if input.array.ndim else shaping.reshape(input, 1)


@operation(BOTH | OUT, shapes="(n, m) -> (k), or (n) -> (n + |diagonal|, n + |diagonal|)")
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """The diagonal of a matrix, or the matrix of a diagonal."""
    if input.array.ndim == 1:
        return diag_embed(input, diagonal)
    if input.array.ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.array.ndim}D")
    return apply(_DIAGONAL, (input,), (diagonal, 0, 1)).clone()


@operation(BOTH, shapes="(n) -> (n + |offset|, n + |offset|)")
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The matrix that has the elements on a diagonal."""
    return diag_embed(shaping.flatten(input), offset)


@operation(BOTH, shapes="(…, n) -> (…, n + |offset|, n + |offset|)")
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices, in two axes, that have the last axis on a diagonal."""
    length = input.array.shape[-1] + abs(offset)
    rows = np.arange(input.array.shape[-1]) + max(-offset, 0)
    columns = rows + offset
    whole = (*input.array.shape[:-1], length, length)
    places = np.arange(math.prod(whole)).reshape(whole)[..., rows, columns]
    zeros = np.zeros(whole, input.array.dtype)
    filled = apply(_EMBED, (zeros, places, input))
    rank = len(whole)
    if (axis_of(dim1, rank), axis_of(dim2, rank)) == (rank - 2, rank - 1):
        return filled
    return movedim(filled, (-2, -1), (dim1, dim2))


_EMBED = Operation("DiagEmbed", composites.put_flat)
