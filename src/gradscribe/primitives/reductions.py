"""Reductions over axes.

Adjoints hand the cotangent of a result back to all elements that it was made of. Where
several elements are the largest (or the smallest), they share it evenly.
"""

from __future__ import annotations

import numpy as np

from gradscribe.ir.types import Array
from gradscribe.primitives.registry import LINEAR, adjoint, constant, variant
from gradscribe.primitives.typing import (
    ONE,
    TypeRuleError,
    dims_of,
    like_first,
    normalize_axes,
    number_type,
    result_of,
)


def reduction_type(
    facts, callee, x, axis=None, keepdims=False, where=True, initial=None, **options
):
    """The axes of `axis` go, or have length one; a NumPy scalar where none is left."""
    if dims_of(number_type(initial)):
        raise TypeRuleError("the initial value is a number")
    x = number_type(x)
    if where is not True:
        facts.broadcast([dims_of(x), dims_of(where)])
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


def restored(reduced, axis, keepdims):
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


def masked(d_x, where):
    """The cotangent of the elements that took part."""
    if where is True:
        return d_x
    return np.where(where, d_x, 0)


@adjoint(np.sum, methods=("sum",), type=reduction_type, tangent=LINEAR)
def sum(out, x, axis=None, dtype=None, *, keepdims=False, initial=None, where=True, d_out):
    d_x = masked(_spread(restored(d_out, axis, keepdims), x), where)
    return d_x, None, None, None, d_out


@adjoint(np.mean, methods=("mean",), type=reduction_type, tangent=LINEAR)
def mean(out, x, axis=None, dtype=None, *, keepdims=False, where=True, d_out):
    each = restored(_divided(d_out, _count_of(x, axis, keepdims, where)), axis, keepdims)
    return masked(_spread(each, x), where)


def _count_of(x, axis, keepdims, where):
    """How many elements that take part each element of the reduced array was made of."""
    if where is True:
        return _count(x, axis)
    taken = np.broadcast_to(where, np.shape(x))
    return np.sum(taken, axis=axis, keepdims=keepdims, dtype=np.result_type(x.dtype, np.float32))


def _total(x, axis, keepdims):
    """The sum of what is divided by a count then: in half precision it may be too high."""
    dtype = np.float32 if x.dtype == np.float16 else None
    return np.sum(x, axis=axis, keepdims=keepdims, dtype=dtype)


def _divided(value, count):
    """value / count; half precision has no numbers that are as high as some counts."""
    if np.asarray(value).dtype == np.float16:
        return value / np.asarray(count, dtype=np.float32)
    return value / count


# -- products --------------------------------------------------------------------------------


def _prod_tangent(
    out, x, axis=None, dtype=None, *, keepdims=False, initial=None, where=True, d_x, d_initial=None
):
    product, factors = _factors(out, x, axis, keepdims, initial, where)
    d_out = np.sum(masked(factors * d_x, where), axis=axis, keepdims=keepdims)
    if initial is None:
        return d_out
    return d_out * initial + product * d_initial


@adjoint(np.prod, methods=("prod",), type=reduction_type, tangent=_prod_tangent)
def prod(out, x, axis=None, dtype=None, *, keepdims=False, initial=None, where=True, d_out):
    product, factors = _factors(out, x, axis, keepdims, initial, where)
    d_product = d_out if initial is None else d_out * initial
    d_x = masked(restored(d_product, axis, keepdims) * factors, where)
    return d_x, None, None, None, None if initial is None else d_out * product


def _factors(out, x, axis, keepdims, initial, where):
    """The product without the initial value, and what each element is multiplied with in it."""
    if where is not True:
        x = np.where(where, x, 1)
    if np.ndim(x) > 0 and x.dtype != out.dtype:
        x = x.astype(out.dtype)
    if initial is not None:
        out = np.prod(x, axis=axis, keepdims=keepdims)
    return out, _other_factors(restored(out, axis, keepdims), x, axis)


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
    kept = shape[: np.ndim(x) - len(axis)]
    rows = np.reshape(moved, (*kept, _count(x, axis)))
    return np.moveaxis(np.reshape(_without_one_along(rows, -1), shape), last, axis)


def _without_one_along(x, axis):
    ones = np.eye(x.shape[axis], dtype=bool)
    if np.ndim(x) == 1:
        return np.prod(np.where(ones, 1, x), axis=1)
    factors = np.where(ones, 1, np.moveaxis(x, axis, -1)[..., None, :])
    return np.moveaxis(np.prod(factors, axis=-1), -1, axis)


# -- extrema ---------------------------------------------------------------------------------


def _extremum_tangent(
    out, x, axis=None, *, keepdims=False, initial=None, where=True, d_x, d_initial=None
):
    if np.ndim(x) == 0 and initial is None:
        return d_x
    chosen, count = _chosen_elements(out, x, axis, keepdims, initial, where)
    d_out = _total(np.where(chosen, d_x, 0), axis, keepdims)
    if initial is not None:
        d_out = d_out + (out == initial) * d_initial
    return d_out / count


def _extremum(out, x, axis, keepdims, initial, where, d_out):
    if np.ndim(x) == 0 and initial is None:
        return d_out
    chosen, count = _chosen_elements(out, x, axis, keepdims, initial, where)
    d_x = np.where(chosen, restored(d_out, axis, keepdims), 0) / restored(count, axis, keepdims)
    return d_x, None, None, None if initial is None else (out == initial) * (d_out / count)


def _chosen_elements(out, x, axis, keepdims, initial, where):
    """Which elements are the extremum, and how many there are (with the initial value)."""
    chosen = x == restored(out, axis, keepdims)
    if where is not True:
        chosen = chosen & where
    dtype = np.result_type(x.dtype, np.float32)
    count = np.sum(chosen, axis=axis, keepdims=keepdims, dtype=dtype)
    return chosen, count if initial is None else count + (out == initial)


@adjoint(
    np.max, np.amax, methods=("max",), type=reduction_type, tangent=_extremum_tangent, masks=True
)
def max(out, x, axis=None, *, keepdims=False, initial=None, where=True, d_out):
    return _extremum(out, x, axis, keepdims, initial, where, d_out)


@adjoint(
    np.min, np.amin, methods=("min",), type=reduction_type, tangent=_extremum_tangent, masks=True
)
def min(out, x, axis=None, *, keepdims=False, initial=None, where=True, d_out):
    return _extremum(out, x, axis, keepdims, initial, where, d_out)


@adjoint(np.nanmax, type=reduction_type, tangent=_extremum_tangent, masks=True)
def nanmax(out, x, axis=None, *, keepdims=False, initial=None, where=True, d_out):
    return _extremum(out, x, axis, keepdims, initial, where, d_out)


@adjoint(np.nanmin, type=reduction_type, tangent=_extremum_tangent, masks=True)
def nanmin(out, x, axis=None, *, keepdims=False, initial=None, where=True, d_out):
    return _extremum(out, x, axis, keepdims, initial, where, d_out)


# -- moments ---------------------------------------------------------------------------------


def _deviation(x, axis, where):
    if where is True:
        return x - np.mean(x, axis=axis, keepdims=True)
    return np.where(where, x - np.mean(x, axis=axis, keepdims=True, where=where), 0)


def _moved(x, d_x, axis, keepdims, where):
    """The sum of how far each element moves away from the mean, times how far it is from it."""
    moves = np.real(np.conjugate(_deviation(x, axis, where)) * masked(d_x, where))
    return _total(moves, axis, keepdims)


def _freedom(x, axis, ddof, keepdims, where):
    """The divisor of the mean square: the count less the lost degrees of freedom."""
    count = _count_of(x, axis, keepdims, where)
    return count if ddof == 0 else count - ddof


def _var_tangent(out, x, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True, d_x):
    total = _moved(x, d_x, axis, keepdims, where)
    return 2 * total / _freedom(x, axis, ddof, keepdims, where)


@adjoint(np.var, methods=("var",), type=reduction_type, tangent=_var_tangent)
def var(out, x, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True, d_out):
    share = _divided(2 * d_out, _freedom(x, axis, ddof, keepdims, where))
    return restored(share, axis, keepdims) * _deviation(x, axis, where)


def _std_tangent(out, x, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True, d_x):
    total = _moved(x, d_x, axis, keepdims, where)
    return total / _nonzero(out) / _freedom(x, axis, ddof, keepdims, where)


@adjoint(np.std, methods=("std",), type=reduction_type, tangent=_std_tangent)
def std(out, x, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True, d_out):
    share = _divided(d_out / _nonzero(out), _freedom(x, axis, ddof, keepdims, where))
    return restored(share, axis, keepdims) * _deviation(x, axis, where)


@variant(np.var)
def var_about(
    x, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True, mean=None, correction=None
):
    ddof = ddof if correction is None else correction
    if mean is None:
        return np.var(x, axis, dtype, ddof=ddof, keepdims=keepdims, where=where)
    x = np.asarray(x, dtype=dtype)
    deviations = np.absolute(x - mean) if x.dtype.kind == "c" else x - mean
    squares = np.sum(deviations * deviations, axis=axis, keepdims=keepdims, where=where)
    count = np.maximum(_count_of(x, axis, keepdims, where) - ddof, 0)
    return (squares / count).astype(squares.dtype)


@variant(np.std)
def std_about(
    x, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True, mean=None, correction=None
):
    ddof = ddof if correction is None else correction
    if mean is None:
        return np.std(x, axis, dtype, ddof=ddof, keepdims=keepdims, where=where)
    return np.sqrt(var_about(x, axis, dtype, ddof=ddof, keepdims=keepdims, where=where, mean=mean))


def _nonzero(out):
    """`out`, and 1 where it is zero: there all deviations are zero."""
    return out + (out == 0)


# -- without derivative ----------------------------------------------------------------------


def _along_axis(x, axis=None, *, keepdims=False):
    """Signature of argmax and the like."""


def _tested(x, axis=None, *, keepdims=False, where=True):
    """Signature of any and all."""


for _function, _signature in {
    **dict.fromkeys((np.argmax, np.argmin, np.nanargmax, np.nanargmin), _along_axis),
    **dict.fromkeys((np.any, np.all), _tested),
}.items():
    constant(
        _function,
        type=reduction_type,
        methods=(_function.__name__,),
        signature=_signature,
        cheap=False,
    )
constant(np.count_nonzero, type=reduction_type, signature=_along_axis, cheap=False)
