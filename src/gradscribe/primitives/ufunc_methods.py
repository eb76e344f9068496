"""The methods of ufuncs: `reduce`, `accumulate`, `reduceat`, `outer`.

Those of addition, multiplication and choices are the reductions that NumPy has by name; the
reductions by `logaddexp` and `hypot` have rules of their own; all others take one item after the
other, as NumPy does.
"""

from __future__ import annotations

import numpy as np

from gradscribe.primitives.reductions import masked, reduction_type, restored
from gradscribe.primitives.registry import COMPOSITIONS, PRIMITIVES, adjoint, composition
from gradscribe.primitives.static import as_places
from gradscribe.primitives.typing import dims_of, like_first, normalize_axes, result_of

# -- reductions that have a name -----------------------------------------------------------------


def _reduction_by(reduction):
    def reduce(array, axis=0, dtype=None, *, keepdims=False, initial=None, where=True):
        return reduction(
            array, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where
        )

    return reduce


def _choice_by(reduction):
    def reduce(array, axis=0, *, keepdims=False, initial=None, where=True):
        return reduction(array, axis=axis, keepdims=keepdims, initial=initial, where=where)

    return reduce


def _test_by(reduction):
    def reduce(array, axis=0, *, keepdims=False, where=True):
        return reduction(array, axis=axis, keepdims=keepdims, where=where)

    return reduce


_REDUCTIONS = (
    (_reduction_by, {np.add: np.sum, np.multiply: np.prod}),
    (_choice_by, {np.maximum: np.max, np.minimum: np.min, np.fmax: np.nanmax, np.fmin: np.nanmin}),
    (_test_by, {np.logical_and: np.all, np.logical_or: np.any}),
)
for _by, _of in _REDUCTIONS:
    for _ufunc, _reduction in _of.items():
        composition(_ufunc.reduce)(_by(_reduction))


def _accumulated_as(sums):
    def accumulate(array, axis=0, dtype=None):
        _check_has_axes(array)
        return sums(array, axis, dtype)

    return accumulate


def _check_has_axes(array):
    if np.ndim(array) == 0:
        raise TypeError("cannot accumulate on a scalar")


for _ufunc, _sums in {np.add: np.cumsum, np.multiply: np.cumprod}.items():
    composition(_ufunc.accumulate)(_accumulated_as(_sums))


# -- reductions with a rule ------------------------------------------------------------------------


def powers_of_sum(exp, total, x):
    """The powers of x, divided by their sum, whose logarithm is `total`: all by the same factor,
    as that is rounded. What is as infinite as the sum counts as 1."""
    is_same = (x == total) & np.isinf(x)
    return exp(np.where(is_same, 0, x) - np.where(is_same, 0, total))


def _shares_of_powers(exp):
    """What the power of each element, and that of the initial value, is of their sum."""

    def shares(out, array, axis, keepdims, initial, where):
        powers = masked(powers_of_sum(exp, restored(out, axis, keepdims), array), where)
        total = np.sum(powers, axis=axis, keepdims=keepdims)
        if initial is not None:
            first = powers_of_sum(exp, out, initial)
            total = total + first
        total = np.where(out == -np.inf, np.inf, total)  # a sum of nothing has no parts
        return powers / restored(total, axis, keepdims), None if initial is None else first / total

    return shares


def _shares_of_length(out, array, axis, keepdims, initial, where):
    """How much a length changes by each element, and by the initial value."""
    length = out + (out == 0)
    shares = masked(array / restored(length, axis, keepdims), where)
    return shares, None if initial is None else initial / length


def _reduced_type(facts, callee, array, **options):
    return reduction_type(facts, callee, array, **options)


def _by_shares(reduce, shares_of):
    """The rules of a reduction whose derivatives by the elements and the initial value are
    shares_of(result, array, axis, keepdims, initial, where)."""

    def tangent(
        out,
        array,
        axis=0,
        dtype=None,
        *,
        keepdims=False,
        initial=None,
        where=True,
        d_array,
        d_initial=None,
    ):
        shares, first = shares_of(out, array, axis, keepdims, initial, where)
        d_out = np.sum(masked(d_array * shares, where), axis=axis, keepdims=keepdims)
        return d_out if initial is None else d_out + d_initial * first

    @adjoint(reduce, type=_reduced_type, tangent=tangent)
    def rule(out, array, axis=0, dtype=None, *, keepdims=False, initial=None, where=True, d_out):
        shares, first = shares_of(out, array, axis, keepdims, initial, where)
        d_array = restored(d_out, axis, keepdims) * shares
        return d_array, None, None, None, None if initial is None else d_out * first


_by_shares(np.logaddexp.reduce, _shares_of_powers(np.exp))
_by_shares(np.logaddexp2.reduce, _shares_of_powers(np.exp2))
_by_shares(np.hypot.reduce, _shares_of_length)


# -- sums of slices ------------------------------------------------------------------------------


def _slices_type(facts, callee, array, indices, axis=0, dtype=None):
    dims = list(dims_of(array))
    (along,) = normalize_axes(axis, len(dims))
    (dims[along],) = dims_of(indices)
    return like_first(result_of(np.cumsum, array, axis=0, dtype=dtype), tuple(dims), array)


def _slices_tangent(out, array, indices, axis=0, dtype=None, *, d_array):
    return np.add.reduceat(d_array, indices, axis)


@adjoint(np.add.reduceat, type=_slices_type, tangent=_slices_tangent)
def add_reduceat(out, array, indices, axis=0, dtype=None, *, d_out):
    d_array = np.zeros_like(array)
    rows, d_rows = np.moveaxis(d_array, axis, 0), np.moveaxis(d_out, axis, 0)
    stops = _stops(indices, rows.shape[0])
    starts = as_places(indices)
    for k in range(len(stops)):
        rows[starts[k] : stops[k]] += d_rows[k]
    return d_array


def _stops(indices, n):
    """Where the slice of each index ends: at the next one, but it has one item at least."""
    indices = as_places(np.asarray(indices))
    following = np.concatenate((indices[1:], np.array([n])))
    return np.maximum(following, indices + 1)


# -- one item after the other --------------------------------------------------------------------


def _reduced_by(ufunc):
    def reduce(array, axis=0, dtype=None, *, keepdims=False, initial=None, where=True):
        array = np.asarray(array, dtype=dtype)
        axes = tuple(range(np.ndim(array))) if axis is None else axis
        axes = axes if isinstance(axes, tuple) else (axes,)
        rows = np.moveaxis(array, axes, tuple(range(len(axes))))
        rows = np.reshape(rows, (_product(rows.shape[: len(axes)]), *rows.shape[len(axes) :]))
        if where is not True:
            taken = np.moveaxis(np.broadcast_to(where, array.shape), axes, tuple(range(len(axes))))
            taken = np.reshape(taken, rows.shape)
        if rows.shape[0] == 0 and (initial is not None or ufunc.identity is not None):
            before = ufunc.identity if initial is None else initial
            return np.full(np.sum(array, axis, keepdims=keepdims).shape, before, array.dtype)[()]
        result = rows[0] if initial is None else ufunc(initial, rows[0])
        if where is not True:
            before = ufunc.identity if initial is None else initial
            result = np.where(taken[0], result, before)
        for k in range(1, len(rows)):
            if where is True:
                result = ufunc(result, rows[k])
            else:
                result = np.where(taken[k], ufunc(result, rows[k]), result)
        return np.expand_dims(result, axes) if keepdims else result

    return reduce


def _product(lengths):
    whole = 1
    for length in lengths:
        whole = whole * length
    return whole


def _accumulated_by(ufunc):
    def accumulate(array, axis=0, dtype=None):
        _check_has_axes(array)
        rows = np.moveaxis(np.asarray(array, dtype=dtype), axis, 0)
        results = [rows[0]]
        for k in range(1, len(rows)):
            results.append(ufunc(results[-1], rows[k]))
        return np.moveaxis(np.array(results), 0, axis)

    return accumulate


def _slices_by(ufunc):
    reduction = COMPOSITIONS.get(ufunc.reduce, ufunc.reduce)

    def reduceat(array, indices, axis=0, dtype=None):
        rows = np.moveaxis(np.asarray(array, dtype=dtype), axis, 0)
        starts, stops = as_places(indices), _stops(indices, rows.shape[0])
        results = [
            reduction(rows[starts[k] : stops[k]]) if stops[k] > starts[k] + 1 else rows[starts[k]]
            for k in range(len(stops))
        ]
        return np.moveaxis(np.array(results), 0, axis)

    return reduceat


def _outer_by(ufunc):
    def outer(A, B):
        A, B = np.asarray(A), np.asarray(B)
        return ufunc(np.reshape(A, np.shape(A) + (1,) * np.ndim(B)), B)

    return outer


_MADE = {"reduce": _reduced_by, "accumulate": _accumulated_by, "reduceat": _slices_by}
BINARY = tuple(
    ufunc
    for ufunc in {item for item in vars(np).values() if isinstance(item, np.ufunc)}
    if ufunc.nin == 2 and ufunc.nout == 1 and ufunc.signature is None
)
"""The operations of two elements that have such methods."""

FOLDED = (
    *(np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.fmax, np.fmin),
    *(np.logaddexp, np.logaddexp2, np.hypot),
)
"""Those that NumPy takes from the left: of `power`, `arctan2` and others what it gives depends on
the machine."""

for _binary in BINARY:
    composition(_binary.outer)(_outer_by(_binary))
for _folded in FOLDED:
    for _name, _made_by in _MADE.items():
        _method = getattr(_folded, _name)
        if _method not in PRIMITIVES and _method not in COMPOSITIONS:
            composition(_method)(_made_by(_folded))
