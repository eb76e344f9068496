"""Pseudoinverses and least squares, powers and chains of matrices, what is made of norms.

Pseudoinverse and least squares: Golub and Pereyra, "The differentiation of pseudo-inverses and
nonlinear least squares problems whose variables separate" (1973), for matrices of full rank.
"""

from __future__ import annotations

import numpy as np

from gradscribe.ir.types import Array, Scalar, Tuple
from gradscribe.primitives.degenerate import regular
from gradscribe.primitives.equal_values import moved, shared
from gradscribe.primitives.joining import joined_items
from gradscribe.primitives.matrices import (
    conjugate_transposed,
    conjugated,
    hermitian_of,
    of_triangle,
    real_part,
    real_type,
)
from gradscribe.primitives.registry import adjoint, composition, constant, variant
from gradscribe.primitives.stability import settled_rank
from gradscribe.primitives.static import static
from gradscribe.primitives.typing import (
    TypeRuleError,
    dims_of,
    like_first,
    matrix_dims,
    refuse_arrays,
    result_of,
    same_length,
    unknown_length,
)

# -- pseudoinverses and least squares ------------------------------------------------------------


def _pinv_type(facts, callee, a, rcond=None, hermitian=False):
    dims = matrix_dims(a)
    return like_first(result_of(callee, a), (*dims[:-2], dims[-1], dims[-2]), a)


def _pinv_tangent(out, a, rcond=None, hermitian=False, *, d_a):
    a, d_a = (hermitian_of(a, "L"), hermitian_of(d_a, "L")) if hermitian else (a, d_a)
    outside_columns, outside_rows = _outside_columns(out, a, d_a), _outside_rows(out, a, d_a)
    d_a = settled_rank(d_a, _rank_by(out, a), a)
    dual = conjugate_transposed(out)
    change = out @ dual @ conjugate_transposed(outside_columns) - out @ d_a @ out
    return change + conjugate_transposed(outside_rows) @ dual @ out


def _rank_by(inverse, a):
    """The rank of a matrix: the trace of its product with the pseudoinverse."""
    return np.sum(np.real(np.swapaxes(inverse, -1, -2) * a), axis=(-2, -1))


def _outside_columns(inverse, a, x):
    """What is left of x outside the space of the columns of a: taken twice, since of an
    ill-conditioned matrix rounding errors leave a part inside."""
    for _ in range(2):
        x = x - a @ (inverse @ x)
    return x


def _outside_rows(inverse, a, x):
    for _ in range(2):
        x = x - (x @ inverse) @ a
    return x


@adjoint(np.linalg.pinv, type=_pinv_type, tangent=_pinv_tangent, static=("hermitian",))
def pinv(out, a, rcond=None, hermitian=False, *, d_out):
    a = hermitian_of(a, "L") if hermitian else a
    d_out = settled_rank(d_out, _rank_by(out, a), a)
    by_rows = conjugate_transposed(d_out) @ out @ conjugate_transposed(out)
    by_columns = conjugate_transposed(out) @ out @ conjugate_transposed(d_out)
    d_a = _outside_columns(out, a, by_rows) + _outside_rows(out, a, by_columns)
    d_a = d_a - conjugate_transposed(out) @ d_out @ conjugate_transposed(out)
    return of_triangle(d_a, "L") if hermitian else d_a


@variant(np.linalg.pinv)
def pinv_to_tolerance(a, *, hermitian=False, rtol=None):
    if rtol is None:
        rtol = max(a.shape[-2:]) * np.finfo(a.dtype).eps
    return np.linalg.pinv(a, rtol, hermitian)


def _lstsq_type(facts, callee, a, b, rcond=None):
    (m, n), right = dims_of(a), dims_of(b)
    same_length(facts, m, right[0], "matrix and right side")
    of = result_of(np.linalg.solve, a, b)
    wide = facts.at_least(n - m, 0)
    k = facts.derived("shorter", m, n) if wide is None else m if wide else n
    solution = like_first(of, (n, *right[1:]), a, b)
    residuals = real_type(like_first(of, (unknown_length(),), a, b))
    rank = Scalar("int64", weak=False)
    return Tuple((solution, residuals, rank, real_type(like_first(of, (k,), a))))


def _columns(b):
    return b[:, None] if np.ndim(b) == 1 else b


def _lstsq_tangent(out, a, b, rcond=None, *, d_a, d_b):
    x, squares, rank, s = out
    x = settled_rank(x, rank, a)
    inverse = np.linalg.pinv(a)
    xs, bs = _columns(x), _columns(b)
    rest = bs - a @ xs
    change = 0.0
    d_s = np.zeros_like(s)
    if d_a is not None:
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        d_u = d_a @ conjugate_transposed(vh)
        d_s = moved(real_part(np.sum(conjugated(u) * d_u, axis=0)), s, u, d_u, True)
        dual, d_dual = conjugate_transposed(inverse), conjugate_transposed(d_a)
        change = inverse @ (dual @ (d_dual @ rest)) - inverse @ (d_a @ xs)
        outer = d_dual @ (dual @ xs)
        change = change + outer - inverse @ (a @ outer)
    if d_b is not None:
        change = change + inverse @ _columns(d_b)
    rest_moved = (0.0 if d_b is None else _columns(d_b)) - (0.0 if d_a is None else d_a @ xs)
    d_squares = 2 * real_part(np.sum(conjugated(rest) * rest_moved, axis=0))[: squares.shape[0]]
    return np.reshape(change, np.shape(x)), d_squares, rank, d_s


@adjoint(np.linalg.lstsq, type=_lstsq_type, tangent=_lstsq_tangent, partial=True)
def lstsq(out, a, b, rcond=None, *, d_out):
    (x, squares, rank, s), (d_x, d_squares, _, d_s) = out, d_out
    xs = _columns(settled_rank(x, rank, a))
    rest = _columns(b) - a @ xs
    d_a, d_b = 0.0, 0.0
    if d_x is not None:
        d_xs, inverse = _columns(d_x), np.linalg.pinv(a)
        dual = conjugate_transposed(inverse)
        d_b = dual @ d_xs
        d_a = rest @ conjugate_transposed(inverse @ d_b) - d_b @ conjugate_transposed(xs)
        free = d_xs - inverse @ (a @ d_xs)
        d_a = d_a + (dual @ xs) @ conjugate_transposed(free)
    if d_squares is not None:
        weights = np.zeros(xs.shape[1], dtype=x.dtype)
        weights[: squares.shape[0]] = d_squares
        d_a = d_a - 2 * (rest * weights) @ conjugate_transposed(xs)
        d_b = d_b + 2 * rest * weights
    if d_s is not None:
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        d_a = d_a + (u * shared(d_s, s, True)) @ vh
    return d_a, None if d_x is None and d_squares is None else np.reshape(d_b, np.shape(b))


# -- powers and chains ---------------------------------------------------------------------------


@static
def _bits(n):
    """The binary digits of a number, the lowest first."""
    return tuple(n >> i & 1 for i in range(n.bit_length()))


@composition(np.linalg.matrix_power, static=("n",))
def matrix_power(a, n):
    if n == 0:
        return np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), np.shape(a)) + 0 * a
    if n < 0:
        a, n = np.linalg.inv(a), -n
    if n == 3:
        return (a @ a) @ a
    square, result = None, None
    for bit in _bits(n):
        square = a if square is None else square @ square
        if bit:
            result = square if result is None else result @ square
    return result


def _chain_type(facts, callee, arrays):
    arrays, _ = joined_items(arrays)
    if len(arrays) < 2:
        raise TypeRuleError("expected at least two arrays")
    dims = dims_of(arrays[0])
    for x in arrays[1:]:
        same_length(facts, dims[-1], dims_of(x)[0], "the lengths that are multiplied and summed")
        dims = dims[:-1] + dims_of(x)[1:]
    result = result_of(callee, list(arrays))
    return like_first(result, dims, *arrays) if isinstance(result, Array) else result


def _chain_tangent(out, arrays, *, d_arrays):
    total = 0.0
    for i, d_x in enumerate(d_arrays):
        total = total + np.linalg.multi_dot((*arrays[:i], d_x, *arrays[i + 1 :]))
    return total


@adjoint(np.linalg.multi_dot, type=_chain_type, tangent=_chain_tangent)
def multi_dot(out, arrays, *, d_out):
    if np.ndim(arrays[0]) == 1:
        d_out = d_out[None]
    if np.ndim(arrays[-1]) == 1:
        d_out = d_out[..., None]
    parts = ()
    for i, x in enumerate(arrays):
        d_x = d_out
        if i > 0:
            d_x = _chain(arrays[:i]).T @ d_x
        if i < len(arrays) - 1:
            d_x = d_x @ _chain(arrays[i + 1 :], last=True).T
        parts = (*parts, np.reshape(d_x, np.shape(x)))
    return (parts,)


def _chain(arrays, last=False):
    """The product as a matrix: a row, or for the last of a chain a column, if it is a vector."""
    whole = arrays[0] if len(arrays) == 1 else np.linalg.multi_dot(arrays)
    if np.ndim(whole) == 1:
        return whole[:, None] if last else whole[None]
    return whole


@composition(np.linalg.tensorsolve)
def tensorsolve(a, b, axes=None):
    if axes is not None:
        a = np.moveaxis(a, axes, tuple(range(-len(axes), 0)))
    shape = a.shape[np.ndim(b) - np.ndim(a) :]
    return np.reshape(np.linalg.solve(np.reshape(a, (b.size, b.size)), np.ravel(b)), shape)


@composition(np.linalg.tensorinv)
def tensorinv(a, ind=2):
    count = 1
    for n in a.shape[ind:]:
        count = count * n
    inverse = np.linalg.inv(np.reshape(a, (count, count)))
    return np.reshape(inverse, (*a.shape[ind:], *a.shape[:ind]))


# -- of norms and singular values ----------------------------------------------------------------


@composition(np.linalg.cond, called=True)
def cond(x, p=None):
    if p is None or p == 2 or p == -2:
        s = np.linalg.svd(x, compute_uv=False)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    wide = np.complex128 if x.dtype.kind == "c" else np.float64
    x = regular(x, np.linalg.slogdet(x)[0], "cond")
    inverse = np.linalg.inv(x if x.dtype == wide else x.astype(wide))
    both = np.linalg.norm(x, p, axis=(-2, -1)) * np.linalg.norm(inverse, p, axis=(-2, -1))
    is_single = x.dtype == np.float32 or x.dtype == np.complex64
    return both.astype(np.float32) if is_single else both


def _rank_type(facts, callee, A, tol=None, hermitian=False, *, rtol=None):
    refuse_arrays((tol, rtol), "compare the singular values with it")
    dims, result = matrix_dims(A)[:-2], result_of(callee, A)
    return like_first(result, dims, A) if isinstance(result, Array) else result


constant(np.linalg.matrix_rank, type=_rank_type, cheap=False)


@composition(np.linalg.vector_norm)
def vector_norm(x, *, axis=None, keepdims=False, ord=2):
    x = np.asarray(x)
    norms = _vector_norms(x, axis, ord)
    if not keepdims or not x.ndim:
        return norms
    return np.reshape(norms, _with_ones(x.shape, axis))


def _vector_norms(x, axis, ord):
    if axis is None:
        return np.linalg.norm(np.ravel(x), ord, axis=0)
    if not isinstance(axis, tuple):
        return np.linalg.norm(x, ord, axis=axis)
    rows = np.moveaxis(x, axis, tuple(range(len(axis))))
    return np.linalg.norm(np.reshape(rows, (-1, *rows.shape[len(axis) :])), ord, axis=0)


def _with_ones(shape, axis):
    """A shape with length one along axes that were reduced over."""
    rank = len(shape)
    axes = tuple(range(rank)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    for a in axes:
        shape = (*shape[: a % rank], 1, *shape[a % rank + 1 :])
    return shape


@composition(np.linalg.matrix_norm)
def matrix_norm(x, *, keepdims=False, ord="fro"):
    return np.linalg.norm(x, ord, axis=(-2, -1), keepdims=keepdims)


@composition(np.linalg.trace)
def trace(x, *, offset=0, dtype=None):
    x = x if dtype is None else np.asarray(x, dtype)
    return np.trace(x, offset, axis1=-2, axis2=-1)
