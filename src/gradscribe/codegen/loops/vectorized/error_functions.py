"""erf, by its Taylor series at the nearest of the multiples of 1/128, which are in a table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradscribe.codegen.loops.vectorized.operations import (
    ROUNDING,
    as_bits,
    magnitude,
    product_error,
    select,
    sorted_sum_with_error,
    with_sign,
)
from gradscribe.codegen.loops.vectorized.reduction import inverse_tangent

LARGEST = 6.0  # erf of it is 1.0
_STEPS = 128
_PRECISION = 256


def table() -> np.ndarray[Any, np.dtype[np.float64]]:
    """For each multiple of 1/128, erf and its derivative, each as two doubles."""
    one = 1 << _PRECISION
    pi = 16 * inverse_tangent(5, one) - 4 * inverse_tangent(239, one)
    value, slope = 0, 2 * one * one // math.isqrt(pi * one)
    rows = []
    for node in range(int(LARGEST) * _STEPS + 1):
        rows.append((*two_parts(value), *two_parts(slope)))
        integral, ratio = step(node, one)
        value += slope * integral // one
        slope = slope * ratio // one
    return np.array(rows)


def step(node: int, one: int) -> tuple[int, int]:
    """The integral of erf' from a node to the next, and erf' there, for erf' = 1 at the node.

    Units are 1 / one; the terms are those of `_series`, for a distance of 1/128.
    """
    before, term = 0, one
    integral, ratio, n = 0, 0, 0
    while before or term:
        ratio += term
        n += 1
        integral += term // (n * _STEPS)
        before, term = term, -2 * (node * term + before) // (n * _STEPS * _STEPS)
    return integral, ratio


def two_parts(x: int) -> tuple[float, float]:
    """x / 2**_PRECISION as the sum of two doubles."""
    high = x / (1 << _PRECISION)
    numerator, denominator = high.as_integer_ratio()
    return high, (x - numerator * (1 << _PRECISION) // denominator) / (1 << _PRECISION)


def erf(x: Any) -> Any:
    a = magnitude(x)
    bounded = select(a < LARGEST, a, LARGEST)  # and where a is NaN
    shifted = bounded + ROUNDING / _STEPS
    row = as_bits(shifted) & 1023
    node = shifted - ROUNDING / _STEPS
    rows = table()
    d = bounded - node
    scaled = rows[row, 2] * d
    rest = product_error(rows[row, 2], d, scaled) + rows[row, 3] * d
    total, lost = sorted_sum_with_error(rows[row, 0], scaled)
    y = total + (scaled * _series(node, d) + (lost + (rest + rows[row, 1])))
    return with_sign(select(a == a, y, x), x)


def _series(node: Any, d: Any) -> Any:
    """(erf(node + d) - erf(node)) / (erf'(node) d) - 1, up to d**7.

    erf' is a multiple of exp(-t**2), so the terms t(n) of erf'(node + d) / erf'(node) have
    n t(n) = -2 node d t(n - 1) - 2 d**2 t(n - 2).
    """
    x, square = -2.0 * node * d, -2.0 * d * d
    t2 = 0.5 * (x * x + square)
    t3 = (x * t2 + square * x) * (1.0 / 3.0)
    t4 = (x * t3 + square * t2) * (1.0 / 4.0)
    t5 = (x * t4 + square * t3) * (1.0 / 5.0)
    t6 = (x * t5 + square * t4) * (1.0 / 6.0)
    t7 = (x * t6 + square * t5) * (1.0 / 7.0)
    rest = t7 * (1.0 / 8.0) + t6 * (1.0 / 7.0) + t5 * (1.0 / 6.0) + t4 * (1.0 / 5.0)
    return (rest + t3 * (1.0 / 4.0)) + (t2 * (1.0 / 3.0) + x * 0.5)
