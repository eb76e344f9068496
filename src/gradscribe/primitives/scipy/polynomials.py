"""Hypergeometric functions and orthogonal polynomials.

Formulas: Abramowitz & Stegun, chapters 13, 15 and 22 (22.5, 22.8): the derivative of such a
function is one of the same kind with other parameters, by which themselves no derivative is known.
"""

from __future__ import annotations

import numpy as np
import scipy.special as sp

from gradscribe.primitives.registry import UNKNOWN, elementwise
from gradscribe.primitives.static import known

# -- hypergeometric functions --------------------------------------------------------------------


@elementwise(sp.hyp0f1)
def hyp0f1(out, v, z):
    return UNKNOWN, sp.hyp0f1(v + 1, z) / v


@elementwise(sp.hyp1f1)
def hyp1f1(out, a, b, x):
    return UNKNOWN, UNKNOWN, a / b * sp.hyp1f1(a + 1, b + 1, x)


@elementwise(sp.hyp2f1)
def hyp2f1(out, a, b, c, z):
    return UNKNOWN, UNKNOWN, UNKNOWN, a * b / c * sp.hyp2f1(a + 1, b + 1, c + 1, z)


@elementwise(sp.hyperu)
def hyperu(out, a, b, x):
    return UNKNOWN, UNKNOWN, -a * sp.hyperu(a + 1, b + 1, x)


@elementwise(sp.wright_bessel)
def wright_bessel(out, a, b, x):
    return UNKNOWN, UNKNOWN, sp.wright_bessel(a, a + b, x)


# -- polynomials ---------------------------------------------------------------------------------


@elementwise(sp.eval_jacobi)
def eval_jacobi(out, n, alpha, beta, x):
    return UNKNOWN, UNKNOWN, UNKNOWN, _jacobi_slope(n, alpha, beta, x)


def _jacobi_slope(n, alpha, beta, x):
    if known(n) and n == 0:
        return None
    if known(n):
        return (n + alpha + beta + 1) / 2 * sp.eval_jacobi(n - 1, alpha + 1, beta + 1, x)
    factor = (n != 0) * (n + alpha + beta + 1) / 2
    return factor * sp.eval_jacobi(_below(n), alpha + 1, beta + 1, x)


def _below(n):
    """The order below n, and 0 below 0: of no order below that, at which SciPy may give NaN."""
    return np.where(n == 0, 0, n - 1)


@elementwise(sp.eval_gegenbauer)
def eval_gegenbauer(out, n, alpha, x):
    if not _is_float(n):
        slope = 2 * alpha * sp.eval_gegenbauer(n - 1, alpha + 1, x)
    elif known(n):
        slope = 2 * alpha * sp.eval_gegenbauer(n - 1, alpha + 1, x) if n != 0 else None
    else:
        slope = (n != 0) * 2 * alpha * sp.eval_gegenbauer(_below(n), alpha + 1, x)
    return UNKNOWN, UNKNOWN, slope


def _is_float(n):
    return np.asarray(n).dtype.kind == "f"


@elementwise(sp.eval_legendre)
def eval_legendre(out, n, x):
    return UNKNOWN, _legendre_slope(n, x)


@elementwise(sp.eval_sh_legendre)
def eval_sh_legendre(out, n, x):
    return UNKNOWN, _legendre_slope(n, 2 * x - 1, 2)


def _legendre_slope(n, x, by_x=1):
    """The derivative of P(n, x) = P(-1 - n, x) = F(-n, n + 1; 1; (1 - x) / 2), where x moves by
    `by_x`."""
    if known(n) and n in (-1, 0):
        return None
    if _is_float(n) and not (known(n) and n > 0):
        return by_x * n * (n + 1) / 2 * sp.hyp2f1(1 - n, n + 2, 2, (1 - x) / 2)
    if not known(n):
        n = np.maximum(n, -1 - n)
        return by_x * (n != 0) * (n + 1) / 2 * sp.eval_jacobi(_below(n), 1, 1, x)
    n = n if n > 0 else -1 - n
    return by_x * (n + 1) / 2 * sp.eval_jacobi(n - 1, 1, 1, x)


@elementwise(sp.eval_chebyt)
def eval_chebyt(out, n, x):
    return UNKNOWN, n * sp.eval_chebyu(n - 1, x)


@elementwise(sp.eval_sh_chebyt)
def eval_sh_chebyt(out, n, x):
    return UNKNOWN, 2 * n * sp.eval_chebyu(n - 1, 2 * x - 1)


@elementwise(sp.eval_chebyu)
def eval_chebyu(out, n, x):
    return UNKNOWN, _chebyu_slope(n, x, 1)


@elementwise(sp.eval_sh_chebyu)
def eval_sh_chebyu(out, n, x):
    return UNKNOWN, _chebyu_slope(n, 2 * x - 1, 2)


@elementwise(sp.eval_chebyc)
def eval_chebyc(out, n, x):
    return UNKNOWN, n * sp.eval_chebyu(n - 1, x / 2)


@elementwise(sp.eval_chebys)
def eval_chebys(out, n, x):
    return UNKNOWN, _chebyu_slope(n, x / 2, 0.5)


def _chebyu_slope(n, x, by_x):
    """The derivative of U(n, x) = -U(-2 - n, x) = (n + 1) F(-n, n + 2; 3 / 2; (1 - x) / 2), where
    x moves by `by_x`."""
    if known(n):
        if n in (-2, -1, 0):
            return None
        if n < -1:
            return -2 * by_x * sp.eval_gegenbauer(-3 - n, 2, x)
        return 2 * by_x * sp.eval_gegenbauer(n - 1, 2, x)
    if _is_float(n):
        return by_x * n * (n + 1) * (n + 2) / 3 * sp.hyp2f1(1 - n, n + 3, 2.5, (1 - x) / 2)
    return 2 * by_x * np.sign(n + 1) * sp.eval_gegenbauer(np.abs(n + 1) - 2, 2, x)


@elementwise(sp.eval_hermite)
def eval_hermite(out, n, x):
    return UNKNOWN, 2 * n * sp.eval_hermite(np.maximum(n - 1, 0), x)


@elementwise(sp.eval_hermitenorm)
def eval_hermitenorm(out, n, x):
    return UNKNOWN, n * sp.eval_hermitenorm(np.maximum(n - 1, 0), x)


@elementwise(sp.eval_laguerre)
def eval_laguerre(out, n, x):
    return UNKNOWN, _laguerre_slope(n, 0, x)


@elementwise(sp.eval_genlaguerre)
def eval_genlaguerre(out, n, alpha, x):
    return UNKNOWN, UNKNOWN, _laguerre_slope(n, alpha, x)


def _laguerre_slope(n, alpha, x):
    if known(n) and n == 0:
        return None
    if known(n) or not _is_float(n):
        return -sp.eval_genlaguerre(n - 1, alpha + 1, x)
    return (n != 0) * -sp.eval_genlaguerre(_below(n), alpha + 1, x)


@elementwise(sp.lpmv)
def lpmv(out, m, v, x):
    """DLMF 14.10.5; of negative orders, which SciPy has of no degree below, 14.10.4, by a degree
    above: -1 - v is the same degree (14.9.5)."""
    if known(m) and m >= 0:
        slope = (v + m) * sp.lpmv(m, v - 1, x) - v * x * out
    else:
        v = np.maximum(v, -1 - v) if not known(v) or v < -0.5 else v
        slope = (m - v - 1) * sp.lpmv(m, v + 1, x) + (v + 1) * x * out
    return UNKNOWN, UNKNOWN, slope / ((1 - x) * (1 + x))
