"""Quadrature of samples: `scipy.integrate`'s `trapezoid`, `cumulative_trapezoid`, `simpson`."""

from __future__ import annotations

import numpy as np
from scipy import integrate

from gradscribe.primitives.registry import COMPOSITIONS, composition

COMPOSITIONS[integrate.trapezoid] = COMPOSITIONS[np.trapezoid]


def _steps(y, x, dx, axis):
    """The samples with their axis last, and the distances between them."""
    y = np.moveaxis(np.asarray(y), axis, -1)
    if x is None:
        return y, dx
    x = np.asarray(x)
    steps = np.diff(x if np.ndim(x) == 1 else np.moveaxis(x, axis, -1), axis=-1)
    if steps.shape[-1] != y.shape[-1] - 1:
        raise ValueError("If given, length of x along axis must be the same as y.")
    return y, steps


@composition(integrate.cumulative_trapezoid)
def cumulative_trapezoid(y, x=None, dx=1.0, axis=-1, initial=None):
    y, steps = _steps(y, x, dx, axis)
    sums = np.cumsum(steps * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)
    if initial is not None:
        if initial != 0:
            raise ValueError("`initial` must be `None` or `0`.")
        first = np.full((*sums.shape[:-1], 1), initial, dtype=sums.dtype)
        sums = np.concatenate((first, sums), axis=-1)
    return np.moveaxis(sums, -1, axis)


@composition(integrate.simpson)
def simpson(y, x=None, dx=1.0, axis=-1):
    """With an even number of samples the last interval is corrected (Cartwright, 2017)."""
    y, steps = _steps(y, x, dx, axis)
    count = y.shape[-1]
    if count == 2:
        return 0.5 * (steps if x is None else steps[..., 0]) * (y[..., 0] + y[..., 1])
    last = count if count % 2 == 1 else count - 1
    if x is None:
        total = dx / 3.0 * _weighted(y[..., :last])
        if count % 2 == 0:
            total = total + dx / 12.0 * (5.0 * y[..., -1] + 8.0 * y[..., -2] - y[..., -3])
        return total
    h = np.broadcast_to(steps, (*y.shape[:-1], count - 1))
    total = _pairs(y[..., :last], h[..., : last - 1])
    if count % 2 == 0:
        total = total + _last(y, h)
    return total


def _weighted(y):
    ends = np.sum(y[..., 0:-2:2], axis=-1) + np.sum(y[..., 2::2], axis=-1)
    return ends + 4.0 * np.sum(y[..., 1:-1:2], axis=-1)


def _pairs(y, h):
    """Simpson's rule over pairs of intervals of any lengths."""
    first, second = h[..., 0::2], h[..., 1::2]
    both, ratio = first + second, _ratio(first, second)
    parts = y[..., 0:-2:2] * (2.0 - _ratio(1.0, ratio))
    parts = parts + y[..., 1:-1:2] * (both * _ratio(both, first * second))
    return np.sum(both / 6.0 * (parts + y[..., 2::2] * (2.0 - ratio)), axis=-1)


def _last(y, h):
    a, b = h[..., -1], h[..., -2]
    alpha = _ratio(2 * a * a + 3 * a * b, 6 * (b + a))
    beta = _ratio(a * a + 3.0 * a * b, 6 * b)
    eta = _ratio(a * a * a, 6 * b * (b + a))
    return alpha * y[..., -1] + beta * y[..., -2] - eta * y[..., -3]


def _ratio(a, b):
    """a / b, and 0 for an interval without length."""
    return np.where(b != 0, a, 0.0) / np.where(b != 0, b, 1.0)
