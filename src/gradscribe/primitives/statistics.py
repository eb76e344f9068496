"""Statistics of samples: averages, covariances, and statistics of order.

A quantile moves with the sorted elements that it lies between; where elements are equal, those
that a stable sort puts there.
"""

from __future__ import annotations

import numpy as np

from gradscribe.ir.types import Array
from gradscribe.primitives.matrices import conjugate_transposed, real_part
from gradscribe.primitives.reductions import reduction_type
from gradscribe.primitives.registry import adjoint, composition, variant
from gradscribe.primitives.static import static
from gradscribe.primitives.typing import (
    TypeRuleError,
    dims_of,
    like_first,
    number_type,
    result_of,
)

# -- averages and covariances ------------------------------------------------------------------


@composition(np.ptp)
def ptp(a, axis=None, *, keepdims=False):
    return np.max(a, axis=axis, keepdims=keepdims) - np.min(a, axis=axis, keepdims=keepdims)


@composition(np.average)
def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    a = np.asarray(a)
    if weights is None:
        mean = np.mean(a, axis=axis, keepdims=keepdims)
        return (mean, np.full_like(mean, a.size / np.size(mean))) if returned else mean
    weights = _along(np.asarray(weights), a, axis)
    total = np.sum(weights, axis=axis, keepdims=keepdims)
    if np.any(total == 0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    mean = np.sum(a * weights, axis=axis, keepdims=keepdims) / total
    return (mean, np.copy(np.broadcast_to(total, np.shape(mean)))[()]) if returned else mean


def _along(weights, a, axis):
    """Weights of the elements along an axis, or along several, as weights of all."""
    if np.shape(weights) == np.shape(a):
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = tuple(axis) if isinstance(axis, tuple) else (axis,)
    for along, n in zip(axes, np.shape(weights), strict=True):
        if n != np.shape(a)[along]:
            raise ValueError("Shape of weights must be consistent with shape of a along axis.")
    missing = np.ndim(a) - np.ndim(weights)
    last = tuple(range(missing, np.ndim(a)))
    return np.moveaxis(np.reshape(weights, (1,) * missing + np.shape(weights)), last, axes)


@composition(np.cov)
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    if dtype is None:
        dtype = np.result_type(np.asarray(m).dtype, np.float64)
        dtype = dtype if y is None else np.result_type(dtype, np.asarray(y).dtype)
    rows = _variables(m, rowvar, dtype)
    if y is not None:
        rows = np.concatenate((rows, _variables(y, rowvar, dtype)), axis=0)
    lost = (0 if bias else 1) if ddof is None else ddof
    if fweights is None and aweights is None:
        deviations = rows - np.mean(rows, axis=1)[:, None]
        scale = np.true_divide(1, max(rows.shape[1] - lost, 0))
        return _scaled(deviations @ conjugate_transposed(deviations), scale)
    _check_weights(fweights, rows, "fweights")
    _check_weights(aweights, rows, "aweights")
    weights = _sample_weights(fweights, aweights)
    total = np.sum(weights)
    means = np.sum(rows * weights, axis=1) / total
    deviations = rows - _like(means, rows)[:, None]
    count = total
    if lost != 0 and aweights is None:
        count = total - lost
    if lost != 0 and aweights is not None:
        count = total - lost * np.sum(weights * aweights) / total
    return _scaled(deviations @ conjugate_transposed(deviations * weights), 1 / count)


def _check_weights(weights, rows, name):
    if weights is None:
        return
    if np.ndim(weights) > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if np.shape(weights)[0] != rows.shape[1]:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    if np.any(np.asarray(weights) < 0):
        raise ValueError(f"{name} cannot be negative")


def _scaled(matrix, by):
    return np.squeeze(_like(matrix * np.float64(by), matrix))


def _variables(m, rowvar, dtype):
    """The samples as a matrix with one row for each variable."""
    m = np.asarray(m, dtype=dtype)
    if np.ndim(m) > 2:
        raise ValueError("the samples have more than 2 dimensions")
    if np.ndim(m) < 2:
        return np.reshape(m, (1, -1))
    return m if rowvar else m.T


def _sample_weights(fweights, aweights):
    if fweights is None:
        return np.asarray(aweights, dtype=float)
    if aweights is None:
        return np.asarray(fweights, dtype=float)
    return fweights * np.asarray(aweights, dtype=float)


@composition(np.corrcoef)
def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    c = cov(x, y, rowvar, dtype=dtype)
    if np.ndim(c) == 0:
        return c / c
    deviations = np.sqrt(real_part(np.diag(c)))
    ratios = c / deviations[:, None] / deviations[None, :]
    if ratios.dtype.kind != "c":
        return np.clip(ratios, -1, 1)
    return np.clip(np.real(ratios), -1, 1) + 1j * np.clip(np.imag(ratios), -1, 1)


# -- statistics of order: types ----------------------------------------------------------------

_CONTINUOUS = {
    "linear": (1, 1),
    "weibull": (0, 0),
    "hazen": (0.5, 0.5),
    "interpolated_inverted_cdf": (0, 1),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
"""The parameters alpha and beta of Hyndman and Fan, "Sample quantiles in statistical packages"
(1996), by NumPy's names of the methods."""

_STEPS = {"inverted_cdf": 1, "averaged_inverted_cdf": 1, "closest_observation": 1.5}
"""How far before the count the place of a quantile stands, by methods of steps of the same."""

_OTHERS = ("lower", "higher", "midpoint", "nearest", *_STEPS)


def _quantile_type(facts, callee, a, q, axis=None, *, method="linear", keepdims=False):
    if method not in (*_CONTINUOUS, *_OTHERS):
        raise TypeRuleError(f"of the method {method!r} no derivative is known")
    each = reduction_type(facts, np.mean, a, axis, keepdims)
    options = {"axis": axis, "method": method, "keepdims": keepdims}
    result = result_of(callee, number_type(a), number_type(q), **options)
    if not isinstance(result, Array):
        return result
    return like_first(result, dims_of(number_type(q)) + dims_of(each), a)


def _median_type(facts, callee, a, axis=None, *, keepdims=False):
    return reduction_type(facts, callee, a, axis, keepdims)


# -- statistics of order: rules ----------------------------------------------------------------


@static
def _parameters(method):
    return _CONTINUOUS.get(method)


@static
def _offset(method):
    return _STEPS.get(method)


def _step(place, count, method):
    """The same where the quantile jumps from one element to the next."""
    down = np.floor(place)
    exact = place == down
    if method == "closest_observation":
        exact = exact & (np.mod(down, 2) == 1)
    lower = np.clip(down, 0, count - 1)
    upper = np.clip(down + 1, 0, count - 1)
    if method == "averaged_inverted_cdf":
        return lower, upper, np.where(exact, 0.5, 1), 0
    found = np.where(exact, lower, upper)
    return found, found, 0, 0


def _neighbours(q, count, method):
    """Between which two of `count` sorted elements a quantile lies, how far it is from the first
    to the second, and how fast that changes with q."""
    if _offset(method) is not None:
        return _step(count * q - _offset(method), count, method)
    if _parameters(method) is None:
        place = q * (count - 1)
        down, up = np.floor(place), np.ceil(place)
        if method == "midpoint":
            return down, up, 0.5, 0
        found = down if method == "lower" else up if method == "higher" else np.rint(place)
        return found, found, 0, 0
    alpha, beta = _parameters(method)
    free = count * q + alpha + q * (1 - alpha - beta) - 1
    place = np.clip(free, 0, np.maximum(count - 1, 0))
    lower = np.maximum(np.minimum(np.floor(place), count - 2), 0)
    slope = (count + 1 - alpha - beta) * (place == free)
    return lower, np.minimum(lower + 1, count - 1), place - lower, slope


def _rows(a, axis):
    """The elements that each result is made of, along the last axis."""
    if axis is None or np.ndim(a) == 0:
        return np.ravel(a)
    if isinstance(axis, int):
        return np.moveaxis(a, axis, -1)
    moved = np.moveaxis(a, axis, tuple(range(-len(axis), 0)))
    return np.reshape(moved, (*np.shape(moved)[: np.ndim(a) - len(axis)], -1))


def _unrow(rows, a, axis):
    """Rows of `_rows(a, axis)`, in the form of a."""
    if axis is None or np.ndim(a) == 0:
        return np.reshape(rows, np.shape(a))
    if isinstance(axis, int):
        return np.moveaxis(rows, -1, axis)
    last = tuple(range(-len(axis), 0))
    return np.moveaxis(np.reshape(rows, np.shape(np.moveaxis(a, axis, last))), last, axis)


def _weights(rows, q, method, skips_nan):
    """What each result is made of: its weights for the sorted elements of its row, and the
    derivative of those by q."""
    n = rows.shape[-1]
    count = np.sum(~np.isnan(rows), axis=-1, keepdims=True) if skips_nan else n
    lower, upper, part, slope = _neighbours(np.ravel(q), count, method)
    first, second = (x[..., None] == np.arange(n) for x in (lower, upper))
    part = part[..., None] if np.ndim(part) > 0 else part
    slope = slope[..., None] if np.ndim(slope) > 0 else slope
    return first * (1 - part) + second * part, slope * (second * 1.0 - first)


def _order_tangent(out, a, q, axis, method, skips_nan, d_a, d_q):
    rows = _rows(a, axis)
    order = np.argsort(rows, axis=-1)
    by_element, by_q = _weights(rows, q, method, skips_nan)
    d_ordered = np.take_along_axis(_rows(d_a, axis), order, -1)
    change = _combined(d_ordered, by_element)
    if d_q is not None:
        change = change + _combined(_ordered(rows, order, skips_nan), by_q) * np.ravel(d_q)
    change = np.reshape(np.moveaxis(change, -1, 0), np.shape(out))
    return np.where(np.isnan(out), out, change)


def _like(x, out):
    return x if x.dtype == out.dtype else x.astype(out.dtype)


def _ordered(rows, order, skips_nan):
    numbers = np.where(np.isnan(rows), 0, rows) if skips_nan else rows
    return np.take_along_axis(numbers, order, -1)


def _combined(ordered, weights):
    """For each result the sum of sorted elements with its weights: of those that have any, as the
    others may be infinite."""
    taken = np.any(weights != 0, axis=-2)
    return (weights @ np.where(taken, ordered, 0)[..., None])[..., 0]


def _order_adjoint(out, a, q, axis, method, skips_nan, d_out):
    rows = _rows(a, axis)
    order = np.argsort(rows, axis=-1)
    by_element, by_q = _weights(rows, q, method, skips_nan)
    d_out = np.where(np.isnan(out) & (d_out != 0), np.nan, d_out)  # NaN is of no one element
    d_each = np.moveaxis(np.reshape(d_out, (-1, *np.shape(rows)[:-1])), 0, -1)
    d_ordered = (d_each[..., None, :] @ by_element)[..., 0, :]
    d_a = _unrow(np.take_along_axis(d_ordered, np.argsort(order, axis=-1), -1), a, axis)
    along_q = _combined(_ordered(rows, order, skips_nan), by_q) * d_each
    d_q = np.sum(along_q, axis=tuple(range(np.ndim(rows) - 1)))
    return _like(d_a, out), _like(np.reshape(d_q, np.shape(q)), out)


def _median_tangent(out, a, axis=None, *, keepdims=False, d_a):
    return _order_tangent(out, a, 0.5, axis, "linear", False, d_a, None)


@adjoint(np.median, type=_median_type, tangent=_median_tangent, masks=True)
def median(out, a, axis=None, *, keepdims=False, d_out):
    return _order_adjoint(out, a, 0.5, axis, "linear", False, d_out)[0]


def _nanmedian_tangent(out, a, axis=None, *, keepdims=False, d_a):
    return _order_tangent(out, a, 0.5, axis, "linear", True, d_a, None)


@adjoint(np.nanmedian, type=_median_type, tangent=_nanmedian_tangent, masks=True)
def nanmedian(out, a, axis=None, *, keepdims=False, d_out):
    return _order_adjoint(out, a, 0.5, axis, "linear", True, d_out)[0]


def _quantile_tangent(out, a, q, axis=None, *, method="linear", keepdims=False, d_a, d_q=None):
    return _order_tangent(out, a, q, axis, method, False, d_a, d_q)


@adjoint(np.quantile, type=_quantile_type, tangent=_quantile_tangent, masks=True)
def quantile(out, a, q, axis=None, *, method="linear", keepdims=False, d_out):
    d_a, d_q = _order_adjoint(out, a, q, axis, method, False, d_out)
    return d_a, d_q


def _nanquantile_tangent(out, a, q, axis=None, *, method="linear", keepdims=False, d_a, d_q=None):
    return _order_tangent(out, a, q, axis, method, True, d_a, d_q)


@adjoint(np.nanquantile, type=_quantile_type, tangent=_nanquantile_tangent, masks=True)
def nanquantile(out, a, q, axis=None, *, method="linear", keepdims=False, d_out):
    d_a, d_q = _order_adjoint(out, a, q, axis, method, True, d_out)
    return d_a, d_q


def _percentile_tangent(out, a, q, axis=None, *, method="linear", keepdims=False, d_a, d_q=None):
    return _order_tangent(
        out, a, q / 100, axis, method, False, d_a, None if d_q is None else d_q / 100
    )


@adjoint(np.percentile, type=_quantile_type, tangent=_percentile_tangent, masks=True)
def percentile(out, a, q, axis=None, *, method="linear", keepdims=False, d_out):
    d_a, d_q = _order_adjoint(out, a, q / 100, axis, method, False, d_out)
    return d_a, d_q / 100


def _nanpercentile_tangent(out, a, q, axis=None, *, method="linear", keepdims=False, d_a, d_q=None):
    return _order_tangent(
        out, a, q / 100, axis, method, True, d_a, None if d_q is None else d_q / 100
    )


@adjoint(np.nanpercentile, type=_quantile_type, tangent=_nanpercentile_tangent, masks=True)
def nanpercentile(out, a, q, axis=None, *, method="linear", keepdims=False, d_out):
    d_a, d_q = _order_adjoint(out, a, q / 100, axis, method, True, d_out)
    return d_a, d_q / 100


# -- weighted quantiles ------------------------------------------------------------------------


def _weighted_quantile(a, q, axis, method, keepdims, weights, skips_nan):
    """Where the sum of weights reaches the part q of all of them, by `inverted_cdf`."""
    if method != "inverted_cdf":
        raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    rows = _rows(np.asarray(a), axis)
    weights = np.asarray(weights)
    if np.ndim(weights) == np.ndim(a):
        weights = _rows(weights, axis)
    order = np.argsort(rows, axis=-1)
    ordered = np.take_along_axis(rows, order, -1)
    weights = np.broadcast_to(weights, rows.shape)
    if skips_nan:
        weights = np.where(np.isnan(rows), 0, weights)
    sums = np.cumsum(np.take_along_axis(weights, order, -1), axis=-1, dtype=np.float64)
    parts = sums / sums[..., -1:]
    parts = np.where(parts == 0, -1, parts)
    reached = np.sum(parts[..., None, :] < np.reshape(q, (-1, 1)), axis=-1)
    found = np.take_along_axis(ordered, np.minimum(reached, rows.shape[-1] - 1), -1)
    shape = np.shape(np.mean(a, axis=axis, keepdims=keepdims))
    return np.reshape(np.moveaxis(found, -1, 0), (*np.shape(q), *shape))[()]


@variant(np.quantile)
def weighted_quantile(a, q, axis=None, *, method="linear", keepdims=False, weights=None):
    if weights is None:
        return np.quantile(a, q, axis, method=method, keepdims=keepdims)
    return _weighted_quantile(a, q, axis, method, keepdims, weights, False)


@variant(np.nanquantile)
def weighted_nanquantile(a, q, axis=None, *, method="linear", keepdims=False, weights=None):
    if weights is None:
        return np.nanquantile(a, q, axis, method=method, keepdims=keepdims)
    return _weighted_quantile(a, q, axis, method, keepdims, weights, True)


@variant(np.percentile)
def weighted_percentile(a, q, axis=None, *, method="linear", keepdims=False, weights=None):
    if weights is None:
        return np.percentile(a, q, axis, method=method, keepdims=keepdims)
    return _weighted_quantile(a, np.asarray(q) / 100, axis, method, keepdims, weights, False)


@variant(np.nanpercentile)
def weighted_nanpercentile(a, q, axis=None, *, method="linear", keepdims=False, weights=None):
    if weights is None:
        return np.nanpercentile(a, q, axis, method=method, keepdims=keepdims)
    return _weighted_quantile(a, np.asarray(q) / 100, axis, method, keepdims, weights, True)
