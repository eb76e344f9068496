"""Functions that join Tensors or lay them out for each other: NumPy's, called with Tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.runtime.arrays.rows import FUNCTION, OUT, operation
from gradscribe.runtime.arrays.size import Size
from gradscribe.runtime.operations import shaping


@operation(FUNCTION | OUT, shapes="(n, m, …) for each -> (n, sum of m, …)")
def hstack(tensors: Any) -> Any:
    """Tensors beside each other, along the second axis (vectors: the first)."""
    laid = [atleast_1d(tensor) for tensor in tensors]
    return shaping.cat(laid, 0 if laid[0].ndim == 1 else 1)


@operation(FUNCTION | OUT, aliases=("row_stack",), shapes="(n, …) for each -> (sum of n, …)")
def vstack(tensors: Any) -> Any:
    """Tensors below each other; vectors are rows."""
    return shaping.cat([atleast_2d(tensor) for tensor in tensors], 0)


@operation(FUNCTION | OUT, shapes="(n, m, k, …) for each -> (n, m, sum of k, …)")
def dstack(tensors: Any) -> Any:
    """Tensors behind each other, along the third axis."""
    return shaping.cat([atleast_3d(tensor) for tensor in tensors], 2)


@operation(FUNCTION | OUT, shapes="(n) or (n, m) for each -> (n, columns)")
def column_stack(tensors: Any) -> Any:
    """Tensors beside each other; vectors are columns."""
    columns = [t if t.ndim > 1 else t.reshape(t.numel(), 1) for t in tensors]
    return shaping.cat(columns, 1)


@operation(FUNCTION, shapes="(…) -> (…)")
def atleast_1d(input: Any, *more: Any) -> Any:
    """With one axis at least."""
    if more or isinstance(input, (tuple, list)):
        return tuple(map(atleast_1d, (input, *more) if more else input))
    return input if input.ndim else input.reshape(1)


@operation(FUNCTION, shapes="(…) -> (…)")
def atleast_2d(input: Any, *more: Any) -> Any:
    """With two axes at least."""
    if more or isinstance(input, (tuple, list)):
        return tuple(map(atleast_2d, (input, *more) if more else input))
    if input.ndim > 1:
        return input
    return input.unsqueeze(0) if input.ndim else input.reshape(1, 1)


@operation(FUNCTION, shapes="(…) -> (…)")
def atleast_3d(input: Any, *more: Any) -> Any:
    """With three axes at least."""
    if more or isinstance(input, (tuple, list)):
        return tuple(map(atleast_3d, (input, *more) if more else input))
    if input.ndim > 2:
        return input
    if input.ndim == 2:
        return input.unsqueeze(-1)
    return input.unsqueeze(0).unsqueeze(-1) if input.ndim else input.reshape(1, 1, 1)


@operation(FUNCTION, shapes="(n), (m), … -> (n, m, …) for each")
def meshgrid(*tensors: Any, indexing: str = "ij") -> Any:
    """The coordinates of a grid: each vector along an axis of its own."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    _check_grid(tensors, indexing)
    grids = []
    for axis, tensor in enumerate(tensors):
        if indexing == "xy" and axis < 2 and len(tensors) > 1:
            axis = 1 - axis
        lengths = [t.numel() for t in tensors]
        if indexing == "xy" and len(tensors) > 1:
            lengths[:2] = [lengths[1], lengths[0]]
        shape = [1] * len(tensors)
        shape[axis] = tensor.numel()
        grids.append(tensor.reshape(shape).expand(lengths))
    return tuple(grids)


def _check_grid(tensors: Any, indexing: str) -> None:
    """Raise PyTorch's errors for what spans no grid."""
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for tensor in tensors:
        if tensor.ndim > 1:
            raise RuntimeError(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: "
                f"{tensor.tolist()}"
            )
    if len({tensor.dtype for tensor in tensors}) > 1:
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(
            'torch.meshgrid: indexing must be one of "xy" or "ij", but received: ' + indexing
        )


@operation(FUNCTION, shapes="(n), (m), … -> (n m …, how many)")
def cartesian_prod(*tensors: Any) -> Any:
    """All combinations of elements of vectors, one in each row."""
    if len(tensors) == 1:
        return tensors[0]
    return np.stack([grid.reshape(-1) for grid in meshgrid(*tensors)], axis=1)


@operation(FUNCTION, shapes="(n, m), … -> (sum of n, sum of m)")
def block_diag(*tensors: Any) -> Any:
    """The matrix that has these matrices on its diagonal."""
    for position, tensor in enumerate(tensors):
        if tensor.ndim > 2:
            raise RuntimeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{position} has {tensor.ndim} dimensions"
            )
    blocks = [atleast_2d(tensor) for tensor in tensors]
    width, left = sum(block.size(1) for block in blocks), 0
    rows = []
    for block in blocks:
        height, own = block.size(0), block.size(1)
        sides = (block.new_zeros(height, left), block.new_zeros(height, width - left - own))
        rows.append(shaping.cat((sides[0], block, sides[1]), 1))
        left += own
    return shaping.cat(rows, 0)


@operation(FUNCTION, shapes="of shapes, not of elements")
def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that these broadcast to."""
    lengths = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    if any(length < 0 for shape in lengths for length in shape):
        raise ValueError("Attempting to broadcast a dimension with negative length!")
    found: tuple[int, ...] = ()
    for position, shape in enumerate(lengths):
        try:
            found = np.broadcast_shapes(found, shape)
        except ValueError:
            raise _not_joined(found, shape, position) from None
    return Size(found)


def _not_joined(found: tuple[int, ...], shape: tuple[int, ...], position: int) -> RuntimeError:
    pairs = enumerate(zip(reversed(shape), reversed(found), strict=False), 1)
    axis, length = next((-i, n) for i, (n, known) in pairs if n != known and 1 not in (n, known))
    text = f"({shape[0]},)" if len(shape) == 1 else str(tuple(shape))
    return RuntimeError(
        f"Attempting to broadcast a dimension of length {length} at {axis}! Mismatching argument "
        f"at index {position} had {text}; but expected shape should be broadcastable to "
        f"{list(found)}"
    )
