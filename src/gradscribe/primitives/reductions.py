"""Reductions over axes, and cumulative sums.

Adjoints hand the cotangent of a result back to all elements that it was made of. Where
several elements are the largest (or the smallest), they share it evenly.
"""

from __future__ import annotations

import numpy as np

from gradscribe.ir.types import Array, Sequence
from gradscribe.primitives.registry import LINEAR, adjoint, constant
from gradscribe.primitives.typing import (
    ONE,
    TypeRuleError,
    dims_of,
    like_first,
    normalize_axes,
    number_type,
    product,
    result_of,
)


def reduction_type(facts, callee, x, axis=None, keepdims=False, where=True, **options):
    """The axes of `axis` go, or have length one; a NumPy scalar where none is left."""
    x = number_type(x)
    if where is not True:
        facts.broadcast([dims_of(x), dims_of(where)])
    if isinstance(x, Sequence):
        raise TypeRuleError(f"reduce an array, not {x!r}; make one with np.array")
    dims = dims_of(x)
    axes = normalize_axes(axis, len(dims) or 1)
    result = result_of(callee, x, axis=axis, keepdims=keepdims, **options)
    if not isinstance(result, Array):
        return result
    if keepdims:
        kept = tuple(ONE if i in axes else dim for i, dim in enumerate(dims))
    else:
        kept = tuple(dim for i, dim in enumerate(dims) if i not in axes)
    return like_first(result, kept, x)


def _cumulative_type(facts, callee, x, axis=None, dtype=None):
    dims = dims_of(x)
    result = result_of(callee, x, axis=axis, dtype=dtype)
    return like_first(result, (product(facts, dims),) if axis is None else dims, x)


def _restore(reduced, axis, keepdims):
    """A reduced array with the axes, of length one, that it was reduced over."""
    if axis is None or keepdims:
        return reduced
    return np.expand_dims(reduced, axis)


def _count(x, axis):
    """How many elements of `x` each element of the reduced array was made of."""
    if np.ndim(x) == 0:
        return 1
    if axis is None:
        return x.size
    if isinstance(axis, int):
        return x.shape[axis]
    count = 1
    for a in axis:
        count = count * x.shape[a]
    return count


def _spread(value, x):
    """Every element of `x` gets the value of what it was reduced to."""
    if np.ndim(x) == 0:
        return value
    return np.broadcast_to(value, np.shape(x))


def _chosen(d_x, where):
    """The cotangent of the elements that took part."""
    if where is True:
        return d_x
    return np.where(where, d_x, 0)


@adjoint(np.sum, methods=("sum",), type=reduction_type, tangent=LINEAR)
def sum(out, x, axis=None, dtype=None, *, keepdims=False, where=True, d_out):
    return _chosen(_spread(_restore(d_out, axis, keepdims), x), where)


@adjoint(np.mean, methods=("mean",), type=reduction_type, tangent=LINEAR)
def mean(out, x, axis=None, dtype=None, *, keepdims=False, where=True, d_out):
    if where is True:
        return _spread(_restore(d_out, axis, keepdims) / _count(x, axis), x)
    count = np.sum(np.broadcast_to(where, np.shape(x)), axis=axis, keepdims=keepdims)
    return _chosen(_spread(_restore(d_out / count, axis, keepdims), x), where)


# -- products --------------------------------------------------------------------------------


def _prod_tangent(out, x, axis=None, dtype=None, *, keepdims=False, d_x):
    factors = _other_factors(_restore(out, axis, keepdims), x, axis)
    return np.sum(factors * d_x, axis=axis, keepdims=keepdims)


@adjoint(np.prod, methods=("prod",), type=reduction_type, tangent=_prod_tangent)
def prod(out, x, axis=None, dtype=None, *, keepdims=False, d_out):
    factors = _other_factors(_restore(out, axis, keepdims), x, axis)
    return _restore(d_out, axis, keepdims) * factors


def _other_factors(product, x, axis):
    """For each element of `x`, the product of all others that it is multiplied with."""
    if np.ndim(x) == 0:
        return np.ones_like(x)
    return product / x if np.all(x) else _products_without_one(x, axis)


def _products_without_one(x, axis):
    """The same where factors are zero: by no division, so that it has all derivatives."""
    if axis is None:
        return np.reshape(_without_one_along(np.ravel(x), 0), np.shape(x))
    if isinstance(axis, int):
        return _without_one_along(x, axis)
    if len(axis) == 1:
        return _without_one_along(x, axis[0])
    last = tuple(range(-len(axis), 0))
    moved = np.moveaxis(x, axis, last)
    shape = np.shape(moved)
    rows = np.reshape(moved, (*shape[: -len(axis)], _count(x, axis)))
    return np.moveaxis(np.reshape(_without_one_along(rows, -1), shape), last, axis)


def _without_one_along(x, axis):
    ones = np.eye(x.shape[axis], dtype=bool)
    if np.ndim(x) == 1:
        return np.prod(np.where(ones, 1, x), axis=1)
    factors = np.where(ones, 1, np.moveaxis(x, axis, -1)[..., None, :])
    return np.moveaxis(np.prod(factors, axis=-1), -1, axis)


# -- extrema ---------------------------------------------------------------------------------


def _extremum_tangent(out, x, axis=None, *, keepdims=False, d_x):
    if np.ndim(x) == 0:
        return d_x
    chosen = x == _restore(out, axis, keepdims)
    count = np.sum(chosen, axis=axis, keepdims=keepdims, dtype=x.dtype)
    return np.sum(chosen * d_x, axis=axis, keepdims=keepdims) / count


def _extremum(out, x, axis, keepdims, d_out):
    if np.ndim(x) == 0:
        return d_out
    chosen = x == _restore(out, axis, keepdims)
    count = np.sum(chosen, axis=axis, keepdims=keepdims, dtype=x.dtype)
    return chosen * _restore(d_out / count, axis, keepdims)


@adjoint(np.max, np.amax, methods=("max",), type=reduction_type, tangent=_extremum_tangent)
def max(out, x, axis=None, *, keepdims=False, d_out):
    return _extremum(out, x, axis, keepdims, d_out)


@adjoint(np.min, np.amin, methods=("min",), type=reduction_type, tangent=_extremum_tangent)
def min(out, x, axis=None, *, keepdims=False, d_out):
    return _extremum(out, x, axis, keepdims, d_out)


# -- moments ---------------------------------------------------------------------------------


def _deviation(x, axis):
    return x - np.mean(x, axis=axis, keepdims=True)


def _freedom(x, axis, ddof):
    """The divisor of the mean square: the count less the lost degrees of freedom."""
    if ddof == 0:
        return _count(x, axis)
    return _count(x, axis) - ddof


def _var_tangent(out, x, axis=None, *, ddof=0, keepdims=False, d_x):
    total = np.sum(_deviation(x, axis) * d_x, axis=axis, keepdims=keepdims)
    return 2 * total / _freedom(x, axis, ddof)


@adjoint(np.var, methods=("var",), type=reduction_type, tangent=_var_tangent)
def var(out, x, axis=None, *, ddof=0, keepdims=False, d_out):
    scale = 2 * _restore(d_out, axis, keepdims) / _freedom(x, axis, ddof)
    return scale * _deviation(x, axis)


def _std_tangent(out, x, axis=None, *, ddof=0, keepdims=False, d_x):
    total = np.sum(_deviation(x, axis) * d_x, axis=axis, keepdims=keepdims)
    return total / (_freedom(x, axis, ddof) * _nonzero(out))


@adjoint(np.std, methods=("std",), type=reduction_type, tangent=_std_tangent)
def std(out, x, axis=None, *, ddof=0, keepdims=False, d_out):
    share = d_out / (_freedom(x, axis, ddof) * _nonzero(out))
    return _restore(share, axis, keepdims) * _deviation(x, axis)


def _nonzero(out):
    """`out`, and 1 where it is zero: there all deviations are zero."""
    return out + (out == 0)


# -- cumulative sums -------------------------------------------------------------------------


@adjoint(np.cumsum, methods=("cumsum",), type=_cumulative_type, tangent=LINEAR)
def cumsum(out, x, axis=None, dtype=None, *, d_out):
    if np.ndim(x) == 0:
        return np.sum(d_out)
    if np.ndim(out) == 1:
        return np.reshape(np.cumsum(d_out[::-1])[::-1], np.shape(x))
    return np.flip(np.cumsum(np.flip(d_out, axis), axis), axis)


# -- without derivative ----------------------------------------------------------------------


def _along_axis(x, axis=None, *, keepdims=False):
    """Signature of argmax and the like."""


for _callables in (
    (np.argmax,),
    (np.argmin,),
    (np.any,),
    (np.all,),
):
    constant(
        *_callables,
        type=reduction_type,
        methods=(_callables[0].__name__,),
        signature=_along_axis,
        cheap=False,
    )
constant(np.count_nonzero, type=reduction_type, signature=_along_axis, cheap=False)
