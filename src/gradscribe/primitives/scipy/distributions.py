"""Distribution functions of `scipy.special`, and their inverses.

Each moves with its last argument by the density, and its inverse by one over that. By degrees of
freedom no derivative is known in terms of other functions.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.special as sp

from gradscribe.primitives.registry import UNKNOWN, elementwise
from gradscribe.primitives.scipy.gamma import beta_density, gamma_density

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
    """Owen, "A table of normal integrals" (1980), 10,010.1."""
    by_h = -np.exp(-h * h / 2) / _ROOT_2_PI * (sp.ndtr(a * h) - 0.5)
    square = 1 + a * a
    return by_h, np.exp(-h * h * square / 2) / (2 * math.pi * square)


# -- Student's, chi-square, F and gamma ----------------------------------------------------------


@elementwise(sp.stdtr)
def stdtr(out, df, t):
    return UNKNOWN, student_density(df, t)


@elementwise(sp.stdtrit)
def stdtrit(out, df, p):
    return UNKNOWN, 1 / student_density(df, out)


def student_density(df, t):
    powers = -(df + 1) / 2 * np.log1p(t * t / df)
    return np.exp(powers - sp.betaln(0.5, df / 2)) / np.sqrt(df)


@elementwise(sp.chdtr)
def chdtr(out, v, x):
    return UNKNOWN, gamma_density(v / 2, x / 2) / 2


@elementwise(sp.chdtrc)
def chdtrc(out, v, x):
    return UNKNOWN, -gamma_density(v / 2, x / 2) / 2


@elementwise(sp.chdtri)
def chdtri(out, v, p):
    return UNKNOWN, -2 / gamma_density(v / 2, out / 2)


@elementwise(sp.gdtr)
def gdtr(out, a, b, x):
    density = gamma_density(b, a * x)
    return density * x, UNKNOWN, density * a


@elementwise(sp.gdtrc)
def gdtrc(out, a, b, x):
    density = gamma_density(b, a * x)
    return -density * x, UNKNOWN, -density * a


@elementwise(sp.fdtr)
def fdtr(out, dfn, dfd, x):
    return UNKNOWN, UNKNOWN, _f_density(dfn, dfd, x)


@elementwise(sp.fdtrc)
def fdtrc(out, dfn, dfd, x):
    return UNKNOWN, UNKNOWN, -_f_density(dfn, dfd, x)


@elementwise(sp.fdtri)
def fdtri(out, dfn, dfd, p):
    return UNKNOWN, UNKNOWN, 1 / _f_density(dfn, dfd, out)


def _f_density(dfn, dfd, x):
    whole = dfn * x + dfd
    return beta_density(dfn / 2, dfd / 2, dfn * x / whole) * dfn * dfd / (whole * whole)


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
