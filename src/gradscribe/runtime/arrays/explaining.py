"""PyTorch's words for what NumPy refuses: the errors that users of Tensors search for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.exceptions import AxisError

from gradscribe.runtime.arrays import dtypes

Shapes = Sequence[tuple[int, ...]]
Explain = Callable[[Exception, Sequence[Any], tuple[Any, ...]], Exception | None]
"""What an operation says of an error of NumPy's: given it, the arrays and the static arguments."""


def explained(
    error: Exception,
    name: str,
    explain: Explain | None,
    arrays: Sequence[Any],
    static: tuple[Any, ...] = (),
) -> Exception:
    """The error to raise in place of NumPy's, for an operation of this name on arrays. explain:
    what the operation itself says, if anything."""
    if isinstance(error, AxisError):
        known = error.axis is not None and error.ndim is not None
        return out_of_range(error.axis or 0, error.ndim or 0) if known else error
    found = explain(error, arrays, static) if explain is not None else None
    if found is not None:
        return found
    shapes = [np.shape(array) for array in arrays]
    if isinstance(error, ValueError) and len(shapes) > 1 and "broadcast" in str(error):
        return _not_broadcast(shapes) or RuntimeError(str(error))
    if "duplicate value in 'axis'" in str(error) or "Duplicate axes" in str(error):
        return _duplicate(static)
    if isinstance(error, TypeError) and "not supported for the input types" in str(error):
        scalar = dtypes.scalar_name(np.result_type(*arrays))
        return NotImplementedError(f"\"{name.lower()}\" not implemented for '{scalar}'")
    return RuntimeError(str(error)) if type(error) is ValueError else error


def _duplicate(static: tuple[Any, ...]) -> RuntimeError:
    """The error for an axis that is named twice."""
    named: tuple[Any, ...] = next((item for item in static if isinstance(item, tuple)), ())
    twice = next((dim for i, dim in enumerate(named) if dim in named[:i]), 0)
    return RuntimeError(f"dim {twice} appears multiple times in the list of dims")


def out_of_range(axis: int, rank: int) -> IndexError:
    """The error for an axis that an array of this rank does not have."""
    limit = max(rank, 1)
    return IndexError(
        f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], but got "
        f"{axis})"
    )


def check_index_lengths(present: Any, given: Any, axis: int, name: str) -> None:
    """Raise the error for an index that is longer than the Tensor along another axis."""
    for other, (length, wanted) in enumerate(zip(present, given, strict=True)):
        if other != axis and wanted > length:
            sizes = f"index {list(given)} to be no larger than self {list(present)}"
            if name == "gather":
                start, end = f"Size does not match at dimension {other} expected ", ""
            else:
                start, end = "Expected ", f" and to be no larger size than src {list(given)}"
            raise RuntimeError(f"{start}{sizes} apart from dimension {axis}{end}")


def common_shape(shapes: Shapes) -> tuple[int, ...]:
    """The shape that all of these broadcast to."""
    error = _not_broadcast(shapes) if shapes else None
    if error is not None:
        raise error
    return np.broadcast_shapes(*shapes)


def _not_broadcast(shapes: Shapes) -> Exception | None:
    rank = max(map(len, shapes))
    first, *rest = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    for second in rest:
        for axis in reversed(range(rank)):
            if first[axis] != second[axis] and 1 not in (first[axis], second[axis]):
                return RuntimeError(
                    f"The size of tensor a ({first[axis]}) must match the size of tensor b "
                    f"({second[axis]}) at non-singleton dimension {axis}"
                )
        first = tuple(a if b == 1 else b for a, b in zip(first, second, strict=True))
    return None


def not_of_booleans(message: str) -> Explain:
    """The error for what NumPy has not for booleans."""
    return lambda error, *_: RuntimeError(message) if isinstance(error, TypeError) else None


def inverting(error: Exception, arrays: Sequence[Any], _: tuple[Any, ...]) -> Exception | None:
    """Why `~` is not had of floating numbers."""
    if np.asarray(arrays[0]).dtype.kind not in "fc":
        return None
    return TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")


def bitwise(name: str) -> Explain:
    """The error for floating numbers."""

    def explain(_: Exception, arrays: Sequence[Any], __: tuple[Any, ...]) -> Exception | None:
        if all(np.asarray(array).dtype.kind not in "fc" for array in arrays):
            return None
        scalar = dtypes.scalar_name(np.result_type(*arrays))
        return NotImplementedError(f"\"{name}\" not implemented for '{scalar}'")

    return explain


def _by_shapes(
    explain: Callable[[Exception, Shapes, tuple[Any, ...]], Exception | None],
) -> Explain:
    """An explanation that looks at the shapes alone."""
    return lambda error, arrays, static: explain(error, [*map(np.shape, arrays)], static)


# --- products ---------------------------------------------------------------------------------


@_by_shapes
def product(error: Exception, shapes: Shapes, static: tuple[Any, ...]) -> Exception | None:
    """Why two arrays cannot be multiplied as matrices and vectors."""
    first, second = shapes
    explain = _PRODUCTS.get((len(first), len(second)))
    if explain is not None:
        return RuntimeError(explain(first, second))
    if min(len(first), len(second)) == 0:
        return RuntimeError(
            "both arguments to matmul need to be at least 1D, but they are "
            f"{len(first)}D and {len(second)}D"
        )
    if first[-1] == second[max(-2, -len(second))]:
        return _not_broadcast((first[:-2], second[:-2]))
    return RuntimeError(
        _matrices((1, *first)[-2:], (*second, 1)[:2] if len(second) == 1 else second[-2:])
    )


def _matrices(first: Any, second: Any) -> str:
    return (
        f"mat1 and mat2 shapes cannot be multiplied ({first[0]}x{first[1]} and "
        f"{second[0]}x{second[1]})"
    )


def _matrix_and_vector(first: Any, second: Any) -> str:
    return f"size mismatch, got input ({first[0]}), mat ({first[0]}x{first[1]}), vec ({second[0]})"


def _vector_and_matrix(first: Any, second: Any) -> str:
    return _matrices((1, first[0]), second)


def _vectors(first: Any, second: Any) -> str:
    return (
        f"inconsistent tensor size, expected tensor [{first[0]}] and src [{second[0]}] to have the "
        f"same number of elements, but got {first[0]} and {second[0]} elements respectively"
    )


def _stacks(first: Any, second: Any) -> str:
    wanted = f"[{first[0]}, {first[2]}]"
    return (
        f"Expected size for first two dimensions of batch2 tensor to be: {wanted} but got: "
        f"[{second[0]}, {second[1]}]."
    )


_PRODUCTS: dict[tuple[int, int], Callable[[Any, Any], str]] = {
    (2, 2): _matrices,
    (2, 1): _matrix_and_vector,
    (1, 2): _vector_and_matrix,
    (1, 1): _vectors,
    (3, 3): _stacks,
}


# --- joining and reducing ---------------------------------------------------------------------


@_by_shapes
def joined(error: Exception, shapes: Shapes, static: tuple[Any, ...]) -> Exception | None:
    """Why arrays cannot be concatenated."""
    if not shapes:
        return ValueError("torch.cat(): expected a non-empty list of Tensors")
    first = shapes[0]
    for position, shape in enumerate(shapes):
        if len(shape) == 0:
            return RuntimeError(
                f"zero-dimensional tensor (at position {position}) cannot be concatenated"
            )
        if len(shape) != len(first):
            return RuntimeError(
                f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}"
            )
    return _different_lengths(shapes, static[0] if static else 0)


def _different_lengths(shapes: Shapes, axis: int) -> RuntimeError | None:
    """The error for arrays of different lengths in an axis other than that of concatenation."""
    first = shapes[0]
    for position, shape in enumerate(shapes):
        for a, (wanted, found) in enumerate(zip(first, shape, strict=True)):
            if a != axis % len(first) and wanted != found:
                return RuntimeError(
                    f"Sizes of tensors must match except in dimension {axis}. Expected size "
                    f"{wanted} but got size {found} for tensor number {position} in the list."
                )
    return None


@_by_shapes
def stacked(error: Exception, shapes: Shapes, static: tuple[Any, ...]) -> Exception | None:
    """Why arrays cannot be stacked."""
    if not shapes:
        return RuntimeError("stack expects a non-empty TensorList")
    for position, shape in enumerate(shapes):
        if shape != shapes[0]:
            return RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(shapes[0])} at entry 0 "
                f"and {list(shape)} at entry {position}"
            )
    return None


def of_nothing(name: str, kind: type[Exception] = RuntimeError) -> Explain:
    """The error for a reduction of no elements."""
    advice = " Specify the reduction dim with the 'dim' argument." if kind is RuntimeError else ""

    @_by_shapes
    def explain(error: Exception, shapes: Shapes, static: tuple[Any, ...]) -> Exception | None:
        if 0 not in shapes[0]:
            return None
        if static and isinstance(static[0], int):
            return IndexError(
                f"{name}(): Expected reduction dim {static[0]} to have non-zero size."
            )
        return kind(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0.{advice}"
        )

    return explain


@_by_shapes
def expanded(error: Exception, shapes: Shapes, static: tuple[Any, ...]) -> Exception | None:
    """Why an array cannot be broadcast to a shape."""
    (wanted,), present = static, shapes[0]
    padded = (1,) * (len(wanted) - len(present)) + tuple(present)
    for axis, (new, old) in enumerate(zip(wanted, padded, strict=True)):
        if old not in (1, new):
            return RuntimeError(
                f"The expanded size of the tensor ({new}) must match the existing size ({old}) at "
                f"non-singleton dimension {axis}.  Target sizes: {list(wanted)}.  Tensor sizes: "
                f"{list(present)}"
            )
    return None


def without_matrix(name: str) -> Explain:
    """The error for what is no matrix."""

    @_by_shapes
    def explain(error: Exception, shapes: Shapes, static: tuple[Any, ...]) -> Exception | None:
        rank = len(shapes[0])
        return RuntimeError(f"{name}: expected a matrix, but got tensor with dim {rank}")

    return explain


@_by_shapes
def permuted(error: Exception, shapes: Shapes, static: tuple[Any, ...]) -> Exception | None:
    if "repeated" in str(error):
        return RuntimeError("permute(): duplicate dims are not allowed.")
    return RuntimeError(
        "permute: number of dimensions in the tensor input does not match the length "
        f"of the desired ordering of dimensions i.e. input.dim() = {len(shapes[0])}"
    )


@_by_shapes
def copied(error: Exception, shapes: Shapes, static: tuple[Any, ...]) -> Exception | None:
    """Why a value does not fit into the tensor that it is written to."""
    if not isinstance(error, ValueError) or _not_broadcast(shapes) is not None:
        return None
    together = list(np.broadcast_shapes(*shapes))
    return RuntimeError(
        f"output with shape {list(shapes[0])} doesn't match the broadcast shape {together}"
    )
