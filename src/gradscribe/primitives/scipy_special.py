"""Elementwise functions of `scipy.special`; SciPy is optional, so `optional.py` imports this.

Formulas: Abramowitz & Stegun, chapters 6 (gamma), 7 (error function) and 9 (Bessel functions);
the derivative of an inverse function is one over that of the function at the result. Where a
function of two arguments has a known derivative in one of them only, it is entered under a name
of ours, so that no other is taken for zero.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sp

from gradscribe.primitives.registry import elementwise


def hurwitz_zeta(order: Any, x: Any) -> Any:
    """The sum of (x + k) ** -order over k = 0, 1, …; the order is held constant."""
    return sp.zeta(order, x)


def lower_gamma(a: Any, x: Any) -> Any:
    """The regularized lower incomplete gamma function; a is held constant."""
    return sp.gammainc(a, x)


def upper_gamma(a: Any, x: Any) -> Any:
    """The regularized upper incomplete gamma function; a is held constant."""
    return sp.gammaincc(a, x)


@elementwise(hurwitz_zeta)
def zeta(out, order, x):
    return None, -order * hurwitz_zeta(order + 1, x)


@elementwise(lower_gamma)
def gammainc(out, a, x):
    return None, _gamma_density(a, x)


@elementwise(upper_gamma)
def gammaincc(out, a, x):
    return None, -_gamma_density(a, x)


def _gamma_density(a, x):
    return np.exp((a - 1) * np.log(x) - x - sp.gammaln(a))


# -- the gamma function ------------------------------------------------------------------------


@elementwise(sp.gammaln)
def gammaln(out, x):
    return sp.psi(x)


@elementwise(sp.gamma)
def gamma(out, x):
    return out * sp.psi(x)


@elementwise(sp.psi)
def psi(out, x):
    return hurwitz_zeta(2, x)


@elementwise(sp.betaln)
def betaln(out, a, b):
    total = sp.psi(a + b)
    return sp.psi(a) - total, sp.psi(b) - total


# -- the error function and the normal distribution --------------------------------------------


@elementwise(sp.erf)
def erf(out, x):
    return 2 / math.sqrt(math.pi) * np.exp(-x * x)


@elementwise(sp.erfc)
def erfc(out, x):
    return -2 / math.sqrt(math.pi) * np.exp(-x * x)


@elementwise(sp.erfcx)
def erfcx(out, x):
    return 2 * x * out - 2 / math.sqrt(math.pi)


@elementwise(sp.erfinv)
def erfinv(out, x):
    return math.sqrt(math.pi) / 2 * np.exp(out * out)


@elementwise(sp.ndtr)
def ndtr(out, x):
    return np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


@elementwise(sp.ndtri)
def ndtri(out, x):
    return np.exp(out * out / 2) * math.sqrt(2 * math.pi)


@elementwise(sp.log_ndtr)
def log_ndtr(out, x):
    return np.exp(-x * x / 2 - out) / math.sqrt(2 * math.pi)


# -- Bessel functions --------------------------------------------------------------------------


@elementwise(sp.i0)
def i0(out, x):
    return sp.i1(x)


@elementwise(sp.i0e)
def i0e(out, x):
    return sp.i1e(x) - np.sign(x) * out


@elementwise(sp.i1)
def i1(out, x):
    return sp.i0(x) - _over(out, x, 0.5)


@elementwise(sp.i1e)
def i1e(out, x):
    return sp.i0e(x) - np.sign(x) * out - _over(out, x, 0.5)


@elementwise(sp.j0)
def j0(out, x):
    return -sp.j1(x)


@elementwise(sp.j1)
def j1(out, x):
    return sp.j0(x) - _over(out, x, 0.5)


def _over(y, x, limit):
    """y / x, and the limit where x is zero."""
    zero = x == 0
    return np.where(zero, limit, y / np.where(zero, 1, x))


# -- logistic functions and entropies ----------------------------------------------------------


@elementwise(sp.expit)
def expit(out, x):
    return out * (1 - out)


@elementwise(sp.logit)
def logit(out, x):
    return 1 / (x * (1 - x))


@elementwise(sp.log_expit)
def log_expit(out, x):
    return sp.expit(-x)


@elementwise(sp.entr)
def entr(out, x):
    return -np.log(x) - 1


@elementwise(sp.xlogy)
def xlogy(out, x, y):
    return np.log(np.where(x == 0, 1, y)), x / y


@elementwise(sp.xlog1py)
def xlog1py(out, x, y):
    return np.log1p(np.where(x == 0, 0, y)), x / (1 + y)
