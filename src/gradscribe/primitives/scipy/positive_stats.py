"""Distributions of `scipy.stats` on the positive numbers: as in `stats.py`, the derivatives of
their log densities in the standard form, by x and by the shapes."""

from __future__ import annotations

import numpy as np
import scipy.special as sp
from scipy import stats

from gradscribe.primitives.registry import UNKNOWN
from gradscribe.primitives.scipy.distributed import continuous, real_power
from gradscribe.primitives.scipy.gamma import gamma_density
from gradscribe.primitives.scipy.incomplete import betainc_by_parameters, gammainc_by_parameter
from gradscribe.primitives.scipy.stats import gamma, gamma_shapes


def hazard(z):
    """The density of the normal distribution by its distribution function."""
    return np.exp(stats.norm.logpdf(z) - stats.norm.logcdf(z))


def share(power):
    """What part of 1 + power the power is."""
    return power / (1 + power)


# -- of life times -------------------------------------------------------------------------------

continuous(stats.erlang, gamma_shapes)(gamma)


def _gengamma_shapes(x, a, c):
    power = np.maximum(x, 0) ** c
    by_c = gamma_density(a, power) * sp.xlogy(power, np.maximum(x, 0))
    return gammainc_by_parameter(a, power), by_c


@continuous(stats.gengamma, _gengamma_shapes)
def gengamma(x, a, c):
    power = real_power(x, c)
    by_a = c * np.log(x) - sp.psi(a)
    return (c * (a - power) - 1) / x, by_a, 1 / c + np.log(x) * (a - power)


@continuous(stats.exponweib)
def exponweib(x, a, c):
    power = real_power(x, c)
    by_power = (a - 1) / np.expm1(power) - 1
    by_c = 1 / c + np.log(x) * (1 + power * by_power)
    return (c - 1 + c * power * by_power) / x, 1 / a + np.log(-np.expm1(-power)), by_c


@continuous(stats.exponpow)
def exponpow(x, b):
    power = real_power(x, b)
    slope = 1 - power * np.expm1(power)
    return (b * slope - 1) / x, 1 / b + np.log(x) * slope


@continuous(stats.invweibull)
def invweibull(x, c):
    power = real_power(x, -c)
    return (c * (power - 1) - 1) / x, 1 / c + np.log(x) * (power - 1)


@continuous(stats.gompertz)
def gompertz(x, c):
    return 1 - c * np.exp(x), 1 / c - np.expm1(x)


def _nakagami_shapes(x, nu):
    square = np.maximum(x, 0) ** 2
    return (gammainc_by_parameter(nu, nu * square) + gamma_density(nu, nu * square) * square,)


@continuous(stats.nakagami, _nakagami_shapes)
def nakagami(x, nu):
    by_nu = np.log(nu) + 1 - sp.psi(nu) + 2 * np.log(x) - x * x
    return (2 * nu - 1) / x - 2 * nu * x, by_nu


@continuous(stats.fatiguelife)
def fatiguelife(x, c):
    by_x = 1 / (x + 1) - 1.5 / x - (1 - 1 / (x * x)) / (2 * c * c)
    return by_x, (x - 1) ** 2 / (x * c**3) - 1 / c


@continuous(stats.halfgennorm)
def halfgennorm(x, beta):
    power = real_power(x, beta)
    by_beta = 1 / beta + sp.psi(1 / beta) / (beta * beta) - sp.xlogy(power, x)
    return -beta * real_power(x, beta - 1), by_beta


# -- of heavy tails ------------------------------------------------------------------------------


@continuous(stats.lomax)
def lomax(x, c):
    return -(c + 1) / (1 + x), 1 / c - np.log1p(x)


def _betaprime_shapes(x, a, b):
    return betainc_by_parameters(a, b, share(np.maximum(x, 0)))


@continuous(stats.betaprime, _betaprime_shapes)
def betaprime(x, a, b):
    whole = sp.psi(a + b) - np.log1p(x)
    by_x = (a - 1) / x - (a + b) / (1 + x)
    return by_x, np.log(x) - sp.psi(a) + whole, whole - sp.psi(b)


@continuous(stats.burr)
def burr(x, c, d):
    power = real_power(x, -c)
    slope = (d + 1) * share(power) - 1
    return (c * slope - 1) / x, 1 / c + np.log(x) * slope, 1 / d - np.log1p(power)


@continuous(stats.burr12)
def burr12(x, c, d):
    power = real_power(x, c)
    slope = 1 - (d + 1) * share(power)
    return (c * slope - 1) / x, 1 / c + np.log(x) * slope, 1 / d - np.log1p(power)


@continuous(stats.fisk)
def fisk(x, c):
    slope = 2 * share(real_power(x, -c)) - 1
    return (c * slope - 1) / x, 1 / c + np.log(x) * slope


@continuous(stats.mielke)
def mielke(x, k, s):
    power = real_power(x, s)
    by_s = k / (s * s) * np.log1p(power) - (1 + k / s) * np.log(x) * share(power)
    return (
        (k - 1 - (s + k) * share(power)) / x,
        1 / k + np.log(x) - np.log1p(power) / s,
        by_s,
    )


@continuous(stats.kappa3)
def kappa3(x, a):
    power = real_power(x, a)
    by_a = 1 / a + np.log(a + power) / (a * a)
    by_a = by_a - (1 + 1 / a) * (1 + power * np.log(x)) / (a + power)
    return -(a + 1) * power / (x * (a + power)), by_a


@continuous(stats.loglaplace)
def loglaplace(x, c):
    return (np.where(x < 1, c, -c) - 1) / x, 1 / c - np.abs(np.log(x))


# -- of normal and other variables ---------------------------------------------------------------


@continuous(stats.gibrat)
def gibrat(x):
    return (-(1 + np.log(x)) / x,)


@continuous(stats.wald)
def wald(x):
    return (-1.5 / x - (1 - 1 / (x * x)) / 2,)


@continuous(stats.recipinvgauss)
def recipinvgauss(x, mu):
    by_x = -0.5 / x + (1 / (x * x) - mu * mu) / (2 * mu * mu)
    return by_x, (1 / mu - x) / (mu * mu * x)


@continuous(stats.geninvgauss)
def geninvgauss(x, p, b):
    """By p as little is known as of the order of Bessel functions."""
    by_b = sp.kve(p + 1, b) / sp.kve(p, b) - p / b - (x + 1 / x) / 2
    return (p - 1) / x - b * (1 - 1 / (x * x)) / 2, UNKNOWN, by_b


@continuous(stats.powerlognorm)
def powerlognorm(x, c, s):
    z = np.log(x) / s
    slope = z + (c - 1) * hazard(-z)
    return -(1 + slope / s) / x, 1 / c + stats.norm.logcdf(-z), (z * slope - 1) / s


@continuous(stats.foldnorm)
def foldnorm(x, c):
    slope = np.tanh(c * x)
    return c * slope - x, x * slope - c


@continuous(stats.foldcauchy)
def foldcauchy(x, c):
    near, far = 1 / (1 + (x - c) ** 2), 1 / (1 + (x + c) ** 2)
    by_near, by_far = 2 * (x - c) * near**2, 2 * (x + c) * far**2
    return -(by_near + by_far) / (near + far), (by_near - by_far) / (near + far)


@continuous(stats.rice)
def rice(x, b):
    slope = sp.i1e(x * b) / sp.i0e(x * b)
    return 1 / x - x + b * slope, x * slope - b


@continuous(stats.ncx2)
def ncx2(x, df, nc):
    order, root = df / 2 - 1, np.sqrt(x * nc)
    slope = sp.ive(order + 1, root) / sp.ive(order, root) / 2
    return order / x - 0.5 + slope * np.sqrt(nc / x), UNKNOWN, slope * np.sqrt(x / nc) - 0.5


@continuous(stats.alpha)
def alpha(x, a):
    gap = a - 1 / x
    return -(2 + gap / x) / x, -gap - hazard(a)
