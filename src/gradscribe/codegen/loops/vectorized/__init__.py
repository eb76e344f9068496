"""Elementwise mathematics for Numba's loops, which LLVM's loop vectorizer makes vector loops of.

    operations.py         what the functions are made of, as Python functions
    exponentials.py       exp, expm1, sinh, cosh and tanh
    logarithms.py         log and log1p
    powers.py             power
    reduction.py          angles less multiples of pi / 2
    trigonometric.py      sin, cos and tan
    arctangents.py        arctan and arctan2
    error_functions.py    erf
    intrinsics.py         the operations as instructions of LLVM
    compiling.py          all of it, compiled by Numba

Numba calls `exp` and the like of the C library for each number, so a loop with one of them is no
vector loop. These are straight code without calls or branches, and are inlined: a loop such as

    for i in range(n):
        y[i] = d[i] * (1.0 - tanh(x[i]) ** 2)

becomes a vector loop, where nothing else in it prevents that. A carried value does, a sum as well:
LLVM does not reorder additions of floats. There a call takes up to three times that of the C
library, as each step waits for the one before, and `math` is the better choice.

Errors are below 1.5 units in the last place, over all doubles, subnormal ones included, and signed
zeros, infinities and NaN are treated as NumPy does; `python -m tests.codegen.vectorized_sweep`
measures them. They need IEEE arithmetic: no fast-math options, no flushing of subnormal numbers.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradscribe.codegen.loops.vectorized import (
    arctangents,
    error_functions,
    exponentials,
    logarithms,
    operations,
    powers,
    reduction,
    trigonometric,
)
from gradscribe.codegen.loops.vectorized.compiling import compiled, of_numbers

__all__ = ["vectorized"]

_MODULES = (
    operations,
    exponentials,
    logarithms,
    powers,
    reduction,
    trigonometric,
    arctangents,
    error_functions,
)
_FUNCTIONS: dict[np.ufunc, Callable[..., Any]] = {
    np.exp: exponentials.exp,
    np.expm1: exponentials.expm1,
    np.log: logarithms.log,
    np.log1p: logarithms.log1p,
    np.power: powers.power,
    np.sinh: exponentials.sinh,
    np.cosh: exponentials.cosh,
    np.tanh: exponentials.tanh,
    np.sin: trigonometric.sin,
    np.cos: trigonometric.cos,
    np.tan: trigonometric.tan,
    np.arctan: arctangents.arctan,
    np.arctan2: arctangents.arctan2,
}


@functools.cache
def vectorized() -> dict[np.ufunc, Any]:
    """For a function of NumPy's, and SciPy's erf, one of scalars to call in Numba's code.

    Arguments are float64 or float32, of which results are, too, or integers that are less than
    2**53, with results of float64 (also those of `power`, where NumPy's are integers). Numba is
    imported, and what is called is compiled with the caller.
    """
    functions = dict(_FUNCTIONS)
    if importlib.util.find_spec("scipy") is not None:
        functions[importlib.import_module("scipy.special").erf] = error_functions.erf
    return _of_numbers(functions)


def _of_numbers(functions: Mapping[np.ufunc, Callable[..., Any]]) -> dict[np.ufunc, Any]:
    made = _compiled()
    return {
        ufunc: of_numbers(made[function], ufunc.nin, made) for ufunc, function in functions.items()
    }


@functools.cache
def _compiled() -> dict[Callable[..., Any], Any]:
    return compiled(_MODULES)
