"""Distributions of `scipy.stats` on an interval, a circle, or on one side of a bound that depends
on the shapes: as in `stats.py`, the derivatives of their log densities in the standard form."""

from __future__ import annotations

import numpy as np
import scipy.special as sp
from scipy import stats

from gradscribe.primitives.scipy.distributed import continuous

# -- on an interval ------------------------------------------------------------------------------


@continuous(stats.anglit)
def anglit(x):
    return (-2 * np.tan(2 * x),)


@continuous(stats.arcsine)
def arcsine(x):
    return (0.5 / (1 - x) - 0.5 / x,)


@continuous(stats.semicircular)
def semicircular(x):
    return (-x / (1 - x * x),)


@continuous(stats.rdist)
def rdist(x, c):
    square = x * x
    by_c = (np.log1p(-square) - sp.psi(c / 2) + sp.psi((c + 1) / 2)) / 2
    return (2 - c) * x / (1 - square), by_c


@continuous(stats.bradford)
def bradford(x, c):
    slope = 1 / (1 + c * x)
    return -c * slope, 1 / c - 1 / ((1 + c) * np.log1p(c)) - x * slope


@continuous(stats.argus)
def argus(x, chi):
    square = chi * chi
    total = sp.gammainc(1.5, square / 2) / 2
    by_chi = 3 / chi - square * stats.norm.pdf(chi) / total - chi * (1 - x * x)
    return 1 / x - x / (1 - x * x) + square * x, by_chi


@continuous(stats.johnsonsb)
def johnsonsb(x, a, b):
    log, width = sp.logit(x), x * (1 - x)
    z = a + b * log
    return (2 * x - 1 - b * z) / width, -z, 1 / b - z * log


@continuous(stats.triang)
def triang(x, c):
    rising = x < c
    return np.where(rising, 1 / x, 1 / (x - 1)), np.where(rising, -1 / c, 1 / (1 - c))


@continuous(stats.trapezoid)
def trapezoid(x, c, d):
    each = 1 / (d - c + 1)
    by_x = np.where(x < c, 1 / x, np.where(x > d, 1 / (x - 1), 0))
    return by_x, each - np.where(x < c, 1 / c, 0), np.where(x > d, 1 / (1 - d), 0) - each


# -- within bounds that are shapes ---------------------------------------------------------------


@continuous(stats.loguniform)
def loguniform(x, a, b):
    width = np.log(b / a)
    return -1 / x, 1 / (a * width), -1 / (b * width)


continuous(stats.reciprocal)(loguniform)


@continuous(stats.truncnorm)
def truncnorm(x, a, b):
    return -x, stats.truncnorm.pdf(a, a, b), -stats.truncnorm.pdf(b, a, b)


@continuous(stats.truncexpon)
def truncexpon(x, b):
    return -np.ones_like(x), -1 / np.expm1(b)


@continuous(stats.truncpareto)
def truncpareto(x, b, c):
    excess = c**b - 1
    return -(b + 1) / x, 1 / b - np.log(c) / excess - np.log(x), -b / (c * excess)


# -- of extremes, whose bound depends on the shape -----------------------------------------------


def _log_by(c, x):
    """log(1 + c x) / c, which is x where c is zero, and its derivative by c."""
    is_zero = c == 0
    divisor = np.where(is_zero, 1, c)
    log = np.log1p(c * x) / divisor
    by_c = (x / (1 + c * x) - log) / divisor
    return np.where(is_zero, x, log), np.where(is_zero, -x * x / 2, by_c)


@continuous(stats.genpareto)
def genpareto(x, c):
    log, by_c = _log_by(c, x)
    return -(1 + c) / (1 + c * x), -log - (1 + c) * by_c


@continuous(stats.genextreme)
def genextreme(x, c):
    log, by_c = _log_by(-c, x)
    slope = 1 - c - np.exp(-log)
    return -slope / (1 - c * x), log + slope * by_c


@continuous(stats.genhalflogistic)
def genhalflogistic(x, c):
    log, by_c = _log_by(-c, x)
    slope = 1 - c - 2 * sp.expit(-log)
    return -slope / (1 - c * x), log + slope * by_c


@continuous(stats.weibull_max)
def weibull_max(x, c):
    slope = 1 - (-x) ** c
    return (c * slope - 1) / x, 1 / c + np.log(-x) * slope


@continuous(stats.levy_l)
def levy_l(x):
    return (-0.5 / (x * x) - 1.5 / x,)


@continuous(stats.pearson3)
def pearson3(x, skew):
    """A gamma distribution of both signs; without skew, the normal one."""
    is_normal = np.abs(skew) < 0.000016
    beta = 2 / np.where(is_normal, 1, skew)
    shape = beta * beta
    y = np.where(is_normal, 1, beta * x + shape)
    slope = (shape - 1) / y - 1
    by_beta = 1 / beta + slope * (x + 2 * beta) + 2 * beta * (np.log(y) - sp.psi(shape))
    by_skew = -by_beta * shape / 2
    return np.where(is_normal, -x, beta * slope), np.where(is_normal, x**3 / 6 - x / 2, by_skew)


# -- on a circle ---------------------------------------------------------------------------------


@continuous(stats.cosine)
def cosine(x):
    return (-np.tan(x / 2),)


@continuous(stats.vonmises)
def vonmises(x, kappa):
    return -kappa * np.sin(x), np.cos(x) - sp.i1e(kappa) / sp.i0e(kappa)


continuous(stats.vonmises_line)(vonmises)


@continuous(stats.wrapcauchy)
def wrapcauchy(x, c):
    cosine = np.cos(x)
    spread = 1 + c * c - 2 * c * cosine
    by_c = -2 * c / (1 - c * c) - 2 * (c - cosine) / spread
    return -2 * c * np.sin(x) / spread, by_c
