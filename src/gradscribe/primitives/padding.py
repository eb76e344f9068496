"""Arrays made longer at their ends, and windows that slide over them."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from gradscribe.primitives.registry import LINEAR, adjoint, composition
from gradscribe.primitives.static import as_places, is_integer
from gradscribe.primitives.typing import (
    TypeRuleError,
    dims_of,
    length_of,
    like_first,
    normalize_axes,
    result_of,
)

# -- padding -----------------------------------------------------------------------------------


@composition(np.pad)
def pad(
    array,
    pad_width,
    mode="constant",
    *,
    constant_values=None,
    end_values=None,
    stat_length=None,
    reflect_type=None,
):
    _check_option(constant_values, mode == "constant")
    _check_option(end_values, mode == "linear_ramp")
    _check_option(stat_length, mode in ("maximum", "mean", "median", "minimum"))
    _check_option(reflect_type, mode in ("reflect", "symmetric"))
    array = np.asarray(array)
    rank = np.ndim(array)
    widths = _pairs(_of_axes(pad_width, rank), rank)
    given = {"linear_ramp": end_values, "constant": constant_values}
    option = given.get(mode, stat_length)
    if option is None and mode in ("constant", "empty", "linear_ramp"):
        option = 0
    options = _pairs(option, rank)
    for axis in tuple(range(rank)):
        before, after = widths[axis]
        if not (is_integer(before) and is_integer(after)):
            raise TypeError("`pad_width` must be of integral type.")
        before, after = as_places(before), as_places(after)
        if before < 0 or after < 0:
            raise ValueError("index can't contain negative values")
        if reflect_type == "odd" and mode in ("reflect", "symmetric"):
            array = _padded_oddly(array, axis, before, after, mode)
        else:
            array = _padded(array, axis, before, after, mode, options[axis])
    return array


def _check_option(value, is_taken):
    if value is not None and not is_taken:
        raise ValueError("unsupported keyword arguments for this mode of padding")


def _of_axes(widths, rank):
    """Widths by axis, where they are given by a dict, as a tuple."""
    if not isinstance(widths, dict):
        return widths
    of_all = ((0, 0),) * rank
    for axis, width in widths.items():
        pair = width if isinstance(width, (tuple, list)) else (width, width)
        of_all = (*of_all[: axis % rank], pair, *of_all[axis % rank + 1 :])
    return of_all


def _pairs(given, rank):
    """What is given for both ends of all axes, of each axis alike, or of each end."""
    if not isinstance(given, (tuple, list)):
        return ((given, given),) * rank
    shape = np.shape(given)
    if shape not in ((1,), (2,), (1, 1), (1, 2), (rank, 1), (rank, 2)):
        raise ValueError(f"widths of the shape {shape} do not fit an array of {rank} axes")
    if len(shape) == 1:
        return ((given[0], given[-1]),) * rank
    pairs = given * rank if len(given) == 1 else given
    return tuple((pair[0], pair[-1]) for pair in pairs)


def _padded(x, axis, before, after, mode, values):
    """The array padded along one axis."""
    if mode in ("edge", "wrap", "reflect", "symmetric"):
        return x[(slice(None),) * axis + (_source(x.shape[axis], before, after, mode),)]
    if mode == "linear_ramp":
        first, last = _ramps(x, axis, before, after, values)
    elif mode in ("constant", "empty"):
        first = _stretched(x, axis, before, values[0])
        last = _stretched(x, axis, after, values[1])
    else:
        first = _stretched(x, axis, before, _statistic(x, axis, mode, values[0], False))
        last = _stretched(x, axis, after, _statistic(x, axis, mode, values[1], True))
    return np.concatenate((first, x, last), axis=axis)


def _padded_oddly(x, axis, before, after, mode):
    """The array reflected at its ends, and turned around the elements there, along one axis."""
    n = x.shape[axis]
    period = n if mode == "symmetric" else max(n - 1, 1)
    place = np.arange(-before, n + after)
    turns = place // period
    odd = np.mod(turns, 2) == 1
    inner = place - turns * period
    form = (-1,) + (1,) * (np.ndim(x) - axis - 1)
    source = np.where(odd, (period - inner) if mode == "reflect" else period - 1 - inner, inner)
    inside = x[(slice(None),) * axis + (np.minimum(source, n - 1),)]
    first, last = _edge(x, axis, 0), _edge(x, axis, -1)
    centre = 2 * np.where(np.reshape(turns > 0, form), last, first)
    mirrored = np.where(np.reshape(odd, form), centre - inside, inside)
    beyond = np.where(odd, turns - np.sign(turns), turns)
    return _like(mirrored + np.reshape(beyond, form) * (last - first), x)


def _like(result, x):
    return result if result.dtype == x.dtype else result.astype(x.dtype)


def _source(n, before, after, mode):
    """Which of n elements stands at each place of the padded ones."""
    place = np.arange(-before, n + after)
    if mode == "edge":
        return np.clip(place, 0, n - 1)
    if mode == "wrap":
        return np.mod(place, n)
    if mode == "symmetric":
        place = np.mod(place, 2 * n)
        return np.minimum(place, 2 * n - 1 - place)
    place = np.mod(place, np.maximum(2 * n - 2, 1))
    return np.minimum(place, 2 * n - 2 - place)


def _statistic(x, axis, mode, count, at_end):
    """What is put at one end, made of so many elements there, or of all of them."""
    if count is not None and at_end:
        x = x[(slice(None),) * axis + (slice(np.maximum(x.shape[axis] - count, 0), None),)]
    elif count is not None:
        x = x[(slice(None),) * axis + (slice(None, count),)]
    if mode == "maximum":
        return np.max(x, axis=axis, keepdims=True)
    if mode == "minimum":
        return np.min(x, axis=axis, keepdims=True)
    if mode == "mean":
        return np.mean(x, axis=axis, keepdims=True)
    if mode == "median":
        return np.median(x, axis=axis, keepdims=True)
    raise NotImplementedError("this mode of padding has no rule")


def _stretched(x, axis, count, value):
    """The value, or the elements of length one along the axis, so many times."""
    part = np.broadcast_to(value, (*x.shape[:axis], count, *x.shape[axis + 1 :]))
    return part if part.dtype == x.dtype else part.astype(x.dtype)


def _ramps(x, axis, before, after, values):
    """Evenly spaced numbers from the given values to the first, and from the last, element."""
    form = (1,) * axis + (-1,) + (1,) * (np.ndim(x) - axis - 1)
    up = _ramp(_edge(x, axis, 0), before, values[0], form)
    return up, np.flip(_ramp(_edge(x, axis, -1), after, values[1], form), axis)


def _ramp(edge, count, value, form):
    step = (edge - value) / max(count, 1)
    return np.reshape(np.arange(count, dtype=edge.dtype), form) * step + value


def _edge(x, axis, place):
    return np.expand_dims(x[(slice(None),) * axis + (place,)], axis)


# -- windows -----------------------------------------------------------------------------------


def _windows_type(facts, callee, x, window_shape, axis=None):
    dims = list(dims_of(x))
    lengths = window_shape if isinstance(window_shape, (tuple, list)) else (window_shape,)
    axes = normalize_axes(axis, len(dims))
    if len(axes) != len(lengths):
        raise TypeRuleError("there is one length for each axis that a window slides over")
    for a, length in zip(axes, lengths, strict=True):
        dims[a] = dims[a] - length_of(length) + 1
        dims.append(length_of(length))
    return like_first(result_of(np.asarray, x), tuple(dims), x)


@adjoint(
    sliding_window_view,
    type=_windows_type,
    tangent=LINEAR,
    view=True,
    static=("window_shape",),
)
def windows(out, x, window_shape, axis=None, *, d_out):
    rank = np.ndim(x)
    axes = tuple(range(rank)) if axis is None else axis
    for a in (axes if isinstance(axes, tuple) else (axes,))[::-1]:
        d_out = _summed_windows(d_out, a % rank)
    return d_out


def _summed_windows(d_out, axis):
    """The cotangent of what windows, the last axis, slide over."""
    count, width = d_out.shape[axis], d_out.shape[-1]
    shape = (*d_out.shape[:axis], count + width - 1, *d_out.shape[axis + 1 : -1])
    d_x = np.zeros(shape, dtype=d_out.dtype)
    rows, d_rows = np.moveaxis(d_x, axis, 0), np.moveaxis(d_out, axis, 0)
    for k in range(width):
        rows[k : k + count] += d_rows[..., k]
    return d_x
