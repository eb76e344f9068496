"""Singular values and vectors, and orthogonal factors, of matrices and stacks of matrices.

Formulas: Seeger et al., "Auto-differentiating linear algebra" (2017); of complex matrices Wan and
Zhang, "Automatic differentiation for complex valued SVD" (2019). Vectors beyond the singular
values, or beyond the columns, have no derivative: they are any that complete a basis.
"""

from __future__ import annotations

import numpy as np

from gradscribe.ir.types import Tuple
from gradscribe.primitives.matrices import (
    conjugate_transposed,
    conjugated,
    gaps_of,
    identity_like,
    real_part,
    real_type,
)
from gradscribe.primitives.registry import adjoint, variant
from gradscribe.primitives.typing import TypeRuleError, like_first, matrix_dims, result_of

# -- singular values -----------------------------------------------------------------------------


def _svd_type(facts, callee, a, full_matrices=True, compute_uv=True, hermitian=False):
    dims = matrix_dims(a)
    m, n = dims[-2:]
    wide = facts.at_least(n - m, 0)
    k = facts.derived("shorter", m, n) if wide is None else m if wide else n
    values = real_type(like_first(result_of(np.linalg.svdvals, a), (*dims[:-2], k), a))
    if not compute_uv:
        return values
    stack, like = dims[:-2], result_of(np.linalg.inv, a)
    rows, columns = (m, n) if full_matrices else (k, k)
    left = like_first(like, (*stack, m, rows), a)
    return Tuple((left, values, like_first(like, (*stack, columns, n), a)))


def _check_unused(d_u, d_s, d_vh):
    """That nothing depends on the vectors that belong to no singular value."""
    k = d_s.shape[-1]
    if np.any(d_u[..., :, k:] != 0) or np.any(d_vh[..., k:, :] != 0):
        raise ValueError("vectors beyond the singular values are used: give full_matrices=False")


def _economic(u, s, vh):
    """The vectors that belong to singular values."""
    k = s.shape[-1]
    return u[..., :, :k], s, vh[..., :k, :]


def _svd_tangent(out, a, full_matrices=True, compute_uv=True, *, d_a):
    if not compute_uv:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return real_part(np.sum(conjugated(u) * (d_a @ conjugate_transposed(vh)), axis=-2))
    u, s, vh = _economic(*out)
    inner = conjugate_transposed(u) @ d_a @ conjugate_transposed(vh)
    mirrored = conjugate_transposed(inner)
    gaps = gaps_of(s * s)
    rows, columns = s[..., :, None], s[..., None, :]
    turn_u, turn_v = (
        gaps * (inner * columns + rows * mirrored),
        gaps * (rows * inner + mirrored * columns),
    )
    if a.dtype.kind == "c":  # both vectors turn by half of what their product turns by
        phases = (0.5j / columns) * np.imag(inner) * identity_like(inner)
        turn_u, turn_v = turn_u + phases, turn_v - phases
    d_u, d_vh = u @ turn_u, -turn_v @ vh
    if a.shape[-2] > a.shape[-1]:  # otherwise zero, and not to be divided by small values
        d_u = d_u + (d_a @ conjugate_transposed(vh) - u @ inner) / columns
    if a.shape[-2] < a.shape[-1]:
        d_vh = d_vh + (conjugate_transposed(u) @ d_a - inner @ vh) / rows
    if full_matrices and a.shape[-2] > a.shape[-1]:
        d_u = np.concatenate((d_u, np.full_like(out[0][..., s.shape[-1] :], np.nan)), axis=-1)
    if full_matrices and a.shape[-2] < a.shape[-1]:
        d_vh = np.concatenate((d_vh, np.full_like(out[2][..., s.shape[-1] :, :], np.nan)), axis=-2)
    return d_u, real_part(np.sum(inner * identity_like(inner), axis=-1)), d_vh


@adjoint(
    np.linalg.svd,
    type=_svd_type,
    tangent=_svd_tangent,
    static=("full_matrices", "compute_uv"),
)
def svd(out, a, full_matrices=True, compute_uv=True, *, d_out):
    if not compute_uv:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return (u * d_out[..., None, :]) @ vh
    (u, s, vh), (d_u, d_s, d_vh) = out, d_out
    if full_matrices and a.shape[-2] != a.shape[-1]:
        _check_unused(d_u, d_s, d_vh)
        (u, s, vh), (d_u, d_s, d_vh) = _economic(u, s, vh), _economic(d_u, d_s, d_vh)
    gaps = gaps_of(s * s)
    rows, columns = s[..., :, None], s[..., None, :]
    left, right = conjugate_transposed(u) @ d_u, vh @ conjugate_transposed(d_vh)
    inner = gaps * (left - conjugate_transposed(left)) * columns
    inner = inner + rows * (gaps * (right - conjugate_transposed(right)))
    inner = inner + d_s[..., None] * identity_like(inner)
    if a.dtype.kind == "c":
        inner = inner + (0.5j / columns) * np.imag(left - right) * identity_like(inner)
    d_a = u @ inner @ vh
    if a.shape[-2] > a.shape[-1]:
        d_a = d_a + ((d_u - u @ left) / columns) @ vh
    if a.shape[-2] < a.shape[-1]:
        d_a = d_a + u @ ((d_vh - conjugate_transposed(right) @ vh) / rows)
    return d_a


@variant(np.linalg.svd)
def svd_of_hermitian(a, full_matrices=True, compute_uv=True, hermitian=False):
    if not hermitian:
        return np.linalg.svd(a, full_matrices, compute_uv)
    if not compute_uv:
        return np.sort(np.abs(np.linalg.eigvalsh(a)))[..., ::-1]
    w, v = np.linalg.eigh(a)
    order = np.argsort(np.abs(w))[..., ::-1]
    u = np.take_along_axis(v, order[..., None, :], axis=-1)
    signs = np.sign(np.take_along_axis(w, order, axis=-1))
    values = np.take_along_axis(np.abs(w), order, axis=-1)
    return u, values, conjugate_transposed(u * signs[..., None, :])


def _svdvals_type(facts, callee, x):
    return _svd_type(facts, callee, x, compute_uv=False)


def _svdvals_tangent(out, x, *, d_x):
    return _svd_tangent(out, x, compute_uv=False, d_a=d_x)


@adjoint(np.linalg.svdvals, type=_svdvals_type, tangent=_svdvals_tangent)
def svdvals(out, x, *, d_out):
    return svd(out, x, compute_uv=False, d_out=d_out)


# -- orthogonal and triangular factors -----------------------------------------------------------


def _qr_type(facts, callee, a, mode="reduced"):
    dims = matrix_dims(a)
    m, n = dims[-2:]
    tall = facts.at_least(m - n, 0)
    is_complete = mode == "complete" and (tall is False or facts.equal(m, n))
    if mode not in ("reduced", "r") and not is_complete:
        raise TypeRuleError(
            f"of mode={mode!r} no derivative is known: the vectors beyond the columns have none",
            "leave `mode` out",
        )
    if tall is None:
        raise TypeRuleError(
            "whether the matrix has at least as many rows as columns is not known",
            "take `q` of the first columns, and `q.T @ a` for the other part",
        )
    like = result_of(np.linalg.inv, a)
    k = n if tall else m
    r = like_first(like, (*dims[:-2], k, n), a)
    return r if mode == "r" else Tuple((like_first(like, (*dims[:-2], m, k), a), r))


def _strictly_lower(a):
    return a * np.tri(a.shape[-1], k=-1, dtype=a.dtype)


def _is_wide(a):
    return a.shape[-2] < a.shape[-1]


def _parts(a):
    """The first columns of a wide matrix, which have the orthogonal factor, and the others."""
    m = a.shape[-2]
    return a[..., :m], a[..., m:]


def _qr_tangent(out, a, mode="reduced", *, d_a):
    if not _is_wide(a):
        q, r = out if mode != "r" else (a @ np.linalg.inv(out), out)
        d_q, d_r = _square_tangent(q, r, d_a)
        return d_r if mode == "r" else (d_q, d_r)
    (first, others), (d_first, d_others) = _parts(a), _parts(d_a)
    r = _parts(out if mode == "r" else out[1])[0]
    q = first @ np.linalg.inv(r) if mode == "r" else out[0]
    d_q, d_r = _square_tangent(q, r, d_first)
    rest = conjugate_transposed(d_q) @ others + conjugate_transposed(q) @ d_others
    d_r = np.concatenate((d_r, rest), axis=-1)
    return d_r if mode == "r" else (d_q, d_r)


def _square_tangent(q, r, d_a):
    """Of a matrix with independent columns."""
    change = conjugate_transposed(
        np.linalg.solve(conjugate_transposed(r), conjugate_transposed(d_a))
    )
    inner = conjugate_transposed(q) @ change
    lower = _strictly_lower(inner)
    turn = lower - conjugate_transposed(lower)
    if inner.dtype.kind == "c":  # the diagonal of r is real
        turn = turn + 1j * np.imag(inner) * identity_like(inner)
    return change + q @ (turn - inner), (inner - turn) @ r


@adjoint(np.linalg.qr, type=_qr_type, tangent=_qr_tangent, static=("mode",))
def qr(out, a, mode="reduced", *, d_out):
    first, others = _parts(a) if _is_wide(a) else (a, None)
    r, d_r = (out, d_out) if mode == "r" else (out[1], d_out[1])
    d_others = None
    if others is not None:
        (r, _), (d_r, d_rest) = _parts(r), _parts(d_r)
    q = first @ np.linalg.inv(r) if mode == "r" else out[0]
    d_q = np.zeros_like(q) if mode == "r" else d_out[0]
    if others is not None:
        d_others = q @ d_rest
        d_q = d_q + others @ conjugate_transposed(d_rest)
    d_first = _square_cotangent(q, r, d_q, d_r)
    return d_first if d_others is None else np.concatenate((d_first, d_others), axis=-1)


def _square_cotangent(q, r, d_q, d_r):
    inner = r @ conjugate_transposed(d_r) - conjugate_transposed(d_q) @ q
    lower = _strictly_lower(inner)
    symmetric = lower + conjugate_transposed(lower) + real_part(inner) * identity_like(inner)
    return conjugate_transposed(np.linalg.solve(r, conjugate_transposed(d_q + q @ symmetric)))
