"""exp, expm1, sinh, cosh and tanh.

x = k ln 2 + r with |r| <= ln 2 / 2, and a polynomial in r (Muller, Elementary Functions, 3rd
edition, chapter 11). The coefficients are from tools/polynomials.py.
"""

from __future__ import annotations

from typing import Any

from gradscribe.codegen.loops.vectorized.operations import (
    magnitude,
    multiply_add,
    polynomial,
    power_of_two,
    quotient,
    rounded,
    select,
    sorted_sum_with_error,
    with_sign,
)

INVERSE_LN2 = 1.4426950408889634
LN2_HIGH = float.fromhex("0x1.62e42fefa3800p-1")  # 43 bits: its product with k is exact
LN2_LOW = float.fromhex("0x1.ef35793c76730p-45")

# (exp(r) - 1 - r) / r**2
EXP = (
    0.5,
    0.1666666666666667,
    0.04166666666666667,
    0.008333333333326141,
    0.0013888888888883752,
    0.00019841269874800493,
    2.4801587325533363e-05,
    2.7557255425746435e-06,
    2.7557273661348637e-07,
    2.510520637395701e-08,
    2.0914679376583935e-09,
)
# (sinh(r) - r) / r**3 and (cosh(r) - 1) / r**2, in r**2
SINH = (
    0.16666666666666669,
    0.008333333333330065,
    0.00019841269863040545,
    2.7557268480310024e-06,
    2.5100375832561234e-08,
)
COSH = (
    0.5,
    0.04166666666666668,
    0.0013888888888879082,
    2.480158733642132e-05,
    2.755726330147475e-07,
    2.0918129454967065e-09,
)


def reduced(x: Any) -> Any:
    """k, r and the error of r, for |x| < 2000."""
    k = rounded(x * INVERSE_LN2)
    high = x - k * LN2_HIGH
    low = k * LN2_LOW
    r = high - low
    return k, r, (high - r) - low


def exp(x: Any) -> Any:
    k, r, error = reduced(select(x > 710.0, 710.0, select(x < -746.0, -746.0, x)))
    return _scaled(k, r, error)


def exp_of_sum(x: Any, low: Any) -> Any:
    """exp(x + low), for |x| < 1000 and a small second part."""
    k, r, error = reduced(x)
    return _scaled(k, *sorted_sum_with_error(r, low + error))


def _scaled(k: Any, r: Any, error: Any) -> Any:
    """2**k exp(r), in two steps, as 2**k may be too large or too small."""
    y = 1.0 + (r + multiply_add(r * r, polynomial(r, EXP), error))
    half = rounded(0.5 * k)
    return y * power_of_two(half) * power_of_two(k - half)


def expm1(x: Any) -> Any:
    """2**k - 1 and 2**k (exp(r) - 1), summed with the error of the sum."""
    bounded = select(x > 710.0, 710.0, select(x < -40.0, -40.0, x))
    k, r, error = reduced(bounded)
    scale = power_of_two(k - 1.0)
    total, lost = sorted_sum_with_error(scale - 0.5, scale * r)
    rest = multiply_add(r * r, polynomial(r, EXP), error)
    y = 2.0 * (total + multiply_add(scale, rest, lost))
    return select(magnitude(x) < 2.0**-54, x, y)


def sinh(x: Any) -> Any:
    a = magnitude(x)
    r, error, more, less = _halves(select(a > 711.0, 711.0, a))
    square = r * r
    odd = multiply_add(r * square, polynomial(square, SINH), error)
    even = square * polynomial(square, COSH)
    total, lost = sorted_sum_with_error(less, more * r)
    y = total + (lost + multiply_add(more, odd, less * even))
    return with_sign(select(a < 2.0**-28, a, 4.0 * y), x)


def cosh(x: Any) -> Any:
    a = magnitude(x)
    r, error, more, less = _halves(select(a > 711.0, 711.0, a))
    square = r * r
    odd = multiply_add(r * square, polynomial(square, SINH), error)
    even = square * polynomial(square, COSH)
    total, lost = sorted_sum_with_error(more, less * r)
    return 4.0 * (total + (lost + multiply_add(less, odd, more * even)))


def _halves(a: Any) -> Any:
    """r, its error, and (2**k ± 2**-k) / 8."""
    k, r, error = reduced(a)
    up = power_of_two(k - 3.0)
    down = power_of_two(-3.0 - select(k > 100.0, 100.0, k))
    return r, error, up + down, up - down


def tanh(x: Any) -> Any:
    """sinh(x) / cosh(x), both without the factor 2**k / 2."""
    a = magnitude(x)
    k, r, error = reduced(select(a > 22.0, 22.0, a))
    down = power_of_two(-2.0 * k)
    more, less = 1.0 + down, 1.0 - down
    square = r * r
    odd = multiply_add(r * square, polynomial(square, SINH), error)
    even = square * polynomial(square, COSH)
    n, n_lost = sorted_sum_with_error(less, more * r)
    d, d_lost = sorted_sum_with_error(more, less * r)
    dropped = select(k > 26.0, down, 0.0) * (1.0 - r + even)  # by the sums that are 1
    n_lost += multiply_add(more, odd, less * even) - dropped
    d_lost += multiply_add(less, odd, more * even) + dropped
    return with_sign(select(a < 2.0**-28, a, quotient(n, n_lost, d, d_lost)), x)
