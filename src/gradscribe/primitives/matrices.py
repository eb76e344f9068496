"""Inverses, determinants, factorizations and norms of matrices and stacks of matrices.

Formulas: Giles, "An extended collection of matrix derivative results" (2008), sections 2.2
and 3; for the factorizations Seeger et al., "Auto-differentiating linear algebra" (2017).
Of a symmetric matrix NumPy reads one triangle; that triangle gets the cotangent.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradscribe.ir.types import Array, Tuple
from gradscribe.primitives.degenerate import regular
from gradscribe.primitives.registry import adjoint, variant
from gradscribe.primitives.typing import (
    TypeRuleError,
    dims_of,
    like_first,
    matrix_dims,
    result_of,
    same_length,
)


def transposed(a):
    return a.T if np.ndim(a) == 2 else np.swapaxes(a, -1, -2)


def conjugated(a):
    return np.conjugate(a) if a.dtype.kind == "c" else a


def conjugate_transposed(a):
    return conjugated(transposed(a))


def real_part(a):
    return np.real(a) if a.dtype.kind == "c" else a


def square_dims(facts, a):
    dims = matrix_dims(a)
    same_length(facts, dims[-1], dims[-2], "a matrix has to be square")
    return dims


def square_type(facts, callee, a, *static, **keywords):
    """One matrix for each matrix."""
    return like_first(result_of(callee, a, *static, **keywords), square_dims(facts, a), a)


def real_type(type_):
    """The type of the absolute values of what is of a type."""
    dtype = np.empty(0, type_.dtype).real.dtype.name
    return replace(type_, dtype=dtype)


def _number_type(facts, callee, a):
    """One number for each matrix."""
    dims = square_dims(facts, a)[:-2]
    result = result_of(callee, a)
    return like_first(result, dims, a) if isinstance(result, Array) else result


# -- inverses and solutions ------------------------------------------------------------------


def _inv_tangent(out, a, *, d_a):
    return -out @ d_a @ out


@adjoint(np.linalg.inv, type=square_type, tangent=_inv_tangent)
def inv(out, a, *, d_out):
    return -(transposed(out) @ d_out @ transposed(out))


def _solve_type(facts, callee, a, b):
    dims, right = square_dims(facts, a), dims_of(b)
    if not right:
        raise TypeRuleError("the right side has at least one axis")
    vector = len(right) == 1
    same_length(facts, dims[-1], right[0] if vector else right[-2], "matrix and right side")
    stacks = facts.broadcast([dims[:-2], () if vector else right[:-2]])
    tail = right[-1:] if vector else right[-2:]
    return like_first(result_of(callee, a, b), stacks + tail, a, b)


def _solve_tangent(out, a, b, *, d_a, d_b):
    if d_a is None:
        return np.linalg.solve(a, d_b)
    if np.ndim(b) == 1 and np.ndim(a) > 2:
        change = (d_a @ out[..., None])[..., 0]
        return -np.linalg.solve(a, change[..., None])[..., 0] + (
            0 if d_b is None else np.linalg.solve(a, d_b)
        )
    if d_b is None:
        return -np.linalg.solve(a, d_a @ out)
    return np.linalg.solve(a, d_b - d_a @ out)


@adjoint(np.linalg.solve, type=_solve_type, tangent=_solve_tangent)
def solve(out, a, b, *, d_out):
    if np.ndim(b) == 1 and np.ndim(a) > 2:
        d_b = np.linalg.solve(transposed(a), d_out[..., None])[..., 0]
        return -(d_b[..., :, None] * out[..., None, :]), d_b
    d_b = np.linalg.solve(transposed(a), d_out)
    if np.ndim(b) == 1:
        return -np.outer(d_b, out), d_b
    return -(d_b @ transposed(out)), d_b


# -- determinants ----------------------------------------------------------------------------


def _trace_of_product(a, b):
    return np.sum(a * transposed(b), axis=(-2, -1))


def _cofactors(out, a):
    """The derivative of the determinant by each element, which singular matrices have, too."""
    if np.all(out):
        return out[..., None, None] * transposed(np.linalg.inv(a))
    u, s, vh = np.linalg.svd(a)
    others = np.where(np.eye(a.shape[-1], dtype=bool), 1, s[..., None, :])
    turn = np.linalg.det(u) * np.linalg.det(vh)
    return turn[..., None, None] * (u * np.prod(others, axis=-1)[..., None, :]) @ vh


def _det_tangent(out, a, *, d_a):
    return np.sum(_cofactors(np.asarray(out), a) * d_a, axis=(-2, -1))


@adjoint(np.linalg.det, type=_number_type, tangent=_det_tangent)
def det(out, a, *, d_out):
    return np.asarray(d_out)[..., None, None] * _cofactors(np.asarray(out), a)


def _slogdet_type(facts, callee, a):
    each = _number_type(facts, np.linalg.det, a)
    return Tuple((each, real_type(each)))


def _slogdet_tangent(out, a, *, d_a):
    change = _trace_of_product(np.linalg.inv(regular(a, out[0], "slogdet")), d_a)
    if a.dtype.kind == "c":
        return out[0] * (1j * np.imag(change)), np.real(change)
    return np.zeros_like(change), change


@adjoint(np.linalg.slogdet, type=_slogdet_type, tangent=_slogdet_tangent)
def slogdet(out, a, *, d_out):
    d_log = d_out[1]
    if a.dtype.kind == "c":  # the sign turns with the imaginary part
        d_log = d_log + 1j * np.imag(np.conjugate(out[0]) * d_out[0])
    inverse = np.linalg.inv(regular(a, out[0], "slogdet"))
    if np.ndim(a) == 2:
        return d_log * conjugate_transposed(inverse)
    return d_log[..., None, None] * conjugate_transposed(inverse)


# -- factorizations --------------------------------------------------------------------------


def identity_like(a):
    return np.eye(a.shape[-1], dtype=a.dtype)


def _half(a, UPLO):
    """The triangle, with the diagonal, that is read of a symmetric matrix."""
    lower = np.tri(a.shape[-1], dtype=a.dtype)
    return lower if UPLO == "L" else lower.T


def hermitian_of(a, UPLO):
    """The symmetric (if complex, Hermitian) matrix that is read."""
    half = a * _half(a, UPLO)
    diagonal = real_part(half) * identity_like(a)
    return half + conjugate_transposed(half) - diagonal


def symmetric_of(a, UPLO):
    """The symmetric matrix that is read: its other triangle is the transpose, if complex, too."""
    half = a * _half(a, UPLO)
    return half + transposed(half) - half * identity_like(a)


def of_triangle(d_a, UPLO):
    """The cotangent of the triangle that is read."""
    return (d_a + conjugate_transposed(d_a)) * (_half(d_a, UPLO) - 0.5 * identity_like(d_a))


def _lower_half(a):
    """The lower triangle, with half of the diagonal."""
    return a * (np.tri(a.shape[-1], dtype=a.dtype) - 0.5 * identity_like(a))


def _cholesky_tangent(out, a, *, d_a):
    change = np.linalg.solve(out, hermitian_of(d_a, "L"))
    return out @ _lower_half(np.linalg.solve(out, conjugate_transposed(change)))


@adjoint(np.linalg.cholesky, type=square_type, tangent=_cholesky_tangent)
def cholesky(out, a, *, d_out):
    upper = conjugate_transposed(out)
    right = np.linalg.solve(upper, conjugate_transposed(_lower_half(upper @ d_out)))
    return of_triangle(np.linalg.solve(upper, conjugate_transposed(right)), "L")


@variant(np.linalg.cholesky)
def upper_cholesky(a, *, upper=False):
    if not upper:
        return np.linalg.cholesky(a)
    return conjugate_transposed(np.linalg.cholesky(conjugate_transposed(a)))
