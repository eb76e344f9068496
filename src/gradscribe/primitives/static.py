"""What a rule may ask, and compute, when it is compiled.

Rules are lowered by the frontend. A call of a function named here is not lowered but decided
there and then; run as plain Python (in tests) it means the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

STATIC: set[Callable[..., Any]] = set()
"""Functions that are run by the compiler; all their arguments must be static."""

F = TypeVar("F", bound=Callable[..., Any])


def static(function: F) -> F:
    """Enter a function into `STATIC`."""
    STATIC.add(function)
    return function


def known(x: Any) -> bool:
    """Whether `x` is a number that the program gives as a literal.

    The compiler decides this by how the operand is bound: a constant is a static number in
    the rule. (A value that happens to be a Python number at run time is not known.)
    """
    return type(x) in (int, float)


def is_integer(x: Any) -> bool:
    """Whether `x` is an integer or a bool; refused by the compiler where it may be or not."""
    return isinstance(x, (int, np.integer))


def of_one_dtype(x: Any) -> Any:
    """`x` itself; refused by the compiler where an array of it may have one dtype or another."""
    return x


def as_places(indices: Any) -> Any:
    """Indices (or counts) as NumPy computes with them: bools are the numbers 0 and 1, and no mask,
    and integers are of as many bits as addresses, so that they do not wrap around."""
    array = np.asarray(indices)
    if array.dtype == np.intp or array.dtype.kind not in "bui":
        return indices
    return int(indices) if np.ndim(indices) == 0 else array.astype(np.intp)


@static
def numbered_axes(axis: tuple[Any, ...] | list[Any] | int) -> tuple[int, ...] | int:
    """Axes as integers, for functions that take no bools, which others take for 0 and 1."""
    return tuple(map(int, axis)) if isinstance(axis, (tuple, list)) else int(axis)


@static
def inverse_permutation(axes: tuple[int, ...] | int) -> tuple[int, ...]:
    """The permutation that undoes `np.transpose(x, axes)`; one number is the axis of a vector."""
    axes = (axes,) if isinstance(axes, int) else axes
    rank = len(axes)
    return tuple(sorted(range(rank), key=lambda axis: axes[axis] % rank))
