"""Schur's factorization of a matrix, a = z @ t @ z^H with a triangular t.

With the turn w = z^H d_z, which is skew-Hermitian, z^H d_a z = d_t + w t - t w. What is below the
diagonal there has no part of d_t, and gives w column by column. A result may not depend on the
phases of complex vectors, which are free (`gauge.py`). Equal eigenvalues have no such w.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import linalg as sl

from gradscribe.ir.types import Tuple
from gradscribe.primitives.degenerate import real_form, separate
from gradscribe.primitives.gauge import determined, phaseless
from gradscribe.primitives.matrices import (
    conjugate_transposed,
    conjugated,
    identity_like,
    square_dims,
)
from gradscribe.primitives.registry import GRADIENTS, PRIMITIVES, adjoint, variant
from gradscribe.primitives.scipy.settled import settled_schur
from gradscribe.primitives.typing import TypeRuleError, like_first, result_of


def _schur_type(facts, callee, a, output="real"):
    dims = square_dims(facts, a)
    if len(dims) != 2:
        raise TypeRuleError("it takes one matrix here", "loop over the matrices of the stack")
    like = like_first(result_of(np.linalg.inv, a), dims, a)
    if output in ("complex", "c"):
        like = replace(like, dtype=np.promote_types(like.dtype, np.complex64).name)
    return Tuple((like, like))


def _triangular(t):
    return separate(real_form(t))


def _column(system, right, j):
    """The solution below the diagonal of column j, zeros elsewhere."""
    below = np.arange(right.shape[0]) > j
    inside = below[:, None] & below
    system = np.where(inside, system, identity_like(system))
    return np.linalg.solve(system, np.where(below, right, 0))


def _turn(t, change):
    """The part below the diagonal of w, where w t - t w has that of the change."""
    w, identity = np.zeros_like(t), identity_like(t)
    for j in range(t.shape[0] - 1):
        right = change[:, j] - w @ t[:, j]
        w[:, j] = _column(t[j, j] * identity - t, right, j)
    return w


def _turn_of_cotangent(t, d_w):
    """The adjoint of `_turn`."""
    t = conjugated(t)
    d_change, identity = np.zeros_like(t), identity_like(t)
    for j in range(t.shape[0] - 2, -1, -1):
        right = d_w[:, j] - d_change @ t[j]
        d_change[:, j] = _column(t[j, j] * identity - t.T, right, j)
    return d_change


def _schur_tangent(out, a, output="real", *, d_a, of_gradient=False):
    t, z = _triangular(out[0]), out[1]
    d_a = d_a if of_gradient else settled_schur(d_a, a, t, z, output)
    change = conjugate_transposed(z) @ d_a @ z
    lower = _turn(t, change)
    turn = lower - conjugate_transposed(lower)
    if t.dtype.kind == "c" and not of_gradient:
        turn = determined(turn, z)
    return np.triu(change - turn @ t + t @ turn), z @ turn


@adjoint(sl.schur, type=_schur_type, tangent=_schur_tangent, static=("output",))
def schur(out, a, output="real", *, d_out):
    t, z = _triangular(out[0]), out[1]
    d_t = settled_schur(np.triu(d_out[0]), a, t, z, output)
    adjoint_of_t = conjugate_transposed(t)
    d_turn = conjugate_transposed(z) @ d_out[1] - d_t @ adjoint_of_t + adjoint_of_t @ d_t
    d_turn = d_turn - conjugate_transposed(d_turn)
    if t.dtype.kind == "c":
        d_turn = phaseless(d_turn, np.concatenate((d_out[0], d_out[1]), axis=-1))
    d_change = d_t + _turn_of_cotangent(t, d_turn)
    return z @ d_change @ conjugate_transposed(z)


GRADIENTS.add(PRIMITIVES[sl.schur])


@variant(sl.schur)
def schur_of_form(a, output="real", lwork=None, overwrite_a=False, sort=None, check_finite=True):
    if sort is not None:
        raise TypeError("of a factorization in another order no derivative is known")
    return sl.schur(a, output)
