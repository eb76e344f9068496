"""Eigenvalues and eigenvectors, of symmetric and of general matrices; roots of polynomials.

Formulas: Giles, "An extended collection of matrix derivative results" (2008), section 3.1; for
general matrices Boeddeker et al., "On the computation of complex-valued gradients" (2017).

Where eigenvalues coincide, eigenvectors have no derivative, nor have their phases, of complex
Hermitian matrices: a result may not depend on these (`gauge.py`). Eigenvectors of general matrices
have length one, and their largest component is real, as LAPACK makes them. The eigenvalues of a
general matrix are complex numbers, whatever they are in NumPy. The derivative of one of several
equal eigenvalues, which does not exist, is that along its vector, as in PyTorch.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradscribe.ir.types import Tuple
from gradscribe.primitives.degenerate import diagonalizing, distinct, normalized
from gradscribe.primitives.equal_values import alike, moved, shared, unordered
from gradscribe.primitives.gauge import determined, gaps_of, independent, invariant, phaseless
from gradscribe.primitives.matrices import (
    conjugate_transposed,
    conjugated,
    hermitian_of,
    identity_like,
    of_triangle,
    real_part,
    real_type,
    square_dims,
    square_type,
)
from gradscribe.primitives.registry import LINEAR, adjoint, composition
from gradscribe.primitives.stability import settled_eig, settled_eigh
from gradscribe.primitives.typing import like_first, result_of

# -- of symmetric matrices -----------------------------------------------------------------------


def values_type(facts, callee, a, UPLO="L"):
    return real_type(like_first(result_of(np.linalg.eigvalsh, a), square_dims(facts, a)[:-1], a))


def _eigh_type(facts, callee, a, UPLO="L"):
    return Tuple((values_type(facts, callee, a), square_type(facts, np.linalg.inv, a)))


def _eigh_tangent(out, a, UPLO="L", *, d_a, of_gradient):
    w, v = out
    inner = conjugate_transposed(v) @ hermitian_of(d_a, UPLO) @ v
    d_w = real_part(np.sum(inner * identity_like(inner), axis=-1))
    if not of_gradient:
        d_w = moved(d_w, w, v, v @ inner)
    d_v = v @ (gaps_of(w) * inner)
    if not of_gradient:
        d_v = settled_eigh(d_v, a, w, v, UPLO, True)
    return d_w, moved_vectors(w, v, d_v, of_gradient)


def moved_vectors(w, v, d_v, of_gradient):
    """The tangent of eigenvectors, where they have one."""
    d_v = distinct(d_v, w)
    return determined(d_v, v) if v.dtype.kind == "c" and not of_gradient else d_v


def eigenvectors_turn(w, v, d_w, d_v):
    """What the cotangents of eigenvalues and eigenvectors are for the matrix in their basis."""
    if d_v is None:
        return shared(d_w, w)[..., None] * identity_like(v)
    along = conjugate_transposed(v) @ d_v
    if v.dtype.kind == "c":
        along = phaseless(along, d_v)
    inner = gaps_of(invariant(w, v, d_v, d_w)) * along
    return inner if d_w is None else inner + d_w[..., None] * identity_like(v)


@adjoint(np.linalg.eigh, type=_eigh_type, tangent=_eigh_tangent, static=("UPLO",), partial=True)
def eigh(out, a, UPLO="L", *, d_out):
    (w, v), (d_w, d_v) = out, d_out
    if d_v is not None:
        d_v = settled_eigh(d_v, a, w, v, UPLO)
    if d_v is None:
        d_a = (v * shared(d_w, w)[..., None, :]) @ conjugate_transposed(v)
    else:
        d_a = v @ eigenvectors_turn(w, v, d_w, d_v) @ conjugate_transposed(v)
    return of_triangle(d_a, UPLO)


def _eigvalsh_tangent(out, a, UPLO="L", *, d_a, of_gradient=False):
    _, v = np.linalg.eigh(a, UPLO)
    d_v = hermitian_of(d_a, UPLO) @ v
    d_w = real_part(np.sum(conjugated(v) * d_v, axis=-2))
    return d_w if of_gradient else moved(d_w, out, v, d_v)


@adjoint(np.linalg.eigvalsh, type=values_type, tangent=_eigvalsh_tangent, static=("UPLO",))
def eigvalsh(out, a, UPLO="L", *, d_out):
    _, v = np.linalg.eigh(a, UPLO)
    return of_triangle((v * shared(d_out, out)[..., None, :]) @ conjugate_transposed(v), UPLO)


# -- of general matrices -------------------------------------------------------------------------


def _as_complex_type(facts, callee, x, dtype=None):
    return replace(x, dtype=np.result_type(x.dtype, np.complex64).name)


def as_complex(x):
    """x as complex numbers: NumPy gives real ones where all of them are."""
    return x.astype(np.result_type(x.dtype, np.complex64))


@adjoint(as_complex, type=_as_complex_type, tangent=LINEAR)
def to_complex(out, x, dtype=None, *, d_out):
    return d_out


def _eig_type(facts, callee, a):
    dims = square_dims(facts, a)
    like = result_of(_complex_matrix, a)
    return Tuple((like_first(like, dims[:-1], a), like_first(like, dims, a)))


def _eigvals_type(facts, callee, a):
    return _eig_type(facts, callee, a).items[0]


def _complex_matrix(a):
    return np.linalg.inv(a) + np.complex64(0)


def _eig_tangent(out, a, *, d_a, of_gradient=False):
    w, v = as_complex(out[0]), as_complex(out[1])
    d_a = d_a if of_gradient else settled_eig(d_a, a, w, v, True)
    v = diagonalizing(v, w)
    inner = np.linalg.solve(v, d_a @ v)
    change = distinct(v @ (gaps_of(w) * inner), w)
    change = normalized(change, v, a.dtype.kind == "c")
    length = np.sum(np.real(np.conjugate(v) * change), axis=-2, keepdims=True)
    largest, part = _largest(v)
    turn = np.sum(np.imag(change) * largest, axis=-2, keepdims=True) / part
    d_w = np.sum(inner * identity_like(inner), axis=-1)
    return alike(d_w, w, inner), change - v * (length + 1j * turn)


def _largest(v):
    """Which component of each column is the largest, and its value, a real one."""
    places = np.expand_dims(np.argmax(np.abs(v), axis=-2), -2)
    chosen = np.reshape(np.arange(v.shape[-1]), (-1, 1)) == places
    return chosen, np.sum(np.real(v) * chosen, axis=-2, keepdims=True)


@adjoint(np.linalg.eig, type=_eig_type, tangent=_eig_tangent, partial=True)
def eig(out, a, *, d_out):
    w, v = as_complex(out[0]), as_complex(out[1])
    d_w, d_v = d_out
    dual = conjugate_transposed(diagonalizing(v, w))
    if d_w is not None:
        d_w = settled_eig(unordered(d_w, w), a, w)
    if d_v is not None:
        d_v = settled_eig(d_v, a, w, v)
    if d_v is None:
        return np.linalg.solve(dual, d_w[..., None] * dual)
    along = np.sum(np.conjugate(v) * d_v, axis=-2, keepdims=True)
    largest, part = _largest(v)
    d_change = d_v - v * np.real(along) - largest * (1j * np.imag(along) / part)
    w = independent(w, v, d_v, d_change, d_w, a.dtype.kind == "c")
    inner = np.conjugate(gaps_of(w)) * (dual @ d_change)
    if d_w is not None:
        inner = inner + d_w[..., None] * identity_like(v)
    return np.linalg.solve(dual, inner @ dual)


def _eigvals_tangent(out, a, *, d_a, of_gradient=False):
    d_a = d_a if of_gradient else settled_eig(d_a, a, out)
    v = diagonalizing(np.linalg.eig(a)[1], out)
    inner = np.linalg.solve(v, d_a @ v)
    return alike(np.sum(inner * identity_like(inner), axis=-1), out, inner)


@adjoint(np.linalg.eigvals, type=_eigvals_type, tangent=_eigvals_tangent)
def eigvals(out, a, *, d_out):
    dual = conjugate_transposed(diagonalizing(np.linalg.eig(a)[1], out))
    d_out = settled_eig(unordered(d_out, out), a, out)
    return np.linalg.solve(dual, d_out[..., None] * dual)


# -- roots of polynomials ------------------------------------------------------------------------


@composition(np.roots)
def roots(p):
    p = np.atleast_1d(p)
    if p.dtype.kind in "biu":
        p = p.astype(float)
    places = np.flatnonzero(p)
    dtype = np.result_type(p.dtype, np.complex64)
    if len(places) == 0:
        return as_complex(np.zeros(0, dtype=dtype))
    zeros = np.zeros(len(p) - places[-1] - 1, dtype=dtype)
    p = p[places[0] : places[-1] + 1]
    count = len(p) - 1
    if count == 0:
        return as_complex(zeros)
    companion = np.eye(count, k=-1, dtype=p.dtype)
    companion[0, :] = -p[1:] / p[0]
    return np.concatenate((np.linalg.eigvals(companion), zeros))
