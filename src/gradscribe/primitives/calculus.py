"""Differences, integrals and interpolation of sampled functions; convolutions."""

from __future__ import annotations

import numpy as np

from gradscribe.ir.affine import Affine
from gradscribe.ir.types import Array
from gradscribe.primitives.array_parts import section
from gradscribe.primitives.matrices import conjugated
from gradscribe.primitives.registry import BILINEAR, adjoint, composition, variant
from gradscribe.primitives.static import numbered_axes
from gradscribe.primitives.typing import (
    dims_of,
    like_first,
    number_type,
    result_of,
    same_length,
    vector_length,
)

# -- differences and integrals -------------------------------------------------------------------


@composition(np.ediff1d)
def ediff1d(ary, to_end=None, to_begin=None):
    ary = np.ravel(ary)
    parts = (np.diff(ary),)
    if to_begin is not None:
        parts = (_end(to_begin, ary, "to_begin"), *parts)
    if to_end is not None:
        parts = (*parts, _end(to_end, ary, "to_end"))
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _end(values, ary, name):
    """Values that stand beside differences, in the dtype of those."""
    values = np.ravel(values)
    if not np.can_cast(values.dtype, ary.dtype, "same_kind"):
        raise TypeError(
            f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule."
        )
    return values if values.dtype == ary.dtype else values.astype(ary.dtype)


@composition(np.trapezoid)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    y = np.asarray(y)
    width = dx
    if x is not None and np.ndim(x) == 1:
        width = np.reshape(np.diff(x), _along(y, axis))
    elif x is not None:
        width = np.diff(x, axis=axis)
    ends = section(y, axis, 1, None) + section(y, axis, None, -1)
    return np.sum(width * ends / 2.0, axis)


def _along(x, axis):
    """The shape of a vector that varies along an axis of x."""
    place = axis % np.ndim(x)
    return (1,) * place + (-1,) + (1,) * (np.ndim(x) - place - 1)


@composition(np.gradient)
def gradient(f, *varargs, axis=None, edge_order=1):
    f = _without_integers(f)
    axes = tuple(range(np.ndim(f))) if axis is None else axis
    if isinstance(axes, int):
        axes = (numbered_axes(axes),)
    given = varargs if len(varargs) > 0 else (1.0,)
    steps = given if len(given) == len(axes) else given * len(axes)
    results = ()
    for along, step in zip(axes, steps):  # noqa: B905
        if f.shape[along] < edge_order + 1:
            raise ValueError("Shape of array too small to calculate a numerical gradient")
        if np.ndim(step) == 1 and len(step) != f.shape[along]:
            raise ValueError("distances must be as many as elements along the axis")
        results = (*results, _slope(f, step, along, edge_order))
    return results[0] if len(results) == 1 else results


def _without_integers(x):
    """An array of floats for one of integers, of which differences may wrap."""
    x = np.asarray(x)
    return x.astype(float) if x.dtype.kind in "iu" else x


def _slope(f, step, axis, edge_order):
    """The derivative along an axis, by differences of second order inside."""
    if np.ndim(step) == 0:
        return _slope_of_even_steps(f, step, axis, edge_order)
    steps = np.diff(_without_integers(step))
    if np.all(steps == steps[0]):
        return _slope_of_even_steps(f, steps[0], axis, edge_order)
    return _slope_of_uneven_steps(f, steps, axis, edge_order)


def _slope_of_even_steps(f, step, axis, edge_order):
    inside = section(f, axis, 2, None) - section(f, axis, None, -2)
    if edge_order == 1:
        first = (section(f, axis, 1, 2) - section(f, axis, 0, 1)) / step
        last = (section(f, axis, -1, None) - section(f, axis, -2, -1)) / step
    else:
        first = _three(f, axis, (0, 1, 2), (-1.5 / step, 2.0 / step, -0.5 / step))
        last = _three(f, axis, (-3, -2, -1), (0.5 / step, -2.0 / step, 1.5 / step))
    return np.concatenate((first, inside / (2.0 * step), last), axis=axis)


def _slope_of_uneven_steps(f, steps, axis, edge_order):
    form = _along(f, axis)
    low, high = steps[:-1], steps[1:]
    a = np.reshape(-high / (low * (low + high)), form)
    b = np.reshape((high - low) / (low * high), form)
    c = np.reshape(low / (high * (low + high)), form)
    inside = a * section(f, axis, None, -2) + b * section(f, axis, 1, -1)
    inside = inside + c * section(f, axis, 2, None)
    if edge_order == 1:
        first = (section(f, axis, 1, 2) - section(f, axis, 0, 1)) / steps[0]
        last = (section(f, axis, -1, None) - section(f, axis, -2, -1)) / steps[-1]
    else:
        first = _three(f, axis, (0, 1, 2), _weights_of_first(steps[0], steps[1]))
        last = _three(f, axis, (-3, -2, -1), _weights_of_last(steps[-2], steps[-1]))
    return np.concatenate((first, inside, last), axis=axis)


def _weights_of_first(low, high):
    both = low + high
    return -(2.0 * low + high) / (low * both), both / (low * high), -low / (high * both)


def _weights_of_last(low, high):
    both = low + high
    return high / (low * both), -(high + low) / (low * high), (2.0 * high + low) / (high * both)


def _three(f, axis, places, weights):
    """The weighted sum of three neighbours, as an array of length one along the axis."""
    i, j, k = places
    a, b, c = weights
    rows = np.moveaxis(f, axis, 0)
    return np.expand_dims(a * rows[i] + b * rows[j] + c * rows[k], axis)


@composition(np.unwrap)
def unwrap(p, discont=None, axis=-1, *, period=2 * np.pi):
    p = np.asarray(p)
    steps = np.diff(p, axis=axis)
    half = period / 2
    wrapped = np.mod(steps + half, period) - half
    wrapped = np.where((wrapped == -half) & (steps > 0), half, wrapped)
    jump = np.where(np.abs(steps) < (half if discont is None else discont), 0, wrapped - steps)
    first, others = section(p, axis, 0, 1), section(p, axis, 1, None)
    return np.concatenate((first, others + np.cumsum(jump, axis)), axis=axis)


# -- interpolation -----------------------------------------------------------------------------


def _interp_type(facts, callee, x, xp, fp, left=None, right=None):
    x = number_type(x)
    same_length(facts, vector_length(xp), vector_length(fp), "the points and their values")
    result = result_of(callee, x, xp, fp)
    return like_first(result, dims_of(x), x, xp) if isinstance(result, Array) else result


def _interval(x, xp):
    """Between which two points x lies, how far it is from the first to the second, how long that
    is, and whether there is a slope. Of equal points the last counts, which are the two at the end
    where their distance is zero; before the first point, that does."""
    last = xp.shape[0] - 1
    i = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, np.maximum(last - 1, 0))
    j = np.minimum(i + 1, last)
    width = xp[j] - xp[i]
    same = width == 0
    width = width + same
    part = (np.clip(x, xp[0], xp[-1]) - xp[i] + (same & (x >= xp[i]))) / width
    return i, j, part, width, (x >= xp[0]) & (x <= xp[-1]) & ~same


def _interp_tangent(out, x, xp, fp, left=None, right=None, *, d_x, d_xp, d_fp, d_left, d_right):
    i, j, part, width, slopes = _interval(x, xp)
    slope = (fp[j] - fp[i]) / width * slopes
    change = 0.0
    if d_x is not None:
        change = change + slope * d_x
    if d_xp is not None:
        change = change - slope * (d_xp[i] + part * (d_xp[j] - d_xp[i]))
    if d_fp is not None:
        change = change + d_fp[i] + part * (d_fp[j] - d_fp[i])
    if left is not None:
        change = np.where(x < xp[0], d_left, change)
    if right is not None:
        change = np.where(x > xp[-1], d_right, change)
    return change


@adjoint(np.interp, type=_interp_type, tangent=_interp_tangent)
def interp(out, x, xp, fp, left=None, right=None, *, d_out):
    i, j, part, width, slopes = _interval(x, xp)
    below, above = x < xp[0], x > xp[-1]
    slope = (fp[j] - fp[i]) / width * slopes
    d_left, d_right = None, None
    if left is not None:
        d_left, d_out = np.sum(np.where(below, d_out, 0)), np.where(below, 0, d_out)
    if right is not None:
        d_right, d_out = np.sum(np.where(above, d_out, 0)), np.where(above, 0, d_out)
    d_x = slope * d_out
    if fp.dtype.kind == "c":
        d_x = np.real(np.conjugate(slope) * d_out)
    d_xp, d_fp = np.zeros(np.shape(xp)), np.zeros(np.shape(fp), dtype=d_out.dtype)
    np.add.at(d_xp, i, -d_x * (1 - part))
    np.add.at(d_xp, j, -d_x * part)
    np.add.at(d_fp, i, d_out * (1 - part))
    np.add.at(d_fp, j, d_out * part)
    return d_x, d_xp, d_fp, d_left, d_right


@variant(np.interp)
def periodic_interp(x, xp, fp, left=None, right=None, period=None):
    if period is None:
        return np.interp(x, xp, fp, left, right)
    period = np.abs(period)
    x, xp = np.asarray(x, dtype=np.float64) % period, np.asarray(xp, dtype=np.float64) % period
    order = np.argsort(xp)
    xp, fp = xp[order], np.asarray(fp)[order]
    points = np.concatenate((xp[-1:] - period, xp, xp[:1] + period))
    return np.interp(x, points, np.concatenate((fp[-1:], fp, fp[:1])))


# -- convolutions ------------------------------------------------------------------------------


def _convolution_type(facts, callee, a, v, mode, n, m):
    longer, shorter = facts.maximum(n, m), facts.minimum(n, m)
    length = {"full": n + m + -1, "same": longer, "valid": longer - shorter + 1}[mode]
    return like_first(result_of(callee, a, v), (length,), a, v)


def _convolve_type(facts, callee, a, v, mode="full"):
    n, m = (vector_length(x) if dims_of(x) else Affine.of(1) for x in (a, v))
    return _convolution_type(facts, callee, a, v, mode, n, m)


def _correlate_type(facts, callee, a, v, mode="valid"):
    return _convolution_type(facts, callee, a, v, mode, vector_length(a), vector_length(v))


def _whole(d_out, a, v, mode, late=False):
    """The cotangent of the full convolution, of which d_out is that of the part that was given.

    late: the part of mode "same" is rounded towards the end.
    """
    if mode == "full":
        return d_out
    shorter = np.minimum(_length(a), _length(v))
    start = shorter - 1
    if mode == "same":
        start = shorter // 2 if late else (shorter - 1) // 2
    d_full = np.zeros(_length(a) + _length(v) - 1, dtype=d_out.dtype)
    d_full[start : start + d_out.shape[0]] = d_out
    return d_full


def _length(x):
    """That of a vector; a number is a vector of one element."""
    return x.shape[0] if np.ndim(x) else 1


def _reversed(x):
    return x[::-1] if np.ndim(x) else x


def _share(d_full, a, v):
    """The part of a correlation with v that belongs to the elements of a."""
    part = d_full[_length(v) - 1 :][: _length(a)]
    return part if np.ndim(a) else part[0]


@adjoint(np.convolve, type=_convolve_type, tangent=BILINEAR, static=("mode",))
def convolve(out, a, v, mode="full", *, d_out):
    d_full = _whole(d_out, a, v, mode)
    d_a = _share(np.convolve(d_full, _reversed(v)), a, v)
    return d_a, _share(np.convolve(d_full, _reversed(a)), v, a)


@adjoint(np.correlate, type=_correlate_type, tangent=BILINEAR, static=("mode",))
def correlate(out, a, v, mode="valid", *, d_out):
    late = a.shape[0] < v.shape[0]
    d_full = _whole(d_out, a, v, mode, late)
    d_a = _share(np.convolve(d_full, v), a, v)
    d_v = _share(np.convolve(conjugated(d_full), a[::-1]), v, a)[::-1]
    return d_a, d_v
