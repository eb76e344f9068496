"""arctan and arctan2.

With 0 <= p <= q, arctan(p / q) = arctan(c) + arctan(z) for z = (p - c q) / (q + c p). With c = 0,
1/2 and 1 z is below 5/16, and p - c q is exact but for c = 0 (fdlibm, Sun Microsystems, 1993). The
coefficients are from tools/polynomials.py.
"""

from __future__ import annotations

import math
from typing import Any

from gradscribe.codegen.loops.vectorized.operations import (
    as_bits,
    magnitude,
    polynomial,
    select,
    sorted_sum_with_error,
    with_sign,
)

# (arctan(z) - z) / z**3, in z**2
ARCTAN = (
    -0.3333333333333333,
    0.19999999999999132,
    -0.14285714285420192,
    0.1111111107239826,
    -0.0909090649662264,
    0.07692207492000676,
    -0.06664298186608072,
    0.05847389286194345,
    -0.049456616650145974,
    0.030950939382597024,
)
PI, PI_LOW = 3.141592653589793, 1.2246467991473532e-16
OF_HALF, OF_HALF_LOW = 0.4636476090008061, 2.2698777452961687e-17


def arctan(x: Any) -> Any:
    a = magnitude(x)
    is_large = a > 1.0
    p, q = select(is_large, 1.0, a), select(is_large, a, 1.0)
    y = _turned(p, q, select(is_large, 0.5, 0.0), select(is_large, -1.0, 1.0))
    return with_sign(y, x)


def arctan2(y: Any, x: Any) -> Any:
    a, b = magnitude(y), magnitude(x)
    is_steep, is_left = a > b, as_bits(x) < 0
    p, q = select(is_steep, b, a), select(is_steep, a, b)
    both = (a == math.inf) & (b == math.inf)
    p, q = select(both, 1.0, p), select(both | (q == 0.0), 1.0, q)
    scale = select(q > 2.0**1000, 2.0**-10, select(q < 2.0**-900, 2.0**100, 1.0))
    turn = select(is_steep, 0.5, select(is_left, 1.0, 0.0))
    sign = select(is_steep == is_left, 1.0, -1.0)
    return with_sign(_turned(p * scale, q * scale, turn, sign), y)


def _turned(p: Any, q: Any, turn: Any, sign: Any) -> Any:
    """turn pi + sign arctan(p / q), for 0 <= p <= q."""
    is_middle, is_upper = p > 0.3125 * q, p > 0.71875 * q
    shift = select(is_upper, q, select(is_middle, 0.5 * q, 0.0))
    slope = select(is_upper, p, select(is_middle, 0.5 * p, 0.0))
    z = sign * ((p - shift) / (q + slope))
    angle = select(is_upper, 0.25 * PI, select(is_middle, OF_HALF, 0.0))
    angle_low = select(is_upper, 0.25 * PI_LOW, select(is_middle, OF_HALF_LOW, 0.0))
    total, lost = sorted_sum_with_error(turn * PI, sign * angle)
    lost += turn * PI_LOW + sign * angle_low
    square = z * z
    return total + (z + (z * square * polynomial(square, ARCTAN) + lost))
