"""Singular values and vectors, and orthogonal factors, of matrices and stacks of matrices.

Formulas: Seeger et al., "Auto-differentiating linear algebra" (2017); of complex matrices Wan and
Zhang, "Automatic differentiation for complex valued SVD" (2019). Vectors beyond the singular
values, or beyond the columns, are any that complete a basis: their derivative is that of the
completion that turns least. It is right for whatever does not depend on which basis of their space
they are, such as the projection on it, and for a single vector.
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
    stack = dims[:-2]
    like = result_of(np.linalg.inv, a)
    columns, rows = (m, n) if full_matrices else (k, k)
    left, right = (*stack, m, columns), (*stack, rows, n)
    return Tuple((like_first(like, left, a), values, like_first(like, right, a)))


def _turned(d_first, first, others):
    """The change of the columns that complete a basis: only towards the first ones, as these turn
    towards them."""
    return -first @ (conjugate_transposed(d_first) @ others)


def _turning(d_others, first, others):
    """What the cotangent of the columns that complete a basis adds to that of the first ones."""
    return -others @ (conjugate_transposed(d_others) @ first)


def _is_completed(a, full_matrices):
    """Whether there are vectors beyond the singular values."""
    return full_matrices and a.shape[-2] != a.shape[-1]


def _svd_tangent(out, a, full_matrices=True, compute_uv=True, *, d_a):
    if not compute_uv:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return real_part(np.sum(conjugated(u) * (d_a @ conjugate_transposed(vh)), axis=-2))
    if _is_completed(a, full_matrices):
        k = out[1].shape[-1]
        u, s, vh = out[0][..., :k], out[1], out[2][..., :k, :]
        d_u, d_s, d_vh = _svd_tangent((u, s, vh), a, False, d_a=d_a)
        d_more = _turned(d_u, u, out[0][..., k:])
        v, others = conjugate_transposed(vh), conjugate_transposed(out[2][..., k:, :])
        d_others = conjugate_transposed(_turned(conjugate_transposed(d_vh), v, others))
        d_whole = np.concatenate((d_u, d_more), axis=-1)
        return d_whole, d_s, np.concatenate((d_vh, d_others), axis=-2)
    u, s, vh = out
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
    if _is_completed(a, full_matrices):
        k = s.shape[-1]
        u, more, d_u, d_more = u[..., :k], u[..., k:], d_u[..., :k], d_u[..., k:]
        v, d_v = conjugate_transposed(vh), conjugate_transposed(d_vh)
        v, others, d_v, d_others = v[..., :k], v[..., k:], d_v[..., :k], d_v[..., k:]
        d_u = d_u + _turning(d_more, u, more)
        vh, d_vh = (
            conjugate_transposed(v),
            conjugate_transposed(d_v + _turning(d_others, v, others)),
        )
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
    if mode not in ("reduced", "r", "complete"):
        raise TypeRuleError(f"of mode={mode!r} no derivative is known", "leave `mode` out")
    if facts.at_least(dims[-2] - dims[-1], 0) is not True:
        raise TypeRuleError(
            "whether the matrix has at least as many rows as columns is not known",
            "take `q` of the first columns, and `q.T @ a` for the other part",
        )
    like = result_of(np.linalg.inv, a)
    m, n = dims[-2:]
    if mode == "complete":
        return Tuple((like_first(like, (*dims[:-1], m), a), like_first(like, dims, a)))
    r = like_first(like, (*dims[:-2], n, n), a)
    return r if mode == "r" else Tuple((like_first(like, dims, a), r))


def _strictly_lower(a):
    return a * np.tri(a.shape[-1], k=-1, dtype=a.dtype)


def _factors_tangent(q, r, d_a):
    change = conjugate_transposed(
        np.linalg.solve(conjugate_transposed(r), conjugate_transposed(d_a))
    )
    inner = conjugate_transposed(q) @ change
    lower = _strictly_lower(inner)
    turn = lower - conjugate_transposed(lower)
    if inner.dtype.kind == "c":  # the diagonal of r is real
        turn = turn + 1j * np.imag(inner) * identity_like(inner)
    return change + q @ (turn - inner), (inner - turn) @ r


def _qr_tangent(out, a, mode="reduced", *, d_a):
    if mode == "r":
        return _factors_tangent(a @ np.linalg.inv(out), out, d_a)[1]
    if not _is_completed(a, mode == "complete"):
        return _factors_tangent(*out, d_a)
    n = a.shape[-1]
    q, others, r = out[0][..., :n], out[0][..., n:], out[1][..., :n, :]
    d_q, d_r = _factors_tangent(q, r, d_a)
    d_whole = np.concatenate((d_q, _turned(d_q, q, others)), axis=-1)
    return d_whole, np.concatenate((d_r, np.zeros_like(out[1][..., n:, :])), axis=-2)


@adjoint(np.linalg.qr, type=_qr_type, tangent=_qr_tangent, static=("mode",))
def qr(out, a, mode="reduced", *, d_out):
    if mode == "r":
        return _factors_cotangent(a @ np.linalg.inv(out), out, np.zeros_like(a), d_out)
    (q, r), (d_q, d_r) = out, d_out
    if _is_completed(a, mode == "complete"):
        n = a.shape[-1]
        q, others, d_q, d_others = q[..., :n], q[..., n:], d_q[..., :n], d_q[..., n:]
        r, d_r = r[..., :n, :], d_r[..., :n, :]
        d_q = d_q + _turning(d_others, q, others)
    return _factors_cotangent(q, r, d_q, d_r)


def _factors_cotangent(q, r, d_q, d_r):
    inner = r @ conjugate_transposed(d_r) - conjugate_transposed(d_q) @ q
    lower = _strictly_lower(inner)
    symmetric = lower + conjugate_transposed(lower) + real_part(inner) * identity_like(inner)
    return conjugate_transposed(np.linalg.solve(r, conjugate_transposed(d_q + q @ symmetric)))


# -- of wide matrices ----------------------------------------------------------------------------


def wide_qr(a, mode="reduced"):
    """`np.linalg.qr` of a matrix with more columns than rows."""
    return np.linalg.qr(a, mode)


def _wide_type(facts, callee, a, mode="reduced"):
    dims = matrix_dims(a)
    r = like_first(result_of(np.linalg.inv, a), dims, a)
    q = like_first(r, (*dims[:-1], dims[-2]), a)
    return r if mode == "r" else Tuple((q, r))


def _parts(a):
    """The first columns, as many as there are rows: they have the orthogonal factor; the others."""
    m = a.shape[-2]
    return a[..., :m], a[..., m:]


def _wide_tangent(out, a, mode="reduced", *, d_a):
    (first, others), (d_first, d_others) = _parts(a), _parts(d_a)
    r, _ = _parts(out if mode == "r" else out[1])
    q = first @ np.linalg.inv(r) if mode == "r" else out[0]
    d_q, d_r = _factors_tangent(q, r, d_first)
    rest = conjugate_transposed(d_q) @ others + conjugate_transposed(q) @ d_others
    d_r = np.concatenate((d_r, rest), axis=-1)
    return d_r if mode == "r" else (d_q, d_r)


@adjoint(wide_qr, type=_wide_type, tangent=_wide_tangent, static=("mode",))
def qr_of_wide(out, a, mode="reduced", *, d_out):
    first, others = _parts(a)
    r, _ = _parts(out if mode == "r" else out[1])
    d_r, d_rest = _parts(d_out if mode == "r" else d_out[1])
    q = first @ np.linalg.inv(r) if mode == "r" else out[0]
    d_q = others @ conjugate_transposed(d_rest)
    d_q = d_q if mode == "r" else d_q + d_out[0]
    return np.concatenate((_factors_cotangent(q, r, d_q, d_r), q @ d_rest), axis=-1)
