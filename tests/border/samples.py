"""Arguments for functions of which nothing is known but their names, and what a call does to them.

In: a function. Out: the calls of it that work, on arrays of several dtypes, in C and Fortran order,
strided, empty, read-only, and what each did: which arrays it wrote to, which its result shares
memory with, which it kept.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

VECTOR = np.array([0.3, 0.9, 0.55, 0.2, 0.7, 0.4])
RISING = np.array([0.1, 0.25, 0.4, 0.5, 0.8, 0.95])
MATRIX = np.array(
    [[4.1, 0.3, 0.2, 0.5], [0.6, 3.2, 0.1, 0.7], [0.2, 0.4, 5.3, 0.9], [1, 0.8, 0, 2]]
)
NUMBERS = np.array([3, 1, 0, 2, 5, 4])
SIGNAL = np.sin(np.arange(40.0))
TAPS = np.array([0.25, 0.5])
ROWS = np.array([[0.0, 1, 1.0, 2], [2, 3, 2.0, 3], [4, 5, 3, 5]])
SECTIONS = np.array([[1.0, 0.2, 0.3, 1.0, 0.4, 0.5]])
TEXTS = np.array(["a b", "c"])
DATES = np.array(["2020-01-01"], "M8[D]")
V, A, R, K = VECTOR, MATRIX, RISING, NUMBERS

ARGUMENTS: tuple[tuple[Any, ...], ...] = (
    *((V,), (A,), (K,), (R,), (SIGNAL,), (V > 0.5,), (A > 1.0,), (ROWS,), (ROWS.T,), (SECTIONS,)),
    *((TEXTS,), (DATES,), ([V, R],), ([A, A],), (3,), (0.5,), (np.float32(1.5),), ("f8",), ()),
    *((V, R), (R, V), (A, A), (A, V[:4]), (V[:4], A), (V, 2), (A, 2), (K, 2), (2, V), (0.5, V)),
    *((V, 0.5), (A, 0.5), (A, 1), (A, TAPS), (A, A[:2, :2]), (TAPS, V), (A > 1.0, A > 0.5)),
    *((V, (2, 3)), (A, (2, 8)), (K, (2, 3)), (SIGNAL, 5), (K % 4, (4,)), ((K % 3, K % 2), (3, 2))),
    *((SECTIONS, SIGNAL), (V, "mean"), (A, "float64"), ((V, R), 2), (TEXTS, TEXTS), (TEXTS, "a")),
    *((TEXTS, 5), (DATES, 1), (DATES, DATES), (3, 0.5), (3, 2), (0.3, 0.5), (8, 0.3), (5, [0.1])),
    *(("hann", 8), (8, 2.5), (8, [1, 0.5]), (60.0, 0.5), ((2, 3), (1, 3)), ("f8", "f4")),
    *((V, R, V), (A, A, A), (2, V, V), (2, 1, V), (V, 2, 1), (V, R, 2), (TAPS, TAPS, SIGNAL)),
    *((TAPS, TAPS, 2.0), (SIGNAL, 5, 2), (5, 2, 0.3), (2, 0.5, 3), (TEXTS, "a", "d"), (8, 2.5, 3)),
    *((1.0, 2.0, V), ("ij,jk->ik", A, A), (5, [0, 0.5, 1.0], [1, 1, 0]), (2, 3, 4), (V, R, V, V)),
    *((A, A, A, A), (1.0, 2.0, 3.0, V), (2, 1, 1, V), (TAPS, TAPS, 1.0, 2.0), (5, 2, 40, 0.3)),
    *((10.0, 2.0, 3.0, 20.0), (2, 3, 4, 5), (V, V, V, V, V), (A, 0, 1), (0.5, 0.7, 3, 40)),
)
"""Arguments that some function takes: vectors, matrices, numbers, shapes, texts."""

LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C": np.array,
    "Fortran": lambda a: np.array(a, order="F"),
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "empty": lambda a: np.array(a[:0]),
    "read-only": lambda a: _locked(np.array(a)),
    "float32": lambda a: np.array(a).astype(np.float32),
    "complex": lambda a: np.array(a).astype(complex),
    "int": lambda a: np.array(10 * a).astype(int) if a.dtype.kind == "f" else np.array(a),
}


@dataclass(frozen=True)
class Done:
    """What a call did: the numbers of the arrays among its arguments that it changed, that its
    result shares memory with, that something refers to afterwards."""

    arguments: tuple[Any, ...]
    wrote: frozenset[int]
    shares: frozenset[int]
    kept: frozenset[int]
    result: Any


def done(
    function: Callable[..., Any], arguments: tuple[Any, ...], layout: str, keywords: dict[str, Any]
) -> Done | None:
    """What a call with these arguments does; None if it raises."""
    given = tuple(_in_layout(item, LAYOUTS[layout]) for item in arguments)
    held = list(arrays((given, list(keywords.values()))))
    before = [_state(array) for array in held]
    counts = [sys.getrefcount(array) for array in held]
    try:
        with _quiet():
            result = function(*given, **keywords)
    except Exception:
        return None
    outcome = list(arrays(result))
    wrote = {i for i, array in enumerate(held) if _state(array) != before[i]}
    shares = {i for i, array in enumerate(held) if any(np.shares_memory(array, r) for r in outcome)}
    copied = _copied(result)
    del result, outcome
    kept = {i for i in range(len(held)) if sys.getrefcount(held[i]) > counts[i]}
    return Done(given, frozenset(wrote), frozenset(shares), frozenset(kept), copied)


def arrays(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    """The arrays in a nested value."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple | list):
        yield from itertools.chain.from_iterable(map(arrays, value))


def same(a: Any, b: Any) -> bool:
    """Whether two results hold the same arrays, to the last bit."""
    ours, theirs = list(arrays(a)), list(arrays(b))
    return [x.tobytes() for x in ours] == [y.tobytes() for y in theirs]


def _copied(value: Any) -> Any:
    return [array.copy() for array in arrays(value)]


def _in_layout(item: Any, layout: Callable[[Any], Any]) -> Any:
    if isinstance(item, tuple | list):
        return type(item)(_in_layout(below, layout) for below in item)
    if not isinstance(item, np.ndarray):
        return item
    return layout(item) if item.dtype.kind in "fi" else item.copy()


def _locked(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    array.setflags(write=False)
    return array


def _state(array: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    base = array.base if isinstance(array.base, np.ndarray) else array
    return base.tobytes(), array.flags.writeable, array.shape, array.strides, array.dtype


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
