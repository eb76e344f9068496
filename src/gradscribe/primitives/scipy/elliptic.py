"""Elliptic integrals, of Legendre and of Carlson.

Formulas: NIST Digital Library of Mathematical Functions, chapter 19.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.special as sp

from gradscribe.primitives.registry import UNKNOWN, elementwise
from gradscribe.primitives.static import known

# -- of Legendre ---------------------------------------------------------------------------------


@elementwise(sp.ellipk)
def ellipk(out, m):
    return math.pi / 8 * sp.hyp2f1(1.5, 1.5, 2, m)


@elementwise(sp.ellipkm1)
def ellipkm1(out, p):
    return -math.pi / 8 * sp.hyp2f1(1.5, 1.5, 2, 1 - p)


@elementwise(sp.ellipe)
def ellipe(out, m):
    return -math.pi / 8 * sp.hyp2f1(0.5, 1.5, 2, m)


@elementwise(sp.ellipkinc)
def ellipkinc(out, phi, m):
    """DLMF 19.4.5; where m sin(phi)**2 is small, half of an integral (19.2.4)."""
    sine = np.sin(phi)
    height = np.sqrt(1 - m * sine * sine)
    is_near, near, others = _near_zero(phi, m, 1.5)
    by_m = (sp.ellipeinc(phi, m) / (1 - others) - out) / (2 * others)
    by_m = by_m - sine * np.cos(phi) / (2 * (1 - others) * height)
    return 1 / height, np.where(is_near, near, by_m)


@elementwise(sp.ellipeinc)
def ellipeinc(out, phi, m):
    """DLMF 19.4.6; where m sin(phi)**2 is small, minus half of an integral (19.2.5)."""
    sine = np.sin(phi)
    is_near, near, others = _near_zero(phi, m, 0.5)
    by_m = (out - sp.ellipkinc(phi, m)) / (2 * others)
    return np.sqrt(1 - m * sine * sine), np.where(is_near, -near, by_m)


_NODES = (
    0.09501250983763744,
    0.2816035507792589,
    0.45801677765722737,
    0.6178762444026438,
    0.755404408355003,
    0.8656312023878318,
    0.9445750230732326,
    0.9894009349916499,
)
_WEIGHTS = (
    0.18945061045506864,
    0.18260341504492364,
    0.16915651939500265,
    0.1495959888165767,
    0.12462897125553407,
    0.0951585116824926,
    0.062253523938647456,
    0.027152459411754176,
)
"""The positive nodes, and the weights, of Gauss and Legendre's quadrature with 16 points (DLMF
3.5.15), which of even functions, where no pole is near the interval, has all digits."""


def _near_zero(phi, m, power):
    """Where m sin(phi)**2 is so small that the difference of F and E has lost digits, the integral
    of sin(t)**2 / 2 over (1 - m sin(t)**2)**power from 0 to phi: that is twice the complete one for
    each multiple of pi, and a rest. The second result is that integral, the third m elsewhere."""
    periods = np.round(phi / math.pi)
    rest = phi - math.pi * periods
    sine = np.where(periods == 0, np.sin(rest), 1)
    is_near = (np.abs(m) * sine * sine < 0.1) & (m <= 1)
    rest, periods = np.where(is_near, rest, 0), np.where(is_near, periods, 0)
    small = np.where(is_near & (np.abs(m) < 0.1), m, 0)
    complete = math.pi / 8 * sp.hyp2f1(power, 1.5, 2, small)
    small = np.where(is_near, m, 0)
    sines = np.sin(np.expand_dims(rest, -1) * np.array(_NODES))
    squares = sines * sines
    heights = np.power(1 - np.expand_dims(small, -1) * squares, power)
    part = rest / 2 * np.sum(np.array(_WEIGHTS) * squares / heights, axis=-1)
    return is_near, 2 * periods * complete + part, np.where(is_near, 0.5, m)


# -- of Carlson ----------------------------------------------------------------------------------


@elementwise(sp.elliprf)
def elliprf(out, x, y, z):
    return -sp.elliprd(y, z, x) / 6, -sp.elliprd(x, z, y) / 6, -sp.elliprd(x, y, z) / 6


@elementwise(sp.elliprc)
def elliprc(out, x, y):
    """Of negative y, where it is a principal value that SciPy's R_D does not have, its own
    differential equations, 2 (x - y) dR/dx = 1 / sqrt(x) - R and x dR/dx + y dR/dy = -R / 2
    (from DLMF 19.2.17 and 19.2.20)."""
    by_x, by_y = -sp.elliprd(y, y, x) / 6, -sp.elliprd(x, y, y) / 3
    if np.asarray(out).dtype.kind == "c" or (known(y) and y >= 0):
        return by_x, by_y
    if known(y):
        return _of_principal_value(out, x, y)
    is_negative = y < 0
    of_x, of_y = _of_principal_value(out, x, np.where(is_negative, y, -1))
    return np.where(is_negative, of_x, by_x), np.where(is_negative, of_y, by_y)


def _of_principal_value(out, x, y):
    root = np.sqrt(x)
    return (1 / root - out) / (2 * (x - y)), (out - root / y) / (2 * (x - y))


@elementwise(sp.elliprd)
def elliprd(out, x, y, z):
    """Its derivatives are known in terms of no other function of SciPy."""
    return UNKNOWN, UNKNOWN, UNKNOWN
