"""The largest errors of the functions for Numba's loops that compilers vectorize.

    python -m tests.codegen.vectorized_sweep [name ...]        # needs numba and mpmath

For each function, its largest error in units in the last place, the arguments where it has that,
and for how many arguments it was computed. The arguments are those of `samples`; long doubles find
the worst ones (where they are no longer than doubles, at random), and mpmath tells their errors.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.codegen.loops.vectorized import vectorized

COUNT = 300_000
CHECKED = 400  # with mpmath: the worst, and as many others
ONES = [0.0, 5e-324, 2.2e-308, 0.5, 1.0, 2.0, 3.0, 2.0**52 + 1, 2.0**53 - 1, 1.7e308, np.inf]
SPECIAL = np.array([*ONES, *(-x for x in ONES), np.nan])
CLOSEST = float.fromhex("0x1.6ac5b262ca1ffp+849")  # to a multiple of pi / 2, of all doubles


def all_bits(rng: np.random.Generator, count: int) -> np.ndarray:
    """Doubles of all magnitudes, subnormal ones included."""
    bits = rng.integers(0, 2**64, count, dtype=np.uint64, endpoint=False)
    x = bits.view(np.float64)
    return x[np.isfinite(x)]


def near_multiples(rng: np.random.Generator, count: int) -> np.ndarray:
    """The doubles next to multiples of pi / 4, small and large."""
    largest = 2.0 ** rng.uniform(0, 60, count)
    multiples = np.rint(rng.uniform(-1, 1, count) * largest).astype(np.longdouble)
    return (multiples * (np.longdouble("3.14159265358979323846264") / 4)).astype(np.float64)


def samples(count: int = COUNT, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    magnitudes = 2.0 ** rng.uniform(-60, 12, count) * rng.choice([-1.0, 1.0], count)
    near_one = 1.0 + magnitudes[: count // 4] * 2.0**-12
    parts = [
        all_bits(rng, count),
        magnitudes,
        near_one,
        *(rng.uniform(-bound, bound, count) for bound in (1.0, 7.0, 40.0, 750.0)),
        near_multiples(rng, count // 2),
        np.array([CLOSEST, -CLOSEST]),
    ]
    return np.concatenate(parts)


def pairs(ufunc: np.ufunc, count: int = COUNT) -> tuple[np.ndarray, np.ndarray]:
    """Arguments of a function of two."""
    rng = np.random.default_rng(1)
    x = rng.permutation(samples(count, 2))
    y = rng.permutation(samples(count, 3))[: x.size]
    x = x[: y.size]
    if ufunc is np.power:
        x = np.abs(x)
        with np.errstate(all="ignore"):
            exponents = rng.uniform(-1080, 1030, y.size) / np.log2(x)
        y = np.where(rng.random(y.size) < 0.9, exponents, np.rint(y))
    else:
        close = rng.random(y.size) < 0.5
        with np.errstate(all="ignore"):
            y = np.where(close, x * 2.0 ** rng.uniform(-4, 4, y.size), y)
    keep = np.isfinite(x) & np.isfinite(y)
    return x[keep], y[keep]


def arguments(ufunc: np.ufunc, count: int = COUNT) -> tuple[np.ndarray, ...]:
    return pairs(ufunc, count) if ufunc.nin == 2 else (samples(count),)


@functools.cache
def loop_of(function: Any, count: int) -> Any:
    """A loop that Numba compiles, over as many arrays of arguments, and one of results."""
    import numba

    @numba.njit(error_model="numpy")
    def of_one(x, y):
        for i in range(x.shape[0]):
            y[i] = function(x[i])

    @numba.njit(error_model="numpy")
    def of_two(x1, x2, y):
        for i in range(x1.shape[0]):
            y[i] = function(x1[i], x2[i])

    return of_one if count == 1 else of_two


def applied(function: Any, args: tuple[np.ndarray, ...]) -> np.ndarray:
    """The results of such a loop."""
    results = np.empty_like(args[0])
    loop_of(function, len(args))(*args, results)
    return results


def exact(name: str) -> Callable[..., Any]:
    """The function in 1300 bits, which is enough to reduce any double."""
    import mpmath as mp

    mp.mp.prec = 1300
    names = {"arctan": "atan", "arctan2": "atan2"}
    if name == "expm1":  # mpmath's own gives up precision for tiny arguments
        return lambda x: mp.expm1(mp.mpf(x))
    function = getattr(mp, names.get(name, name))
    return lambda *args: function(*(mp.mpf(arg) for arg in args))


def errors_in_ulps(name: str, args: Any, computed: np.ndarray) -> list[float]:
    """The errors of these results, where the exact one is a finite double."""
    import mpmath as mp

    function = exact(name)
    found = []
    for *point, y in zip(*args, computed, strict=True):
        right = function(*(float(x) for x in point))
        if isinstance(right, mp.mpc) or not mp.isfinite(right) or abs(right) >= mp.mpf(2) ** 1024:
            found.append(0.0)
        elif not np.isfinite(y):
            found.append(np.inf)
        else:
            spacing = float(np.spacing(abs(np.float64(float(right)))))
            found.append(float(abs(mp.mpf(float(y)) - right) / spacing))
    return found


def suspects(ufunc: np.ufunc, args: Any, computed: np.ndarray) -> np.ndarray:
    """Where the result differs most from that of long doubles, and some others."""
    rng = np.random.default_rng(4)
    others = rng.integers(0, computed.size, CHECKED)
    with np.errstate(all="ignore"):
        try:
            right = ufunc(*(arg.astype(np.longdouble) for arg in args))
        except TypeError:
            return rng.integers(0, computed.size, 20 * CHECKED)
        error = np.abs(computed - right) / np.spacing(np.abs(right.astype(np.float64)))
        error = np.where(np.isnan(computed) != np.isnan(right), np.inf, error)
        error = np.where((computed == right) | np.isnan(error), 0.0, error)
    return np.unique(np.concatenate([np.argsort(error)[-CHECKED:], others]))


def wrong_special_cases(ufunc: np.ufunc, function: Any) -> list[tuple[Any, ...]]:
    """Special arguments where NumPy's result is another, the sign of a zero included."""
    special = SPECIAL
    args = tuple(grid.ravel() for grid in np.meshgrid(*[special] * ufunc.nin))
    computed = applied(function, args)
    with np.errstate(all="ignore"):
        right = ufunc(*args)
    same = (computed == right) & (np.signbit(computed) == np.signbit(right))
    same |= np.isnan(computed) & np.isnan(right)
    same |= np.isfinite(right) & (right != 0) & np.isclose(computed, right, rtol=1e-15, atol=0)
    return [tuple(float(arg[i]) for arg in args) for i in np.flatnonzero(~same)]


def report(ufunc: np.ufunc, function: Any) -> str:
    name = ufunc.__name__
    args = arguments(ufunc)
    computed = applied(function, args)
    chosen = suspects(ufunc, args, computed)
    errors = errors_in_ulps(name, [arg[chosen] for arg in args], computed[chosen])
    worst = chosen[int(np.argmax(errors))]
    at = ", ".join(float(arg[worst]).hex() for arg in args)
    text = f"{name:8} {max(errors):6.3f} ulp at {at} of {computed.size}"
    wrong = wrong_special_cases(ufunc, function)
    return text + (f"; wrong at {wrong}" if wrong else "")


def main(names: list[str]) -> None:
    for ufunc, function in vectorized().items():
        if not names or ufunc.__name__ in names:
            print(report(ufunc, function), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
