"""Factors before the Tensors that they multiply: the order of arguments in PyTorch's first
versions, which its later ones understand, and warn of.

`x.add_(-0.1, y)` is `x.add_(y, alpha=-0.1)`, and `gs.addmm(beta, x, alpha, a, b)` is
`gs.addmm(x, a, b, beta=beta, alpha=alpha)`.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from gradscribe.runtime.tensors.tensor import Tensor
from gradscribe.tracebacks import level_of_user

Function = TypeVar("Function", bound=Callable[..., Any])

IN_ORDER: dict[Any, Callable[..., Any]] = {}
"""For each function made here, the one that it calls, which does not know the older order."""


def factors_first(*names: str) -> Callable[[Function], Function]:
    """A function of Tensors, and of factors of these names, that understands the older order."""

    def decorate(function: Function) -> Function:
        parameters = inspect.signature(function).parameters.values()
        count = sum(p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for p in parameters)

        @functools.wraps(function)
        def called(*args: Any, **options: Any) -> Any:
            if len(args) > count and not options:
                args, options = in_order(function.__name__, names, args, count)
            return function(*args, **options)

        IN_ORDER[called] = function
        return called  # type: ignore[return-value]

    return decorate


def in_order(
    name: str, names: Sequence[str], args: Sequence[Any], count: int
) -> tuple[tuple[Tensor, ...], dict[str, Any]]:
    """The Tensors among the arguments of a call in the older order, which there must be so many of,
    and the factors by their names. Raises TypeError for any other call."""
    tensors = tuple(arg for arg in args if isinstance(arg, Tensor))
    factors = [arg for arg in args if not isinstance(arg, Tensor)]
    are_numbers = all(isinstance(factor, (int, float, complex, np.number)) for factor in factors)
    is_last = isinstance(args[-1], Tensor)
    if len(tensors) != count or len(factors) > len(names) or not (are_numbers and is_last):
        given = ", ".join(type(arg).__name__ for arg in args)
        raise TypeError(f"{name}() received an invalid combination of arguments - got ({given})")
    options = dict(zip(names, factors, strict=False))
    warnings.warn(
        f"This overload of {name} is deprecated: name {' and '.join(options)}, after the Tensors",
        stacklevel=level_of_user(),
    )
    return tensors, options
