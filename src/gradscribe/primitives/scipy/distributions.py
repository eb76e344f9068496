"""Distribution functions of `scipy.special`, and their inverses.

Each moves with its last argument by the density, and its inverse by one over that; with a
parameter the inverse moves by minus the derivative of the function by it, over the density.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.special as sp

from gradscribe.primitives.registry import UNKNOWN, elementwise
from gradscribe.primitives.scipy.gamma import beta_density, gamma_density
from gradscribe.primitives.scipy.incomplete import (
    beta_series,
    betainc_by_parameters,
    gammainc_by_parameter,
)
from gradscribe.primitives.static import known

_ROOT_2_PI = math.sqrt(2 * math.pi)

# -- the normal distribution ---------------------------------------------------------------------


@elementwise(sp.ndtr)
def ndtr(out, x):
    return np.exp(-x * x / 2) / _ROOT_2_PI


@elementwise(sp.log_ndtr)
def log_ndtr(out, x):
    return np.exp(-x * x / 2 - out) / _ROOT_2_PI


@elementwise(sp.ndtri)
def ndtri(out, y):
    return np.exp(out * out / 2) * _ROOT_2_PI


@elementwise(sp.ndtri_exp)
def ndtri_exp(out, y):
    return np.exp(y + out * out / 2) * _ROOT_2_PI


@elementwise(sp.owens_t)
def owens_t(out, h, a):
    """Owen, "A table of normal integrals" (1980), 10,010.1. Where a is infinite, it is a quarter of
    erfc(|h| / sqrt(2)), with the sign of a."""
    density = np.exp(-h * h / 2) / _ROOT_2_PI
    if known(a) and a in (math.inf, -math.inf):
        return (-density if a > 0 else density) * np.sign(h) / 2, None
    if known(a):
        return -density * (sp.ndtr(a * h) - 0.5), None
    is_limit = np.isinf(a)
    inside = np.where(is_limit, 0, a)
    area = np.where(is_limit, np.sign(a) * np.sign(h) / 2, sp.ndtr(inside * h) - 0.5)
    square = 1 + inside * inside
    by_a = np.exp(-h * h * square / 2) / (2 * math.pi * square)
    return -density * area, np.where(is_limit, 0, by_a)


# -- Student's, chi-square, F and gamma ----------------------------------------------------------


@elementwise(sp.stdtr)
def stdtr(out, df, t):
    return student_by_df(df, t), student_density(df, t)


@elementwise(sp.stdtrit)
def stdtrit(out, df, p):
    slope = 1 / student_density(df, out)
    return -student_by_df(df, out) * slope, slope


def student_density(df, t):
    powers = -(df + 1) / 2 * np.log1p(t * t / df)
    return np.exp(powers - sp.betaln(0.5, df / 2)) / np.sqrt(df)


def student_by_df(df, t):
    """Abramowitz & Stegun 26.7.1: of t > 0 it is 1 - betainc(df / 2, 1 / 2, x) / 2, where x is
    df / (df + t**2). Where t is small, the series of betainc(1 / 2, df / 2, 1 - x), times t."""
    half, square = df / 2, t * t
    whole = df + square
    is_small = square * (half + 2.5) < 1.5 * whole
    near = np.where(is_small, square / whole, 0)
    total, _, by_half = beta_series(0.5, half, near)
    relative = total * (np.log1p(-near) + sp.psi(half + 0.5) - sp.psi(half) + by_half) - 1 / df
    size = t / (2 * np.sqrt(whole)) * np.exp(half * np.log1p(-near) - sp.betaln(0.5, half))
    x = np.where(is_small, 0.5, df / whole)
    by_half, _ = betainc_by_parameters(half, 0.5, x)
    by_x = beta_density(half, 0.5, x) * square / (whole * whole)
    return np.where(is_small, size * relative, -np.sign(t) * (by_half / 2 + by_x) / 2)


@elementwise(sp.chdtr)
def chdtr(out, v, x):
    return gammainc_by_parameter(v / 2, x / 2) / 2, gamma_density(v / 2, x / 2) / 2


@elementwise(sp.chdtrc)
def chdtrc(out, v, x):
    return -gammainc_by_parameter(v / 2, x / 2) / 2, -gamma_density(v / 2, x / 2) / 2


@elementwise(sp.chdtri)
def chdtri(out, v, p):
    slope = 1 / gamma_density(v / 2, out / 2)
    return -gammainc_by_parameter(v / 2, out / 2) * slope, -2 * slope


@elementwise(sp.gdtr)
def gdtr(out, a, b, x):
    density = gamma_density(b, a * x)
    return density * x, gammainc_by_parameter(b, a * x), density * a


@elementwise(sp.gdtrc)
def gdtrc(out, a, b, x):
    density = gamma_density(b, a * x)
    return -density * x, -gammainc_by_parameter(b, a * x), -density * a


@elementwise(sp.fdtr)
def fdtr(out, dfn, dfd, x):
    return *f_by_degrees(dfn, dfd, x), _f_density(dfn, dfd, x)


@elementwise(sp.fdtrc)
def fdtrc(out, dfn, dfd, x):
    by_dfn, by_dfd = f_by_degrees(dfn, dfd, x)
    return -by_dfn, -by_dfd, -_f_density(dfn, dfd, x)


@elementwise(sp.fdtri)
def fdtri(out, dfn, dfd, p):
    by_dfn, by_dfd = f_by_degrees(dfn, dfd, out)
    slope = 1 / _f_density(dfn, dfd, out)
    return -by_dfn * slope, -by_dfd * slope, slope


def _f_density(dfn, dfd, x):
    whole = dfn * x + dfd
    return beta_density(dfn / 2, dfd / 2, dfn * x / whole) * dfn * dfd / (whole * whole)


def f_by_degrees(dfn, dfd, x):
    """Abramowitz & Stegun 26.6.2."""
    whole = dfn * x + dfd
    part = dfn * x / whole
    by_dfn, by_dfd = betainc_by_parameters(dfn / 2, dfd / 2, part)
    by_part = beta_density(dfn / 2, dfd / 2, part) * x / (whole * whole)
    return by_dfn / 2 + by_part * dfd, by_dfd / 2 - by_part * dfn


# -- Poisson and binomial ------------------------------------------------------------------------


@elementwise(sp.pdtr)
def pdtr(out, k, m):
    return UNKNOWN, -gamma_density(np.floor(k) + 1, m)


@elementwise(sp.pdtrc)
def pdtrc(out, k, m):
    return UNKNOWN, gamma_density(np.floor(k) + 1, m)


@elementwise(sp.bdtr)
def bdtr(out, k, n, p):
    k = np.floor(k)
    return UNKNOWN, UNKNOWN, -beta_density(k + 1, n - k, p)


@elementwise(sp.bdtrc)
def bdtrc(out, k, n, p):
    k = np.floor(k)
    return UNKNOWN, UNKNOWN, beta_density(k + 1, n - k, p)


@elementwise(sp.nbdtr)
def nbdtr(out, k, n, p):
    return UNKNOWN, UNKNOWN, beta_density(n, k + 1, p)


@elementwise(sp.nbdtrc)
def nbdtrc(out, k, n, p):
    return UNKNOWN, UNKNOWN, -beta_density(n, k + 1, p)
