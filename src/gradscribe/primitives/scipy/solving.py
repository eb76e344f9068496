"""Systems of linear equations: triangular ones, by triangular factors, and those of Sylvester.

Formulas: Giles, "An extended collection of matrix derivative results" (2008), section 2.2; of the
factors de Hoog, Anderssen and Lukas, "Differentiation of matrix functionals using triangular
factorization" (2011), of square matrices: others are completed to such.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg as sl

from gradscribe.ir.types import Array, Tuple
from gradscribe.primitives.degenerate import full_rank
from gradscribe.primitives.matrices import (
    conjugate_transposed,
    conjugated,
    square_dims,
    square_type,
    transposed,
)
from gradscribe.primitives.registry import (
    GRADIENTS,
    HOLOMORPHIC,
    PRIMITIVES,
    adjoint,
    available,
    composition,
    variant,
)
from gradscribe.primitives.scipy.settled import settled_lu
from gradscribe.primitives.typing import (
    TypeRuleError,
    dims_of,
    like_first,
    matrix_dims,
    result_of,
    same_length,
)

# -- triangular systems --------------------------------------------------------------------------


def _triangular_type(facts, callee, a, b, trans=0, lower=False, unit_diagonal=False):
    dims, right = square_dims(facts, a), dims_of(b)
    if len(dims) != 2 or not right:
        raise TypeRuleError("it takes one matrix, and a right side of one axis or two")
    if trans in (2, "C") and "c" in np.dtype(a.dtype).kind:
        raise TypeRuleError("`trans` is a transposition here", "conjugate the matrix, and use 'T'")
    same_length(facts, dims[0], right[0], "matrix and right side")
    return like_first(result_of(callee, a, b), right, a, b)


def _triangle(a, lower, unit_diagonal):
    return np.tril(a, -int(unit_diagonal)) if lower else np.triu(a, int(unit_diagonal))


def _is_plain(trans):
    return trans in (0, "N")


def _triangular_tangent(out, a, b, trans=0, lower=False, unit_diagonal=False, *, d_a, d_b):
    change = 0.0 if d_b is None else d_b
    if d_a is not None:
        moved = _triangle(d_a, lower, unit_diagonal)
        change = change - (moved if _is_plain(trans) else moved.T) @ out
    return sl.solve_triangular(a, change, trans, lower, unit_diagonal)


@adjoint(
    sl.solve_triangular,
    type=_triangular_type,
    tangent=_triangular_tangent,
    static=("trans", "lower", "unit_diagonal"),
)
def solve_triangular(out, a, b, trans=0, lower=False, unit_diagonal=False, *, d_out):
    d_b = sl.solve_triangular(a, d_out, 1 if _is_plain(trans) else 0, lower, unit_diagonal)
    rows, columns = (d_b, out) if _is_plain(trans) else (out, d_b)
    d_a = np.outer(rows, columns) if np.ndim(out) == 1 else rows @ columns.T
    return -_triangle(d_a, lower, unit_diagonal), d_b


@variant(sl.solve_triangular)
def solve_triangular_unchecked(
    a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True
):
    return sl.solve_triangular(a, b, trans, lower, unit_diagonal)


# -- triangular factors --------------------------------------------------------------------------


def _lu_type(facts, callee, a):
    dims = matrix_dims(a)
    if len(dims) != 2:
        raise TypeRuleError("it takes one matrix here", "loop over the matrices of the stack")
    m, n = dims
    wide = facts.at_least(n - m, 0)
    k = facts.derived("shorter", m, n) if wide is None else m if wide else n
    like = result_of(np.linalg.inv, a)
    left, right = like_first(like, (m, k), a), like_first(like, (k, n), a)
    return Tuple((like_first(Array("float64", ()), (m, m), a), left, right))


def _divisor(right):
    """The upper factor, with its last column, which may be zero and nothing is divided by, for that
    of the identity."""
    divisor = np.copy(right)
    divisor[:, -1:] = 0.0
    divisor[-1:, -1:] = 1.0
    return full_rank(divisor, "lu")


def _moved_factors(left, right, d_a):
    """The tangents of a unit lower and an upper triangular matrix, of that of their product."""
    change = sl.solve_triangular(left, d_a, lower=True, unit_diagonal=True)
    turn = np.tril(sl.solve_triangular(_divisor(right), change.T, 1).T, -1)
    return left @ turn, np.triu(change - turn @ right)


def _completed(left, right):
    """The factors of the square matrix that has unit vectors for what is missing of it."""
    (m, k), n = left.shape, right.shape[1]
    size = max(m, n)
    lower, upper = np.eye(size, dtype=left.dtype), np.eye(size, dtype=right.dtype)
    lower[:m, :k] = left
    upper[:k, :n] = right
    return lower, upper


def _padded(part, size):
    """A part of a square matrix of that size, with zeros for the others."""
    whole = np.zeros((size, size), dtype=part.dtype)
    whole[: part.shape[0], : part.shape[1]] = part
    return whole


def _lu_tangent(out, a, *, d_a, of_gradient=False):
    p, left, right = out
    lower, upper = _completed(left, right)
    d_a = d_a if of_gradient else settled_lu(d_a, a)
    d_left, d_right = _moved_factors(lower, upper, _padded(p.T @ d_a, lower.shape[0]))
    (m, k), n = left.shape, right.shape[1]
    return np.zeros_like(p), d_left[:m, :k], d_right[:k, :n]


@adjoint(sl.lu, type=_lu_type, tangent=_lu_tangent)
def lu(out, a, *, d_out):
    (p, left, right), (_, d_left, d_right) = out, d_out
    d_right = settled_lu(d_right, a)
    lower, upper = _completed(left, right)
    size = lower.shape[0]
    d_whole = _lu_cotangent(lower, upper, _padded(d_left, size), _padded(d_right, size))
    return p @ d_whole[: a.shape[0], : a.shape[1]]


def _lu_cotangent(left, right, d_left, d_right):
    left, right = conjugated(left), conjugated(right)
    d_change = np.triu(d_right)
    d_turn = np.tril(left.T @ d_left - d_change @ right.T, -1)
    d_change = d_change + sl.solve_triangular(_divisor(right), d_turn.T).T
    return sl.solve_triangular(left, d_change, 1, True, True)


@variant(sl.lu)
def lu_of_form(a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False):
    p, left, right = sl.lu(a)
    if permute_l:
        return p @ left, right
    return (np.argmax(p, axis=1), left, right) if p_indices else (p, left, right)


def _lu_factor_type(facts, callee, a):
    matrix = square_type(facts, np.linalg.inv, a)
    return Tuple((matrix, like_first(Array("int32", ()), matrix.dims[:1], a)))


def _split(packed):
    identity = np.eye(packed.shape[0], dtype=packed.dtype)
    return np.tril(packed, -1) + identity, np.triu(packed)


def _order(pivots):
    """The permutation that the exchanges of rows make."""
    order = np.arange(pivots.shape[0])
    for i in range(pivots.shape[0]):
        kept = order[i]
        order[i] = order[pivots[i]]
        order[pivots[i]] = kept
    return order


def _lu_factor_tangent(out, a, *, d_a, of_gradient=False):
    d_a = d_a if of_gradient else settled_lu(d_a, a)
    left, right = _split(out[0])
    d_left, d_right = _moved_factors(left, right, d_a[_order(out[1])])
    return d_left + d_right, np.zeros_like(out[1])


@adjoint(sl.lu_factor, type=_lu_factor_type, tangent=_lu_factor_tangent)
def lu_factor(out, a, *, d_out):
    left, right = _split(out[0])
    d_packed = settled_lu(d_out[0], a)
    d_ordered = _lu_cotangent(left, right, np.tril(d_packed, -1), np.triu(d_packed))
    return d_ordered[np.argsort(_order(out[1]))]


@variant(sl.lu_factor)
def lu_factor_unchecked(a, overwrite_a=False, check_finite=True):
    return sl.lu_factor(a)


@composition(sl.lu_solve, called=True)
def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    packed, pivots = lu_and_piv
    if trans == 0:
        y = sl.solve_triangular(packed, b[_order(pivots)], lower=True, unit_diagonal=True)
        return sl.solve_triangular(packed, y)
    packed = conjugated(packed) if trans == 2 else packed
    y = sl.solve_triangular(packed, b, 1)
    return sl.solve_triangular(packed, y, 1, True, True)[np.argsort(_order(pivots))]


@composition(sl.solve_banded, called=True)
def solve_banded(l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True):
    lower, upper = l_and_u
    n = ab.shape[1]
    offsets = np.arange(n)[:, None] - np.arange(n)
    inside = (offsets >= -upper) & (offsets <= lower)
    rows = np.where(inside, upper + offsets, 0)
    return sl.solve(np.where(inside, ab[rows, np.arange(n)], 0.0), b)


def _toeplitz_type(facts, callee, c_or_cr, b):
    pair = c_or_cr.items if isinstance(c_or_cr, Tuple) else c_or_cr
    columns, dims = pair if isinstance(pair, tuple) else (pair,), dims_of(b)
    if not dims or len(columns) > 2 or any(len(dims_of(each)) != 1 for each in columns):
        raise TypeRuleError("it takes a vector for the first column, and one for the first row")
    for each in columns:
        same_length(facts, dims_of(each)[0], dims[0], "matrix and right side")
    return like_first(result_of(callee, c_or_cr, b), dims, *columns, b)


def _toeplitz_tangent(out, c_or_cr, b, *, d_c_or_cr, d_b):
    change = 0.0 if d_b is None else d_b
    if d_c_or_cr is not None:
        columns = np.reshape(out, (out.shape[0], -1))
        change = change - np.reshape(_toeplitz_of(d_c_or_cr) @ columns, out.shape)
    return sl.solve_toeplitz(c_or_cr, change)


@adjoint(sl.solve_toeplitz, type=_toeplitz_type, tangent=_toeplitz_tangent)
def solve_toeplitz(out, c_or_cr, b, *, d_out):
    """Each diagonal is one number; the first item of the row is not used."""
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, np.conjugate(c_or_cr))
    n = c.shape[0]
    transposed_column = np.conjugate(np.concatenate((c[:1], r[1:])))
    d_b = sl.solve_toeplitz((transposed_column, np.conjugate(c)), d_out)
    right = np.conjugate(np.reshape(out, (n, -1)))
    d_diagonals = _sums_of_diagonals(-np.reshape(d_b, (n, -1)) @ right.T)
    d_c = d_diagonals[n - 1 :]
    d_r = np.concatenate((np.zeros_like(d_c[:1]), d_diagonals[: n - 1][::-1]))
    return ((d_c, d_r) if isinstance(c_or_cr, tuple) else d_c + np.conjugate(d_r)), d_b


def _sums_of_diagonals(square):
    """From the upper right corner to the lower left one. Rows that are longer by one put them
    below each other."""
    n = square.shape[0]
    rows = np.zeros((n, 2 * n), dtype=square.dtype)
    rows[:, :n] = square[:, ::-1]
    return np.sum(np.reshape(np.reshape(rows, (-1,))[:-n], (n, 2 * n - 1)), axis=0)


@variant(sl.solve_toeplitz)
def solve_toeplitz_unchecked(c_or_cr, b, check_finite=True):
    return sl.solve_toeplitz(c_or_cr, b)


@composition(sl.matmul_toeplitz, called=True)
def matmul_toeplitz(c_or_cr, x, check_finite=False, workers=None):
    """In double precision."""
    matrix = _toeplitz_of(c_or_cr)
    return matrix.astype(np.result_type(matrix, x, np.float64)) @ x


def _toeplitz_of(c_or_cr):
    return sl.toeplitz(*c_or_cr) if isinstance(c_or_cr, tuple) else sl.toeplitz(c_or_cr)


@composition(sl.solve_circulant, called=True)
def solve_circulant(c, b):
    return sl.solve(sl.circulant(c), b)


# -- Sylvester and Lyapunov ----------------------------------------------------------------------


def _sylvester_type(facts, callee, a, b, q):
    square_dims(facts, a)
    square_dims(facts, b)
    return like_first(result_of(np.matmul, result_of(np.matmul, a, q), b), matrix_dims(q), a, b, q)


def _sylvester_tangent(out, a, b, q, *, d_a, d_b, d_q):
    change = 0.0 if d_q is None else d_q
    if d_a is not None:
        change = change - d_a @ out
    if d_b is not None:
        change = change - out @ d_b
    return sl.solve_sylvester(a, b, change)


@adjoint(sl.solve_sylvester, type=_sylvester_type, tangent=_sylvester_tangent)
def solve_sylvester(out, a, b, q, *, d_out):
    d_q = sl.solve_sylvester(transposed(a), transposed(b), d_out)
    return -(d_q @ transposed(out)), -(transposed(out) @ d_q), d_q


@composition(sl.solve_continuous_lyapunov, *available(sl, "solve_lyapunov"), called=True)
def solve_continuous_lyapunov(a, q):
    return sl.solve_sylvester(a, conjugate_transposed(a), q)


@composition(sl.solve_discrete_lyapunov, called=True)
def solve_discrete_lyapunov(a, q, method=None):
    n = a.shape[0]
    system = np.eye(n * n) - np.kron(a, np.conjugate(a))
    return np.reshape(np.linalg.solve(system, np.reshape(q, (-1,))), (n, n))


for _function in (sl.solve_triangular, sl.solve_sylvester):
    HOLOMORPHIC.add(PRIMITIVES[_function])
for _function in (sl.lu, sl.lu_factor, sl.solve_toeplitz):
    GRADIENTS.add(PRIMITIVES[_function])
