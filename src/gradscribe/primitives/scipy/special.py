"""Error functions, logistic functions, entropies, losses, and other elementary functions.

Formulas: Abramowitz & Stegun, chapters 5 and 7. Quotients that are 0/0 at a point are written as
hypergeometric functions, which have all derivatives there: log(1 + t) / t = F(1, 1; 2; -t), and
(exp(t) - 1) / t = M(1, 2, t).
"""

from __future__ import annotations

import math

import numpy as np
import scipy.special as sp

from gradscribe.primitives.registry import PUBLIC, UNKNOWN, available, composition, elementwise
from gradscribe.primitives.static import known

_ROOT_PI = math.sqrt(math.pi)

# -- error functions -----------------------------------------------------------------------------


@elementwise(sp.erf)
def erf(out, z):
    return 2 / _ROOT_PI * np.exp(-z * z)


@elementwise(sp.erfc)
def erfc(out, x):
    return -2 / _ROOT_PI * np.exp(-x * x)


@elementwise(sp.erfcx)
def erfcx(out, x):
    return 2 * x * out - 2 / _ROOT_PI


@elementwise(sp.erfi)
def erfi(out, z):
    return 2 / _ROOT_PI * np.exp(z * z)


@elementwise(sp.erfinv)
def erfinv(out, y):
    return _ROOT_PI / 2 * np.exp(out * out)


@elementwise(sp.erfcinv)
def erfcinv(out, y):
    return -_ROOT_PI / 2 * np.exp(out * out)


@elementwise(sp.dawsn)
def dawsn(out, x):
    return 1 - 2 * x * out


@elementwise(sp.wofz)
def wofz(out, z):
    return 2j / _ROOT_PI - 2 * z * out


# -- logistic functions --------------------------------------------------------------------------


@elementwise(sp.expit)
def expit(out, x):
    return out * (1 - out)


@elementwise(sp.logit)
def logit(out, x):
    return 1 / (x * (1 - x))


@elementwise(sp.log_expit)
def log_expit(out, x):
    return sp.expit(-x)


@composition(*available(sp, "softplus"))
def softplus(x):
    return np.logaddexp(0, x)


# -- entropies and losses ------------------------------------------------------------------------


@elementwise(sp.entr)
def entr(out, x):
    return -np.log(x) - 1


@elementwise(sp.rel_entr)
def rel_entr(out, x, y):
    return np.log(x / y) + 1, -_of_factor(x, y)


@elementwise(sp.kl_div)
def kl_div(out, x, y):
    return np.log(x / y), 1 - _of_factor(x, y)


@elementwise(sp.xlogy)
def xlogy(out, x, y):
    return np.log(np.where((x == 0) & _has_no_log(y), 1, y)), _of_factor(x, y)


@elementwise(sp.xlog1py)
def xlog1py(out, x, y):
    return np.log1p(np.where((x == 0) & _has_no_log(1 + y), 0, y)), _of_factor(x, 1 + y)


def _has_no_log(y):
    if np.asarray(y).dtype.kind == "c":
        return y == 0
    return y <= 0


def _of_factor(x, y):
    """x / y, and zero where x is: there the product is zero whatever y is."""
    return x / np.where((x == 0) & (y == 0), 1, y)


@elementwise(sp.huber)
def huber(out, delta, r):
    return np.maximum(np.abs(r) - delta, 0), np.clip(r, -delta, delta)


@elementwise(sp.pseudo_huber)
def pseudo_huber(out, delta, r):
    slope = r / np.hypot(1, r / delta)
    return 2 * out / delta - slope * r / delta, slope


# -- powers, exponentials and logarithms ---------------------------------------------------------


@elementwise(sp.exprel)
def exprel(out, x):
    return sp.hyp1f1(2, 3, x) / 2


@elementwise(sp.exp10)
def exp10(out, x):
    return math.log(10) * out


@elementwise(sp.exp2)
def exp2(out, x):
    return math.log(2) * out


@elementwise(sp.expm1)
def expm1(out, x):
    return out + 1


@elementwise(sp.log1p)
def log1p(out, x):
    return 1 / (1 + x)


@elementwise(sp.cbrt)
def cbrt(out, x):
    return 1 / (3 * out * out)


@elementwise(sp.cosm1)
def cosm1(out, x):
    return -np.sin(x)


@elementwise(sp.powm1)
def powm1(out, x, y):
    return y * x ** (y - 1), (out + 1) * np.log(x)


@elementwise(sp.boxcox)
def boxcox(out, x, lmbda):
    log = np.log(x)
    return x ** (lmbda - 1), log * log * (sp.hyp1f1(2, 3, lmbda * log) / 2)


@elementwise(sp.boxcox1p)
def boxcox1p(out, x, lmbda):
    log = np.log1p(x)
    return (1 + x) ** (lmbda - 1), log * log * (sp.hyp1f1(2, 3, lmbda * log) / 2)


@elementwise(sp.inv_boxcox)
def inv_boxcox(out, y, lmbda):
    return out ** (1 - lmbda), out * _log_by_exponent(y, lmbda)


@elementwise(sp.inv_boxcox1p)
def inv_boxcox1p(out, y, lmbda):
    return (1 + out) ** (1 - lmbda), (1 + out) * _log_by_exponent(y, lmbda)


def _log_by_exponent(y, lmbda):
    """The derivative of log(1 + lmbda y) / lmbda by lmbda."""
    return -y * y * (sp.hyp2f1(2, 2, 3, -lmbda * y) / 2)


@elementwise(sp.wrightomega)
def wrightomega(out, z):
    return out / (1 + out)


# -- angles in degrees ---------------------------------------------------------------------------

_DEGREE = math.pi / 180


@elementwise(sp.sindg)
def sindg(out, x):
    return _DEGREE * sp.cosdg(x)


@elementwise(sp.cosdg)
def cosdg(out, x):
    return -_DEGREE * sp.sindg(x)


@elementwise(sp.tandg)
def tandg(out, x):
    return _DEGREE * (1 + out * out)


@elementwise(sp.cotdg)
def cotdg(out, x):
    return -_DEGREE * (1 + out * out)


@elementwise(sp.radian)
def radian(out, d, m, s):
    return _DEGREE, _DEGREE / 60, _DEGREE / 3600


@elementwise(sp.round)
def round(out, x):
    return None


# -- integrals -----------------------------------------------------------------------------------


@elementwise(sp.exp1)
def exp1(out, z):
    return -np.exp(-z) / z


@elementwise(sp.expi)
def expi(out, x):
    return np.exp(x) / x


@elementwise(sp.expn)
def expn(out, n, x):
    """By A&S 5.1.26; of E(0), which is exp(-x) / x, by itself."""
    if known(n) and n > 0:
        slope = -sp.expn(n - 1, x)
    else:
        slope = np.where(n == 0, -out - out / x, -sp.expn(np.maximum(n - 1, 0), x))
    return UNKNOWN, slope


@elementwise(sp.spence)
def spence(out, z):
    """log(z) / (1 - z): near one, where that is 0 / 0, by its series (which SciPy has wrong for
    complex numbers that are further away)."""
    if np.asarray(z).dtype.kind != "c":
        return -sp.hyp2f1(1, 1, 2, 1 - z)
    near = np.abs(1 - z) < 0.5
    series = sp.hyp2f1(1, 1, 2, np.where(near, 1 - z, 0))
    return np.where(near, -series, np.log(z) / np.where(near, 1, 1 - z))


# -- of several parameters -----------------------------------------------------------------------


@elementwise(sp.lambertw)
def lambertw(out, z, k=0, tol=1e-8):
    return 1 / (np.exp(out) * (1 + out)), None, None


for _ufunc in available(sp._ufuncs, "_lambertw"):
    PUBLIC[_ufunc] = sp.lambertw


@elementwise(sp.voigt_profile)
def voigt_profile(out, x, sigma, gamma):
    """The real part of w(z / (sigma sqrt(2))) / (sigma sqrt(2 pi)), where w is Faddeeva's function,
    and z is x + i gamma; far from the center, and where sigma is zero, by its asymptotic series
    i / (pi z) * sum of (2k - 1)!! (sigma / z)**(2k) (DLMF 7.12.1)."""
    z = x + 1j * gamma
    if known(sigma):
        slope = np.divide(-1j, math.pi * z * z) if sigma == 0 else _slope_of_voigt(z, sigma)
        return np.real(slope), None, -np.imag(slope)
    is_far = (np.abs(z) > 40 * np.abs(sigma)) & ((gamma > 0) | (sigma == 0))
    far, far_by_sigma = _far_slopes_of_voigt(np.where(is_far, z, 1), np.where(is_far, sigma, 0))
    inside = np.where(is_far, 1, np.where(sigma == 0, np.nan, sigma))
    near = _slope_of_voigt(z, inside)
    by_sigma = np.where(is_far, far_by_sigma, -(out + np.real(near * z)) / inside)
    slope = np.where(is_far, far, near)
    return np.real(slope), by_sigma, -np.imag(slope)


def _slope_of_voigt(z, sigma):
    width = math.sqrt(2) * sigma
    scaled = z / width
    return (2j / _ROOT_PI - 2 * scaled * sp.wofz(scaled)) / (_ROOT_PI * width * width)


def _far_slopes_of_voigt(z, sigma):
    """By z, and the real part of that by sigma."""
    ratio = sigma / z
    powers = np.power(np.expand_dims(ratio * ratio, -1), np.arange(7))
    by_z = np.sum(np.array((1, 3, 15, 105, 945, 10395, 135135)) * powers, axis=-1)
    by_sigma = np.sum(np.array((2, 12, 90, 840, 9450, 124740, 1891890)) * powers, axis=-1)
    square = math.pi * z * z
    return -1j * by_z / square, np.real(1j * ratio * by_sigma / square)
