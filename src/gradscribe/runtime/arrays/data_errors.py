"""What no Tensor can be made of, and what fits in none: PyTorch's errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.runtime.arrays.explaining import common_shape


def unlike_sequence(data: Any, depth: int = 0) -> Exception:
    """The error for nested sequences that are not of one length at each depth."""
    if not isinstance(data, (list, tuple)):
        return TypeError("not a sequence")
    first = data[0] if data else None
    if not isinstance(first, (list, tuple)):
        odd = next((item for item in data if isinstance(item, (list, tuple))), None)
        return TypeError(f"'{type(odd).__name__}' object cannot be interpreted as an integer")
    for item in data:
        if not isinstance(item, (list, tuple)):
            return TypeError("not a sequence")
        if len(item) != len(first):
            return ValueError(
                f"expected sequence of length {len(first)} at dim {depth + 1} (got {len(item)})"
            )
    return next(unlike_sequence(item, depth + 1) for item in data)


def without_dtype(data: Any, depth: int = 0) -> Exception:
    """The error for data of a kind that Tensors do not hold."""
    if isinstance(data, (list, tuple)):
        odd = [item for item in data if not isinstance(item, (bool, int, float, complex))]
        large = [item for item in data if type(item) is int and abs(item) >= 1 << 63]
        if odd or large:
            return without_dtype((odd or large)[0], depth + 1)
    if isinstance(data, int):
        return ValueError("Overflow when unpacking long long")
    if isinstance(data, str):
        return (
            ValueError("too many dimensions 'str'")
            if depth
            else TypeError("new(): invalid data type 'str'")
        )
    return RuntimeError(f"Could not infer dtype of {type(data).__name__}")


def check_sum(array: Any, other: Any) -> None:
    """Raise the error for a sum with another array that does not fit in the place of the first."""
    shape = common_shape((array.shape, np.shape(other)))
    if shape != array.shape:
        raise other_shape(array, shape)


def other_shape(array: Any, shape: tuple[int, ...]) -> RuntimeError:
    """The error for what is of another shape than the array where it should go."""
    return RuntimeError(
        f"output with shape {list(array.shape)} doesn't match the broadcast shape {list(shape)}"
    )
