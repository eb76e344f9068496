"""sin, cos and tan: polynomials on [-pi / 4, pi / 4], from tools/polynomials.py."""

from __future__ import annotations

from typing import Any

from gradscribe.codegen.loops.vectorized.operations import (
    ROUNDING,
    SIGN,
    as_bits,
    from_bits,
    magnitude,
    multiply_add,
    polynomial,
    quotient,
    select,
)
from gradscribe.codegen.loops.vectorized.reduction import TINY, reduced

# (sin(r) - r) / r**3 and (cos(r) - 1 + r**2 / 2) / r**4, in r**2
SIN = (
    -0.16666666666666666,
    0.008333333333333331,
    -0.00019841269841265065,
    2.7557319219339167e-06,
    -2.5052106232447578e-08,
    1.6058531618986147e-10,
    -7.586697117706918e-13,
)
COS = (
    0.041666666666666664,
    -0.0013888888888887398,
    2.480158729876569e-05,
    -2.7557317271729793e-07,
    2.08761462684032e-09,
    -1.1382632425521717e-11,
)


def sin(x: Any) -> Any:
    a = magnitude(x)
    return select(a < TINY, x, _sine(x, *reduced(a)))


def cos(x: Any) -> Any:
    return _cosine(*reduced(magnitude(x)))


def tan(x: Any) -> Any:
    a = magnitude(x)
    return select(a < TINY, x, _tangent(x, *reduced(a)))


def _sine(x: Any, n: Any, r: Any, error: Any) -> Any:
    quadrant = as_bits(n + ROUNDING)
    sine, sine_low, cosine, cosine_low = _of_reduced(r, error)
    y = select((quadrant & 1) == 0, sine + sine_low, cosine + cosine_low)
    return from_bits(as_bits(y) ^ (((quadrant << 62) ^ as_bits(x)) & SIGN))


def _cosine(n: Any, r: Any, error: Any) -> Any:
    quadrant = as_bits(n + ROUNDING)
    sine, sine_low, cosine, cosine_low = _of_reduced(r, error)
    y = select((quadrant & 1) == 0, cosine + cosine_low, sine + sine_low)
    return from_bits(as_bits(y) ^ (((quadrant + 1) << 62) & SIGN))


def _tangent(x: Any, n: Any, r: Any, error: Any) -> Any:
    quadrant = as_bits(n + ROUNDING)
    sine, sine_low, cosine, cosine_low = _of_reduced(r, error)
    is_even = (quadrant & 1) == 0
    y = quotient(
        select(is_even, sine, -cosine),
        select(is_even, sine_low, -cosine_low),
        select(is_even, cosine, sine),
        select(is_even, cosine_low, sine_low),
    )
    return from_bits(as_bits(y) ^ (as_bits(x) & SIGN))


def _of_reduced(r: Any, error: Any) -> Any:
    """sin(r + error) and cos(r + error), each in two parts."""
    square = r * r
    half = 0.5 * square
    odd = multiply_add(square * r, polynomial(square, SIN), error - half * error)
    even = multiply_add(square * square, polynomial(square, COS), -r * error)
    near = 1.0 - half
    return r, odd, near, ((1.0 - near) - half) + even
