"""The gamma and beta functions, those that are incomplete, zeta, and numbers of choices.

Formulas: Abramowitz & Stegun, chapters 6 and 26; an inverse function moves with the value by one
over the derivative at the result, with a parameter by minus that by the parameter over it.
"""

from __future__ import annotations

import numpy as np
import scipy.special as sp

from gradscribe.primitives.registry import (
    PUBLIC,
    UNKNOWN,
    available,
    composition,
    elementwise,
)
from gradscribe.primitives.scipy.incomplete import betainc_by_parameters, gammainc_by_parameter

# -- the gamma and the beta function -------------------------------------------------------------


def _by_divisor(out, z, above=(), below=()):
    """The derivative of a quotient by z, one of the numbers whose gamma functions it is divided by.

    above, below: the other numbers whose gamma functions are its factors and divisors. At a pole
    of gamma the quotient is zero, and its derivative is that of sin(pi z) gamma(1 - z) / pi, which
    is 1 / gamma(z) (A&S 6.1.17), times the factors.
    """
    if np.asarray(z).dtype.kind == "c":
        return -out * sp.psi(z)
    is_pole = (z <= 0) & (z == np.floor(z))
    pole = np.where(is_pole, z, 0)
    slope = np.cos(np.pi * pole) - sp.psi(1 - pole) * np.sin(np.pi * pole) / np.pi
    slope = slope * sp.gamma(1 - pole)
    for other in above:
        slope = slope * sp.gamma(np.where(is_pole, other, 1))
    for other in below:
        slope = slope * sp.rgamma(np.where(is_pole, other, 1))
    return np.where(is_pole, slope, -out * sp.psi(np.where(is_pole | (z == np.inf), 1, z)))


@elementwise(sp.gammaln)
def gammaln(out, x):
    return sp.psi(x)


@elementwise(sp.loggamma)
def loggamma(out, z):
    return sp.psi(z)


@elementwise(sp.gamma)
def gamma(out, z):
    return out * sp.psi(z)


@elementwise(sp.rgamma)
def rgamma(out, z):
    return _by_divisor(out, z)


@elementwise(sp.gammasgn)
def gammasgn(out, x):
    return None


@elementwise(sp.psi)
def psi(out, z):
    return _trigamma(z) if np.asarray(z).dtype.kind == "c" else sp.zeta(2, z)


_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730)


def _trigamma(z):
    """Of complex numbers, for which SciPy has none: Abramowitz & Stegun, 6.4.12, ten steps up by
    6.4.6, from where it converges; left of one half by the reflection 6.4.7."""
    is_left = np.real(z) < 0.5
    right = np.where(is_left, 1 - z, z)
    steps = 1 / (np.expand_dims(right, -1) + np.arange(10)) ** 2
    w = right + 10
    square = w * w
    series = 0.0
    for number in _BERNOULLI[::-1]:
        series = (series + number) / square
    value = np.sum(steps, axis=-1) + (1 + 0.5 / w + series) / w
    sines = np.sin(np.pi * np.where(is_left, z, 0.5))
    return np.where(is_left, np.pi**2 / (sines * sines) - value, value)


@elementwise(sp.poch)
def poch(out, z, m):
    by_m = out * sp.psi(z + m)
    return by_m + _by_divisor(out, z, (z + m,)), by_m


@elementwise(sp.beta)
def beta(out, a, b):
    by_total = _by_divisor(out, a + b, (a, b))
    return out * sp.psi(a) + by_total, out * sp.psi(b) + by_total


@elementwise(sp.betaln)
def betaln(out, a, b):
    total = sp.psi(a + b)
    return sp.psi(a) - total, sp.psi(b) - total


@elementwise(sp.binom)
def binom(out, n, k):
    by_rest = _by_divisor(out, n - k + 1, (n + 1,), (k + 1,))
    by_chosen = _by_divisor(out, k + 1, (n + 1,), (n - k + 1,))
    return out * sp.psi(n + 1) + by_rest, by_chosen - by_rest


@elementwise(sp.zeta)
def zeta(out, x, q=None):
    """Of Hurwitz: the sum of (q + k) ** -x over k = 0, 1, …; of Riemann, where q is 1."""
    return UNKNOWN, None if q is None else -x * sp.zeta(x + 1, q)


for _ufunc in (*available(sp._ufuncs, "_zeta"), *available(sp._ufuncs, "_riemann_zeta")):
    PUBLIC[_ufunc] = sp.zeta


@composition(sp.polygamma)
def polygamma(n, x):
    n, x = np.asarray(n), np.asarray(x)
    others = (-1.0) ** (n + 1) * sp.gamma(n + 1.0) * sp.zeta(n + 1, x)
    return np.where(n == 0, sp.psi(x), others)


@composition(sp.multigammaln)
def multigammaln(a, d):
    a = np.asarray(a)
    parts = [sp.gammaln(a - (j - 1.0) / 2) for j in range(1, d + 1)]
    return d * (d - 1) * 0.25 * np.log(np.pi) + np.sum(parts, axis=0)


# -- incomplete functions ------------------------------------------------------------------------


def gamma_density(a, x):
    """The derivative of `gammainc(a, x)` by x; at zero a power, which has derivatives."""
    is_end = (x == 0) | (x == np.inf)
    inside = np.where(is_end, 1, x)
    density = np.exp(sp.xlogy(a - 1, inside) - inside - sp.gammaln(a))
    power = np.power(1.0 * x, a - 1) * np.exp(-x - sp.gammaln(a))
    return np.where(is_end, np.where(x == 0, power, 0), density)


def beta_density(a, b, x):
    """The derivative of `betainc(a, b, x)` by x; at the ends powers, which have derivatives."""
    is_end = (x == 0) | (x == 1)
    inside = np.where(is_end, 0.5, x)
    density = np.exp(sp.xlogy(a - 1, inside) + sp.xlog1py(b - 1, -inside) - sp.betaln(a, b))
    powers = np.power(1.0 * x, a - 1) * np.power(1.0 - x, b - 1)
    return np.where(is_end, powers * np.exp(-sp.betaln(a, b)), density)


@elementwise(sp.gammainc)
def gammainc(out, a, x):
    return gammainc_by_parameter(a, x), gamma_density(a, x)


@elementwise(sp.gammaincc)
def gammaincc(out, a, x):
    return -gammainc_by_parameter(a, x), -gamma_density(a, x)


@elementwise(sp.gammaincinv)
def gammaincinv(out, a, y):
    slope = 1 / gamma_density(a, out)
    return -gammainc_by_parameter(a, out) * slope, slope


@elementwise(sp.gammainccinv)
def gammainccinv(out, a, y):
    slope = 1 / gamma_density(a, out)
    return -gammainc_by_parameter(a, out) * slope, -slope


@elementwise(sp.betainc)
def betainc(out, a, b, x):
    by_a, by_b = betainc_by_parameters(a, b, x)
    return by_a, by_b, beta_density(a, b, x)


@elementwise(sp.betaincc)
def betaincc(out, a, b, x):
    by_a, by_b = betainc_by_parameters(a, b, x)
    return -by_a, -by_b, -beta_density(a, b, x)


@elementwise(sp.betaincinv)
def betaincinv(out, a, b, y):
    by_a, by_b = betainc_by_parameters(a, b, out)
    slope = 1 / beta_density(a, b, out)
    return -by_a * slope, -by_b * slope, slope


@elementwise(sp.betainccinv)
def betainccinv(out, a, b, y):
    by_a, by_b = betainc_by_parameters(a, b, out)
    slope = 1 / beta_density(a, b, out)
    return -by_a * slope, -by_b * slope, -slope
