"""Numbers and matrices that are of another kind than types say: checks in generated code.

A negative float to a power that is no integer is a complex number, where NumPy's numbers give nan;
an integer to a negative power is a float; roots and logarithms of a real matrix are complex where
an eigenvalue is negative. Types tell of no sign. What follows was compiled for the kind that types
say, so a check raises an error where the value is of the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.errors import NoDerivativeError
from gradscribe.ir.core import Primitive
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import NONE, Type
from gradscribe.primitives.registry import constant
from gradscribe.primitives.result_types import check_result


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


def check_real_matrix(x: Any) -> None:
    """Raise an error if the root or the logarithm x of a real matrix is complex: not by rounding
    (of single precision, to five digits), nor by its dtype alone, which is SciPy's choice."""
    if np.iscomplexobj(x) and np.any(np.abs(x.imag) > 1e-5 * np.max(np.abs(x), initial=0)):
        refuse_complex_matrix()


def refuse_complex_matrix() -> None:
    """Raise that error."""
    raise NoDerivativeError(
        "the function of a real matrix is complex where an eigenvalue is negative",
        "give it a complex matrix: `a.astype(complex)`",
    )


KINDS_BY_VALUE: dict[Primitive, Callable[[Any], None]] = {}
"""Primitives that give complex numbers of some real ones, and the checks that these did not."""


def _type(facts: Facts, callee: Any, **arguments: Any) -> Type:
    return NONE


CHECKS = frozenset(
    constant(check, type=_type, effect=True)
    for check in (check_real, check_integer, check_real_matrix, check_result)
)
"""Operations that raise an error, or do nothing."""
