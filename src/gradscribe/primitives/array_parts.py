"""Parts of arrays: diagonals, triangles, differences, rotations; cross products, tensordot."""

from __future__ import annotations

import numpy as np

from gradscribe.ir.affine import Affine
from gradscribe.ir.types import Array
from gradscribe.primitives.registry import BILINEAR, LINEAR, adjoint, variant
from gradscribe.primitives.static import inverse_permutation, static
from gradscribe.primitives.typing import (
    dims_of,
    like_first,
    matrix_dims,
    normalize_axes,
    number_type,
    product,
    result_of,
    same_length,
)

# -- diagonals and triangles -----------------------------------------------------------------


def _diagonal_type(facts, callee, x, offset=0, axis1=0, axis2=1):
    dims = matrix_dims(x)
    first, second = normalize_axes((axis1, axis2), len(dims))
    rows, columns = dims[first], dims[second]
    if facts.equal(rows, columns) and facts.at_least(rows, abs(offset)):
        length = rows + -abs(offset)
    else:
        length = facts.derived("diagonal", rows, columns, offset)
    others = tuple(dim for i, dim in enumerate(dims) if i not in (first, second))
    return like_first(result_of(np.asarray, x), (*others, length), x)


def _diagonal_matrix_type(facts, callee, x, k=0):
    dims = (product(facts, dims_of(x)) + abs(k),) * 2
    return like_first(Array(x.dtype, dims), dims, x)


def _triangle_type(facts, callee, x, k=0):
    dims = dims_of(x)
    dims = dims * 2 if len(dims) == 1 else matrix_dims(x)  # a vector is each row of a matrix
    return like_first(result_of(np.asarray, x), dims, x)


def _of_rows(d_out, x):
    """The cotangent of x, by that of the matrix of which a vector is each row."""
    return np.sum(d_out, axis=0) if np.ndim(x) == 1 else d_out


@adjoint(
    np.diagonal,
    methods=("diagonal",),
    type=_diagonal_type,
    tangent=LINEAR,
    view=True,
    masks=True,
    static=("offset",),
)
def diagonal(out, x, offset=0, axis1=0, axis2=1, *, d_out):
    rows, columns = x.shape[axis1], x.shape[axis2]
    if np.ndim(x) == 2 and offset == 0 and rows == columns:
        return np.diagflat(d_out)
    d_x = np.zeros_like(x)
    i = np.arange(out.shape[-1])
    i, j = (i - offset, i) if offset < 0 else (i, i + offset)
    moved = np.moveaxis(d_x, (axis1, axis2), (-2, -1))
    moved[..., i, j] = d_out
    return d_x


@adjoint(np.diagflat, type=_diagonal_matrix_type, tangent=LINEAR, static=("k",))
def diagonal_matrix(out, x, k=0, *, d_out):
    d_x = np.diagonal(d_out, k)
    return d_x if np.ndim(x) == 1 else d_x.reshape(np.shape(x))


@adjoint(np.tril, type=_triangle_type, tangent=LINEAR, masks=True)
def tril(out, x, k=0, *, d_out):
    return _of_rows(np.tril(d_out, k), x)


@adjoint(np.triu, type=_triangle_type, tangent=LINEAR, masks=True)
def triu(out, x, k=0, *, d_out):
    return _of_rows(np.triu(d_out, k), x)


# -- sections and neighbours ---------------------------------------------------------------------


def section(x, axis, start, stop):
    """x[start:stop] along an axis."""
    return x[(slice(None),) * (axis % np.ndim(x)) + (slice(start, stop),)]


def _rolled_type(facts, callee, x, shift, axis=None):
    x = number_type(x)
    if axis is not None:
        normalize_axes(axis, len(dims_of(x)))
    return like_first(result_of(np.asarray, x), dims_of(x), x)


def _diff_type(facts, callee, x, n=1, axis=-1):
    dims = dims_of(x)
    (along,) = normalize_axes(axis, len(dims))
    if facts.at_least(dims[along], n):
        length = dims[along] + -n
    else:
        length = facts.derived("diff", dims[along], n)
    return like_first(result_of(callee, x), (*dims[:along], length, *dims[along + 1 :]), x)


@adjoint(np.roll, type=_rolled_type, tangent=LINEAR)
def roll(out, x, shift, axis=None, *, d_out):
    if isinstance(shift, tuple):
        back = ()
        for s in shift:
            back = (*back, -s)
        return np.roll(d_out, back, axis)
    return np.roll(d_out, -shift, axis)


@adjoint(np.diff, type=_diff_type, tangent=LINEAR, static=("n",))
def diff(out, x, n=1, axis=-1, *, d_out):
    along = axis % np.ndim(x)
    if n == 1:
        if x.shape[along] <= 1:
            return np.zeros_like(x)
        return _sum_of_ends(d_out, (slice(None),) * along)
    if n % 2 == 1:
        d_out = -d_out
    zeros = np.zeros((*x.shape[:along], n, *x.shape[along + 1 :]), dtype=d_out.dtype)
    d_x = np.diff(np.concatenate((zeros, d_out, zeros), axis=along), n, axis)
    return section(d_x, along, None, x.shape[along])  # which is shorter where nothing is left


def _sum_of_ends(d_out, before):
    """The cotangent of x in x[1:] - x[:-1]. before: the index of the axes before this one."""
    first, last = (*before, slice(None, 1)), (*before, slice(-1, None))
    lower, upper = (*before, slice(None, -1)), (*before, slice(1, None))
    between = d_out[lower] - d_out[upper]
    return np.concatenate((-d_out[first], between, d_out[last]), axis=len(before))


# -- products --------------------------------------------------------------------------------


def _cross_type(facts, callee, x, y):
    for dims in (dims_of(x), dims_of(y)):
        same_length(facts, dims[-1], Affine.of(3), "only three components are supported")
    dims = facts.broadcast([dims_of(x), dims_of(y)])
    return like_first(result_of(np.multiply, x, y), dims, x, y)


@adjoint(np.cross, np.linalg.cross, type=_cross_type, tangent=BILINEAR)
def cross(out, x, y, *, d_out):
    return np.cross(y, d_out), np.cross(d_out, x)


@variant(np.cross)
def cross_along(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa, axisb, axisc = axis, axis, axis
    a, b = np.moveaxis(np.asarray(a), axisa, -1), np.moveaxis(np.asarray(b), axisb, -1)
    product = np.cross(a, b)
    if np.ndim(product) < max(np.ndim(a), np.ndim(b)):
        return product
    return np.moveaxis(product, -1, axisc)


def cross_in_plane(a, b):
    """The product of vectors of two components: a number."""
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def out_of_plane(a):
    """Vectors of two components as such of three."""
    return np.concatenate((a, np.zeros((*a.shape[:-1], 1), dtype=a.dtype)), axis=-1)


@variant(np.linalg.cross)
def linalg_cross_along(x1, x2, *, axis=-1):
    return cross_along(x1, x2, axis=axis)


def _tensordot_type(facts, callee, x, y, axes=2):
    a, b = dims_of(x), dims_of(y)
    first, second = _summed(len(a), len(b), axes)
    for i, j in zip(first, second, strict=True):
        same_length(facts, a[i], b[j], "the lengths that are multiplied and summed")
    dims = tuple(a[i] for i in _others(len(a), first)) + tuple(
        b[j] for j in _others(len(b), second)
    )
    return like_first(result_of(callee, x, y, axes=axes), dims, x, y)


def _summed(rank, other, axes):
    """The axes of both operands that are summed over."""
    if isinstance(axes, int):
        return tuple(range(rank - axes, rank)), tuple(range(axes))
    first, second = axes
    return normalize_axes(first, rank), normalize_axes(second, other)


def _others(rank, axes):
    return tuple(axis for axis in range(rank) if axis not in axes)


@static
def contraction(rank, other, axes):
    """For out = tensordot(x, y, axes): how d_x is made of d_out and y, and d_y of x and d_out:
    the `axes` of the tensordot, and the permutation that brings its axes into order."""
    first, second = _summed(rank, other, axes)
    kept_x, kept_y = _others(rank, first), _others(other, second)
    summed_x = [x for _, x in sorted(zip(second, first, strict=True))]
    summed_y = [y for _, y in sorted(zip(first, second, strict=True))]
    rows, columns = range(len(kept_x)), range(len(kept_x), len(kept_x) + len(kept_y))
    return (
        (tuple(columns), kept_y),
        inverse_permutation((*kept_x, *summed_x)),
        (kept_x, tuple(rows)),
        inverse_permutation((*summed_y, *kept_y)),
    )


@adjoint(
    np.tensordot, np.linalg.tensordot, type=_tensordot_type, tangent=BILINEAR, static=("axes",)
)
def tensordot(out, x, y, axes=2, *, d_out):
    with_y, order_x, with_x, order_y = contraction(np.ndim(x), np.ndim(y), axes)
    d_x = np.tensordot(d_out, y, axes=with_y)
    d_y = np.tensordot(x, d_out, axes=with_x)
    return np.transpose(d_x, order_x), np.transpose(d_y, order_y)
