"""Functions of `scipy.linalg` that NumPy has, too, factorizations, and matrices of a pattern.

Rules are those of NumPy's functions. Options that say how much is checked, and what may be
overwritten, are left out; where SciPy calls another routine, the value is that of a call.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg as sl

from gradscribe.errors import NoDerivativeError
from gradscribe.ir.types import Tuple
from gradscribe.primitives.eigenvalues import eigenvectors_turn, moved_vectors, values_type
from gradscribe.primitives.equal_values import moved
from gradscribe.primitives.gauge import gaps_of
from gradscribe.primitives.matrices import (
    conjugate_transposed,
    hermitian_of,
    identity_like,
    of_triangle,
    square_dims,
    symmetric_of,
)
from gradscribe.primitives.registry import (
    GRADIENTS,
    PRIMITIVES,
    adjoint,
    composition,
    constant,
    register,
    variant,
)
from gradscribe.primitives.scipy.settled import of_subset, settled_eigh_of
from gradscribe.primitives.stability import of_rank
from gradscribe.primitives.typing import dims_of, like_first, result_of

for _name in ("inv", "det", "svd", "svdvals", "solve"):
    register(PRIMITIVES[getattr(np.linalg, _name)], (getattr(sl, _name),), ())


@variant(sl.inv, called=True)
def inv(a, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False):
    return sl.inv(_read(a, assume_a, lower))


@variant(sl.det)
def det(a, overwrite_a=False, check_finite=True):
    return sl.det(a)


@variant(sl.svd)
def svd(
    a,
    full_matrices=True,
    compute_uv=True,
    overwrite_a=False,
    check_finite=True,
    lapack_driver="gesdd",
):
    return sl.svd(a, full_matrices, compute_uv)


@variant(sl.svdvals)
def svdvals(a, overwrite_a=False, check_finite=True):
    return sl.svdvals(a)


@variant(sl.solve, called=True)
def solve(
    a,
    b,
    lower=False,
    overwrite_a=False,
    overwrite_b=False,
    check_finite=True,
    assume_a=None,
    transposed=False,
):
    a = _read(a, assume_a, lower)
    return sl.solve(np.swapaxes(a, -1, -2) if transposed else a, b)


def _read(a, assume_a, lower):
    """The matrix that is meant where a part of it is read: a triangle, a few diagonals."""
    if assume_a in ("sym", "symmetric"):
        return symmetric_of(a, "L" if lower else "U")
    if assume_a in ("her", "hermitian", "pos", "positive definite"):
        return hermitian_of(a, "L" if lower else "U")
    if assume_a in ("upper triangular", "lower triangular"):
        return np.triu(a) if assume_a == "upper triangular" else np.tril(a)
    if assume_a == "tridiagonal":
        return np.triu(np.tril(a, 1), -1)
    return a * identity_like(a) if assume_a == "diagonal" else a


@composition(sl.norm, called=True)
def norm(a, ord=None, axis=None, keepdims=False, check_finite=True):
    """That of a vector is computed by BLAS, which gives a number of Python's."""
    a = np.asarray(a)
    found = np.linalg.norm(a, ord, axis, keepdims)
    is_of_blas = a.ndim == 1 and ord in (None, 2) and axis is None and a.dtype.kind in "fc"
    return float(found) if is_of_blas and not keepdims else found


@composition(sl.lstsq, called=True)
def lstsq(
    a,
    b,
    cond=None,
    overwrite_a=False,
    overwrite_b=False,
    check_finite=True,
    lapack_driver=None,
):
    """Of matrices of full rank. For one right side the squares of the residuals are a number: zero
    where SciPy has none for the rank. It has none of as many columns as rows, or more; the driver
    "gelsy" gives none, and no singular values."""
    x, squares, rank, s = np.linalg.lstsq(a, b, cond)
    if lapack_driver == "gelsy":
        return x, np.zeros(0, x.dtype), rank, None
    if np.shape(a)[0] <= np.shape(a)[1]:
        return x, np.zeros(0, x.dtype), rank, s
    return x, np.sum(squares) if np.ndim(b) == 1 else squares, rank, s


@composition(sl.null_space)
def null_space(A, rcond=None, *, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    """Some orthonormal basis: see `orthogonal.py`."""
    _, s, vh = sl.svd(A)
    if rcond is None:
        rcond = np.finfo(s.dtype).eps * max(A.shape)
    rank = np.sum(s > np.max(s) * rcond)
    return conjugate_transposed(of_rank(vh, rank, A)[rank:])


@composition(sl.orth)
def orth(A, rcond=None):
    """Some orthonormal basis, as SciPy finds it."""
    u, s, _ = sl.svd(A, False)
    if rcond is None:
        rcond = np.finfo(s.dtype).eps * max(A.shape)
    rank = np.sum(s > np.max(s) * rcond)
    return of_rank(u, rank, A)[:, :rank]


@composition(sl.pinv, called=True)
def pinv(a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    inverse, rank = _pinv_with_rank(a, atol, rtol, False)
    return (inverse, rank) if return_rank else inverse


@composition(sl.pinvh, called=True)
def pinvh(a, atol=None, rtol=None, lower=True, return_rank=False, check_finite=True):
    inverse, rank = _pinv_with_rank(hermitian_of(a, "L" if lower else "U"), atol, rtol, True)
    return (inverse, int(rank)) if return_rank else inverse


def _pinv_with_rank(a, atol, rtol, hermitian):
    """Singular values below `atol + rtol * (the largest one)` are zero."""
    s = np.linalg.svdvals(a)
    if rtol is None:
        rtol = max(a.shape) * np.finfo(s.dtype).eps
    if atol is not None:
        rtol = rtol + atol / np.max(s)
    return np.linalg.pinv(a, rtol, hermitian), np.sum(s > rtol * np.max(s))


# -- factorizations ------------------------------------------------------------------------------


@composition(sl.cholesky, called=True)
def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    return np.linalg.cholesky(a) if lower else np.linalg.cholesky(a, upper=True)


_KEEPS = bool(sl.cho_factor(np.array([[1.0, 0.0], [0.5, 1.0]]))[0][1, 0])
"""Whether `cho_factor` leaves in the other triangle what is not asked to be overwritten."""


@composition(sl.cho_factor)
def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    """In the other triangle is what was there before; from SciPy 1.18 on, if it is overwritten."""
    if not (overwrite_a or _KEEPS):
        return cholesky(a, lower), lower
    if lower:
        return np.linalg.cholesky(a) + np.triu(a, 1), lower
    return np.linalg.cholesky(a, upper=True) + np.tril(a, -1), lower


@composition(sl.cho_solve, called=True)
def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    c, lower = c_and_lower
    c = c if lower else conjugate_transposed(c)
    return sl.solve_triangular(conjugate_transposed(c), sl.solve_triangular(c, b, lower=True))


@composition(sl.qr)
def qr(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    if pivoting:
        raise TypeError("of a factorization with pivots no derivative is known")
    if mode not in ("full", "r", "economic"):
        raise ValueError("Mode argument should be one of ['full', 'r', 'economic', 'raw']")
    if mode == "r":
        return (np.linalg.qr(a, "complete")[1],)
    q, r = np.linalg.qr(a, "reduced" if mode == "economic" else "complete")
    return q, r


def turns_in_single(v, a):
    """The signs, or phases, by which SciPy's eigenvectors in single precision differ from these."""
    turns = np.sum(np.conjugate(v) * sl.eig(a)[1], axis=0)
    if np.any(np.abs(turns) < 0.5):
        raise NoDerivativeError(
            "in single precision, `scipy.linalg.eig` gives other vectors here than in double",
            "give it a matrix in double precision: `a.astype(np.float64)`",
        )
    return turns / np.abs(turns)


def _turns_type(facts, callee, v, **others):
    return like_first(v, dims_of(v)[1:], v)


constant(turns_in_single, type=_turns_type, cheap=False)


@composition(sl.eig)
def eig(a, *, overwrite_a=False, overwrite_b=False, check_finite=True):
    w, v = np.linalg.eig(a)
    if a.dtype == np.float32 or a.dtype == np.complex64:  # NumPy computes in double precision
        v = v * turns_in_single(v, a)
    return w, v


@composition(sl.eigvals)
def eigvals(a, *, overwrite_a=False, check_finite=True):
    return np.linalg.eigvals(a)


# -- symmetric eigenvalue problems ---------------------------------------------------------------


def turns_of_subset(v, a, b, lower, first, last):
    """The signs, or phases, by which SciPy's eigenvectors of a subset differ from these."""
    own = sl.eigh(a, b, lower=lower, subset_by_index=(first, last))[1]
    turns = np.sum(np.conjugate(v) * own, axis=0)
    if np.any(np.abs(turns) < 0.5):
        raise NoDerivativeError(
            "of equal eigenvalues, `subset_by_index` gives other vectors than `eigh` of all",
            "take the vectors from those of all: `scipy.linalg.eigh(a)[1][:, i:j]`",
        )
    return turns / np.abs(turns)


constant(turns_of_subset, type=_turns_type, cheap=False)


def _eigh_type(facts, callee, a, b=None, lower=True, eigvals_only=False):
    dims = square_dims(facts, a)
    values = values_type(facts, np.linalg.eigvalsh, a)
    if eigvals_only:
        return values
    return Tuple((values, like_first(result_of(np.linalg.inv, a), dims, a)))


def _with_vectors(out, a, b, lower, eigvals_only):
    return sl.eigh(a, b, lower=lower) if eigvals_only else out


def _eigh_tangent(
    out, a, b=None, lower=True, eigvals_only=False, *, d_a, d_b=None, of_gradient=False
):
    """With v.T @ b @ v = 1: the parts of the change along the vectors."""
    half = "L" if lower else "U"
    w, v = _with_vectors(out, a, b, lower, eigvals_only)
    change, turn = 0.0, 0.0
    if d_a is not None:
        change = change + conjugate_transposed(v) @ hermitian_of(d_a, half) @ v
    if d_b is not None:
        scaled = conjugate_transposed(v) @ hermitian_of(d_b, half) @ v
        change = change - scaled * w
        turn = -0.5 * scaled * identity_like(scaled)
    d_w = np.real(np.sum(change * identity_like(change), axis=-1))
    if not of_gradient:
        d_w = moved(d_w, w, v, _dual(v) @ change)
    if eigvals_only:
        return d_w
    d_v = v @ (gaps_of(w) * change + turn)
    if not of_gradient:
        d_v = settled_eigh_of(d_v, a, b, w, v, lower, True)
    return d_w, moved_vectors(w, v, d_v, of_gradient)


def _dual(v):
    """What v is the inverse of, conjugated and transposed, so that `moved` has the change."""
    return np.linalg.inv(conjugate_transposed(v))


@adjoint(
    sl.eigh,
    type=_eigh_type,
    tangent=_eigh_tangent,
    static=("lower", "eigvals_only"),
    partial=True,
)
def eigh(out, a, b=None, lower=True, eigvals_only=False, *, d_out):
    half = "L" if lower else "U"
    w, v = _with_vectors(out, a, b, lower, eigvals_only)
    d_w, d_v = (d_out, None) if eigvals_only else d_out
    if d_v is not None:
        d_v = settled_eigh_of(d_v, a, b, w, v, lower)
    inner, lengths = eigenvectors_turn(w, v, d_w, d_v), 0.0
    if d_v is not None:
        lengths = 0.5 * (conjugate_transposed(v) @ d_v) * identity_like(v)
    d_a = of_triangle(v @ inner @ conjugate_transposed(v), half)
    if b is None:
        return d_a
    return d_a, of_triangle(-v @ (inner * w + lengths) @ conjugate_transposed(v), half)


GRADIENTS.add(PRIMITIVES[sl.eigh])


@variant(sl.eigh)
def eigh_of_form(
    a,
    b=None,
    *,
    lower=True,
    eigvals_only=False,
    overwrite_a=False,
    overwrite_b=False,
    type=1,
    check_finite=True,
    subset_by_index=None,
    driver=None,
):
    """Some of the eigenvalues, from one number on to another, are taken of all, and their vectors
    turned as SciPy turns them."""
    if type != 1:
        raise TypeError("of a problem of another type than 1 no derivative is known")
    found = sl.eigh(a, b, lower=lower, eigvals_only=eigvals_only)
    if subset_by_index is None:
        return found
    first, last = subset_by_index
    if eigvals_only:
        return found[first : last + 1]
    v = found[1][:, first : last + 1]
    v = v * turns_of_subset(v, a, b, lower, first, last)
    return found[0][first : last + 1], of_subset(v, a, b, lower, first, last)


@composition(sl.eigvalsh, called=True)
def eigvalsh(
    a,
    b=None,
    *,
    lower=True,
    overwrite_a=False,
    overwrite_b=False,
    type=1,
    check_finite=True,
    subset_by_index=None,
    driver=None,
):
    return eigh_of_form(
        a, b, lower=lower, eigvals_only=True, type=type, subset_by_index=subset_by_index
    )


# -- matrices of a pattern -----------------------------------------------------------------------


@composition(sl.block_diag)
def block_diag(*arrs):
    arrays = [np.atleast_2d(a) for a in arrs]
    rows, columns = sum([a.shape[0] for a in arrays]), sum([a.shape[1] for a in arrays])
    whole = np.zeros((rows, columns), dtype=np.result_type(*[a.dtype for a in arrays]))
    i, j = 0, 0
    for a in arrays:
        whole[i : i + a.shape[0], j : j + a.shape[1]] = a
        i, j = i + a.shape[0], j + a.shape[1]
    return whole


@composition(sl.toeplitz)
def toeplitz(c, r=None):
    c = _vector(c)
    r = np.conjugate(c) if r is None else _vector(r)
    values = np.concatenate((c[::-1], r[1:]))
    places = np.arange(c.shape[0] - 1, -1, -1)[:, None] + np.arange(r.shape[0])
    return values[places]


@composition(sl.hankel)
def hankel(c, r=None):
    c = np.ravel(c)
    r = np.zeros_like(c) if r is None else np.ravel(r)
    values = np.concatenate((c, r[1:]))
    return values[np.arange(c.shape[0])[:, None] + np.arange(r.shape[0])]


@composition(sl.circulant)
def circulant(c):
    c = _vector(c)
    n = c.shape[0]
    return c[(np.arange(n)[:, None] - np.arange(n)) % n]


def _vector(c):
    c = np.atleast_1d(c)
    if c.ndim > 1:
        raise TypeError("versions of SciPy differ in what they make of more axes than one")
    return c


@composition(sl.khatri_rao)
def khatri_rao(a, b):
    products = a[:, None, :] * b[None, :, :]
    return np.reshape(products, (-1, a.shape[1]))
