"""Derivatives of complex numbers.

The derivative of a real loss L by a complex z is dL/d(Re z) + i dL/d(Im z), as in PyTorch: the
direction of steepest ascent, with the inner product Re(conj(a) b) of z and its cotangent. So the
cotangents of a function that is differentiable in the complex sense (holomorphic) are those of
the real formula with its coefficients conjugated, and formulas are written only once:

- Operations that are linear with real coefficients take cotangents and tangents as they are.
- The partial derivative of an elementwise operation is conjugated. Where the result is real (the
  absolute value), the formula gives the gradient, and the tangent is Re(conj(gradient) tangent).
- All other rules are given the conjugate of the cotangent, and what they give is conjugated, but
  for those of functions that are not holomorphic, which give the gradient themselves.

What is not holomorphic and not listed here is refused. Source: K. Kreutz-Delgado, "The Complex
Gradient Operator and the CR-Calculus" (2009), sections 4 and 6.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.errors import UnsupportedError
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Linearity, Operation, Primitive, Value
from gradscribe.ir.types import is_complex
from gradscribe.primitives.orthogonal import wide_qr
from gradscribe.primitives.registry import (
    GRADIENTS,
    HOLOMORPHIC,
    NOT_HOLOMORPHIC,
    PRIMITIVES,
    available,
)
from gradscribe.transforms.derivatives.cotangents import call

_HOLOMORPHIC = frozenset(
    PRIMITIVES[function]
    for function in (
        *(np.matmul, np.dot, np.outer, np.inner, np.tensordot, np.einsum, np.convolve),
        *(np.where, np.prod, np.cumprod, np.linalg.inv, np.linalg.solve, np.linalg.det),
        *(np.linalg.multi_dot, np.cross, *available(np, "matvec")),
    )
)
"""Those of the others whose rules are right for complex numbers, once they are conjugated."""

_GRADIENTS = frozenset(
    PRIMITIVES[function]
    for function in (
        *(np.vdot, np.linalg.vecdot, *available(np, "vecmat"), np.nan_to_num),
        *(np.linalg.norm, np.var, np.std, np.correlate, np.interp),
        *(np.linalg.cholesky, np.linalg.qr, np.linalg.svd, np.linalg.svdvals, np.linalg.slogdet),
        *(np.linalg.eigh, np.linalg.eigvalsh, np.linalg.eig, np.linalg.eigvals),
        *(np.linalg.pinv, np.linalg.lstsq, np.sort, np.full_like, wide_qr),
    )
)
"""Those whose rules conjugate what is to be, or are linear with real coefficients."""


def check(operation: Operation) -> None:
    """Refuse an operation on complex numbers for which there is no formula."""
    primitive = operation.primitive
    if not any(is_complex(value.type) for value in (*operation.operands, *operation.results)):
        return
    known = primitive.elementwise and primitive not in NOT_HOLOMORPHIC
    is_linear = primitive.tangent is Linearity.LINEAR
    is_gradient = primitive in _GRADIENTS or primitive in GRADIENTS
    if not (known or is_linear or is_gradient or _is_holomorphic(primitive)):
        raise UnsupportedError(
            f"`{primitive.name}` of complex numbers cannot be differentiated",
            "compute with the real and imaginary parts",
            operation.location,
        )


def _is_holomorphic(primitive: Primitive) -> bool:
    return primitive in _HOLOMORPHIC or primitive in HOLOMORPHIC


def is_conjugated(operation: Operation) -> bool:
    """Whether cotangents pass through the conjugate of what the formula says."""
    primitive = operation.primitive
    holomorphic = primitive.elementwise or _is_holomorphic(primitive)
    return holomorphic and is_complex(operation.result.type)


def is_modulus(operation: Operation) -> bool:
    """Whether the formula gives the gradient of a real result by complex operands."""
    operands = any(is_complex(operand.type) for operand in operation.operands)
    return operation.primitive.elementwise and operands and not is_complex(operation.result.type)


def conjugate(builder: Builder, value: Any) -> Any:
    """The conjugate of a value, or of a number."""
    if not isinstance(value, Value):
        return value.conjugate() if isinstance(value, complex) else value
    return call(builder, np.conjugate, value) if is_complex(value.type) else value


def real_part(builder: Builder, value: Value) -> Value:
    """The real part of a value."""
    return call(builder, np.real, value) if is_complex(value.type) else value
