"""The polar factors of a matrix, a = u @ p or a = p @ u, with a positive semidefinite p.

With a = w @ s @ v^H, u = w @ v^H and the change e = w^H d_a v, the factor u turns by
x_ij = (e_ij - conj(e_ji)) / (s_i + s_j), and v^H d_p v = e - x s: no differences of singular values
are divided by, so they may be equal. (Higham, "Functions of Matrices", 2008, section 8.) Outside of
the spaces of w and v, u changes by the change of a divided by s, and p by that itself.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg as sl

from gradscribe.ir.types import Tuple
from gradscribe.primitives.degenerate import nonzero
from gradscribe.primitives.gauge import reciprocal
from gradscribe.primitives.matrices import conjugate_transposed
from gradscribe.primitives.registry import GRADIENTS, PRIMITIVES, adjoint
from gradscribe.primitives.typing import TypeRuleError, like_first, matrix_dims, result_of


def _polar_type(facts, callee, a, side="right"):
    dims = matrix_dims(a)
    if len(dims) != 2:
        raise TypeRuleError("it takes one matrix here", "loop over the matrices of the stack")
    like = result_of(np.linalg.inv, a)
    m, n = dims
    square = (n, n) if side == "right" else (m, m)
    return Tuple((like_first(like, dims, a), like_first(like, square, a)))


def _factors(a):
    """Those of the singular values, and 1 / (s_i + s_j) for these."""
    w, s, vh = np.linalg.svd(a, full_matrices=False)
    s = nonzero(s)
    return w, s, vh, reciprocal(s[:, None] + s, s)


def _right_tangent(a, d_a):
    """Of a = u @ p."""
    w, s, vh, sums = _factors(a)
    dual, v = conjugate_transposed(w), conjugate_transposed(vh)
    change = dual @ d_a @ v
    turn = sums * (change - conjugate_transposed(change))
    right = dual @ d_a - change @ vh
    d_u = w @ turn @ vh + ((d_a @ v - w @ change) / s) @ vh + w @ (right / s[:, None])
    beside = v @ right
    return d_u, v @ (change - turn * s) @ vh + beside + conjugate_transposed(beside)


def _right_cotangent(a, d_u, d_p):
    w, s, vh, sums = _factors(a)
    dual, v = conjugate_transposed(w), conjugate_transposed(vh)
    inner, d_inner = 0.0, 0.0
    left, right = 0.0, 0.0
    if d_p is not None:
        of_p = vh @ d_p @ v
        inner, d_inner = of_p, -of_p * s
        right = vh @ (d_p + conjugate_transposed(d_p))
        right = right - right @ v @ vh
    if d_u is not None:
        of_u = dual @ d_u @ v
        d_inner = d_inner + of_u
        left = (d_u @ v - w @ of_u) / s
        right = right + (dual @ d_u - of_u @ vh) / s[:, None]
    d_inner = sums * d_inner
    inner = inner + d_inner - conjugate_transposed(d_inner)
    return w @ inner @ vh + left @ vh + w @ right


def _polar_tangent(out, a, side="right", *, d_a):
    if side == "right":
        return _right_tangent(a, d_a)
    d_u, d_p = _right_tangent(conjugate_transposed(a), conjugate_transposed(d_a))
    return conjugate_transposed(d_u), d_p


@adjoint(sl.polar, type=_polar_type, tangent=_polar_tangent, static=("side",), partial=True)
def polar(out, a, side="right", *, d_out):
    d_u, d_p = d_out
    if side == "right":
        return _right_cotangent(a, d_u, d_p)
    d_u = None if d_u is None else conjugate_transposed(d_u)
    return conjugate_transposed(_right_cotangent(conjugate_transposed(a), d_u, d_p))


GRADIENTS.add(PRIMITIVES[sl.polar])
