"""What can be asked of Tensors: whether they are equal or close, how many elements they have, of
which kind those are. The answers carry no derivative."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradscribe.runtime.arrays.rows import BOTH, FUNCTION, MAIN, operation
from gradscribe.runtime.tensors.tensor import Tensor, wrap


@operation(BOTH, shapes="(…), (…) -> bool")
def allclose(
    input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Whether all elements are close."""
    return np.allclose(_array(input), _array(other), rtol=rtol, atol=atol, equal_nan=equal_nan)


@operation(BOTH, shapes="(…), (…) -> (…)", dtypes="bool")
def isclose(
    input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Where the elements are close."""
    first, second = _array(input), _array(other)
    close = np.isclose(first, second, rtol=rtol, atol=atol, equal_nan=equal_nan)
    return wrap(np.asarray(close))


@operation(BOTH, shapes="(…), (…) -> bool")
def equal(input: Any, other: Any) -> bool:
    """Whether two Tensors have the same shape and elements."""
    return np.array_equal(_array(input), _array(other))


MAIN.also("array_equal", equal, FUNCTION)


@operation(BOTH, shapes="(…) -> int")
def numel(input: Tensor) -> int:
    """The number of elements."""
    return input.array.size


@operation(BOTH, shapes="(…) -> bool")
def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are real floating numbers."""
    return input.array.dtype.kind == "f"


@operation(BOTH, shapes="(…) -> bool")
def is_complex(input: Tensor) -> bool:
    """Whether the elements are complex."""
    return input.array.dtype.kind == "c"


@operation(BOTH, shapes="(…) -> bool")
def is_signed(input: Tensor) -> bool:
    """Whether the elements may be negative."""
    return input.array.dtype.kind in "ifc"


@operation(BOTH, shapes="(…) -> bool")
def is_conj(input: Tensor) -> bool:
    """False: conjugates are computed, not marked."""
    return False


@operation(BOTH, shapes="(…) -> bool")
def is_neg(input: Tensor) -> bool:
    """False: negatives are computed, not marked."""
    return False


@operation(BOTH, shapes="(…) -> bool")
def is_distributed(input: Tensor) -> bool:
    """False."""
    return False


@operation(BOTH, shapes="(…) -> (…)")
def resolve_conj(input: Tensor) -> Tensor:
    """The Tensor, which is never marked as a conjugate."""
    return input


@operation(BOTH, shapes="(…) -> (…)")
def resolve_neg(input: Tensor) -> Tensor:
    """The Tensor, which is never marked as a negative."""
    return input


@operation(FUNCTION, shapes="any")
def typename(object: Any) -> str:
    """The name of a type, as in `torch.DoubleTensor`."""
    if isinstance(object, Tensor):
        return str(object.type())
    kind = object if isinstance(object, type) else type(object)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


@operation(FUNCTION, shapes="(…) -> (…) for each axis", dtypes="int64")
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Positions in the flat array as an index for each axis; those outside of it wrap around."""
    if indices.array.dtype.kind not in "iu":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, tuple, list)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    for length in lengths:
        if not isinstance(length, (int, np.integer)):
            raise TypeError(
                f"expected 'shape' sequence to only contain ints, but got {type(length)}"
            )
    if any(length < 0 for length in lengths):
        raise ValueError(f"'shape' cannot have negative values, but got {lengths}")
    steps = [math.prod(lengths[axis + 1 :]) for axis in range(len(lengths))]
    pairs = zip(steps, lengths, strict=True)
    return tuple(wrap(np.asarray(indices.array // step % length)) for step, length in pairs)


@operation(BOTH, shapes="one element -> bool")
def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not zero."""
    return bool(input)


@operation(BOTH, shapes="(…), (…) -> bool")
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two Tensors have the same shape."""
    return bool(input.array.shape == other.array.shape)


@operation(FUNCTION, shapes="any -> bool")
def is_tensor(object: Any) -> bool:
    """Whether this is a Tensor."""
    return isinstance(object, Tensor)


def _array(value: Any) -> Any:
    return value.array if isinstance(value, Tensor) else value
