"""power: exp(y log x), with log x as the sum of two doubles.

The logarithm has some 65 bits, so its product with y, which is below 2**10, is known to 2**-55. The
coefficients are from tools/polynomials.py.
"""

from __future__ import annotations

import math
from typing import Any

from gradscribe.codegen.loops.vectorized.exponentials import LN2_HIGH, LN2_LOW, exp_of_sum
from gradscribe.codegen.loops.vectorized.logarithms import split
from gradscribe.codegen.loops.vectorized.operations import (
    SIGN,
    as_bits,
    from_bits,
    magnitude,
    polynomial,
    product_error,
    select,
    sorted_sum_with_error,
)

# (2 artanh(s) - 2 s - 2 s**3 / 3) / s**5, in s**2
LOG_TAIL = (
    0.4,
    0.28571428571428564,
    0.22222222222228424,
    0.18181818179658246,
    0.15384615760977463,
    0.13333296549572363,
    0.11766812466114947,
    0.10456341945425285,
    0.10762291418628644,
)
TWO_THIRDS, TWO_THIRDS_LOW = 0.6666666666666666, 3.700743415417188e-17


def power(x: Any, y: Any) -> Any:
    a = magnitude(x)
    high, low = log_in_two_parts(a)
    exponent = y * high
    rest = product_error(y, high, exponent) + y * low
    is_bounded = magnitude(exponent) < 800.0
    exponent = select(exponent > 800.0, 800.0, select(exponent < -800.0, -800.0, exponent))
    z = exp_of_sum(exponent, select(is_bounded, rest, 0.0))
    z = select(a == 1.0, 1.0, z)
    is_whole, is_odd = parity(magnitude(y))
    z = from_bits(as_bits(z) | select(is_odd, as_bits(x) & SIGN, 0))
    is_root = (x < 0.0) & (x > -math.inf) & (not is_whole)
    z = select(is_root | (x != x) | (y != y), math.nan, z)
    return select((y == 0.0) | (x == 1.0), 1.0, z)


def parity(a: Any) -> Any:
    """Whether a >= 0 is an integer, and an odd one."""
    half = 0.5 * a
    is_whole = (a >= 2.0**52) | ((a + 2.0**52) - 2.0**52 == a)
    is_even = (half >= 2.0**52) | ((half + 2.0**52) - 2.0**52 == half)
    return is_whole, is_whole & (not is_even)


def log_in_two_parts(a: Any) -> Any:
    """log(a), for a >= 0."""
    k, m = split(a)
    f = m - 1.0
    s, s_low = _in_two_parts(f)
    square = s * s
    square_low = product_error(s, s, square) + 2.0 * s * s_low
    cube = square * s
    cube_low = product_error(square, s, cube) + (square * s_low + square_low * s)
    third = cube * TWO_THIRDS
    third_low = product_error(cube, TWO_THIRDS, third) + (
        cube * TWO_THIRDS_LOW + cube_low * TWO_THIRDS
    )
    total, lost = sorted_sum_with_error(k * LN2_HIGH, 2.0 * s)
    total, lost_2 = sorted_sum_with_error(total, third)
    rest = cube * square * polynomial(square, LOG_TAIL) + (third_low + 2.0 * s_low)
    high, low = sorted_sum_with_error(total, rest + (lost + lost_2 + k * LN2_LOW))
    high = select(a == 0.0, -math.inf, select(a < math.inf, high, a))
    return high, low


def _in_two_parts(f: Any) -> Any:
    """f / (2 + f)."""
    d = 2.0 + f
    d_low = f - (d - 2.0)
    inverse = 1.0 / d
    s = f * inverse
    product = s * d
    rest = (f - product) - product_error(s, d, product)
    return s, inverse * (rest - s * d_low)
