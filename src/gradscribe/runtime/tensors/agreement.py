"""Operands whose dtypes PyTorch does not take together, where NumPy would promote them.

These are the rules of PyTorch's own spellings (`gs.mm`, `Tensor.sub`, `@`); NumPy's functions of
Tensors promote as NumPy does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.runtime.arrays.dtypes import c_name, cpp_name, scalar_name
from gradscribe.runtime.tensors.tensor import Tensor

_INVERT = "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."


def _is_boolean(operand: Any) -> bool:
    if isinstance(operand, Tensor):
        operand = operand.array
    if isinstance(operand, np.ndarray):
        return bool(operand.dtype.kind == "b")
    return isinstance(operand, (bool, np.bool_))


def refuse_booleans(first: Any, second: Any) -> None:
    """Raise the error for a difference of booleans."""
    booleans = _is_boolean(first), _is_boolean(second)
    if all(booleans):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
            "`logical_xor()` operator instead."
        )
    if any(booleans):
        raise RuntimeError(
            f"Subtraction, the `-` operator, with a bool tensor is not supported. {_INVERT}"
        )


def _are_alike(*operands: Any) -> bool:
    """Whether operands have one dtype, as far as they are Tensors of floating or complex numbers;
    integers are converted, as in the PyTorch of old, whose `arange` gave floating numbers."""
    found = None
    for operand in operands:
        if not isinstance(operand, Tensor):
            return True
        dtype = operand.array.dtype
        if dtype.kind in "fc":
            if found is not None and dtype != found:
                return False
            found = dtype
    return True


def refuse_unlike(message: str, *operands: Any, name: Callable[[Any], str] = scalar_name) -> None:
    """Raise an error where Tensors have several dtypes, whose names the message has places for."""
    if not _are_alike(*operands):
        raise RuntimeError(message.format(*(name(operand.array.dtype) for operand in operands)))


_OF_MATRICES = "expected m1 and m2 to have the same dtype, but got: {} != {}"
OF_STACKS = "expected scalar type {} but found {}"
_OF_VECTORS = "dot : expected both vectors to have same dtype, but found {} and {}"
OF_MATRIX_AND_VECTOR = "addmv input tensors must have the same dtype, but got {}, {}, and {}"


def refuse_unlike_factors(first: Any, second: Any) -> None:
    """Raise the error for a matrix product of two dtypes."""
    if _are_alike(first, second):
        return
    ranks = first.array.ndim, second.array.ndim
    if ranks == (1, 1):
        refuse_unlike(_OF_VECTORS, first, second)
    if ranks[1] == 1:
        refuse_unlike(OF_MATRIX_AND_VECTOR, second, first, second)
    if min(ranks) > 2:
        refuse_unlike(OF_STACKS, first, second)
    refuse_unlike(_OF_MATRICES, first, second, name=cpp_name)


def refuse_unlike_inputs(first: Any, second: Any) -> None:
    """Raise the error for a sum of products of two dtypes."""
    refuse_unlike("both inputs should have same dtype", first, second)


def refuse_unlike_terms(input: Tensor, mat1: Tensor, mat2: Tensor) -> None:
    """Raise the error for a matrix and a product of matrices, of several dtypes."""
    refuse_unlike("mat1 and mat2 must have the same dtype, but got {} and {}", mat1, mat2)
    refuse_unlike("self and mat2 must have the same dtype, but got {} and {}", input, mat2)


def refuse_unlike_ends(input: Tensor, end: Tensor, weight: Any) -> None:
    """Raise the error for a `lerp` between several dtypes."""
    for name, other in (("end", end), ("weight", weight)):
        message = f"expected dtype {{}} for `{name}` but got dtype {{}}"
        refuse_unlike(message, input, other, name=c_name)
