"""Functions of Bessel, Struve and Kelvin.

Formulas: Abramowitz & Stegun, 9.1.27, 9.6.26, 9.9.1, 10.1.20, 12.1.11 and 12.2.5. A derivative is
a mean of neighbours, which has all further derivatives at zero, too. By the order none is known.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.special as sp

from gradscribe.primitives.registry import (
    NOT_HOLOMORPHIC,
    PRIMITIVES,
    UNKNOWN,
    composition,
    elementwise,
)
from gradscribe.primitives.static import known

# -- of order 0 and 1 ----------------------------------------------------------------------------


@elementwise(sp.j0)
def j0(out, x):
    return -sp.j1(x)


@elementwise(sp.j1)
def j1(out, x):
    return (sp.j0(x) - sp.jv(2, x)) / 2


@elementwise(sp.y0)
def y0(out, x):
    return -sp.y1(x)


@elementwise(sp.y1)
def y1(out, x):
    return sp.y0(x) - out / x


@elementwise(sp.i0)
def i0(out, x):
    return sp.i1(x)


@elementwise(sp.i0e)
def i0e(out, x):
    return sp.i1e(x) - np.sign(x) * out


@elementwise(sp.i1)
def i1(out, x):
    return (sp.i0(x) + sp.iv(2, x)) / 2


@elementwise(sp.i1e)
def i1e(out, x):
    return (sp.i0e(x) + sp.ive(2, x)) / 2 - np.sign(x) * out


@elementwise(sp.k0)
def k0(out, x):
    return -sp.k1(x)


@elementwise(sp.k0e)
def k0e(out, x):
    return out - sp.k1e(x)


@elementwise(sp.k1)
def k1(out, x):
    return -sp.k0(x) - out / x


@elementwise(sp.k1e)
def k1e(out, x):
    return out - sp.k0e(x) - out / x


# -- of any order --------------------------------------------------------------------------------


@elementwise(sp.jv)
def jv(out, v, z):
    return UNKNOWN, (sp.jv(v - 1, z) - sp.jv(v + 1, z)) / 2


@elementwise(sp.yn)
def yn(out, n, x):
    return UNKNOWN, (sp.yn(n - 1, x) - sp.yn(n + 1, x)) / 2


@elementwise(sp.yv)
def yv(out, v, z):
    return UNKNOWN, (sp.yv(v - 1, z) - sp.yv(v + 1, z)) / 2


@elementwise(sp.iv)
def iv(out, v, z):
    return UNKNOWN, (sp.iv(v - 1, z) + sp.iv(v + 1, z)) / 2


@elementwise(sp.kn)
def kn(out, n, x):
    return UNKNOWN, -(sp.kn(np.abs(n - 1), x) + sp.kn(n + 1, x)) / 2


@elementwise(sp.kv)
def kv(out, v, z):
    return UNKNOWN, -(sp.kv(v - 1, z) + sp.kv(v + 1, z)) / 2


@elementwise(sp.ive)
def ive(out, v, z):
    return UNKNOWN, (sp.ive(v - 1, z) + sp.ive(v + 1, z)) / 2 - np.sign(z) * out


@elementwise(sp.kve)
def kve(out, v, z):
    return UNKNOWN, out - (sp.kve(v - 1, z) + sp.kve(v + 1, z)) / 2


@elementwise(sp.jve)
def jve(out, v, z):
    return UNKNOWN, (sp.jve(v - 1, z) - sp.jve(v + 1, z)) / 2


@elementwise(sp.yve)
def yve(out, v, z):
    return UNKNOWN, (sp.yve(v - 1, z) - sp.yve(v + 1, z)) / 2


for _scaled in (sp.ive, sp.jve, sp.yve):  # by the size of the real or the imaginary part of z
    NOT_HOLOMORPHIC.add(PRIMITIVES[_scaled])


@elementwise(sp.hankel1)
def hankel1(out, v, z):
    return UNKNOWN, (sp.hankel1(v - 1, z) - sp.hankel1(v + 1, z)) / 2


@elementwise(sp.hankel2)
def hankel2(out, v, z):
    return UNKNOWN, (sp.hankel2(v - 1, z) - sp.hankel2(v + 1, z)) / 2


@elementwise(sp.hankel1e)
def hankel1e(out, v, z):
    return UNKNOWN, (sp.hankel1e(v - 1, z) - sp.hankel1e(v + 1, z)) / 2 - 1j * out


@elementwise(sp.hankel2e)
def hankel2e(out, v, z):
    return UNKNOWN, (sp.hankel2e(v - 1, z) - sp.hankel2e(v + 1, z)) / 2 + 1j * out


# -- their derivatives, and spherical functions --------------------------------------------------


def _repeated(function, v, z, n, sign):
    """The n-th derivative of a function whose first is half of that of the order below, and of
    that of the order above with this sign (A&S 9.1.31)."""
    v = np.asarray(v)
    total, factor = function(v - n, z), 1.0
    for i in range(1, n + 1):
        factor = factor * sign * (n - i + 1) / i
        total = total + factor * function(v - n + 2 * i, z)
    return total / 2.0**n


@composition(sp.jvp)
def jvp(v, z, n=1):
    return _repeated(sp.jv, v, z, n, -1)


@composition(sp.yvp)
def yvp(v, z, n=1):
    return _repeated(sp.yv, v, z, n, -1)


@composition(sp.ivp)
def ivp(v, z, n=1):
    return _repeated(sp.iv, v, z, n, 1)


@composition(sp.kvp)
def kvp(v, z, n=1):
    return (-1) ** n * _repeated(sp.kv, v, z, n, 1)


@elementwise(sp.spherical_jn)
def spherical_jn(out, n, z, derivative=False):
    return UNKNOWN, _spherical_slope(sp.spherical_jn, n, z, derivative, 1, -1), None


@elementwise(sp.spherical_yn)
def spherical_yn(out, n, z, derivative=False):
    return UNKNOWN, _spherical_slope(sp.spherical_yn, n, z, derivative, 1, -1), None


@elementwise(sp.spherical_in)
def spherical_in(out, n, z, derivative=False):
    return UNKNOWN, _spherical_slope(sp.spherical_in, n, z, derivative, 1, 1), None


@elementwise(sp.spherical_kn)
def spherical_kn(out, n, z, derivative=False):
    return UNKNOWN, _spherical_slope(sp.spherical_kn, n, z, derivative, -1, -1), None


def _spherical_slope(function, n, z, derivative, below, above):
    """The derivative of a spherical function, or of its derivative, as a mean of its neighbours
    with these signs: that has all further derivatives at zero, too."""
    if not derivative:
        return function(n, z, True)
    lower, upper = function(np.maximum(n - 1, 0), z, True), function(n + 1, z, True)
    return (below * n * lower + above * (n + 1) * upper) / (2 * n + 1)


# -- Struve and Kelvin ---------------------------------------------------------------------------


@elementwise(sp.struve)
def struve(out, v, x):
    return UNKNOWN, _struve_slope(sp.struve, v, x, -1)


@elementwise(sp.modstruve)
def modstruve(out, v, x):
    return UNKNOWN, _struve_slope(sp.modstruve, v, x, 1)


def _struve_slope(function, v, x, sign):
    """A mean, with this sign of the order above (A&S 12.1.10 and 12.2.5). The orders below 0 and -1
    have poles at zero: the derivative of order 0 is order -1, which is that sign times order 1, and
    2 / pi more (12.1.11)."""
    if known(v) and v == 0:
        return 2 / math.pi + sign * function(1, x)
    if known(v) and v == -1:
        return sign * _struve_mean(function, 1, x, sign)
    if known(v):
        return _struve_mean(function, v, x, sign)
    mean = _struve_mean(function, np.where((v == 0) | (v == -1), 1, v), x, sign)
    mean = np.where(v == -1, sign * mean, mean)
    return np.where(v == 0, 2 / math.pi + sign * function(1, x), mean)


def _struve_mean(function, v, x, sign):
    term = np.power(x / 2, v) * sp.rgamma(v + 1.5) / math.sqrt(math.pi)
    return (function(v - 1, x) + sign * function(v + 1, x) + term) / 2


@elementwise(sp.ber)
def ber(out, x):
    return sp.berp(x)


@elementwise(sp.bei)
def bei(out, x):
    return sp.beip(x)


@elementwise(sp.berp)
def berp(out, x):
    return np.real(_second_of_kelvin(x))


@elementwise(sp.beip)
def beip(out, x):
    return np.imag(_second_of_kelvin(x))


def _second_of_kelvin(x):
    """The second derivative of ber(x) + i bei(x) = J(0, x sqrt(i)**3), also at zero."""
    z = x * np.exp(0.75j * math.pi)
    return 0.5j * (sp.jv(0, z) - sp.jv(2, z))


@elementwise(sp.ker)
def ker(out, x):
    return sp.kerp(x)


@elementwise(sp.kei)
def kei(out, x):
    return sp.keip(x)


@elementwise(sp.kerp)
def kerp(out, x):
    return -sp.kei(x) - out / x


@elementwise(sp.keip)
def keip(out, x):
    return sp.ker(x) - out / x
