"""Tensors of data: numbers, nested sequences, arrays. All that is made anew is `finished` here."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.data_errors import unlike_sequence, without_dtype
from gradscribe.runtime.arrays.floating_point_errors import silent
from gradscribe.runtime.arrays.rows import FUNCTION, operation
from gradscribe.runtime.graph.modes import MODES, tell_made
from gradscribe.runtime.tensors.tensor import Array, Tensor, wrap


@silent
def finished(
    array: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A leaf of an array that nobody else holds, converted to dtype."""
    array = np.asarray(array, None if dtype is None else dtypes.to_dtype(dtype))
    if device is not None:
        dtypes.check_device(device)
    if requires_grad and not dtypes.is_differentiable(array.dtype):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    if array.dtype.kind not in "biufc":
        raise TypeError(
            f"can't convert np.ndarray of type numpy.{array.dtype.type.__name__}. The only "
            "supported types are: float64, float32, float16, complex64, complex128, int64, int32, "
            "int16, int8, uint64, uint32, uint16, uint8, and bool."
        )
    tensor = wrap(array)
    tensor._needs_grad = bool(requires_grad)
    if MODES:
        tell_made(tensor)
    return tensor


def taken(array: Array, dtype: Any = None, device: Any = None) -> Tensor:
    """A Tensor around an array that somebody else holds. (In compiled code derivatives pass.)"""
    return finished(array.view(), dtype, device)


def made_of_data(array: Any, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    """`finished`, where the dtype may be that of the data: integers that require gradients become
    the default floating type then."""
    if requires_grad and dtype is None and not dtypes.is_differentiable(array.dtype):
        dtype = dtypes.default()
    return finished(array, dtype, device, requires_grad)


@operation(
    FUNCTION,
    shapes="that of the data",
    dtypes="that of the data; the default one for Python's floats",
)
def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A Tensor of (a copy of) the data: numbers, nested sequences, an array."""
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use "
            "sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), "
            "rather than gs.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
    elif isinstance(data, np.ndarray) and not requires_grad:
        return taken(array_of(data, dtype), dtype, device)
    return made_of_data(array_of(data, dtype), dtype, device, requires_grad)


@silent
def array_of(data: Any, dtype: Any) -> Array:
    """A new array of the data; Python floats get the default floating type."""
    if isinstance(data, Tensor):
        data = data.array
    try:
        array: Array = np.array(plain(data))
    except RecursionError:
        raise ValueError("too many dimensions: a list is, or holds, one of its own items") from None
    except ValueError:
        raise unlike_sequence(data) from None
    if isinstance(data, (np.ndarray, np.generic)):
        return array
    if array.dtype.kind not in "biufc":
        raise without_dtype(data)
    if dtype is None and array.dtype.kind in "fc" and not _holds_numpy(data):
        kind = np.result_type(dtypes.default(), np.complex64)
        return array.astype(dtypes.default() if array.dtype.kind == "f" else kind)
    return array


def plain(data: Any) -> Any:
    """Nested sequences without Tensors in them."""
    if isinstance(data, Tensor):
        return data.array
    if isinstance(data, (list, tuple)):
        return [plain(item) for item in data]
    return data


def _holds_numpy(data: Any) -> bool:
    if isinstance(data, (list, tuple)):
        return any(map(_holds_numpy, data))
    return isinstance(data, (np.ndarray, np.generic, Tensor))
