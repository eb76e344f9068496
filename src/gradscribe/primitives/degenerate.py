"""Matrices of which a factorization, or a part of it, has no derivative: checks in generated code.

As those of `gauge.py` they give back their first argument, or raise a `NoDerivativeError`. Here it
does not matter what is made of the factors: values coincide, or are zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.errors import NoDerivativeError
from gradscribe.primitives.gauge import (
    enter,
    equal_among,
    have_ties,
    least_of,
    shown,
    tangent_of_tangent,
    tangent_of_values,
    unit,
)
from gradscribe.primitives.real_numbers import refuse_complex_matrix


def full_rank(r, of="qr"):
    """The triangular factor, after a check that no column depends on those before it."""
    sizes = np.sqrt(np.sum(np.abs(r) ** 2, axis=-2))
    least = unit(r.dtype, 2 / 3) * sizes
    if np.any(np.abs(np.diagonal(r, axis1=-2, axis2=-1)) <= least):
        raise NoDerivativeError(
            f"of a matrix whose columns depend on each other, `{of}` has no derivative",
            "leave columns out, or use `svd`",
        )
    return r


def regular(a, sign, of):
    """The matrix, after a check that the sign of its determinant is not zero."""
    if np.any(sign == 0):
        raise NoDerivativeError(
            f"of a singular matrix `{of}` has no derivative",
            "add to it what makes it regular; the determinant itself, `np.linalg.det`, has one",
        )
    return a


def nonzero(values):
    """The singular values, after a check that none is zero."""
    if np.any(values <= least_of(values)):
        raise NoDerivativeError(
            "the polar factors of a matrix that is not of full rank have no derivative",
            "add to it what makes it regular, or leave out rows or columns",
        )
    return values


def real_form(t):
    """Schur's real factor, after a check that all eigenvalues are real."""
    if np.any(np.diagonal(t, -1) != 0):
        raise NoDerivativeError(
            "of complex eigenvalues Schur's real form has no derivative",
            "take the complex one: `scipy.linalg.schur(a, output='complex')`",
        )
    return t


def off_the_cut(a):
    """The matrix, after a check that its root and its logarithm are real if it is, and that they
    have a derivative: types do not tell."""
    values = np.linalg.eigvals(a)
    least = unit(values.dtype, 2 / 3) * np.max(np.abs(values), initial=0)
    if a.dtype.kind != "c" and np.any((np.imag(values) == 0) & (np.real(values) < -least)):
        refuse_complex_matrix()
    if np.any((np.abs(np.imag(values)) <= least) & (np.real(values) <= least)):
        raise NoDerivativeError(
            "roots and logarithms of a matrix jump, or have no derivative, where an eigenvalue is "
            "zero or a negative number",
            "keep eigenvalues off zero and the negative axis",
        )
    return a


def separate(t):
    """Schur's triangular factor, after a check that no two eigenvalues are equal."""
    values = np.diagonal(t)
    if np.any(equal_among(values)):
        raise NoDerivativeError(
            "Schur's factors of a matrix with equal eigenvalues have no derivative: the values "
            f"number {shown(equal_among(values), values)}",
            "write the function of the matrix in another way, such as by `scipy.linalg.expm`",
        )
    return t


def diagonalizing(v, values):
    """The eigenvectors of a general matrix, after a check that there are enough of them: those of
    equal values may be the same."""
    if np.any(equal_among(values)):
        sizes = np.linalg.svd(v, compute_uv=False)
        if np.any(sizes[..., -1:] <= least_of(sizes)):
            raise NoDerivativeError(
                "the eigenvalues of a matrix with too few eigenvectors have no derivative",
                "use what has one: `np.trace`, `np.linalg.det`, `scipy.linalg.expm`",
            )
    return v


# -- forward mode --------------------------------------------------------------------------------


def distinct(tangent, values, positive=False):
    """The tangent of vectors, after a check that their values are not equal (nor zero)."""
    if np.any(equal_among(values)) or (positive and np.any(values <= least_of(values))):
        raise NoDerivativeError(
            "vectors of equal values, and of singular values that are zero, have no derivative of "
            "their own, as forward mode needs it",
            "use reverse mode, once: `gs.grad`, `gs.vjp` or `gs.jacrev`",
        )
    return tangent


def normalized(tangent, v, of_complex=False):
    """The tangent of general eigenvectors, after a check that their phases are determined: that one
    component is the largest. of_complex: the matrix is complex."""
    if np.any(have_ties(v, of_complex)):
        raise NoDerivativeError(
            "phases of complex vectors of which several components are the largest have no "
            "derivative, as forward mode needs it",
            "use reverse mode, once: `gs.grad`, `gs.vjp` or `gs.jacrev`",
        )
    return tangent


def _tangent_of_r(out, *, d_r):
    return d_r


def _tangent_of_t(out, *, d_t):
    return d_t


def _tangent_of_a(out, *, d_a):
    return d_a


def _tangent_of_v(out, *, d_v):
    return d_v


CHECKS: dict[Any, Any] = {
    full_rank: _tangent_of_r,
    regular: _tangent_of_a,
    nonzero: tangent_of_values,
    real_form: _tangent_of_t,
    off_the_cut: _tangent_of_a,
    separate: _tangent_of_t,
    diagonalizing: _tangent_of_v,
    distinct: tangent_of_tangent,
    normalized: tangent_of_tangent,
}
"""As in `gauge.py`."""

for _check, _tangent in CHECKS.items():
    enter(_check, _tangent)
