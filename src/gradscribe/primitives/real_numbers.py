"""Powers of Python's numbers that are of another kind than types say: checks in generated code.

A negative float to a power that is no integer is a complex number, where NumPy's numbers give nan;
an integer to a negative power is a float. Types tell of no sign. What follows was compiled for the
kind that types say, so a check raises an error where the number is of the other.
"""

from __future__ import annotations

from typing import Any

from gradscribe.errors import NoDerivativeError
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import NONE, Type
from gradscribe.primitives.registry import constant


def check_real(x: Any) -> None:
    """Raise an error if x is complex."""
    if isinstance(x, complex):
        raise NoDerivativeError(
            "a negative number to a power that is no integer is complex, and this was compiled for "
            "real numbers",
            "make the base complex, as in `complex(x) ** y`, or one of NumPy's numbers, which have "
            "nan there: `np.power(x, y)`",
        )


def check_integer(x: Any) -> None:
    """Raise an error if x is a float."""
    if isinstance(x, float):
        raise NoDerivativeError(
            "an integer to a negative power is a float, and this was compiled for integers",
            "make the base a float, as in `float(n) ** k`",
        )


def _type(facts: Facts, callee: Any, x: Any) -> Type:
    return NONE


for _check in (check_real, check_integer):
    constant(_check, type=_type, effect=True)
