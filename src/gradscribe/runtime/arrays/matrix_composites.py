"""Operations on matrices that NumPy does not have, as plain functions over arrays.

Like `composites.py`: the compiler differentiates them, eager Tensors record each as one node.
Matrices may stand in stacks, along the first axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def cholesky(x: Any, asymmetry: Any, upper: bool) -> Any:
    """The lower triangular factor, or its transpose, of what `hermitian` gives."""
    factor = np.linalg.cholesky(hermitian(x, asymmetry))
    return conjugate_transposed(factor) if upper else factor


def hermitian(x: Any, asymmetry: Any) -> Any:
    """One triangle of x mirrored, with a derivative that both share. asymmetry: what that is more
    than the mean of x and its adjoint."""
    return (x + conjugate_transposed(x)) / 2 + asymmetry


def _lower_factor(factor: Any, unread: Any, upper: bool) -> Any:
    read = factor - unread
    return conjugate_transposed(read) if upper else read


def conjugate_transposed(x: Any) -> Any:
    """The adjoint matrices."""
    return np.conj(np.swapaxes(x, -1, -2))


def cholesky_inverse(factor: Any, unread: Any, upper: bool) -> Any:
    """The inverse of L @ L.H; unread: the part of the factor that stands outside of L."""
    inverse = np.linalg.inv(_lower_factor(factor, unread, upper))
    return conjugate_transposed(inverse) @ inverse


def cholesky_solve(b: Any, factor: Any, unread: Any, upper: bool) -> Any:
    """x of L @ L.H @ x = b; unread: the part of the factor that stands outside of L."""
    lower = _lower_factor(factor, unread, upper)
    return np.linalg.solve(conjugate_transposed(lower), np.linalg.solve(lower, b))


def lu(x: Any) -> Any:
    """Both triangular factors in one matrix, without exchanges (Golub & Van Loan, §3.2)."""
    out = x.copy()
    rows, columns = x.shape[-2], x.shape[-1]
    for k in range(min(rows, columns)):
        column, pivot = out[..., k + 1 :, k], out[..., k, k][..., None]
        below = column / np.where((pivot == 0) & (column == 0), 1, pivot)
        out[..., k + 1 :, k] = below
        out[..., k + 1 :, k + 1 :] -= below[..., :, None] * out[..., k, k + 1 :][..., None, :]
    return out


def unit_lower(factors: Any, count: int) -> Any:
    """The lower factor, with ones on its diagonal."""
    left = factors[..., :, :count]
    return np.tril(left, -1) + np.eye(left.shape[-2], left.shape[-1], dtype=factors.dtype)


def upper(factors: Any, count: int) -> Any:
    """The upper factor."""
    return np.triu(factors[..., :count, :])


def lu_solve(factors: Any, b: Any) -> Any:
    """x of L @ U @ x = b."""
    count = factors.shape[-1]
    half = np.linalg.solve(np.tril(factors, -1) + np.eye(count, dtype=factors.dtype), b)
    return np.linalg.solve(np.triu(factors), half)


def triangular_solve(a: Any, b: Any, upper: bool, transpose: bool, unitriangular: bool) -> Any:
    """x of A @ x = b, where one triangle of A is read."""
    if unitriangular:
        strict = np.triu(a, 1) if upper else np.tril(a, -1)
        read = strict + np.eye(a.shape[-1], dtype=a.dtype)
    else:
        read = np.triu(a) if upper else np.tril(a)
    return np.linalg.solve(np.swapaxes(read, -1, -2) if transpose else read, b)


def matrix_exp(x: Any) -> Any:
    """The exponential, by scaling, a Padé approximant of order 13 and squaring (Higham, 2005)."""
    size = np.max(np.sum(np.abs(x), axis=-2), initial=0.0)
    size = size if np.isfinite(size) else 0.0
    squarings = max(0, int(np.ceil(np.log2(max(size, 1e-30) / 5.371920351148152))))
    a = x * 0.5**squarings
    one = np.eye(x.shape[-1], dtype=x.dtype)
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    odd = a6 @ (a6 + 16380.0 * a4 + 40840800.0 * a2) + 33522128640.0 * a6
    odd = odd + 10559470521600.0 * a4 + 1187353796428800.0 * a2 + 32382376266240000.0 * one
    odd = a @ odd
    even = a6 @ (182.0 * a6 + 960960.0 * a4 + 1323241920.0 * a2) + 670442572800.0 * a6
    even = even + 129060195264000.0 * a4 + 7771770303897600.0 * a2 + 64764752532480000.0 * one
    out = np.linalg.solve(even - odd, even + odd)
    for _ in range(squarings):
        out = out @ out
    return out


def householder_product(vectors: Any, factors: Any) -> Any:
    """The first columns of the product of I - tau v v.H, where v is 1 and what stands below."""
    rows, columns = vectors.shape[-2], vectors.shape[-1]
    out = np.zeros_like(vectors) + np.eye(rows, columns, dtype=vectors.dtype)
    for i in range(factors.shape[-1]):
        k = factors.shape[-1] - 1 - i
        unit = np.eye(rows, columns, dtype=vectors.dtype)[:, k]
        below = np.arange(rows) > k
        v = np.where(below, vectors[..., :, k], unit)
        part = np.conj(v)[..., None, :] @ out
        out = out - factors[..., k][..., None, None] * (v[..., :, None] @ part)
    return out
