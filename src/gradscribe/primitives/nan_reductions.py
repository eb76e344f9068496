"""Sums, products and moments that leave out what is not a number."""

from __future__ import annotations

import numpy as np

from gradscribe.primitives.registry import composition


def _filled(a, value):
    return np.where(np.isnan(a), value, a)


def _kind(a):
    return np.asarray(a).dtype.kind


@composition(np.nansum)
def nansum(a, axis=None, dtype=None, *, keepdims=False, initial=None, where=True):
    return np.sum(
        _filled(a, 0), axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where
    )


@composition(np.nanprod)
def nanprod(a, axis=None, dtype=None, *, keepdims=False, initial=None, where=True):
    return np.prod(
        _filled(a, 1), axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where
    )


@composition(np.nancumsum)
def nancumsum(a, axis=None, dtype=None):
    return np.cumsum(_filled(a, 0), axis, dtype)


@composition(np.nancumprod)
def nancumprod(a, axis=None, dtype=None):
    return np.cumprod(_filled(a, 1), axis, dtype)


@composition(np.nanmean)
def nanmean(a, axis=None, dtype=None, *, keepdims=False, where=True):
    if _kind(a) not in "fc":
        return np.mean(a, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    total = np.sum(_filled(a, 0), axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    return _divided(total, np.sum(~np.isnan(a), axis=axis, keepdims=keepdims, where=where))


def _divided(total, count):
    """The quotient in the precision of the total."""
    quotient = total / count
    return quotient if quotient.dtype == total.dtype else quotient.astype(total.dtype)


@composition(np.nanvar)
def nanvar(
    a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True, mean=None, correction=None
):
    ddof = ddof if correction is None else correction
    if _kind(a) not in "fc":
        return np.var(a, axis, dtype, ddof=ddof, keepdims=keepdims, where=where, mean=mean)
    numbers, a = ~np.isnan(a), _filled(a, 0)
    count = np.sum(numbers, axis=axis, keepdims=True, where=where)
    if mean is None:
        mean = _divided(np.sum(a, axis, dtype, keepdims=True, where=where), count)
    deviations = np.where(numbers, (a - mean).astype(a.dtype), 0)
    squares = deviations * deviations
    if _kind(a) == "c":
        squares = np.real(deviations * np.conjugate(deviations))
    squares = np.sum(squares, axis, dtype, keepdims=keepdims, where=where)
    freedom = np.reshape(count, np.shape(squares)) - ddof
    return np.where(freedom <= 0, np.nan, _divided(squares, freedom))[()]


@composition(np.nanstd)
def nanstd(
    a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True, mean=None, correction=None
):
    ddof = ddof if correction is None else correction
    variance = nanvar(a, axis, dtype, ddof=ddof, keepdims=keepdims, where=where, mean=mean)
    return np.where(variance == 0, 0, np.sqrt(np.where(variance == 0, 1, variance)))[()]
