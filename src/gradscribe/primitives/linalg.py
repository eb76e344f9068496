"""Products of vectors, matrices and stacks of matrices.

With out = x @ y the cotangents are d_x = d_out @ y.T and d_y = x.T @ d_out (Giles, "An
extended collection of matrix derivative results", 2008, §2.2.2); vectors are columns on the
right and rows on the left. Sums over broadcast axes are left to the compiler, except where a
stack of matrices meets one matrix: there they are part of one large product.
"""

from __future__ import annotations

import operator

import numpy as np

from gradscribe.ir.types import Array
from gradscribe.primitives.matrices import conjugated
from gradscribe.primitives.registry import (
    BILINEAR,
    LINEAR,
    adjoint,
    available,
    composition,
    variant,
)
from gradscribe.primitives.typing import (
    TypeRuleError,
    dims_of,
    elementwise_type,
    like_first,
    normalize_axes,
    number_type,
    product,
    result_of,
    same_length,
)


def _matmul_type(facts, callee, x, y):
    a, b = dims_of(x), dims_of(y)
    if not a or not b:
        raise TypeRuleError("the operands of `@` have at least one axis", "for numbers use `*`")
    _contract(facts, a[-1], b[-2] if len(b) > 1 else b[0])
    dims = facts.broadcast([a[:-2], b[:-2]])
    dims += a[-2:-1] if len(a) > 1 else ()
    dims += b[-1:] if len(b) > 1 else ()
    return _product_type(callee, x, y, dims)


def _dot_type(facts, callee, x, y):
    x, y = number_type(x), number_type(y)
    a, b = dims_of(x), dims_of(y)
    if not a or not b:
        return elementwise_type(facts, callee, x=x, y=y)
    _contract(facts, a[-1], b[-2] if len(b) > 1 else b[0])
    return _product_type(callee, x, y, a[:-1] + b[:-2] + (b[-1:] if len(b) > 1 else ()))


def _inner_type(facts, callee, x, y):
    x, y = number_type(x), number_type(y)
    a, b = dims_of(x), dims_of(y)
    if not a or not b:
        return elementwise_type(facts, callee, x=x, y=y)
    _contract(facts, a[-1], b[-1])
    return _product_type(callee, x, y, a[:-1] + b[:-1])


def _outer_type(facts, callee, x, y):
    x, y = number_type(x), number_type(y)
    dims = product(facts, dims_of(x)), product(facts, dims_of(y))
    return like_first(result_of(callee, x, y), dims, x, y)


def _vdot_type(facts, callee, x, y):
    x, y = number_type(x), number_type(y)
    _contract(facts, product(facts, dims_of(x)), product(facts, dims_of(y)))
    return result_of(callee, x, y)


def _trace_type(facts, callee, x, offset=0, axis1=0, axis2=1):
    first, second = normalize_axes((axis1, axis2), len(dims_of(x)))
    result = result_of(callee, x, axis1=axis1, axis2=axis2)
    if not isinstance(result, Array):
        return result
    dims = tuple(dim for i, dim in enumerate(dims_of(x)) if i not in (first, second))
    return like_first(result, dims, x)


def _contract(facts, a, b):
    same_length(facts, a, b, "the lengths that are multiplied and summed")


def _product_type(callee, x, y, dims):
    result = result_of(callee, x, y)
    return like_first(result, dims, x, y) if isinstance(result, Array) else result


# -- matmul and dot --------------------------------------------------------------------------


@adjoint(operator.matmul, np.matmul, np.linalg.matmul, type=_matmul_type, tangent=BILINEAR)
def matmul(out, x, y, *, d_out):
    if np.ndim(x) > 2 or np.ndim(y) > 2:
        return _stacked_by_x(x, y, d_out), _stacked_by_y(x, y, d_out)
    return _product_by_x(x, y, d_out), _product_by_y(x, y, d_out)


@variant(np.matmul)
def matmul_along(x, y, *, axes):
    of_x, of_y, of_out = [(axis,) if isinstance(axis, int) else axis for axis in axes]
    ends = ((), (-1,), (-2, -1))
    x = np.moveaxis(x, of_x, ends[len(of_x)])
    y = np.moveaxis(y, of_y, ends[len(of_y)])
    return np.moveaxis(x @ y, ends[len(of_out)], of_out)


@adjoint(np.dot, methods=("dot",), type=_dot_type, tangent=BILINEAR)
def dot(out, x, y, *, d_out):
    if np.ndim(x) == 0 or np.ndim(y) == 0:
        return d_out * y, d_out * x
    if np.ndim(x) <= 2 and np.ndim(y) <= 2:
        return _product_by_x(x, y, d_out), _product_by_y(x, y, d_out)
    if np.ndim(y) == 1:
        return _stacked_by_x(x, y, d_out), _stacked_by_y(x, y, d_out)
    columns = np.moveaxis(y, -2, -1)
    d_x, d_columns = _inner_adjoint(x, columns, d_out)
    return d_x, np.moveaxis(d_columns, -1, -2)


def _product_by_x(x, y, d_out):
    """The cotangent of x in out = x @ y, both of at most two axes."""
    if np.ndim(x) == 1:
        return d_out * y if np.ndim(y) == 1 else y @ d_out
    return np.outer(d_out, y) if np.ndim(y) == 1 else d_out @ y.T


def _product_by_y(x, y, d_out):
    if np.ndim(x) == 1:
        return d_out * x if np.ndim(y) == 1 else np.outer(x, d_out)
    return x.T @ d_out


def _stacked_by_x(x, y, d_out):
    """The cotangent of x in out = x @ y, one of them a stack of matrices."""
    if np.ndim(y) == 1:
        return d_out[..., None] * y
    if np.ndim(x) == 1:
        return (y @ d_out[..., None])[..., 0]
    return d_out @ (y.T if np.ndim(y) == 2 else np.swapaxes(y, -1, -2))


def _stacked_by_y(x, y, d_out):
    if np.ndim(x) == 1:
        return x[:, None] * d_out[..., None, :]
    if np.ndim(y) == 1:
        return _rows(x).T @ np.ravel(d_out)
    if np.ndim(y) == 2:
        return _rows(x).T @ _rows(d_out)
    return np.swapaxes(x, -1, -2) @ d_out


def _rows(x):
    """The matrix of all rows of a stack of matrices."""
    count = 1
    for length in x.shape[:-1]:
        count = count * length
    return np.reshape(x, (count, x.shape[-1]))


# -- inner and outer products ----------------------------------------------------------------


@adjoint(np.inner, type=_inner_type, tangent=BILINEAR)
def inner(out, x, y, *, d_out):
    if np.ndim(x) == 0 or np.ndim(y) == 0:
        return d_out * y, d_out * x
    if np.ndim(x) == 1 and np.ndim(y) == 1:
        return d_out * y, d_out * x
    return _inner_adjoint(x, y, d_out)


def _inner_adjoint(x, y, d_out):
    """With all axes but the last taken as one: out = x @ y.T."""
    x_rows, y_rows = _rows(x), _rows(y)
    d_rows = np.reshape(d_out, (x_rows.shape[0], y_rows.shape[0]))
    d_x = np.reshape(d_rows @ y_rows, np.shape(x))
    return d_x, np.reshape(d_rows.T @ x_rows, np.shape(y))


@adjoint(np.outer, np.linalg.outer, type=_outer_type, tangent=BILINEAR)
def outer(out, x, y, *, d_out):
    return _shaped_like(x, d_out @ _vector(y)), _shaped_like(y, _vector(x) @ d_out)


def _vdot_tangent(out, x, y, *, d_x, d_y):
    return np.vdot(d_x, y) + np.vdot(x, d_y)


@adjoint(np.vdot, type=_vdot_type, tangent=_vdot_tangent)
def vdot(out, x, y, *, d_out):
    return np.conjugate(d_out) * _reshaped(y, x), d_out * _reshaped(x, y)


def _vector(x):
    return x if np.ndim(x) == 1 else np.ravel(x)


def _shaped_like(x, vector):
    if np.ndim(x) == 0:
        return np.sum(vector)
    return vector if np.ndim(x) == 1 else np.reshape(vector, np.shape(x))


def _reshaped(x, like):
    return x if np.ndim(x) == np.ndim(like) < 2 else np.reshape(x, np.shape(like))


# -- products of stacks of vectors -------------------------------------------------------------


def _vecdot_type(facts, callee, x, y, *, axis=-1):
    dims = facts.broadcast([dims_of(x), dims_of(y)])
    (along,) = normalize_axes(axis, len(dims))
    return _product_type(callee, x, y, (*dims[:along], *dims[along + 1 :]))


@adjoint(*available(np, "vecdot"), np.linalg.vecdot, type=_vecdot_type, tangent=BILINEAR)
def vecdot(out, x, y, *, axis=-1, d_out):
    d_out = np.expand_dims(d_out, axis)
    return conjugated(d_out) * y, d_out * x


def _matvec_type(facts, callee, x, y):
    a, b = dims_of(x), dims_of(y)
    _contract(facts, a[-1], b[-1])
    return _product_type(callee, x, y, (*facts.broadcast([a[:-2], b[:-1]]), a[-2]))


@adjoint(*available(np, "matvec"), type=_matvec_type, tangent=BILINEAR)
def matvec(out, x, y, *, d_out):
    return d_out[..., None] * y[..., None, :], (d_out[..., None, :] @ x)[..., 0, :]


def _vecmat_type(facts, callee, x, y):
    a, b = dims_of(x), dims_of(y)
    _contract(facts, a[-1], b[-2])
    return _product_type(callee, x, y, (*facts.broadcast([a[:-1], b[:-2]]), b[-1]))


@adjoint(*available(np, "vecmat"), type=_vecmat_type, tangent=BILINEAR)
def vecmat(out, x, y, *, d_out):
    d_x = (y @ conjugated(d_out)[..., None])[..., 0]
    return d_x, x[..., None] * d_out[..., None, :]


# -- trace -----------------------------------------------------------------------------------


@adjoint(np.trace, methods=("trace",), type=_trace_type, tangent=LINEAR, masks=True)
def trace(out, x, offset=0, axis1=0, axis2=1, *, d_out):
    diagonal = np.eye(x.shape[axis1], x.shape[axis2], k=offset, dtype=x.dtype)
    if np.ndim(x) == 2:
        return d_out * (diagonal if axis1 % 2 == 0 else diagonal.T)
    return np.moveaxis(d_out[..., None, None] * diagonal, (-2, -1), (axis1, axis2))


@variant(np.trace, "trace")
def trace_of_dtype(a, offset=0, axis1=0, axis2=1, dtype=None):
    return np.trace(a if dtype is None else np.asarray(a, dtype), offset, axis1, axis2)


# -- by NumPy's other names ----------------------------------------------------------------------


@composition(np.kron)
def kron(a, b):
    a, b = np.asarray(a), np.asarray(b)
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return a * b
    rank = max(np.ndim(a), np.ndim(b))
    outer = (1,) * (rank - np.ndim(a)) + np.shape(a)
    inner = (1,) * (rank - np.ndim(b)) + np.shape(b)
    of_a, of_b, whole = (), (), ()
    for n, m in zip(outer, inner):  # noqa: B905
        of_a, of_b, whole = (*of_a, n, 1), (*of_b, 1, m), (*whole, n * m)
    return np.reshape(np.reshape(a, of_a) * np.reshape(b, of_b), whole)
