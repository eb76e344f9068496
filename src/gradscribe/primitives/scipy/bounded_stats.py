"""Distributions of `scipy.stats` on an interval, a circle, or on one side of a bound that depends
on the shapes: as in `stats.py`, the derivatives of their log densities in the standard form.

Quotients that are 0/0 where a shape is zero are hypergeometric functions, as in `special.py`.
"""

from __future__ import annotations

import numpy as np
import scipy.special as sp
from scipy import stats

from gradscribe.primitives.scipy.distributed import continuous, real_power

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
    return -c * slope, log_mean_by(-c) - x * slope


def log_mean_by(z):
    """The derivative of log(-log(1 - z) / z), by z."""
    return sp.hyp2f1(2, 2, 3, z) / (2 * sp.hyp2f1(1, 1, 2, z))


@continuous(stats.argus)
def argus(x, chi):
    """Its total is gammainc(3 / 2, chi**2 / 2); by A&S 6.5.21."""
    square = chi * chi
    by_total = 3 / chi * (sp.gammainc(2.5, square / 2) / sp.gammainc(1.5, square / 2))
    by_chi = by_total - chi * (1 - x * x)
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
    log = np.log(c)
    by_b = log * below_reciprocal(b * log) - np.log(x)
    return -(b + 1) / x, by_b, -b / (c * np.expm1(b * log))


def below_reciprocal(t):
    """1 / t - 1 / (exp(t) - 1)."""
    return sp.hyp1f1(2, 3, -t) / (2 * sp.exprel(-t))


# -- of extremes, whose bound depends on the shape -----------------------------------------------


def _log_by(c, x):
    """log(1 + c x) / c, and its derivative by c."""
    z = -c * x
    return x * sp.hyp2f1(1, 1, 2, z), -x * x * (sp.hyp2f1(2, 2, 3, z) / 2)


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
    slope = 1 - real_power(-x, c)
    return (c * slope - 1) / x, 1 / c + np.log(-x) * slope


@continuous(stats.levy_l)
def levy_l(x):
    return (-0.5 / (x * x) - 1.5 / x,)


@continuous(stats.pearson3)
def pearson3(x, skew):
    """A gamma distribution of both signs; without skew, the normal one. With u = skew x / 2, and
    Stirling's series for the gamma function of 4 / skew**2, the log density is that without skew,
    log(phi(x)), plus x**2 (1 / 2 + (log(1 + u) - u) / u**2) - log(1 + u), less the rest of it."""
    u = skew * x / 2
    by_x = -(x + skew / 2) / (1 + u)
    return by_x, x**3 / 6 * sp.hyp2f1(2, 3, 4, -u) - x / (2 * (1 + u)) - _stirling_by(skew)


def _stirling_by(skew):
    """The derivative of the rest of Stirling's series for log(gamma(4 / skew**2)): Abramowitz &
    Stegun 6.3.18; of a large skew by psi itself."""
    near = np.abs(skew) < 0.4
    square = (skew * skew / 4) ** 2
    series = (
        skew / 24 * (1 - square * (1 / 10 - square * (1 / 21 - square * (1 / 20 - square / 11))))
    )
    far = np.where(near, 1, skew)
    shape = 4 / (far * far)
    by_shape = sp.psi(shape) - np.log(shape) + 0.5 / shape
    return np.where(near, series, -2 * shape / far * by_shape)


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
