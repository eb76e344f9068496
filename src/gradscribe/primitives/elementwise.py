"""Elementwise operations: arithmetic, powers, and the common functions.

A rule gives the (holomorphic) partial derivatives of out with respect to each operand; None
where there is none. In rules, a comparison is used as a number: `out + (out == 0)` is out,
and 1 where out is zero, in out's own precision.
Formulas: Abramowitz & Stegun, chapters 4 and 7. Those of complex inverse functions use the result,
which tells the branch, and on a branch cut its side.
"""

from __future__ import annotations

import builtins
import cmath
import math
import operator

import numpy as np

from gradscribe.primitives.registry import (
    NOT_HOLOMORPHIC,
    PRIMITIVES,
    available,
    elementwise,
    variant,
)
from gradscribe.primitives.static import known

# -- arithmetic ------------------------------------------------------------------------------


@elementwise(operator.add, np.add)
def add(out, x, y):
    return 1, 1


@elementwise(operator.sub, np.subtract)
def subtract(out, x, y):
    return 1, -1


@elementwise(operator.mul, np.multiply)
def multiply(out, x, y):
    return y, x


@elementwise(operator.truediv, np.divide, np.true_divide, pole=True)
def divide(out, x, y):
    return 1 / y, -out / y


@elementwise(operator.floordiv, np.floor_divide)
def floor_divide(out, x, y):
    return None, None


@elementwise(operator.mod, np.mod, np.remainder)
def remainder(out, x, y):
    return 1, -(x // y)


@elementwise(np.fmod, math.fmod)
def fmod(out, x, y):
    return 1, -np.trunc(x / y)


@elementwise(operator.neg, np.negative)
def negative(out, x):
    return -1


@elementwise(operator.pos, np.positive)
def positive(out, x):
    return 1


@elementwise(np.reciprocal, pole=True)
def reciprocal(out, x):
    return -out / x


@elementwise(operator.pow, builtins.pow, np.power, np.float_power, math.pow, pole=True)
def power(out, x, y):
    return _power_by_base(out, x, y), _power_by_exponent(out, x, y)


@variant(builtins.pow)
def power_modulo(base, exp, mod):
    """Of numbers that are no integers, which have no modulus."""
    if mod is not None:
        raise TypeError("pow() 3rd argument not allowed unless all arguments are integers")
    return base**exp


def _power_by_base(out, x, y):
    if known(y):
        if y == 0:
            return None
        if y == 1:
            return 1
        if y == 2:
            return y * x
        if y == 0.5:
            return _quotient(0.5, out)
        return y * (x ** (y - 1) if y > 1 else _power(x, y - 1))
    if _are_flags(y):
        return y
    return y * _power(x, y - (y != 0))  # 0 at y == 0, also where x is 0


def _are_flags(y):
    if isinstance(y, np.ndarray):
        return y.dtype == bool
    return isinstance(y, (bool, np.bool_))


def _power_by_exponent(out, x, y):
    if known(x) and x > 0:
        return out * math.log(x)
    if known(x) and x < 0:
        return out * np.log(x + 0j if _is_complex(y) else x)  # real numbers have no logarithm
    if _is_complex(x):
        return out * np.log(np.where((x == 0) & (np.real(y) >= 0), 1, x))  # keeps signs of zeros
    if _is_complex(y):
        x, y = x + 0j, np.real(y)  # a negative base has a logarithm
    return out * np.log(x + ((x == 0) & (y >= 0)))  # 0 ** y is constant for y > 0


def _is_complex(x):
    return np.asarray(x).dtype.kind == "c"


# -- powers, exponentials and logarithms -----------------------------------------------------


@elementwise(np.square)
def square(out, x):
    return 2 * x


@elementwise(np.sqrt, math.sqrt, cmath.sqrt, pole=True)
def sqrt(out, x):
    return _quotient(0.5, out)


@elementwise(np.cbrt, *available(math, "cbrt"), pole=True)
def cbrt(out, x):
    return _quotient(1, 3 * out * out)


def _quotient(x, y):
    """x / y, infinite where y is zero: Python's numbers raise an exception there."""
    if is_pythons(y):
        return x / y if y else np.divide(x, y)
    return x / y


def _power(x, y):
    """x ** y, infinite at poles: Python's numbers raise an exception there."""
    if is_pythons(x) and is_pythons(y):
        return x**y if x else np.float_power(x, y)
    return x**y


def is_pythons(x):
    return isinstance(x, (int, float, complex)) and not isinstance(x, np.generic)


@elementwise(np.exp, math.exp, cmath.exp)
def exp(out, x):
    return out


@elementwise(np.exp2, *available(math, "exp2"))
def exp2(out, x):
    return out * math.log(2)


@elementwise(np.expm1, math.expm1)
def expm1(out, x):
    return out + 1


@elementwise(np.log, math.log, pole=True)
def log(out, x, base=None):
    if base is None:
        return 1 / x, None
    return 1 / (x * np.log(base)), -out / (base * np.log(base))


@elementwise(np.log2, math.log2, pole=True)
def log2(out, x):
    return 1 / (x * math.log(2))


@elementwise(np.log10, math.log10, pole=True)
def log10(out, x):
    return 1 / (x * math.log(10))


@elementwise(np.log1p, math.log1p, pole=True)
def log1p(out, x):
    return 1 / (1 + x)


@elementwise(np.logaddexp)
def logaddexp(out, x, y):
    return _shares(np.exp, x, y)


@elementwise(np.logaddexp2)
def logaddexp2(out, x, y):
    return _shares(np.exp2, x, y)


def _shares(exp, x, y):
    """What the powers of x and y are of their sum: by how far they are from each other, for the
    logarithm of the sum is rounded. A sum of nothing has no parts, one of infinities equal ones."""
    is_same = (x == y) & np.isinf(x)
    gap = np.where(is_same, 0, x) - np.where(is_same, 0, y)
    is_lower = gap < 0
    small = exp(np.where(is_lower, gap, -gap))
    total = np.where(np.maximum(x, y) == -np.inf, np.inf, 1 + small)
    return np.where(is_lower, small, 1) / total, np.where(is_lower, 1, small) / total


@elementwise(np.hypot, math.hypot)
def hypot(out, x, y):
    r = out + (out == 0)
    return x / r, y / r


@elementwise(*available(math, "fma"))
def fma(out, x, y, z):
    return y, x, 1


# -- trigonometric and hyperbolic functions --------------------------------------------------


@elementwise(np.sin, math.sin, cmath.sin)
def sin(out, x):
    return math.cos(x) if type(out) is float else np.cos(x)


@elementwise(np.cos, math.cos, cmath.cos)
def cos(out, x):
    return -math.sin(x) if type(out) is float else -np.sin(x)


@elementwise(np.tan, math.tan, cmath.tan)
def tan(out, x):
    return 1 + out * out


@elementwise(np.arcsin, math.asin, pole=True)
def arcsin(out, x):
    if _is_complex(x):
        return 1 / np.cos(out)
    return 1 / np.sqrt((1 - x) * (1 + x))


@elementwise(np.arccos, math.acos, pole=True)
def arccos(out, x):
    if _is_complex(x):
        return -1 / np.sin(out)
    return -1 / np.sqrt((1 - x) * (1 + x))


@elementwise(np.arctan, math.atan)
def arctan(out, x):
    return 1 / (1 + x * x)


@elementwise(np.arctan2, math.atan2)
def arctan2(out, y, x):
    r = np.hypot(x, y)
    r = r + (r == 0)
    return x / r / r, -y / r / r  # a square of r would be 0 or infinite too early


@elementwise(np.sinh, math.sinh, cmath.sinh)
def sinh(out, x):
    return math.cosh(x) if type(out) is float else np.cosh(x)


@elementwise(np.cosh, math.cosh, cmath.cosh)
def cosh(out, x):
    return math.sinh(x) if type(out) is float else np.sinh(x)


@elementwise(np.tanh, math.tanh, cmath.tanh)
def tanh(out, x):
    return 1 - out * out


@elementwise(np.arcsinh, math.asinh)
def arcsinh(out, x):
    if _is_complex(x):
        return 1 / np.cosh(out)
    return 1 / np.hypot(1, x)


@elementwise(np.arccosh, math.acosh, pole=True)
def arccosh(out, x):
    if _is_complex(x):
        return 1 / np.sinh(out)
    return 1 / np.sqrt((x - 1) * (x + 1))


@elementwise(np.arctanh, math.atanh, pole=True)
def arctanh(out, x):
    return 1 / ((1 - x) * (1 + x))


@elementwise(np.deg2rad, np.radians, math.radians)
def radians(out, x):
    return math.pi / 180


@elementwise(np.rad2deg, np.degrees, math.degrees)
def degrees(out, x):
    return 180 / math.pi


@elementwise(math.erf)
def erf(out, x):
    return 2 / math.sqrt(math.pi) * np.exp(-x * x)


@elementwise(math.erfc)
def erfc(out, x):
    return -2 / math.sqrt(math.pi) * np.exp(-x * x)


@elementwise(np.sinc)
def sinc(out, x):
    near = np.abs(x) < 0.03
    s = (np.pi * x) ** 2
    series = -(np.pi**2) * x * (1 / 3 - s * (1 / 30 - s * (1 / 840 - s / 45360)))
    return np.where(near, series, (np.cos(np.pi * x) - out) / np.where(near, 1, x))


@elementwise(np.i0)
def i0(out, x):
    nodes = np.cos(np.pi / 128 * (np.arange(64) + 0.5)).astype(out.dtype)
    return np.mean(nodes * np.sinh(np.expand_dims(x, -1) * nodes), axis=-1)  # I_1, A&S 9.6.19


# -- absolute values, signs and rounding -----------------------------------------------------


@elementwise(builtins.abs, operator.abs, np.absolute, np.fabs, math.fabs)
def abs(out, x):
    if _is_complex(x):
        return x / (out + (out == 0))
    return np.sign(x)


@elementwise(np.copysign, math.copysign)
def copysign(out, x, y):
    return np.sign(x) * np.copysign(1, y), None


@elementwise(np.sign)
def sign(out, x):
    return None


NOT_HOLOMORPHIC.add(PRIMITIVES[np.sign])


@elementwise(np.floor)
def floor(out, x):
    return None


@elementwise(np.ceil)
def ceil(out, x):
    return None


@elementwise(np.trunc, np.fix)
def trunc(out, x):
    return None


@elementwise(np.spacing)
def spacing(out, x):
    return None


@elementwise(np.nextafter)
def nextafter(out, x, y):
    return 1, None


@elementwise(np.rint)
def rint(out, x):
    return None


@elementwise(np.round, np.around, methods=("round",))
def round(out, x, decimals=None):
    return None, None


@elementwise(builtins.round)
def round_number(out, number, ndigits=None):
    return None, None


@elementwise(np.heaviside)
def heaviside(out, x, y):
    return None, x == 0
