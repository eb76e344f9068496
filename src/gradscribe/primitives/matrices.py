"""Inverses, determinants, factorizations and norms of matrices and stacks of matrices.

Formulas: Giles, "An extended collection of matrix derivative results" (2008), sections 2.2
and 3; for the factorizations Seeger et al., "Auto-differentiating linear algebra" (2017).
Where eigenvalues or singular values coincide, eigenvectors have no derivative: the terms that
divide by the difference of equal values are left out. Of a symmetric matrix NumPy reads one
triangle; that triangle gets the cotangent.
"""

from __future__ import annotations

import numpy as np

from gradscribe.ir.types import Array, Tuple
from gradscribe.primitives.registry import adjoint
from gradscribe.primitives.typing import (
    TypeRuleError,
    dims_of,
    like_first,
    matrix_dims,
    result_of,
    same_length,
)


def _transposed(a):
    return a.T if np.ndim(a) == 2 else np.swapaxes(a, -1, -2)


def _square(facts, a):
    dims = matrix_dims(a)
    same_length(facts, dims[-1], dims[-2], "a matrix has to be square")
    return dims


def _square_type(facts, callee, a, *static, **keywords):
    """One matrix for each matrix."""
    return like_first(result_of(callee, a, *static, **keywords), _square(facts, a), a)


def _number_type(facts, callee, a):
    """One number for each matrix."""
    dims = _square(facts, a)[:-2]
    result = result_of(callee, a)
    return like_first(result, dims, a) if isinstance(result, Array) else result


# -- inverses and solutions ------------------------------------------------------------------


def _inv_tangent(out, a, *, d_a):
    return -out @ d_a @ out


@adjoint(np.linalg.inv, type=_square_type, tangent=_inv_tangent)
def inv(out, a, *, d_out):
    return -(_transposed(out) @ d_out @ _transposed(out))


def _solve_type(facts, callee, a, b):
    dims, right = _square(facts, a), dims_of(b)
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
        d_b = np.linalg.solve(_transposed(a), d_out[..., None])[..., 0]
        return -(d_b[..., :, None] * out[..., None, :]), d_b
    d_b = np.linalg.solve(_transposed(a), d_out)
    if np.ndim(b) == 1:
        return -np.outer(d_b, out), d_b
    return -(d_b @ _transposed(out)), d_b


# -- determinants ----------------------------------------------------------------------------


def _trace_of_product(a, b):
    return np.sum(a * _transposed(b), axis=(-2, -1))


def _cofactors(out, a):
    """The derivative of the determinant by each element, which singular matrices have, too."""
    if np.all(out):
        return out[..., None, None] * _transposed(np.linalg.inv(a))
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
    return Tuple((each, each))


def _slogdet_tangent(out, a, *, d_a):
    d_log = _trace_of_product(np.linalg.inv(a), d_a)
    return np.zeros_like(d_log), d_log


@adjoint(np.linalg.slogdet, type=_slogdet_type, tangent=_slogdet_tangent)
def slogdet(out, a, *, d_out):
    d_log = d_out[1]
    if np.ndim(a) == 2:
        return d_log * np.linalg.inv(a).T
    return d_log[..., None, None] * _transposed(np.linalg.inv(a))


# -- factorizations --------------------------------------------------------------------------


def _identity(a):
    return np.eye(a.shape[-1], dtype=a.dtype)


def _gaps(w):
    """1 / (w_j - w_i), and 0 where the values are equal."""
    gaps = w[..., None, :] - w[..., :, None]
    return np.where(gaps == 0, 0, 1 / np.where(gaps == 0, 1, gaps))


def _values_type(facts, callee, a, UPLO="L"):
    return like_first(result_of(np.linalg.eigvalsh, a), _square(facts, a)[:-1], a)


def _eigh_type(facts, callee, a, UPLO="L"):
    return Tuple((_values_type(facts, callee, a), _square_type(facts, np.linalg.inv, a)))


def _half(a, UPLO):
    """The triangle, with the diagonal, that is read of a symmetric matrix."""
    lower = np.tri(a.shape[-1], dtype=a.dtype)
    return lower if UPLO == "L" else lower.T


def _symmetric(a, UPLO):
    """The symmetric matrix that is read."""
    half = a * _half(a, UPLO)
    return half + _transposed(half) - half * _identity(a)


def _of_half(d_a, UPLO):
    """The cotangent of the triangle that is read."""
    return (d_a + _transposed(d_a)) * (_half(d_a, UPLO) - 0.5 * _identity(d_a))


def _lower_half(a):
    """The lower triangle, with half of the diagonal."""
    return a * (np.tri(a.shape[-1], dtype=a.dtype) - 0.5 * _identity(a))


def _cholesky_tangent(out, a, *, d_a):
    inner = np.linalg.solve(out, _transposed(np.linalg.solve(out, _symmetric(d_a, "L"))))
    return out @ _lower_half(inner)


@adjoint(np.linalg.cholesky, type=_square_type, tangent=_cholesky_tangent)
def cholesky(out, a, *, d_out):
    inner = _lower_half(_transposed(out) @ d_out)
    right = np.linalg.solve(_transposed(out), _transposed(inner))
    return _of_half(np.linalg.solve(_transposed(out), _transposed(right)), "L")


def _eigh_tangent(out, a, UPLO="L", *, d_a):
    w, v = out
    inner = _transposed(v) @ _symmetric(d_a, UPLO) @ v
    return np.sum(inner * _identity(inner), axis=-1), v @ (_gaps(w) * inner)


@adjoint(np.linalg.eigh, type=_eigh_type, tangent=_eigh_tangent, static=("UPLO",))
def eigh(out, a, UPLO="L", *, d_out):
    (w, v), (d_w, d_v) = out, d_out
    inner = _gaps(w) * (_transposed(v) @ d_v) + d_w[..., None] * _identity(v)
    return _of_half(v @ inner @ _transposed(v), UPLO)


def _eigvalsh_tangent(out, a, UPLO="L", *, d_a):
    _, v = np.linalg.eigh(a, UPLO)
    return np.sum(v * (_symmetric(d_a, UPLO) @ v), axis=-2)


@adjoint(np.linalg.eigvalsh, type=_values_type, tangent=_eigvalsh_tangent, static=("UPLO",))
def eigvalsh(out, a, UPLO="L", *, d_out):
    _, v = np.linalg.eigh(a, UPLO)
    return _of_half((v * d_out[..., None, :]) @ _transposed(v), UPLO)


def _svd_type(facts, callee, a, full_matrices=True, compute_uv=True, hermitian=False):
    if hermitian:
        raise TypeRuleError(
            "`hermitian=True` is not supported", "leave it out, or call `np.linalg.eigh`"
        )
    dims = matrix_dims(a)
    m, n = dims[-2:]
    wide = facts.at_least(n - m, 0)
    k = facts.derived("shorter", m, n) if wide is None else m if wide else n
    values = like_first(result_of(np.linalg.svdvals, a), (*dims[:-2], k), a)
    if not compute_uv:
        return values
    if full_matrices and facts.equal(m, n) is not True:
        raise TypeRuleError(
            "the vectors beyond the singular values have no derivative",
            "pass `full_matrices=False`",
        )
    stack = dims[:-2]
    like = result_of(np.asarray, a)
    return Tuple((like_first(like, (*stack, m, k), a), values, like_first(like, (*stack, k, n), a)))


def _square_gaps(s):
    """1 / (s_j² - s_i²), and 0 where the values are equal."""
    return _gaps(s * s)


def _svd_tangent(out, a, full_matrices=True, compute_uv=True, hermitian=False, *, d_a):
    if not compute_uv:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return np.sum(u * (d_a @ _transposed(vh)), axis=-2)
    u, s, vh = out
    inner = _transposed(u) @ d_a @ _transposed(vh)
    gaps = _square_gaps(s)
    rows, columns = s[..., :, None], s[..., None, :]
    d_u = u @ (gaps * (inner * columns + rows * _transposed(inner)))
    d_vh = -(gaps * (rows * inner + _transposed(inner) * columns)) @ vh
    if a.shape[-2] > a.shape[-1]:  # otherwise zero, and not to be divided by small values
        d_u = d_u + (d_a @ _transposed(vh) - u @ inner) / columns
    if a.shape[-2] < a.shape[-1]:
        d_vh = d_vh + (_transposed(u) @ d_a - inner @ vh) / rows
    return d_u, np.sum(inner * _identity(inner), axis=-1), d_vh


@adjoint(
    np.linalg.svd,
    type=_svd_type,
    tangent=_svd_tangent,
    static=("full_matrices", "compute_uv", "hermitian"),
)
def svd(out, a, full_matrices=True, compute_uv=True, hermitian=False, *, d_out):
    if not compute_uv:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return (u * d_out[..., None, :]) @ vh
    (u, s, vh), (d_u, d_s, d_vh) = out, d_out
    gaps = _square_gaps(s)
    rows, columns = s[..., :, None], s[..., None, :]
    left, right = _transposed(u) @ d_u, vh @ _transposed(d_vh)
    inner = gaps * (left - _transposed(left)) * columns + rows * (
        gaps * (right - _transposed(right))
    )
    inner = inner + d_s[..., None] * _identity(inner)
    d_a = u @ inner @ vh
    if a.shape[-2] > a.shape[-1]:
        d_a = d_a + ((d_u - u @ left) / columns) @ vh
    if a.shape[-2] < a.shape[-1]:
        d_a = d_a + u @ ((d_vh - _transposed(right) @ vh) / rows)
    return d_a


def _svdvals_type(facts, callee, x):
    return _svd_type(facts, callee, x, compute_uv=False)


def _svdvals_tangent(out, x, *, d_x):
    return _svd_tangent(out, x, compute_uv=False, d_a=d_x)


@adjoint(np.linalg.svdvals, type=_svdvals_type, tangent=_svdvals_tangent)
def svdvals(out, x, *, d_out):
    return svd(out, x, compute_uv=False, d_out=d_out)


def _qr_type(facts, callee, a, mode="reduced"):
    if mode != "reduced":
        raise TypeRuleError("only mode='reduced' has a derivative", "leave `mode` out")
    dims = matrix_dims(a)
    if facts.at_least(dims[-2] - dims[-1], 0) is not True:
        raise TypeRuleError(
            "the matrix is not known to have at least as many rows as columns",
            "take `q` of the first columns, and `q.T @ a` for the other part",
        )
    like = result_of(np.asarray, a)
    n = dims[-1]
    return Tuple((like_first(like, dims, a), like_first(like, (*dims[:-2], n, n), a)))


def _strictly_lower(a):
    return a * np.tri(a.shape[-1], k=-1, dtype=a.dtype)


def _qr_tangent(out, a, mode="reduced", *, d_a):
    q, r = out
    change = _transposed(np.linalg.solve(_transposed(r), _transposed(d_a)))
    inner = _transposed(q) @ change
    lower = _strictly_lower(inner)
    turn = lower - _transposed(lower)
    return change + q @ (turn - inner), (inner - turn) @ r


@adjoint(np.linalg.qr, type=_qr_type, tangent=_qr_tangent, static=("mode",))
def qr(out, a, mode="reduced", *, d_out):
    (q, r), (d_q, d_r) = out, d_out
    inner = r @ _transposed(d_r) - _transposed(d_q) @ q
    lower = _strictly_lower(inner)
    symmetric = lower + _transposed(lower) + inner * _identity(inner)
    return _transposed(np.linalg.solve(r, _transposed(d_q + q @ symmetric)))
