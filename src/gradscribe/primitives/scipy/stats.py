"""Distributions of `scipy.stats`: the derivatives of their log densities in the standard form.

Each function gives the derivative by x (of discrete distributions, which have none, only those by
the parameters), then those by the shapes.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.special as sp
from scipy import stats

from gradscribe.primitives.registry import UNKNOWN
from gradscribe.primitives.scipy.distributed import continuous, discrete, real_power
from gradscribe.primitives.scipy.distributions import f_by_degrees, student_by_df
from gradscribe.primitives.scipy.gamma import beta_density
from gradscribe.primitives.scipy.incomplete import betainc_by_parameters, gammainc_by_parameter

# -- without shapes ------------------------------------------------------------------------------


@continuous(stats.norm)
def norm(x):
    return (-x,)


@continuous(stats.uniform)
def uniform(x):
    return (np.zeros_like(x),)


@continuous(stats.expon)
def expon(x):
    return (-np.ones_like(x),)


@continuous(stats.laplace)
def laplace(x):
    return (-np.sign(x),)


@continuous(stats.logistic)
def logistic(x):
    return (-np.tanh(x / 2),)


@continuous(stats.cauchy)
def cauchy(x):
    return (-2 * x / (1 + x * x),)


@continuous(stats.halfnorm)
def halfnorm(x):
    return (-x,)


@continuous(stats.halfcauchy)
def halfcauchy(x):
    return (-2 * x / (1 + x * x),)


@continuous(stats.halflogistic)
def halflogistic(x):
    return (-np.tanh(x / 2),)


@continuous(stats.gumbel_r)
def gumbel_r(x):
    return (np.exp(-x) - 1,)


@continuous(stats.gumbel_l)
def gumbel_l(x):
    return (1 - np.exp(x),)


@continuous(stats.hypsecant)
def hypsecant(x):
    return (-np.tanh(x),)


@continuous(stats.rayleigh)
def rayleigh(x):
    return (1 / x - x,)


@continuous(stats.maxwell)
def maxwell(x):
    return (2 / x - x,)


@continuous(stats.levy)
def levy(x):
    return (0.5 / (x * x) - 1.5 / x,)


# -- with shapes ---------------------------------------------------------------------------------


def gamma_shapes(x, a):
    return (gammainc_by_parameter(a, np.maximum(x, 0)),)


@continuous(stats.gamma, gamma_shapes)
def gamma(x, a):
    return (a - 1) / x - 1, np.log(x) - sp.psi(a)


def _invgamma_shapes(x, a):
    return (-gammainc_by_parameter(a, 1 / np.where(x > 0, x, np.inf)),)


@continuous(stats.invgamma, _invgamma_shapes)
def invgamma(x, a):
    return 1 / (x * x) - (a + 1) / x, -np.log(x) - sp.psi(a)


def _chi2_shapes(x, df):
    return (gammainc_by_parameter(df / 2, np.maximum(x, 0) / 2) / 2,)


@continuous(stats.chi2, _chi2_shapes)
def chi2(x, df):
    return (df / 2 - 1) / x - 0.5, (np.log(x / 2) - sp.psi(df / 2)) / 2


def _chi_shapes(x, df):
    return (gammainc_by_parameter(df / 2, np.maximum(x, 0) ** 2 / 2) / 2,)


@continuous(stats.chi, _chi_shapes)
def chi(x, df):
    return (df - 1) / x - x, np.log(x) - (math.log(2) + sp.psi(df / 2)) / 2


def _beta_shapes(x, a, b):
    return betainc_by_parameters(a, b, np.clip(x, 0, 1))


@continuous(stats.beta, _beta_shapes)
def beta(x, a, b):
    whole = sp.psi(a + b)
    by_x = (a - 1) / x - (b - 1) / (1 - x)
    return by_x, np.log(x) - sp.psi(a) + whole, np.log1p(-x) - sp.psi(b) + whole


def _t_shapes(x, df):
    return (student_by_df(df, x),)


@continuous(stats.t, _t_shapes)
def t(x, df):
    square = x * x
    powers = (df + 1) * square / (df * (df + square)) - np.log1p(square / df)
    by_df = (sp.psi((df + 1) / 2) - sp.psi(df / 2) - 1 / df + powers) / 2
    return -(df + 1) * x / (df + square), by_df


def _f_shapes(x, dfn, dfd):
    return f_by_degrees(dfn, dfd, np.maximum(x, 0))


@continuous(stats.f, _f_shapes)
def f(x, dfn, dfd):
    part, whole = dfn * x + dfd, dfn + dfd
    same = sp.psi(whole / 2) - np.log(part)
    by_dfn = (same - sp.psi(dfn / 2) + np.log(dfn * x) + 1 - whole * x / part) / 2
    by_dfd = (same - sp.psi(dfd / 2) + np.log(dfd) + 1 - whole / part) / 2
    return (dfn / 2 - 1) / x - whole * dfn / (2 * part), by_dfn, by_dfd


def _lognorm_shapes(x, s):
    z = np.log(np.where(x > 0, x, 1)) / s
    return (-stats.norm.pdf(z) * z / s,)


@continuous(stats.lognorm, _lognorm_shapes)
def lognorm(x, s):
    z = np.log(x) / s
    return -(1 + z / s) / x, (z * z - 1) / s


def _weibull_shapes(x, c):
    x = np.maximum(x, 0)
    power = x**c
    return (np.exp(-power) * sp.xlogy(power, x),)


@continuous(stats.weibull_min, _weibull_shapes)
def weibull_min(x, c):
    slope = 1 - real_power(x, c)
    return (c * slope - 1) / x, 1 / c + np.log(x) * slope


def _pareto_shapes(x, b):
    return (np.where(x > 1, np.log(x) * real_power(x, -b), 0),)


@continuous(stats.pareto, _pareto_shapes)
def pareto(x, b):
    return -(b + 1) / x, 1 / b - np.log(x)


@continuous(stats.powerlaw)
def powerlaw(x, a):
    return (a - 1) / x, 1 / a + np.log(x)


@continuous(stats.invgauss)
def invgauss(x, mu):
    gap = x - mu
    by_x = -1.5 / x - gap * (x + mu) / (2 * mu * mu * x * x)
    return by_x, gap / (mu * mu * mu)


@continuous(stats.gennorm)
def gennorm(x, beta):
    size = np.abs(x)
    power = size**beta
    by_beta = 1 / beta + sp.psi(1 / beta) / (beta * beta) - sp.xlogy(power, size)
    return -beta * np.sign(x) * size ** (beta - 1), by_beta


# -- discrete distributions ----------------------------------------------------------------------


def _poisson_shapes(k, mu):
    return (-stats.poisson.pmf(np.floor(k), mu),)


@discrete(stats.poisson, _poisson_shapes)
def poisson(k, mu):
    return (k / mu - 1,)


def _bernoulli_shapes(k, p):
    return (-1.0 * ((k >= 0) & (k < 1)),)


@discrete(stats.bernoulli, _bernoulli_shapes)
def bernoulli(k, p):
    return ((k - p) / (p * (1 - p)),)


def _geom_shapes(k, p):
    k = np.maximum(np.floor(k), 0)
    return (k * (1 - p) ** (k - 1),)


@discrete(stats.geom, _geom_shapes)
def geom(k, p):
    return (1 / p - (k - 1) / (1 - p),)


def _binom_shapes(k, n, p):
    k = np.floor(k)
    inside = (k >= 0) & (k < n)
    k = np.where(inside, k, 0)
    return UNKNOWN, np.where(inside, -beta_density(k + 1, n - k, p), 0)


@discrete(stats.binom, _binom_shapes)
def binom(k, n, p):
    by_n = sp.psi(n + 1) - sp.psi(n - k + 1) + np.log1p(-p)
    return by_n, (k - n * p) / (p * (1 - p))


def _nbinom_shapes(k, n, p):
    inside = k >= 0
    k = np.maximum(np.floor(k), 0)
    by_n, _ = betainc_by_parameters(n, k + 1, p)
    return np.where(inside, by_n, 0), np.where(inside, beta_density(n, k + 1, p), 0)


@discrete(stats.nbinom, _nbinom_shapes)
def nbinom(k, n, p):
    return sp.psi(k + n) - sp.psi(n) + np.log(p), n / p - k / (1 - p)
