"""Operations that NumPy does not have, as functions over arrays; imported where SciPy is there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sp

from gradscribe.primitives import optional

optional.enter_imported()

erf, erfc, erfinv = sp.erf, sp.erfc, sp.erfinv
lgamma, digamma, i0 = sp.gammaln, sp.psi, sp.i0
igamma, igammac = sp.gammainc, sp.gammaincc


def polygamma(x: Any, n: int) -> Any:
    """The n-th derivative of digamma: (-1)^(n+1) n! zeta(n + 1, x)."""
    if n == 0:
        return sp.psi(x)
    return (-1.0) ** (n + 1) * math.factorial(n) * sp.zeta(n + 1, x)


def mvlgamma(x: Any, p: int) -> Any:
    """The sum of p values of lgamma, half a step apart, and a constant."""
    total = np.zeros_like(x) + p * (p - 1) / 4 * math.log(math.pi)
    for i in range(p):
        total = total + sp.gammaln(x - 0.5 * i)
    return total


def gelu(x: Any) -> Any:
    """x times the distribution function of the normal distribution."""
    return x * (0.5 * (1 + sp.erf(x * math.sqrt(0.5))))


# --- of torchlike.special ---------------------------------------------------------------------

bessel_j0, bessel_j1, bessel_y0, bessel_y1 = sp.j0, sp.j1, sp.y0, sp.y1
entr, erfcx, i0e, i1, i1e = sp.entr, sp.erfcx, sp.i0e, sp.i1, sp.i1e
log_ndtr, ndtr, ndtri, xlog1py, zeta = sp.log_ndtr, sp.ndtr, sp.ndtri, sp.xlog1py, sp.zeta
modified_bessel_k0, modified_bessel_k1 = sp.k0, sp.k1
scaled_modified_bessel_k0, scaled_modified_bessel_k1 = sp.k0e, sp.k1e


def airy_ai(x: Any) -> Any:
    """The Airy function Ai."""
    return sp.airy(x)[0]


def spherical_bessel_j0(x: Any) -> Any:
    """sin(x) / x."""
    return np.sinc(x / math.pi)


def _of_degree(values: Any, n: Any) -> Any:
    """Values of a polynomial, 0 where the degree is negative."""
    return np.where(n <= -1, 0, values)


def _degree(n: Any) -> Any:
    """The degree: whole, and 0 where it is negative."""
    return np.where(n < 0, 0, n).astype(np.int64)


def chebyshev_polynomial_t(x: Any, n: Any) -> Any:
    """cos(n * arccos(x))."""
    k = _degree(n)
    return _of_degree(sp.eval_chebyt(k, x), n)


def chebyshev_polynomial_u(x: Any, n: Any) -> Any:
    """sin((n + 1) * arccos(x)) / sin(arccos(x))."""
    k = _degree(n)
    return _of_degree(sp.eval_chebyu(k, x), n)


def chebyshev_polynomial_v(x: Any, n: Any) -> Any:
    """cos((n + 1/2) * arccos(x)) / cos(arccos(x) / 2)."""
    k = _degree(n)
    return _of_degree(sp.eval_chebyu(k, x) - sp.eval_chebyu(k - 1, x), n)


def chebyshev_polynomial_w(x: Any, n: Any) -> Any:
    """sin((n + 1/2) * arccos(x)) / sin(arccos(x) / 2)."""
    k = _degree(n)
    return _of_degree(sp.eval_chebyu(k, x) + sp.eval_chebyu(k - 1, x), n)


def hermite_polynomial_h(x: Any, n: Any) -> Any:
    """The Hermite polynomial of physics."""
    k = _degree(n)
    return _of_degree(sp.eval_hermite(k, x), n)


def hermite_polynomial_he(x: Any, n: Any) -> Any:
    """The Hermite polynomial of probability theory."""
    k = _degree(n)
    return _of_degree(sp.eval_hermitenorm(k, x), n)


def laguerre_polynomial_l(x: Any, n: Any) -> Any:
    """The Laguerre polynomial."""
    k = _degree(n)
    return _of_degree(sp.eval_laguerre(k, x), n)


def legendre_polynomial_p(x: Any, n: Any) -> Any:
    """The Legendre polynomial."""
    k = _degree(n)
    return _of_degree(sp.eval_legendre(k, x), n)
