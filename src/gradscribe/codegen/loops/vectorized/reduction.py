"""x = n pi / 2 + r with |r| <= pi / 4, without a branch.

`reduced` takes any x: x is m 2**e with an integer m < 2**53, so multiples of 4 in 2**e (2 / pi) do
not change n modulo 4 (Payne and Hanek, 1983). What they leave is in a table for each e, as the sum
of four doubles.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradscribe.codegen.loops.vectorized.operations import (
    as_bits,
    from_bits,
    product_error,
    rounded,
    sorted_sum_with_error,
    sum_with_error,
)

TINY = 2.0**-28  # rows of the table for angles that are much smaller are zeros

HALF_PI, HALF_PI_LOW = 1.5707963267948966, 6.123233995736766e-17

_PRECISION = 1500
_FIRST, _LAST = 973, 2047  # biased exponents: of 2.0**-50, and of infinity and NaN
_OF_INTEGER = 1075  # that of 2.0**52
_MANTISSA = 2**52 - 1
_MULTIPLES_OF_64 = 1.5 * 2.0**58  # a sum with it is a multiple of 64


def table() -> np.ndarray[Any, np.dtype[np.float64]]:
    """For each biased exponent, (2 / pi) 2**e modulo 4, as four doubles."""
    one = 1 << _PRECISION
    pi = 16 * inverse_tangent(5, one) - 4 * inverse_tangent(239, one)
    inverse = 2 * one * one // pi
    rows = np.zeros((_LAST + 1, 4))
    for exponent in range(_FIRST, _LAST):
        shift = exponent - _FIRST
        rows[exponent] = parts(inverse << shift, _PRECISION + _OF_INTEGER - _FIRST)
    rows[_LAST] = math.nan
    return rows


def inverse_tangent(inverse: int, one: int) -> int:
    """arctan(1 / inverse), in units of 1 / one (Gregory's series)."""
    total, power, k = 0, one // inverse, 1
    while power:
        total += power // k
        power //= -inverse * inverse
        k += 2
    return total


def parts(numerator: int, bits: int) -> list[float]:
    """numerator / 2**bits modulo 4, between -2 and 2, as the sum of four doubles."""
    half_turn = 2 << bits
    rest = (numerator + half_turn) % (2 * half_turn) - half_turn
    found = []
    for _ in range(4):
        part = rest / (1 << bits)
        mantissa, exponent = math.frexp(part)
        rest -= int(mantissa * 2.0**53) << (exponent - 53 + bits)
        found.append(part)
    return found


def reduced(a: Any) -> Any:
    """n modulo 64, r and the error of r, for a = 0 or a >= TINY; NaN where a is not finite."""
    bits = as_bits(a)
    m = from_bits((bits & _MANTISSA) | (_OF_INTEGER << 52))
    n, high, low = quarters(m, (bits >> 52) & _LAST)
    product = high * HALF_PI
    rest = product_error(high, HALF_PI, product) + (high * HALF_PI_LOW + low * HALF_PI)
    r, error = sorted_sum_with_error(product, rest)
    return n, r, error


def quarters(m: Any, row: Any) -> Any:
    """m times the row: an integer, modulo 64, and a fraction, with an error below 2**-117.

    The fraction may be as small as 2**-62, where its first terms cancel.
    """
    rows = table()
    product, product_2, product_3 = m * rows[row, 0], m * rows[row, 1], m * rows[row, 2]
    rest = product_error(m, rows[row, 0], product)
    rest_2 = product_error(m, rows[row, 1], product_2)
    rest_3 = product_error(m, rows[row, 2], product_3) + m * rows[row, 3]
    product -= (product + _MULTIPLES_OF_64) - _MULTIPLES_OF_64
    x, x_lost = sorted_sum_with_error(product, rest)
    y, y_lost = sum_with_error(x, product_2)
    n = rounded(y)
    low, low_lost = sum_with_error(x_lost, y_lost)
    lower, lower_lost = sum_with_error(rest_2, product_3)
    low, lost = sum_with_error(low, lower)
    high, low = sum_with_error(y - n, low)
    low += low_lost + lower_lost + lost + rest_3
    high, low = sorted_sum_with_error(high, low)
    return n, high, low
