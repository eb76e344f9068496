"""Norms of vectors and of matrices, as `torchlike.linalg` has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.rows import FUNCTION, OUT, Table
from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.operations import elementwise, reductions
from gradscribe.runtime.tensors.tensor import Tensor

LINALG = Table("torchlike.linalg")
_numpy: Any = np.linalg  # takes Tensors, too


@LINALG.operation(FUNCTION | OUT, shapes="(…) -> (), or (…) without the axes named")
def vector_norm(
    x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """The p-norm of the elements along some axes, or of all."""
    _check_norm_dtype(x, dtype)
    if ord == 0:
        counted = elementwise.ne(x, 0).to(x.abs().dtype if dtype is None else dtype)
        return reductions.sum(counted, dim, keepdim)
    rank = len(x.shape)
    if dim is None and keepdim:
        dim = tuple(range(rank))
    return functions.norm(x, ord, dim, keepdim, dtype)


def _check_norm_dtype(x: Tensor, dtype: Any) -> None:
    """PyTorch's errors for a dtype in which elements lose digits, or parts."""
    if dtype is None:
        return
    given, wanted = x.array.dtype, dtypes.to_dtype(dtype)
    names = dtypes.scalar_name(given), dtypes.scalar_name(wanted)
    if (given.kind == "c") != (wanted.kind == "c"):
        kinds = ("complex", "complex") if given.kind == "c" else ("floating point", "real")
        raise RuntimeError(
            f"linalg.vector_norm: dtype should be {kinds[0]} for {kinds[1]} inputs, but got "
            f"{names[1]}"
        )
    if given.itemsize > wanted.itemsize and given.kind == wanted.kind:
        raise RuntimeError(
            f"linalg.vector_norm: the dtype of the input ({names[0]}) should be convertible "
            f"without narrowing to the specified dtype ({names[1]})"
        )


@LINALG.operation(FUNCTION | OUT, shapes="(…, n, m) -> (…)")
def matrix_norm(
    A: Tensor,
    ord: Any = "fro",
    dim: Any = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """A norm of matrices: "fro", "nuc", or inf, -inf, 1, -1, 2, -2."""
    if len(A.shape) < 2:
        raise RuntimeError(
            "linalg.matrix_norm: The input tensor A must have at least 2 dimensions."
        )
    matrices = A if dtype is None else functions.to_dtype(A, dtype)
    return _numpy.norm(matrices, ord, tuple(dim), keepdim)  # type: ignore[no-any-return]


@LINALG.operation(FUNCTION | OUT, shapes="(…) -> (), or (…) without the axes named")
def norm(
    A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """A norm of vectors or, along two axes, of matrices."""
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    many = isinstance(dim, (tuple, list))
    if (many and len(dim) == 2) or (dim is None and len(A.shape) == 2) or isinstance(ord, str):
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    if dim is None and len(A.shape) > 2:
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
            f"{len(A.shape)}D."
        )
    return vector_norm(A, ord, dim, keepdim, dtype=dtype)
