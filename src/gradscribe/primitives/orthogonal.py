"""Singular values and vectors, and orthogonal factors, of matrices and stacks of matrices.

Formulas: Seeger et al., "Auto-differentiating linear algebra" (2017); of complex matrices Wan and
Zhang, "Automatic differentiation for complex valued SVD" (2019). Vectors of equal singular values,
phases of complex ones, and columns that complete a basis are any of those that there are: a result
may not depend on which (`gauge.py`). The tangent of a completion is that of the one that turns
least.
"""

from __future__ import annotations

import numpy as np

from gradscribe.ir.types import Tuple
from gradscribe.primitives.degenerate import distinct, full_rank
from gradscribe.primitives.equal_values import moved, shared
from gradscribe.primitives.gauge import (
    completion,
    determined,
    gaps_of,
    invariant_pairs,
    phaseless,
    reciprocal,
)
from gradscribe.primitives.matrices import (
    conjugate_transposed,
    conjugated,
    identity_like,
    real_part,
    real_type,
)
from gradscribe.primitives.registry import adjoint, variant
from gradscribe.primitives.stability import settled_qr, settled_svd
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


def _svd_tangent(out, a, full_matrices=True, compute_uv=True, *, d_a, of_gradient=False):
    if not compute_uv:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        d_u = d_a @ conjugate_transposed(vh)
        d_s = real_part(np.sum(conjugated(u) * d_u, axis=-2))
        return d_s if of_gradient else moved(d_s, s, u, d_u, True)
    d_u, d_s, d_vh = _factors_of_svd_tangent(out, a, full_matrices, d_a, of_gradient)
    if not of_gradient:
        d_u = settled_svd(d_u, a, out[0], out[1], False, True)
        d_vh = settled_svd(d_vh, a, out[2], out[1], True, True)
        k = out[1].shape[-1]
        v = conjugate_transposed(out[2][..., :k, :])
        d_s = moved(d_s, out[1], out[0][..., :k], d_a @ v, True)
    return d_u, d_s, d_vh


def _factors_of_svd_tangent(out, a, full_matrices, d_a, of_gradient):
    if _is_completed(a, full_matrices):
        k = out[1].shape[-1]
        u, s, vh = out[0][..., :k], out[1], out[2][..., :k, :]
        d_u, d_s, d_vh = _factors_of_svd_tangent((u, s, vh), a, False, d_a, of_gradient)
        d_more = _completing(d_u, u, out[0][..., k:], of_gradient)
        v, others = conjugate_transposed(vh), conjugate_transposed(out[2][..., k:, :])
        d_others = _completing(conjugate_transposed(d_vh), v, others, of_gradient)
        d_whole = np.concatenate((d_u, d_more), axis=-1)
        return d_whole, d_s, np.concatenate((d_vh, conjugate_transposed(d_others)), axis=-2)
    u, s, vh = out
    inner = conjugate_transposed(u) @ d_a @ conjugate_transposed(vh)
    mirrored = conjugate_transposed(inner)
    together, apart = 0.5 * gaps_of(s) * (inner + mirrored), _half_sums(s) * (inner - mirrored)
    d_u, d_vh = u @ (together + apart), (apart - together) @ vh
    d_u, d_vh = distinct(d_u, s, not of_gradient), distinct(d_vh, s, not of_gradient)
    if a.shape[-2] > a.shape[-1]:  # otherwise zero, and not to be divided by small values
        outside = d_a @ conjugate_transposed(vh) - u @ inner
        d_u = distinct(d_u, s, True) + outside * reciprocal(s, s)[..., None, :]
    if a.shape[-2] < a.shape[-1]:
        outside = conjugate_transposed(u) @ d_a - inner @ vh
        d_vh = distinct(d_vh, s, True) + reciprocal(s, s)[..., :, None] * outside
    if a.dtype.kind == "c" and not of_gradient:
        d_u, d_vh = determined(d_u, u), determined(d_vh, u)
    return d_u, real_part(np.sum(inner * identity_like(inner), axis=-1)), d_vh


def _completing(d_first, first, others, of_gradient):
    """The tangent of columns that complete a basis."""
    d_others = _turned(d_first, first, others)
    return d_others if of_gradient else determined(d_others, others)


def _half_sums(s):
    """1 / (s_i + s_j) / 2; 0 where both values are zero."""
    return 0.5 * reciprocal(s[..., :, None] + s[..., None, :], s)


@adjoint(
    np.linalg.svd,
    type=_svd_type,
    tangent=_svd_tangent,
    static=("full_matrices", "compute_uv"),
    partial=True,
)
def svd(out, a, full_matrices=True, compute_uv=True, *, d_out):
    if not compute_uv:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return (u * shared(d_out, s, True)[..., None, :]) @ vh
    (u, s, vh), (d_u, d_s, d_vh) = out, d_out
    if d_u is not None:
        d_u = settled_svd(d_u, a, u, s)
    if d_vh is not None:
        d_vh = settled_svd(d_vh, a, vh, s, True)
    if _is_completed(a, full_matrices):
        k = s.shape[-1]
        if d_u is not None:
            d_u = _of_first(u, d_u, k, s)
        if d_vh is not None:
            v, d_v = conjugate_transposed(vh), conjugate_transposed(d_vh)
            d_vh = conjugate_transposed(_of_first(v, d_v, k, s))
        u, vh = u[..., :k], vh[..., :k, :]
    return _svd_cotangent(a, u, s, vh, d_u, d_s, d_vh)


def _of_first(q, d_q, k, s=None):
    """The cotangent of the first k columns, which those that complete a basis turn with. s: the
    singular values, if q has their vectors."""
    first, others = q[..., :k], q[..., k:]
    d_others = completion(d_q[..., k:], others, d_q[..., :k], s)
    return d_q[..., :k] + _turning(d_others, first, others)


def _svd_cotangent(a, u, s, vh, d_u, d_s, d_vh):
    """Of u, s and vh without further vectors. Turns of u and v together divide by differences of
    singular values, turns of one against the other by sums."""
    if d_u is None and d_vh is None:
        return (u * shared(d_s, s, True)[..., None, :]) @ vh
    s = invariant_pairs(s, u, d_u, vh, d_vh, d_s)
    left, right = 0.0, 0.0
    if d_u is not None:
        left = conjugate_transposed(u) @ d_u
    if d_vh is not None:
        right = vh @ conjugate_transposed(d_vh)
    together, apart = left + right, left - right
    if a.dtype.kind == "c":
        together = phaseless(together, d_u, d_vh)
    inner = 0.5 * gaps_of(s) * (together - conjugate_transposed(together))
    inner = inner + _half_sums(s) * (apart - conjugate_transposed(apart))
    if d_s is not None:
        inner = inner + d_s[..., None] * identity_like(inner)
    d_a = u @ inner @ vh
    if d_u is not None and a.shape[-2] > a.shape[-1]:
        d_a = d_a + ((d_u - u @ left) * reciprocal(s, s)[..., None, :]) @ vh
    if d_vh is not None and a.shape[-2] < a.shape[-1]:
        outside = d_vh - conjugate_transposed(right) @ vh
        d_a = d_a + u @ (reciprocal(s, s)[..., :, None] * outside)
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


def _svdvals_tangent(out, x, *, d_x, of_gradient=False):
    return _svd_tangent(out, x, compute_uv=False, d_a=d_x, of_gradient=of_gradient)


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
    r = full_rank(r)
    change = conjugate_transposed(
        np.linalg.solve(conjugate_transposed(r), conjugate_transposed(d_a))
    )
    inner = conjugate_transposed(q) @ change
    lower = _strictly_lower(inner)
    turn = lower - conjugate_transposed(lower)
    if inner.dtype.kind == "c":  # the diagonal of r is real
        turn = turn + 1j * np.imag(inner) * identity_like(inner)
    return change + q @ (turn - inner), (inner - turn) @ r


def _qr_tangent(out, a, mode="reduced", *, d_a, of_gradient=False):
    q = a @ np.linalg.inv(full_rank(out)) if mode == "r" else out[0]
    d_a = d_a if of_gradient else settled_qr(d_a, a, q)
    if mode == "r":
        return _factors_tangent(q, out, d_a)[1]
    if not _is_completed(a, mode == "complete"):
        return _factors_tangent(*out, d_a)
    n = a.shape[-1]
    q, others, r = out[0][..., :n], out[0][..., n:], out[1][..., :n, :]
    d_q, d_r = _factors_tangent(q, r, d_a)
    d_whole = np.concatenate((d_q, _completing(d_q, q, others, of_gradient)), axis=-1)
    return d_whole, np.concatenate((d_r, np.zeros_like(out[1][..., n:, :])), axis=-2)


@adjoint(np.linalg.qr, type=_qr_type, tangent=_qr_tangent, static=("mode",))
def qr(out, a, mode="reduced", *, d_out):
    if mode == "r":
        q = a @ np.linalg.inv(full_rank(out))
        return _factors_cotangent(q, out, np.zeros_like(a), settled_qr(d_out, a, q))
    (q, r), (d_q, d_r) = out, d_out
    d_q = settled_qr(d_q, a, q)
    if _is_completed(a, mode == "complete"):
        n = a.shape[-1]
        q, d_q = q[..., :n], _of_first(q, d_q, n)
        r, d_r = r[..., :n, :], d_r[..., :n, :]
    return _factors_cotangent(q, r, d_q, d_r)


def _factors_cotangent(q, r, d_q, d_r):
    r = full_rank(r)
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


def _wide_tangent(out, a, mode="reduced", *, d_a, of_gradient=False):
    first, others = _parts(a)
    r, _ = _parts(out if mode == "r" else out[1])
    q = first @ np.linalg.inv(full_rank(r)) if mode == "r" else out[0]
    d_first, d_others = _parts(d_a if of_gradient else settled_qr(d_a, a, q))
    d_q, d_r = _factors_tangent(q, r, d_first)
    rest = conjugate_transposed(d_q) @ others + conjugate_transposed(q) @ d_others
    d_r = np.concatenate((d_r, rest), axis=-1)
    return d_r if mode == "r" else (d_q, d_r)


@adjoint(wide_qr, type=_wide_type, tangent=_wide_tangent, static=("mode",))
def qr_of_wide(out, a, mode="reduced", *, d_out):
    first, others = _parts(a)
    r, _ = _parts(out if mode == "r" else out[1])
    d_r, d_rest = _parts(d_out if mode == "r" else d_out[1])
    q = first @ np.linalg.inv(full_rank(r)) if mode == "r" else out[0]
    d_q = settled_qr(others @ conjugate_transposed(d_rest), a, q)
    d_q = d_q if mode == "r" else d_q + d_out[0]
    return np.concatenate((_factors_cotangent(q, r, d_q, d_r), q @ d_rest), axis=-1)
