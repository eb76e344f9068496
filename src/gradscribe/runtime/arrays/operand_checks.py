"""Operands that NumPy takes and PyTorch does not: its errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import dtypes

Check = Callable[[Sequence[Any]], Exception | None]


def _kind(operand: Any) -> str:
    dtype = getattr(operand, "dtype", None)
    return dtype.kind if dtype is not None else np.dtype(type(operand)).kind


def not_complex(kind: type[Exception], message: str) -> Check:
    """The error for complex operands; `{}` in the message is their dtype."""

    def check(operands: Sequence[Any]) -> Exception | None:
        if all(_kind(operand) != "c" for operand in operands):
            return None
        return kind(message.format(dtypes.scalar_name(np.result_type(*operands))))

    return check


def not_implemented(kernel: str) -> Check:
    return not_complex(NotImplementedError, f"\"{kernel}\" not implemented for '{{}}'")


def only_floating(kernel: str) -> Check:
    """The error for operands that are integers."""

    def check(operands: Sequence[Any]) -> Exception | None:
        if _kind(operands[0]) in "fc":
            return None
        scalar = dtypes.scalar_name(operands[0].dtype)
        return NotImplementedError(f"\"{kernel}\" not implemented for '{scalar}'")

    return check


def divisor(check: Check | None = None) -> Check:
    """The error for integers divided by zero, after that of another check."""

    def check_divisor(operands: Sequence[Any]) -> Exception | None:
        error = None if check is None else check(operands)
        if error is None and all(_kind(operand) in "biu" for operand in operands):
            return None if np.all(operands[1]) else RuntimeError("ZeroDivisionError")
        return error

    return check_divisor


def extremum(name: str) -> Check:
    of_all = not_implemented(name)
    along = not_complex(RuntimeError, f"{name}(): does not support complex input")
    return lambda operands: (of_all if len(operands) == 1 else along)(operands)


not_clamped = not_complex(NotImplementedError, "clamp is not supported for complex types")
not_of_sign = not_complex(
    NotImplementedError,
    "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torchlike.sgn "
    "instead.",
)
