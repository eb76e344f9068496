"""Python's mathematics in native code: what raises there is left to the NumPy tier.

Numba's functions give infinities and NaN where Python's raise. These raise an error where the
result may be such a case; which error, the NumPy tier tells.
"""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from gradscribe.codegen.loops.checks import MATHEMATICS

_OF_TWO = (math.atan2, math.hypot, math.copysign)


@functools.cache
def mathematics() -> ModuleType:
    """What stands for `math` in native code."""
    module = ModuleType("math")
    for function in MATHEMATICS:
        make = _of_two if function in _OF_TWO else _of_one
        setattr(module, function.__name__, make(function))
    vars(module).update(pow=power())
    for name in ("pi", "e", "inf", "nan", "tau"):
        setattr(module, name, getattr(math, name))
    return module


def _of_one(function: Callable[..., float]) -> Any:
    numba: Any = importlib.import_module("numba")  # optional, and slow to import

    def checked(x):  # type: ignore[no-untyped-def]
        y = function(x)
        if y - y != 0.0 and (x - x == 0.0 or (y != y and x == x)):
            raise ValueError
        return y

    return numba.njit(error_model="numpy")(_named(checked, function))


def _of_two(function: Callable[..., float]) -> Any:
    numba: Any = importlib.import_module("numba")

    def checked(x, y):  # type: ignore[no-untyped-def]
        z = function(x, y)
        if z - z != 0.0 and x - x == 0.0 and y - y == 0.0:
            raise ValueError
        return z

    return numba.njit(error_model="numpy")(_named(checked, function))


def _named(checked: Any, function: Callable[..., float]) -> Any:
    """The same with a name of its own: Numba finds the code of functions by their names."""
    checked.__qualname__ = f"checked_{function.__name__}"
    return checked


@functools.cache
def float_power() -> Any:
    """`np.float_power(x, y)`, which raises nothing."""
    numba: Any = importlib.import_module("numba")

    @numba.njit(error_model="numpy")
    def float_power(x, y):  # type: ignore[no-untyped-def]
        return np.power(float(x), float(y))

    return float_power


@functools.cache
def power() -> Any:
    """`x ** y`."""
    numba: Any = importlib.import_module("numba")

    @numba.njit(error_model="numpy")
    def power(x, y):  # type: ignore[no-untyped-def]
        z = x**y
        if z - z != 0.0 and (x - x == 0.0 or z != z):
            raise ValueError
        return z

    return power
