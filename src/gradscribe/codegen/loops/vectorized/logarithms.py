"""log and log1p.

x = 2**k m with sqrt(1/2) <= m < sqrt(2), and log(m) = 2 artanh(f / (2 + f)) for f = m - 1, in the
arrangement of fdlibm (Sun Microsystems, 1993). The coefficients are from tools/polynomials.py.
"""

from __future__ import annotations

import math
from typing import Any

from gradscribe.codegen.loops.vectorized.exponentials import LN2_HIGH, LN2_LOW
from gradscribe.codegen.loops.vectorized.operations import (
    as_bits,
    as_float,
    from_bits,
    magnitude,
    multiply_add,
    polynomial,
    power_of_two,
    select,
    sum_with_error,
)

SMALLEST_NORMAL = 2.0**-1022
# (2 artanh(s) - 2 s) / s**3, in s**2
LOG = (
    0.666666666666667,
    0.39999999999899505,
    0.28571428625975487,
    0.2222221113479508,
    0.18182889125261723,
    0.15331721600556042,
    0.14616449685043406,
)
_ONE = 0x3FF0000000000000  # the bits of 1.0
_ROOT = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)
_EXPONENT = -(2**52)  # sign and exponent


def split(x: Any) -> Any:
    """k and m with x = 2**k m and sqrt(1/2) <= m < sqrt(2), for 0 < x < inf."""
    is_subnormal = x < SMALLEST_NORMAL
    bits = as_bits(select(is_subnormal, x * 2.0**54, x))
    exponents = (bits - _ROOT) & _EXPONENT
    k = as_float(((exponents + _ONE) >> 52) & 0xFFF) - 1023.0
    return select(is_subnormal, k - 54.0, k), from_bits(bits - exponents)


def log(x: Any) -> Any:
    k, m = split(x)
    return _limits(x, x, _log_of_parts(k, m - 1.0))


def log1p(x: Any) -> Any:
    """log(u), where u = 1 + x rounded and what that lacks is put into its f."""
    u, lost = sum_with_error(1.0, x)
    k, m = split(u)
    lost = lost * power_of_two(select(k > 100.0, -100.0, -k))
    y = _limits(u, x, _log_of_parts(k, (m - 1.0) + lost))
    return select(magnitude(x) < 2.0**-54, x, y)


def _log_of_parts(k: Any, f: Any) -> Any:
    s = f / (2.0 + f)
    square = s * s
    half = 0.5 * f * f
    rest = s * multiply_add(square, polynomial(square, LOG), half)
    return k * LN2_HIGH - ((half - multiply_add(k, LN2_LOW, rest)) - f)


def _limits(x: Any, given: Any, y: Any) -> Any:
    """The logarithm y of x, with those of 0, infinity and NaN."""
    y = select(x > 0.0, select(x < math.inf, y, given), select(x == 0.0, -math.inf, math.nan))
    return select(x == x, y, given)
