"""Running sums, products and extrema along an axis."""

from __future__ import annotations

import numpy as np

from gradscribe.primitives.registry import LINEAR, adjoint, available, composition
from gradscribe.primitives.sorting import take_along_axis
from gradscribe.primitives.typing import dims_of, like_first, product, result_of


def _cumulative_type(facts, callee, x, axis=None, dtype=None):
    dims = dims_of(x)
    result = result_of(callee, x, axis=axis, dtype=dtype)
    return like_first(result, (product(facts, dims),) if axis is None or not dims else dims, x)


# -- sums --------------------------------------------------------------------------------------


@adjoint(np.cumsum, methods=("cumsum",), type=_cumulative_type, tangent=LINEAR)
def cumsum(out, x, axis=None, dtype=None, *, d_out):
    if np.ndim(x) == 0:
        return np.sum(d_out)
    if np.ndim(out) == 1:
        return np.reshape(np.cumsum(d_out[::-1])[::-1], np.shape(x))
    return _summed_from(d_out, axis)


def _summed_from(x, axis):
    """The sums of each element and all after it."""
    return np.flip(np.cumsum(np.flip(x, axis), axis), axis)


# -- products ----------------------------------------------------------------------------------


def _cumprod_tangent(out, x, axis=None, dtype=None, *, d_x):
    if np.ndim(x) == 0:
        return np.reshape(d_x, (1,))
    rows, d_rows, along = _flat(x, axis), _flat(d_x, axis), 0 if axis is None else axis
    if rows.dtype != out.dtype:
        rows = rows.astype(out.dtype)
    if np.all(x):
        return out * np.cumsum(d_rows / rows, along)
    change = np.moveaxis(d_rows, along, -1)[..., None, :] @ _products_without_one(rows, along)
    return np.moveaxis(change[..., 0, :], -1, along)


@adjoint(np.cumprod, methods=("cumprod",), type=_cumulative_type, tangent=_cumprod_tangent)
def cumprod(out, x, axis=None, dtype=None, *, d_out):
    if np.ndim(x) == 0:
        return np.sum(d_out)
    rows, along = _flat(x, axis), 0 if axis is None else axis
    if np.all(x):
        d_rows = _summed_from(d_out * out, along) / rows
    else:
        change = _products_without_one(rows, along) @ np.moveaxis(d_out, along, -1)[..., None]
        d_rows = np.moveaxis(change[..., 0], -1, along)
    return np.reshape(d_rows, np.shape(x))


def _flat(x, axis):
    return np.ravel(x) if axis is None else x


def _products_without_one(x, axis):
    """For each element (row) and each product that it is in (column), the product of the
    others."""
    rows = np.moveaxis(x, axis, -1)[..., None, :]
    ones = np.eye(x.shape[axis], dtype=bool)
    return np.triu(np.cumprod(np.where(ones, 1, rows), axis=-1))


# -- extrema -----------------------------------------------------------------------------------


def _running_type(facts, callee, x, axis=0):
    return like_first(result_of(callee, x), dims_of(x), x)


def _places(out, x, axis):
    """Where each of the running extrema stands: where it was last met."""
    index = np.reshape(
        np.arange(x.shape[axis]), (-1,) + (1,) * ((np.ndim(x) - axis - 1) % np.ndim(x))
    )
    return np.maximum.accumulate(np.where(x == out, index, 0), axis)


def _running_tangent(out, x, axis=0, *, d_x):
    return np.take_along_axis(d_x, _places(out, x, axis), axis)


@adjoint(np.maximum.accumulate, type=_running_type, tangent=_running_tangent, masks=True)
def running_maximum(out, x, axis=0, *, d_out):
    return take_along_axis(out, x, _places(out, x, axis), axis, d_out=d_out)


@adjoint(np.minimum.accumulate, type=_running_type, tangent=_running_tangent, masks=True)
def running_minimum(out, x, axis=0, *, d_out):
    return take_along_axis(out, x, _places(out, x, axis), axis, d_out=d_out)


# -- other spellings ---------------------------------------------------------------------------


@composition(*available(np, "cumulative_sum"))
def cumulative_sum(x, *, axis=None, dtype=None, include_initial=False):
    sums = np.cumsum(x, 0 if axis is None else axis, dtype)
    return _after(np.zeros_like, sums, axis) if include_initial else sums


@composition(*available(np, "cumulative_prod"))
def cumulative_prod(x, *, axis=None, dtype=None, include_initial=False):
    products = np.cumprod(x, 0 if axis is None else axis, dtype)
    return _after(np.ones_like, products, axis) if include_initial else products


def _after(first, x, axis):
    """The elements along an axis, after a first one."""
    along = (0 if axis is None else axis) % np.ndim(x)
    return np.concatenate((first(x[(slice(None),) * along + (slice(1),)]), x), axis=along)
