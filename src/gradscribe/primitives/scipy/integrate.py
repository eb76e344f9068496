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
    return y, np.diff(x if np.ndim(x) == 1 else np.moveaxis(x, axis, -1), axis=-1)


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
    h = np.broadcast_to(steps, (*y.shape[:-1], count - 1))
    last = count if count % 2 == 1 else count - 1
    total = _pairs(y[..., :last], h[..., : last - 1])
    if count % 2 == 0:
        total = total + _last(y, h)
    return total


def _pairs(y, h):
    """Simpson's rule over pairs of intervals of any lengths."""
    first, second = h[..., 0::2], h[..., 1::2]
    both, ratio = first + second, first / second
    parts = y[..., 0:-2:2] * (2.0 - 1.0 / ratio) + y[..., 1:-1:2] * (both * both / (first * second))
    return np.sum(both / 6.0 * (parts + y[..., 2::2] * (2.0 - ratio)), axis=-1)


def _last(y, h):
    a, b = h[..., -1], h[..., -2]
    alpha = (2 * a * a + 3 * a * b) / (6 * (b + a))
    beta = (a * a + 3.0 * a * b) / (6 * b)
    eta = a * a * a / (6 * b * (b + a))
    return alpha * y[..., -1] + beta * y[..., -2] - eta * y[..., -3]
