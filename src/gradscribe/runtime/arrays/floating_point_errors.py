"""Floating-point errors of NumPy, which eager operations keep to themselves.

A division by zero or an overflow gives an infinity or a NaN, as in PyTorch, without a warning.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from contextvars import Context
from typing import Any, TypeVar

from gradscribe.numpy_errors import HANDLING, IGNORED

Function = TypeVar("Function", bound=Callable[..., Any])


def silent(function: Function) -> Function:
    """Decorator of a function that computes with arrays for a Tensor."""
    enter, leave, ignored = HANDLING.set, HANDLING.reset, IGNORED

    @functools.wraps(function)
    def quiet(*args: Any, **options: Any) -> Any:
        token = enter(ignored)
        try:
            return function(*args, **options)
        finally:
            leave(token)

    quiet.__gradscribe_function__ = function  # type: ignore[attr-defined]
    return quiet  # type: ignore[return-value]


def silent_call() -> Callable[..., Any]:
    """`silently(f, *args)`: calls a function that computes with arrays, and looks at nothing of the
    context; faster than `silent`. Where it is being called already (in another thread, or from
    within), it raises a RuntimeError."""
    context = Context()
    context.run(HANDLING.set, IGNORED)
    return context.run


def tell_of_imaginary_part() -> None:
    """Warn of complex numbers that become real ones, as PyTorch does."""
    warnings.warn(
        "Casting complex values to real discards the imaginary part", UserWarning, stacklevel=4
    )
