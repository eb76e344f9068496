"""What the functions are made of: operations on one double for which processors have instructions
on vectors.

These are Python functions over `numpy.float64` and `numpy.int64`; `intrinsics.py` tells Numba which
instructions of LLVM stand for those that it cannot compile to a vectorizable form by itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

SIGN = -(2**63)  # the bit of the sign, as int64
MAGNITUDE = 2**63 - 1
ROUNDING = 1.5 * 2.0**52  # a sum with it has no fraction
_INTEGER = 0x4330000000000000  # the bits of 2.0**52
_SPLITTER = 2.0**27 + 1.0


def select(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, else y; both are evaluated."""
    return x if condition else y


def as_bits(x: Any) -> Any:
    """The bits of a float64, as an int64."""
    return np.float64(x).view(np.int64)


def from_bits(bits: Any) -> Any:
    """The float64 with these bits."""
    return np.int64(bits).view(np.float64)


def multiply_add(x: Any, y: Any, z: Any) -> Any:
    """x * y + z, rounded once where the processor does that in one instruction, else twice."""
    return x * y + z


def polynomial(x: Any, coefficients: Any) -> Any:
    """The polynomial with these coefficients, the constant term first (Horner's scheme)."""
    result = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        result = result * x + coefficient
    return result


def product_error(x: Any, y: Any, product: Any) -> Any:
    """x * y - product, exactly, where `product` is x * y rounded (Dekker, 1971).

    Factors above 2**996 overflow, and what is below 2**-1022 is lost.
    """
    x_high = x * _SPLITTER - (x * _SPLITTER - x)
    y_high = y * _SPLITTER - (y * _SPLITTER - y)
    x_low, y_low = x - x_high, y - y_high
    return ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low


def rounded(x: Any) -> Any:
    """The integer next to x, for |x| <= 2**51."""
    return (x + ROUNDING) - ROUNDING


def power_of_two(k: Any) -> Any:
    """2.0**k, for an integer -1023 < k < 1024 that is a float64."""
    return from_bits(as_bits(k + (ROUNDING + 1023.0)) << 52)


def as_float(k: Any) -> Any:
    """An integer 0 <= k < 2**52 as a float64."""
    return from_bits(k | _INTEGER) - 2.0**52


def magnitude(x: Any) -> Any:
    return from_bits(as_bits(x) & MAGNITUDE)


def with_sign(x: Any, y: Any) -> Any:
    """x, which is not negative, with the sign of y."""
    return from_bits(as_bits(x) | (as_bits(y) & SIGN))


def sum_with_error(x: Any, y: Any) -> Any:
    """x + y rounded, and what that lacks, for any x and y (Knuth, TAOCP 2, 4.2.2, theorem B)."""
    total = x + y
    of_y = total - x
    return total, (x - (total - of_y)) + (y - of_y)


def sorted_sum_with_error(x: Any, y: Any) -> Any:
    """The same for |x| >= |y|, or x = 0 (Dekker, 1971)."""
    total = x + y
    return total, y - (total - x)


def quotient(n: Any, n_low: Any, d: Any, d_low: Any) -> Any:
    """(n + n_low) / (d + d_low), where the low parts are small."""
    n_high, n_lost = sorted_sum_with_error(n, n_low)
    d_high, d_lost = sorted_sum_with_error(d, d_low)
    inverse = 1.0 / d_high
    q = n_high * inverse
    product = q * d_high
    rest = (n_high - product) - product_error(q, d_high, product)
    return q + inverse * (rest + (n_lost - q * d_lost))


def in_type_of(x: Any, given: Any) -> Any:
    """x as a float32 where what was given is one."""
    return np.float32(x) if isinstance(given, np.float32) else x
