"""The table of eager operations, continued: parts of complex numbers, and numbers of parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.runtime.adaptors import unary
from gradscribe.runtime.promotion import floating

# fmt: off
__all__ = [
    "angle", "complex", "conj", "conj_physical", "imag", "polar", "real", "view_as_complex",
    "view_as_real",
]
# fmt: on

conj_physical = unary("conj_physical", np.conjugate, "ConjPhysical")


def conj(input: Any) -> Any:
    """The complex conjugates; real elements as they are."""
    return conj_physical(input) if input.array.dtype.kind == "c" else input


def real(input: Any) -> Any:
    """The real parts; a view of complex elements."""
    return np.real(input) if input.array.dtype.kind == "c" else input


def imag(input: Any) -> Any:
    """The imaginary parts, a view of complex elements."""
    if input.array.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return np.imag(input)


def angle(input: Any) -> Any:
    """The angle to the positive real axis."""
    return np.angle(floating(input))


def complex(real: Any, imag: Any) -> Any:
    """The complex numbers of two parts."""
    return real + 1j * imag


def polar(abs: Any, angle: Any) -> Any:
    """The complex numbers of absolute values and angles."""
    return abs * np.exp(1j * angle)


def view_as_real(input: Any) -> Any:
    """The real and imaginary parts along a last axis."""
    return np.stack((np.real(input), np.imag(input)), axis=-1)


def view_as_complex(input: Any) -> Any:
    """The complex numbers of the parts along the last axis."""
    return input[..., 0] + 1j * input[..., 1]
