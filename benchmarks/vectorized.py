"""Elementwise mathematics in Numba's loops: vectorized, by the C library, and NumPy's own.

    python -m benchmarks.vectorized [name ...]

The columns are nanoseconds for each element: of a loop over the vectorized function, of the same
loop over the function as Numba has it, and of NumPy's, for arrays that fit into the cache and for
larger ones. The last rows are the derivative of tanh as one expression.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numba
import numpy as np

from benchmarks.timing import interleaved
from gradscribe.codegen.loops.vectorized import vectorized

SIZES = (10_000, 1_000_000)
OF_TANH = "d * (1 - tanh(x) ** 2)"


def loop_of(function: Any, count: int) -> Any:
    @numba.njit(error_model="numpy")
    def of_one(x, d, y):
        for i in range(x.shape[0]):
            y[i] = function(x[i])

    @numba.njit(error_model="numpy")
    def of_two(x, d, y):
        for i in range(x.shape[0]):
            y[i] = function(x[i], d[i])

    return of_one if count == 1 else of_two


def derivative_loop(tanh: Any) -> Any:
    @numba.njit(error_model="numpy")
    def loop(x, d, y):
        for i in range(x.shape[0]):
            y[i] = d[i] * (1.0 - tanh(x[i]) ** 2)

    return loop


def derivative_numpy(x: Any, d: Any, out: Any) -> None:
    np.tanh(x, out=out)
    np.multiply(d, 1.0 - out**2, out=out)


def numpy_of(ufunc: np.ufunc) -> Any:
    if ufunc.nin == 1:
        return lambda x, d, out: ufunc(x, out=out)
    return lambda x, d, out: ufunc(x, d, out=out)


def rows() -> dict[str, tuple[Any, Any, Any]]:
    """For each row, the loops and NumPy's function."""
    found = {}
    for ufunc, function in vectorized().items():
        scalar = math.erf if ufunc.__name__ == "erf" else ufunc
        loops = (loop_of(f, ufunc.nin) for f in (function, scalar))
        found[ufunc.__name__] = (*loops, numpy_of(ufunc))
    tanhs = (derivative_loop(tanh) for tanh in (vectorized()[np.tanh], np.tanh))
    found[OF_TANH] = (*tanhs, derivative_numpy)
    return found


def times(calls: tuple[Any, Any, Any], size: int) -> list[float]:
    rng = np.random.default_rng(0)
    args = rng.uniform(0.01, 10.0, size), rng.uniform(-3.0, 3.0, size), np.empty(size)
    named = {str(k): (lambda call=call: call(*args)) for k, call in enumerate(calls)}
    return [1e9 * seconds / size for seconds in interleaved(named, rounds=9).values()]


if __name__ == "__main__":
    print(f"{'':24}" + "".join(f"{size:>12} {'Numba':>7} {'NumPy':>7}" for size in SIZES))
    for name, calls in rows().items():
        if len(sys.argv) == 1 or name in sys.argv[1:]:
            columns = ["{:12.2f} {:7.2f} {:7.2f}".format(*times(calls, size)) for size in SIZES]
            print(f"{name:24}" + "".join(columns), flush=True)
