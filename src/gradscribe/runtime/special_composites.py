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
