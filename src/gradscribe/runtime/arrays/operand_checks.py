"""Operands that NumPy takes and PyTorch does not: its errors, by the names of operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import dtypes

Check = Callable[[Sequence[Any]], Exception | None]


def _kind(operand: Any) -> str:
    dtype = getattr(operand, "dtype", None)
    return dtype.kind if dtype is not None else np.dtype(type(operand)).kind


def _not_complex(kind: type[Exception], message: str) -> Check:
    """The error for complex operands; `{}` in the message is their dtype."""

    def check(operands: Sequence[Any]) -> Exception | None:
        if all(_kind(operand) != "c" for operand in operands):
            return None
        return kind(message.format(dtypes.scalar_name(np.result_type(*operands))))

    return check


def _not_implemented(kernel: str) -> Check:
    return _not_complex(NotImplementedError, f"\"{kernel}\" not implemented for '{{}}'")


def _only_floating(kernel: str) -> Check:
    """The error for operands that are integers."""

    def check(operands: Sequence[Any]) -> Exception | None:
        if _kind(operands[0]) in "fc":
            return None
        scalar = dtypes.scalar_name(operands[0].dtype)
        return NotImplementedError(f"\"{kernel}\" not implemented for '{scalar}'")

    return check


def _divisor(check: Check | None = None) -> Check:
    """The error for integers divided by zero, after that of another check."""

    def check_divisor(operands: Sequence[Any]) -> Exception | None:
        error = None if check is None else check(operands)
        if error is None and all(_kind(operand) in "biu" for operand in operands):
            return None if np.all(operands[1]) else RuntimeError("ZeroDivisionError")
        return error

    return check_divisor


def _extremum(name: str) -> Check:
    of_all = _not_implemented(name)
    along = _not_complex(RuntimeError, f"{name}(): does not support complex input")
    return lambda operands: (of_all if len(operands) == 1 else along)(operands)


_NO_CLAMP = _not_complex(NotImplementedError, "clamp is not supported for complex types")
_NO_SIGN = (
    "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torchlike.sgn "
    "instead."
)

_CHECKS: dict[str, Check] = {
    **{name: _not_implemented(f"{name.lower()}") for name in ("Lt", "Le", "Gt", "Ge")},
    **{
        name: _not_complex(RuntimeError, f"{name.lower()} not implemented for complex tensors.")
        for name in ("Maximum", "Minimum", "Fmax", "Fmin")
    },
    **{
        name: _not_complex(RuntimeError, f"{name.lower()}(): does not support complex input")
        for name in ("Argmax", "Argmin")
    },
    **{
        name: _not_complex(
            NotImplementedError, f"{name.lower()} is not supported for complex inputs"
        )
        for name in ("Ceil", "Floor", "Trunc")
    },
    **{name: _not_implemented(f"{name.lower()}") for name in ("Cummax", "Cummin")},
    **{name: _not_implemented(f"{name.lower()}") for name in ("Kthvalue", "Median")},
    "Amax": _not_implemented("amax"),
    "Amin": _not_implemented("amin"),
    "Clamp": _NO_CLAMP,
    "DivTrunc": _divisor(),
    "FloorDivide": _divisor(_not_implemented("floor_divide")),
    "Fmod": _divisor(),
    "Frac": _only_floating("frac"),
    "LogSoftmax": _only_floating("log_softmax"),
    "Max": _extremum("max"),
    "Min": _extremum("min"),
    "Relu": _NO_CLAMP,
    "Remainder": _divisor(),
    "Round": _not_implemented("round"),
    "Sign": _not_complex(NotImplementedError, _NO_SIGN),
    "Softmax": _only_floating("softmax"),
    "Sort": _not_complex(RuntimeError, "sort does not support complex dtypes"),
    "Topk": _not_complex(RuntimeError, "topk does not support complex dtypes"),
}


def refusal(name: str, operands: Sequence[Any]) -> Exception | None:
    """PyTorch's error for operands that the operation of this name does not take; None for those
    that it takes."""
    check = _CHECKS.get(name)
    return None if check is None else check(operands)


def check_operands(name: str, operands: Sequence[Any]) -> None:
    """Raise PyTorch's error for operands that the operation of this name does not take."""
    error = refusal(name, operands)
    if error is not None:
        raise error
