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
from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.operations.adaptors import PUBLIC_MODULE, enter_row
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.operations.outputs import into
from gradscribe.runtime.tensors.promotion import divisible_arrays, floating
from gradscribe.runtime.tensors.tensor import Tensor

# fmt: off
__all__ = [
    "digamma", "erf", "erfc", "erfinv", "i0", "igamma", "igammac", "lgamma", "mvlgamma",
    "polygamma",
]
# fmt: on


def _library(name: str) -> ModuleType:
    """The functions over arrays that `gs.name` is made of."""
    try:
        return importlib.import_module("gradscribe.runtime.arrays.special_composites")
    except ImportError as error:
        raise MissingLibraryError(
            f"`{name}` needs SciPy, which is not installed ({error})",
            "install it: pip install scipy",
        ) from None


@functools.cache
def _row(name: str, node: str, parameters: tuple[str, ...] = ()) -> Operation:
    return enter_row(Operation(node, getattr(_library(name), name), parameters))


def _special(name: str, node: str, meaning: str) -> Callable[..., Tensor]:
    """`name(x)`, a floating number also of integers."""

    def function(input: Any, *, out: Tensor | None = None) -> Tensor:
        result = apply(_row(name, node), (floating(input),))
        return result if out is None else into(out, result, name)

    return described(function, name, meaning)


def described(function: Callable[..., Tensor], name: str, meaning: str) -> Callable[..., Tensor]:
    """The function under its public name."""
    function.__name__ = function.__qualname__ = name
    function.__module__ = PUBLIC_MODULE
    function.__doc__ = meaning
    return function


erf = _special("erf", "Erf", "The error function.")
erfc = _special("erfc", "Erfc", "One minus the error function.")
erfinv = _special("erfinv", "Erfinv", "The inverse of the error function.")
lgamma = _special("lgamma", "Lgamma", "The logarithm of the absolute value of the gamma function.")
digamma = _special("digamma", "Digamma", "The derivative of `lgamma`.")
i0 = _special("i0", "I0", "The modified Bessel function of the first kind, of order 0.")


def polygamma(n: int, input: Any) -> Tensor:
    """The derivative of `digamma` of order n."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return apply(_row("polygamma", "Polygamma", ("n",)), (floating(input),), (int(n),))


def mvlgamma(input: Any, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p."""
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    return apply(_row("mvlgamma", "Mvlgamma", ("p",)), (floating(input),), (int(p),))


def igamma(input: Any, other: Any) -> Tensor:
    """The regularized lower incomplete gamma function; its derivative in `other` is known."""
    return _incomplete("igamma", input, other)


def igammac(input: Any, other: Any) -> Tensor:
    """The regularized upper incomplete gamma function; its derivative in `other` is known."""
    return _incomplete("igammac", input, other)


def _incomplete(name: str, input: Any, other: Any) -> Tensor:
    operands = divisible_arrays(input, other)
    if getattr(operands[0], "requires_grad", False):
        raise NotImplementedError(f"the derivative for '{name}: input' is not implemented.")
    result = apply(_row(name, name.title()), operands)
    return functions.to_dtype(result, operands[1].dtype)
