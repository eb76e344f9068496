"""The table of eager operations, continued: functions that SciPy computes.

SciPy is optional: the row of a function is made at its first call, and where SciPy is missing
that call says so.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

from gradscribe.errors import MissingLibraryError
from gradscribe.runtime.arrays.rows import (
    BOTH,
    EVERY,
    FUNCTION,
    IN_PLACE,
    MAIN,
    OUT,
    Spelling,
    Table,
    operation,
)
from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.operations.adaptors import FLOATING, enter_row, named
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.tensors.promotion import divisible_arrays, floating
from gradscribe.runtime.tensors.tensor import Tensor


def _library(name: str) -> ModuleType:
    """The functions over arrays that `gs.name` is made of."""
    try:
        return importlib.import_module("gradscribe.runtime.arrays.special_composites")
    except ImportError as error:
        raise MissingLibraryError(
            f"`{name}` needs SciPy, which is not installed ({error})",
            "install it: pip install scipy",
        ) from None


_ABOUT: dict[str, dict[str, Any]] = {}
"""For each function that SciPy computes: what is known of its operation before its first call."""


@functools.cache
def row_of(name: str) -> Operation:
    """The operation of a function that SciPy computes."""
    return enter_row(Operation(callee=getattr(_library(name), name), **_ABOUT[name]))


def by_scipy(name: str, node: str, **about: Any) -> None:
    """Make a function of `special_composites` known. node, about: see `Operation`."""
    _ABOUT[name] = {"name": node, **about}


def made(
    name: str,
    meaning: str,
    node: str,
    saved: tuple[str, ...] = (),
    spelling: Spelling = FUNCTION | OUT,
    table: Table = MAIN,
) -> Callable[..., Tensor]:
    """`name(x)`, a floating number also of integers. node, saved: see `Operation`."""
    by_scipy(name, node, saved=saved)

    def function(input: Any) -> Tensor:
        return apply(row_of(name), (floating(input),))

    public = table.operation(spelling, shapes="(…) -> (…)", dtypes=FLOATING)
    return public(named(function, name, meaning))


_SELF = ("self=0",)

erf = made("erf", "The error function, 2/√π ∫ e^-t² dt from 0 to x.", "Erf", _SELF, EVERY)
erfc = made("erfc", "1 - erf(x).", "Erfc", _SELF, EVERY)
erfinv = made("erfinv", "The inverse of `erf`.", "Erfinv", ("result",), BOTH | IN_PLACE | OUT)
lgamma = made("lgamma", "ln |Γ(x)|.", "Lgamma", _SELF, BOTH | IN_PLACE | OUT)
digamma = made("digamma", "The derivative of `lgamma`.", "Digamma", _SELF, BOTH | IN_PLACE | OUT)
i0 = made("i0", "The modified Bessel function of the first kind, of order 0.", "I0", _SELF, EVERY)


by_scipy("polygamma", "Polygamma", parameters=("n",), saved=("n:n self=0",) * 2, in_place=1)
by_scipy("mvlgamma", "Mvlgamma", parameters=("p",))
by_scipy("igamma", "Igamma")
by_scipy("igammac", "Igammac")


@operation(FUNCTION | IN_PLACE | OUT, shapes="(…) -> (…)", dtypes="floating also of integers")
def polygamma(n: int, input: Any) -> Tensor:
    """The derivative of `digamma` of order n."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return apply(row_of("polygamma"), (floating(input),), (int(n),))


@operation(BOTH | IN_PLACE | OUT, shapes="(…) -> (…)", dtypes="floating also of integers")
def mvlgamma(input: Any, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p."""
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    return apply(row_of("mvlgamma"), (floating(input),), (int(p),))


@operation(BOTH | IN_PLACE | OUT, shapes="(…), (…) -> (…)")
def igamma(input: Any, other: Any) -> Tensor:
    """The regularized lower incomplete gamma function; its derivative in `other` is known."""
    return _incomplete("igamma", input, other)


@operation(BOTH | IN_PLACE | OUT, shapes="(…), (…) -> (…)")
def igammac(input: Any, other: Any) -> Tensor:
    """The regularized upper incomplete gamma function; its derivative in `other` is known."""
    return _incomplete("igammac", input, other)


def _incomplete(name: str, input: Any, other: Any) -> Tensor:
    operands = divisible_arrays(input, other)
    if getattr(operands[0], "requires_grad", False):
        raise NotImplementedError(f"the derivative for '{name}: input' is not implemented.")
    result = apply(row_of(name), operands)
    return functions.to_dtype(result, operands[1].dtype)
