"""The incomplete gamma and beta functions, differentiated by their parameters.

These have no form in terms of other functions; series of positive terms, and where they converge
slowly a continued fraction, are summed together with their derivatives. Rules that use them are
inlined with their loops, and differentiated on, to any order.
Formulas: NIST Digital Library of Mathematical Functions, 8.7.1, 8.9.2 and 8.17.7-8.
"""

from __future__ import annotations

import numpy as np
import scipy.special as sp

_SMALL = 1e-16
"""Terms that are so small, relative to their sum (or to their own parts), end it."""


def gammainc_by_parameter(a, x):
    """The derivative of `gammainc(a, x)` by a; where it is constant, or undefined, 0 or NaN."""
    inside = (a >= 0) & (x >= 0) & (a < np.inf) & (x < np.inf)
    is_lower = inside & (x < a + 1)
    is_upper = inside & (x >= a + 1)
    lower = _of_lower(np.where(is_lower, a, 1), np.where(is_lower, x, 0))
    upper = _of_upper(np.where(is_upper, a, 1), np.where(is_upper, x, 2))
    return np.where(is_lower, lower, np.where(is_upper, -upper, 0 * sp.gammainc(a, x)))


def _of_lower(a, x):
    """That of P(a, x) = exp(-x) x**a / gamma(a + 1) * sum of x**k / ((a + 1) ... (a + k))."""
    term = 0.0 * (a + x) + 1
    total, slope, inverses = term, 0 * term, 0 * term
    k = 0
    while np.any(np.abs(term) > _SMALL * np.abs(total)):
        k += 1
        inverses = inverses + 1 / (a + k)
        term = term * (x / (a + k))
        total = total + term
        slope = slope + term * inverses
    relative = np.log(np.where(x == 0, 1, x)) - sp.psi(a + 1) - slope / total
    return np.where(x == 0, 0, sp.gammainc(a, x) * relative)


def _of_upper(a, x):
    """That of Q(a, x) = exp(-x) x**a / gamma(a) * h, where h is the continued fraction
    1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...))), which the products
    d * c of Lentz's method make up."""
    b = x + 1 - a
    d = 1 / b
    d_by_a = d * d
    c, c_by_a = 0 * b + np.inf, 0 * b
    slope, change, part = d, d, 0 * d
    k = 0
    while np.any(np.abs(change) > _SMALL * (np.abs(slope) + np.abs(part))):
        k += 1
        numerator = k * (a - k)
        b = b + 2
        d_next = 1 / (numerator * d + b)
        d_by_a = (1 - k * d - numerator * d_by_a) * d_next * d_next
        d = d_next
        c_next = b + numerator / c
        c_by_a = (k - numerator * (c_by_a / c)) / c - 1
        c = c_next
        part = d_by_a / d
        change = part + c_by_a / c
        slope = slope + change
    return sp.gammaincc(a, x) * (np.log(x) - sp.psi(a) + slope)


def betainc_by_parameters(a, b, x):
    """The derivatives of `betainc(a, b, x)` by a and b; where it is constant, or undefined, 0 or
    NaN. By symmetry, on the side of x where the series converges faster."""
    inside = (a > 0) & (b > 0) & (x >= 0) & (x <= 1) & (a + b < np.inf)
    is_lower = x < (a + 1) / (a + b + 2)
    p, q = np.where(is_lower, a, b), np.where(is_lower, b, a)
    p, q = np.where(inside, p, 1), np.where(inside, q, 1)
    by_p, by_q = _of_lower_side(p, q, np.where(inside, np.where(is_lower, x, 1 - x), 0))
    outside = 0 * sp.betainc(a, b, x)
    by_a, by_b = np.where(is_lower, by_p, -by_q), np.where(is_lower, by_q, -by_p)
    return np.where(inside, by_a, outside), np.where(inside, by_b, outside)


def _of_lower_side(p, q, x):
    """Those of I(x; p, q) = x**p (1 - x)**q / (p beta(p, q)) * series."""
    _, by_p, by_q = beta_series(p, q, x)
    value, whole = sp.betainc(p, q, x), sp.psi(p + q)
    of_p = value * (np.log(np.where(x == 0, 1, x)) + whole - sp.psi(p + 1) + by_p)
    of_q = value * (np.log1p(-x) + whole - sp.psi(q) + by_q)
    return np.where(x == 0, 0, of_p), np.where(x == 0, 0, of_q)


def beta_series(p, q, x):
    """The sum of x**k (p + q) ... (p + q + k - 1) / ((p + 1) ... (p + k)), and the derivatives of
    its logarithm by p and q."""
    term = 0.0 * (p + q + x) + 1
    total, by_p, by_q = term, 0 * term, 0 * term
    above, below = 0 * term, 0 * term
    k = 0
    while np.any(np.abs(term) > _SMALL * np.abs(total)):
        above = above + 1 / (p + q + k)
        k += 1
        below = below + 1 / (p + k)
        term = term * (x * (p + q + k - 1) / (p + k))
        total = total + term
        by_p = by_p + term * (above - below)
        by_q = by_q + term * above
    return total, by_p / total, by_q / total
