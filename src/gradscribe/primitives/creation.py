"""Making arrays: of zeros, of ones, of one value, of evenly spaced numbers."""

from __future__ import annotations

import numpy as np

from gradscribe.ir.affine import Affine
from gradscribe.ir.types import Array, Scalar, Type
from gradscribe.primitives.registry import LINEAR, adjoint, composition, constant, variant
from gradscribe.primitives.typing import (
    dims_of,
    length_of,
    like_first,
    normalize_axes,
    number_type,
    numeric,
    result_of,
    shape_dims,
    type_of,
    unknown_length,
)

# -- of a given shape ------------------------------------------------------------------------


def _shaped(shape, dtype=float, order="C"):
    """Signature of zeros, ones and empty."""


def _unfilled(shape, dtype=float):
    """Signature of ndarray."""


def _shaped_type(facts, callee, shape, dtype=float, order="C"):
    return Array(numeric(float if dtype is None else dtype), shape_dims(shape))


def _like(x, dtype=None):
    """Signature of zeros_like, ones_like and empty_like."""


def _like_type(facts, callee, x, dtype=None):
    x = number_type(x)
    return like_first(result_of(callee, x, dtype=dtype), dims_of(x), x)


for _callee in (np.zeros, np.ones, np.empty):
    constant(_callee, type=_shaped_type, signature=_shaped)
constant(
    np.ndarray,
    type=lambda facts, callee, shape, dtype=float: _shaped_type(facts, callee, shape, dtype),
    signature=_unfilled,
)
for _like_callee in (np.zeros_like, np.ones_like, np.empty_like):
    constant(_like_callee, type=_like_type, signature=_like)


def _full_type(facts, callee, shape, fill_value, dtype=None, order="C"):
    dims = shape_dims(shape)
    facts.broadcast([dims, dims_of(fill_value)])
    return like_first(result_of(np.array, fill_value, dtype=dtype), dims, fill_value)


@adjoint(np.full, type=_full_type, tangent=LINEAR)
def full(out, shape, fill_value, dtype=None, order="C", *, d_out):
    return None, d_out


def _full_like_type(facts, callee, x, fill_value, dtype=None):
    return _like_type(facts, np.zeros_like, x, dtype)


def _full_like_tangent(out, x, fill_value, dtype=None, *, d_fill_value):
    return np.full_like(x, d_fill_value, dtype=dtype)


@adjoint(np.full_like, type=_full_like_type, tangent=_full_like_tangent)
def full_like(out, x, fill_value, dtype=None, *, d_out):
    return None, d_out


# -- matrices and ranges ---------------------------------------------------------------------


def _eye(N, M=None, k=0, dtype=float):
    """Signature of eye."""


def _identity(n, dtype=float):
    """Signature of identity."""


def _eye_type(facts, callee, N, M=None, k=0, dtype=float):
    rows = length_of(N)
    return Array(numeric(dtype), (rows, rows if M is None else length_of(M)))


constant(np.eye, type=_eye_type, signature=_eye)
constant(np.tri, type=_eye_type, signature=_eye)
constant(
    np.identity,
    type=lambda facts, callee, n, dtype=float: _eye_type(facts, callee, n, dtype=dtype),
    signature=_identity,
)


def _arange_type(facts, callee, start, stop=None, step=None, dtype=None):
    if not any(isinstance(number, Type) for number in (start, stop, step)):
        return type_of(np.arange(start, stop, step, dtype=dtype))
    start, stop, step = map(number_type, (start, stop, step))
    if stop is None:
        start, stop = Scalar("int64", True, Affine.of(0)), start
        result = result_of(np.arange, stop, dtype=dtype)
    else:
        result = result_of(np.arange, start, stop, dtype=dtype)
    step = Scalar("int64", True, Affine.of(1)) if step is None else step
    if step.dtype != "int64" and dtype is None:
        result = result_of(np.arange, start, stop, step)
    return like_first(result, (_arange_length(facts, start, stop, step),))


def _arange_length(facts, start, stop, step):
    a, b, by = start.value, stop.value, step.value
    if a is None or b is None or by is None:
        return unknown_length()
    if by.known == 1 and facts.at_least(b - a, 0):
        return b - a
    if all(part.known is not None for part in (a, b, by)):
        return Affine.of(len(range(a.known, b.known, by.known)))
    return facts.derived("arange", a, b, by)


def _arange_tangent(
    out, start, stop=None, step=None, dtype=None, *, d_start=None, d_stop=None, d_step=None
):
    total = np.zeros_like(out)
    if stop is not None and d_start is not None:
        total = total + d_start
    if d_step is not None:
        total = total + d_step * np.arange(np.size(out))
    return total


@adjoint(np.arange, type=_arange_type, tangent=_arange_tangent, cheap=True)
def arange(out, start, stop=None, step=None, dtype=None, *, d_out):
    """Of start + i * step; where they end is one number or the other."""
    if stop is None:
        return None, None, None
    return np.sum(d_out), None, np.sum(d_out * np.arange(np.size(out)))


def _linspace_type(facts, callee, start, stop, num=50, *, endpoint=True, dtype=None, axis=0):
    start, stop = number_type(start), number_type(stop)
    result = result_of(callee, start, stop, num=2, dtype=dtype)
    dims = facts.broadcast([dims_of(start), dims_of(stop)])
    (along,) = normalize_axes(axis, len(dims) + 1)
    return like_first(result, (*dims[:along], length_of(num), *dims[along:]), start, stop)


@adjoint(np.linspace, type=_linspace_type, tangent=LINEAR)
def linspace(out, start, stop, num=50, *, endpoint=True, dtype=None, axis=0, d_out):
    t = np.linspace(0, 1, num, endpoint=endpoint, dtype=out.dtype)
    if np.ndim(out) == 1:
        return np.sum(d_out * (1 - t)), np.sum(d_out * t)
    rows = np.moveaxis(d_out, axis, -1)
    return rows @ (1 - t), rows @ t


@variant(np.linspace)
def linspace_with_step(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    numbers = np.linspace(start, stop, num, endpoint=endpoint, dtype=dtype, axis=axis)
    if not retstep:
        return numbers
    steps = num - 1 if endpoint else num
    return numbers, (stop * 1.0 - start * 1.0) / steps if steps > 0 else np.nan


@composition(np.logspace)
def logspace(start, stop, num=50, endpoint=True, base=10.0):
    return np.power(base, np.linspace(start, stop, num, endpoint=endpoint))


@composition(np.geomspace)
def geomspace(start, stop, num=50, endpoint=True):
    start, stop = np.asarray(start), np.asarray(stop)
    if start.dtype.kind == "c" or stop.dtype.kind == "c":
        start, stop = np.complex128(start), np.complex128(stop)
    else:
        start, stop = np.float64(start), np.float64(stop)
    sign = np.sign(start)
    low, high = np.log10(start / sign), np.log10(stop / sign)
    powers = np.power(10.0, np.linspace(low, high, num, endpoint=endpoint))
    last = (stop / sign)[None] if endpoint else powers[num:]
    inside = powers[1 : num - 1 if endpoint else num]
    return np.concatenate(((start / sign)[None], inside, last)) * sign


# -- frequencies and windows -------------------------------------------------------------------


@composition(np.fft.fftfreq)
def fftfreq(n, d=1.0):
    return ((np.arange(n) + n // 2) % n - n // 2) * (1.0 / (n * d))


@composition(np.fft.rfftfreq)
def rfftfreq(n, d=1.0):
    return np.arange(n // 2 + 1) * (1.0 / (n * d))


@composition(np.kaiser)
def kaiser(M, beta):
    if M == 1:
        return np.ones(M)
    beta, half = np.float64(beta), (M - 1) / 2.0
    places = (np.arange(M) - half) / half
    return np.i0(beta * np.sqrt(1 - places**2.0)) / np.i0(beta)


@composition(np.fromfunction)
def fromfunction(function, shape, *, dtype=float):
    """The function is called once, with the coordinates of all places."""
    count = len(shape)
    coordinates = []
    for axis, n in enumerate(shape):
        along = np.reshape(
            np.arange(n, dtype=dtype), (1,) * axis + (-1,) + (1,) * (count - axis - 1)
        )
        coordinates.append(np.broadcast_to(along, shape))
    return function(*coordinates)
