"""The polynomials of `gradscribe.codegen.loops.vectorized`, in 200 bits.

    python -m tools.polynomials        # needs mpmath

Each interpolates a function at the Chebyshev nodes of its interval, which is within a factor of
two or so of the best approximation there is (Trefethen, Approximation Theory and Approximation
Practice, chapter 16); the largest error is printed beside it. Coefficients are rounded to doubles
afterwards, the constant term first in the list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath as mp

mp.mp.prec = 200
HALF_LN2, EIGHTH_TURN = mp.log(2) / 2, mp.pi / 4
LOG_BOUND = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)


@dataclass(frozen=True)
class Fit:
    """A function of x, as a polynomial in `of(x)` with these bounds, and its weight at x."""

    name: str
    function: Callable[[Any], Any]
    low: Any
    high: Any
    degree: int


def root(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """An even function of x, as a function of x²."""
    return lambda square: function(mp.sqrt(square))


FITS = [
    Fit("EXP", lambda x: mp.hyp1f1(1, 3, x) / 2, -HALF_LN2, HALF_LN2, 10),
    Fit("SINH", root(lambda x: (mp.sinh(x) - x) / x**3), 0, HALF_LN2**2, 4),
    Fit("COSH", root(lambda x: (mp.cosh(x) - 1) / x**2), 0, HALF_LN2**2, 5),
    Fit("LOG", root(lambda s: (2 * mp.atanh(s) - 2 * s) / s**3), 0, LOG_BOUND**2, 6),
    Fit(
        "LOG_TAIL",
        root(lambda s: (2 * mp.atanh(s) - 2 * s - 2 * s**3 / 3) / s**5),
        0,
        LOG_BOUND**2,
        8,
    ),
    Fit("SIN", root(lambda x: (mp.sin(x) - x) / x**3), 0, EIGHTH_TURN**2, 6),
    Fit("COS", root(lambda x: (mp.cos(x) - 1 + x**2 / 2) / x**4), 0, EIGHTH_TURN**2, 5),
    Fit("ARCTAN", root(lambda x: (mp.atan(x) - x) / x**3), 0, mp.mpf(5) ** 2 / 16**2, 9),
]


def chebyshev_nodes(low: Any, high: Any, count: int) -> list[Any]:
    cosines = [mp.cos(mp.pi * (2 * k + 1) / (2 * count)) for k in range(count)]
    return [(low + high) / 2 + (high - low) / 2 * c for c in cosines]


def interpolated(fit: Fit) -> list[Any]:
    """The coefficients, the constant term first."""
    nodes = chebyshev_nodes(fit.low, fit.high, fit.degree + 1)
    matrix = mp.matrix([[x**k for k in range(fit.degree + 1)] for x in nodes])
    return list(mp.lu_solve(matrix, mp.matrix([fit.function(x) for x in nodes])))


def largest_error(fit: Fit, coefficients: list[Any]) -> Any:
    points = chebyshev_nodes(fit.low, fit.high, 200)
    rounded = [mp.mpf(float(c)) for c in reversed(coefficients)]
    return max(abs(mp.polyval(rounded, x) - fit.function(x)) for x in points)


if __name__ == "__main__":
    for fit in FITS:
        coefficients = interpolated(fit)
        print(f"{fit.name}  # {mp.nstr(mp.log(largest_error(fit, coefficients), 2), 4)} bits")
        print("".join(f"    {float(c)!r},\n" for c in coefficients))
