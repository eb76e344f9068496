"""Sorting: the derivative follows the elements to their places."""

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
    product,
    result_of,
)


def _sorted_type(facts, callee, x, axis=-1, **options):
    x = number_type(x)
    dims = dims_of(x)
    if not dims:
        raise TypeRuleError("only an array can be sorted")
    normalize_axes(axis, len(dims))
    result = result_of(callee, x, axis=axis)
    assert isinstance(result, Array)
    return like_first(result, (product(facts, dims),) if axis is None else dims, x)


def _argsort(x, axis=-1, kind=None, *, stable=None):
    """Signature of argsort."""


constant(np.argsort, type=_sorted_type, methods=("argsort",), signature=_argsort, cheap=False)


def _taken_type(facts, callee, x, index, axis=-1):
    axes = normalize_axes(axis, len(dims_of(x)))
    dims = dims_of(index)
    if axis is not None and len(dims) == len(dims_of(x)):
        (along,) = axes
        others = [(*d[:along], ONE, *d[along + 1 :]) for d in (dims_of(x), dims)]
        wide = facts.broadcast(others)
        dims = (*wide[:along], dims[along], *wide[along + 1 :])
    return like_first(result_of(np.asarray, x), dims, x)


@variant(np.take_along_axis)
def take_along_last_axis(arr, indices, axis=-1):
    """NumPy 2.2 has no default for the axis, so that generated code names it always."""
    return np.take_along_axis(arr, indices, axis)


@adjoint(np.take_along_axis, type=_taken_type, tangent=LINEAR, masks=True)
def take_along_axis(out, x, index, axis, *, d_out):
    if axis is None:
        d_flat = np.zeros(x.size, dtype=x.dtype)
        np.add.at(d_flat, index, d_out)
        return np.reshape(d_flat, np.shape(x))
    rank = np.ndim(x)
    places = ()
    for a, n in enumerate(np.shape(x)):
        if a == axis % rank:
            places = (*places, index)
        else:
            shape = (1,) * a + (n,) + (1,) * (rank - a - 1)
            places = (*places, np.reshape(np.arange(n), shape))
    d_x = np.zeros_like(x)
    np.add.at(d_x, places, d_out)
    return d_x


# -- sorted --------------------------------------------------------------------------------------


def _sort_tangent(out, x, axis=-1, kind=None, *, stable=None, d_x):
    if np.ndim(x) == 1:
        return d_x[np.argsort(x)]
    if axis is None:
        return np.ravel(d_x)[np.argsort(np.ravel(x))]
    return np.take_along_axis(d_x, np.argsort(x, axis), axis)


@adjoint(np.sort, type=_sorted_type, tangent=_sort_tangent)
def sort(out, x, axis=-1, kind=None, *, stable=None, d_out):
    if np.ndim(x) == 1:
        return d_out[np.argsort(np.argsort(x))]
    if axis is None:
        return np.reshape(d_out[np.argsort(np.argsort(np.ravel(x)))], np.shape(x))
    return np.take_along_axis(d_out, np.argsort(np.argsort(x, axis), axis), axis)


# -- partly sorted -------------------------------------------------------------------------------


def _partition_type(facts, callee, a, kth, axis=-1):
    return _sorted_type(facts, np.sort, a, axis)


def _sources(out, a, axis):
    """Which elements of `a` stand where in `out`, told by their values."""
    return np.take_along_axis(np.argsort(a, axis), np.argsort(np.argsort(out, axis), axis), axis)


def _partition_tangent(out, a, kth, axis=-1, *, d_a):
    if axis is None:
        return np.ravel(d_a)[_sources(out, np.ravel(a), 0)]
    return np.take_along_axis(d_a, _sources(out, a, axis), axis)


@adjoint(np.partition, type=_partition_type, tangent=_partition_tangent, static=("kth",))
def partition(out, a, kth, axis=-1, *, d_out):
    if axis is None:
        return np.reshape(d_out[_sources(np.ravel(a), out, 0)], np.shape(a))
    return np.take_along_axis(d_out, _sources(a, out, axis), axis)
