"""Distributions of `scipy.stats` on all real numbers, and further ones on integers: as in
`stats.py`, the derivatives of their log densities in the standard form."""

from __future__ import annotations

import math

import numpy as np
import scipy.special as sp
from scipy import stats

from gradscribe.primitives.scipy.bounded_stats import below_reciprocal, log_mean_by
from gradscribe.primitives.scipy.distributed import continuous, discrete
from gradscribe.primitives.scipy.positive_stats import hazard

# -- continuous ----------------------------------------------------------------------------------


@continuous(stats.moyal)
def moyal(x):
    return (np.expm1(-x) / 2,)


@continuous(stats.loggamma)
def loggamma(x, c):
    return c - np.exp(x), x - sp.psi(c)


@continuous(stats.genlogistic)
def genlogistic(x, c):
    return (c + 1) * sp.expit(-x) - 1, 1 / c - np.logaddexp(0, -x)


@continuous(stats.dgamma)
def dgamma(x, a):
    size = np.abs(x)
    return np.sign(x) * ((a - 1) / size - 1), np.log(size) - sp.psi(a)


@continuous(stats.dweibull)
def dweibull(x, c):
    size = np.abs(x)
    slope = 1 - size**c
    return (c * slope - 1) / x, 1 / c + np.log(size) * slope


@continuous(stats.laplace_asymmetric)
def laplace_asymmetric(x, kappa):
    rate = np.where(x >= 0, -kappa, 1 / kappa)
    by_rate = np.where(x >= 0, -x, -x / (kappa * kappa))
    return rate, by_rate - (1 - 1 / (kappa * kappa)) / (kappa + 1 / kappa)


@continuous(stats.johnsonsu)
def johnsonsu(x, a, b):
    square = x * x + 1
    z = a + b * np.arcsinh(x)
    return -x / square - b * z / np.sqrt(square), -z, 1 / b - z * np.arcsinh(x)


@continuous(stats.powernorm)
def powernorm(x, c):
    return -x - (c - 1) * hazard(-x), 1 / c + stats.norm.logcdf(-x)


@continuous(stats.exponnorm)
def exponnorm(x, K):
    slope = hazard(x - 1 / K)
    return slope - 1 / K, (x + slope - 1 / K) / (K * K) - 1 / K


@continuous(stats.skewnorm)
def skewnorm(x, a):
    slope = hazard(a * x)
    return a * slope - x, x * slope


@continuous(stats.skewcauchy)
def skewcauchy(x, a):
    width = 1 + a * np.sign(x)
    whole = x * x + width * width
    return -2 * x / whole, 2 * x * np.abs(x) / (width * whole)


@continuous(stats.norminvgauss)
def norminvgauss(x, a, b):
    length, root = np.sqrt(1 + x * x), np.sqrt(a * a - b * b)
    slope = sp.k0e(a * length) / sp.k1e(a * length)
    by_x = b - a * x * slope / length - 2 * x / (1 + x * x)
    return by_x, a / root - length * slope, x - b / root


@continuous(stats.crystalball)
def crystalball(x, beta, m):
    """A normal distribution with a tail that falls off by a power below -beta."""
    is_tail = x <= -beta
    height = np.exp(-beta * beta / 2)
    tail = m / (beta * (m - 1)) * height
    total = tail + math.sqrt(2 * math.pi) * stats.norm.cdf(beta)
    gap = np.where(is_tail, m / beta - beta - x, 1)
    by_beta = np.where(is_tail, m * (m / (beta * beta) + 1) / gap - m / beta - beta, 0)
    by_m = np.where(is_tail, np.log(m / beta) + 1 - np.log(gap) - m / (beta * gap), 0)
    return (
        np.where(is_tail, m / gap, -x),
        by_beta - (height - tail * (1 / beta + beta)) / total,
        by_m + tail / (m * (m - 1)) / total,
    )


# -- discrete ------------------------------------------------------------------------------------


@discrete(stats.betabinom)
def betabinom(k, n, a, b):
    whole, total = sp.psi(a + b), sp.psi(n + a + b)
    rest = sp.psi(n - k + b)
    by_n = sp.psi(n + 1) - sp.psi(n - k + 1) + rest - total
    return by_n, sp.psi(k + a) - sp.psi(a) + whole - total, rest - sp.psi(b) + whole - total


@discrete(stats.betanbinom)
def betanbinom(k, n, a, b):
    whole, total = sp.psi(a + b), sp.psi(a + b + n + k)
    of_n = sp.psi(a + n)
    by_n = sp.psi(n + k) - sp.psi(n) + of_n - total
    return by_n, of_n - sp.psi(a) + whole - total, sp.psi(b + k) - sp.psi(b) + whole - total


@discrete(stats.planck)
def planck(k, lambda_):
    return (1 / np.expm1(lambda_) - k,)


@discrete(stats.boltzmann)
def boltzmann(k, lambda_, N):
    by_lambda = N * below_reciprocal(lambda_ * N) - below_reciprocal(lambda_) - k
    return by_lambda, -1 / (N * sp.exprel(lambda_ * N))


@discrete(stats.dlaplace)
def dlaplace(k, a):
    return (1 / np.sinh(a) - np.abs(k),)


@discrete(stats.logser)
def logser(k, p):
    return ((k - 1) / p - log_mean_by(p),)


@discrete(stats.yulesimon)
def yulesimon(k, alpha):
    return (1 / alpha + sp.psi(alpha + 1) - sp.psi(k + alpha + 1),)


@discrete(stats.skellam)
def skellam(k, mu1, mu2):
    order, root = np.abs(k), 2 * np.sqrt(mu1 * mu2)
    slope = sp.ive(order + 1, root) / sp.ive(order, root)
    by_mu1 = (k + order) / (2 * mu1) + slope * np.sqrt(mu2 / mu1) - 1
    return by_mu1, (order - k) / (2 * mu2) + slope * np.sqrt(mu1 / mu2) - 1
