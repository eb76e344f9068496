"""Values that are stored in place: what of them is stored, and why some are not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.floating_point_errors import tell_of_imaginary_part
from gradscribe.runtime.tensors.tensor import Array, Tensor, wrap


def fitting(value: Any, dtype: Any) -> Any:
    """The array or number of a value: of complex Tensors their real part, for real elements."""
    if isinstance(value, complex) and dtype.kind != "c":
        raise RuntimeError(
            f"value cannot be converted to type {dtypes.c_name(dtype)} without overflow"
        )
    if not isinstance(value, Tensor):
        return value
    if value.array.dtype.kind == "c" and dtype.kind not in "cb":
        tell_of_imaginary_part()
        return value.array.real
    return value.array


def check_dtypes(target: Array, place: Any, indices: Sequence[Any], value: Array) -> None:
    """Raise PyTorch's error for a Tensor of another dtype that is stored at arrays; a number at a
    mask is cast."""
    is_number_at_mask = not value.ndim and len(indices) == 1 and indices[0].dtype.kind == "b"
    if value.dtype == target.dtype or is_number_at_mask:
        return
    region = target[place]
    lengths = zip(reversed(value.shape), reversed(region.shape), strict=False)
    if not all(length in (1, wanted) for length, wanted in lengths):
        raise does_not_fit(region, value, True)
    raise RuntimeError(
        "Index put requires the source and destination dtypes match, got "
        f"{dtypes.scalar_name(target.dtype)} for the destination and "
        f"{dtypes.scalar_name(value.dtype)} for the source."
    )


def does_not_fit(region: Any, value: Any, at_arrays: bool) -> Exception:
    """PyTorch's error for a value that cannot be stored in a region."""
    kind = np.asarray(value).dtype.kind
    if kind not in "biufc":
        name = type(value).__name__
        return TypeError(f"can't assign a {name} to a {dtypes.type_name(region.dtype)}")
    if kind == "c" and not np.ndim(value):
        name = dtypes.c_name(region.dtype)
        return RuntimeError(f"value cannot be converted to type {name} without overflow")
    if not at_arrays:
        return _cannot_be_expanded(np.asarray(value), np.shape(region))
    return RuntimeError(
        f"shape mismatch: value tensor of shape {list(np.shape(value))} cannot be broadcast to "
        f"indexing result of shape {list(np.shape(region))}"
    )


def _cannot_be_expanded(value: Array, shape: tuple[int, ...]) -> Exception:
    """The error of `expand` for a value, whose first axes of length one do not count."""
    while value.ndim > 1 and value.shape[0] == 1:
        value = value[0]
    try:
        wrap(value).expand(shape)
    except RuntimeError as error:
        return error
    return RuntimeError(f"shape mismatch: {list(value.shape)} does not fit {list(shape)}")
