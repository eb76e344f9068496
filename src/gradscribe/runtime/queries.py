"""What can be asked of Tensors: whether they are equal or close, how many elements they have, of
which kind those are. The answers carry no derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.runtime.tensor import Tensor, wrap

# fmt: off
__all__ = [
    "allclose", "array_equal", "equal", "is_complex", "is_floating_point", "is_nonzero",
    "is_same_size", "is_tensor", "isclose", "numel",
]
# fmt: on


def allclose(
    input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Whether all elements are close."""
    return np.allclose(_array(input), _array(other), rtol=rtol, atol=atol, equal_nan=equal_nan)


def isclose(
    input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Where the elements are close."""
    first, second = _array(input), _array(other)
    close = np.isclose(first, second, rtol=rtol, atol=atol, equal_nan=equal_nan)
    return wrap(np.asarray(close))


def equal(input: Any, other: Any) -> bool:
    """Whether two Tensors have the same shape and elements."""
    return np.array_equal(_array(input), _array(other))


array_equal = equal


def numel(input: Tensor) -> int:
    """The number of elements."""
    return input.array.size


def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are real floating numbers."""
    return input.array.dtype.kind == "f"


def is_complex(input: Tensor) -> bool:
    """Whether the elements are complex."""
    return input.array.dtype.kind == "c"


def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not zero."""
    return bool(input)


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two Tensors have the same shape."""
    return bool(input.array.shape == other.array.shape)


def is_tensor(object: Any) -> bool:
    """Whether this is a Tensor."""
    return isinstance(object, Tensor)


def _array(value: Any) -> Any:
    return value.array if isinstance(value, Tensor) else value
