"""Pseudoinverses and ranks of matrices: which singular values count as zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.runtime.arrays.rows import FUNCTION, OUT
from gradscribe.runtime.operations import factorizations, shaping
from gradscribe.runtime.tensors.tensor import Tensor, wrap
from gradscribe.torchlike.norms import LINALG

_numpy: Any = np.linalg  # takes Tensors, too


@LINALG.operation(FUNCTION | OUT, shapes="(…, n, m) -> (…, m, n)")
def pinv(
    A: Tensor,
    rcond: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
) -> Tensor:
    """The Moore-Penrose pseudoinverse: singular values up to max(atol, rtol * the greatest) count
    as 0."""
    rows, columns = A.shape[-2:]
    if 0 in (rows, columns):
        return shaping.transpose(A, -2, -1).clone()
    if hermitian:
        A = factorizations.hermitian(A)
    least = _threshold(A, rcond, atol, rtol)
    return _numpy.pinv(A, least if np.ndim(least) else float(least))  # type: ignore[no-any-return]


def _threshold(A: Tensor, rcond: Any, atol: Any, rtol: Any) -> Any:
    """The ratio to the greatest singular value up to which others count as 0."""
    relative = rtol if rcond is None else rcond
    array = A.array
    if relative is None:
        no_atol = atol is None or not np.any(_plain(atol))
        relative = max(array.shape[-2:]) * np.finfo(array.dtype).eps if no_atol else 0.0
    if atol is None:
        return _plain(relative)
    greatest = np.linalg.norm(array, 2, (-2, -1))
    return np.maximum(_plain(atol) / np.maximum(greatest, 1e-300), _plain(relative))


def _plain(value: Any) -> Any:
    return value.array if isinstance(value, Tensor) else value


@LINALG.operation(FUNCTION | OUT, shapes="(…, n, m) -> (…)")
def matrix_rank(
    A: Tensor,
    tol: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
) -> Tensor:
    """How many singular values are above max(atol, rtol * the greatest)."""
    array = factorizations.hermitian(A).array if hermitian else A.array
    values = np.linalg.svd(array, compute_uv=False)
    greatest = np.max(values, axis=-1, initial=0.0)
    relative = _plain(rtol)
    if tol is not None:
        least = np.asarray(_plain(tol))
    else:
        has_atol = atol is not None and np.any(_plain(atol))
        if relative is None:
            relative = 0.0 if has_atol else max(A.shape[-2:]) * np.finfo(values.dtype).eps
        absolute = 0.0 if atol is None else _plain(atol)
        least = np.maximum(absolute, relative * greatest)
    counts = np.sum(values > np.asarray(least)[..., None], axis=-1, dtype=np.int64)
    return wrap(np.asarray(counts))
