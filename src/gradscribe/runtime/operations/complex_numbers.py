"""The table of eager operations, continued: parts of complex numbers, and numbers of parts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from gradscribe.runtime.arrays import composites, dtypes
from gradscribe.runtime.arrays.rows import BOTH, FUNCTION, OUT, operation
from gradscribe.runtime.operations.adaptors import enter_row, unary
from gradscribe.runtime.operations.eager import Operation, apply, apply_as_view
from gradscribe.runtime.tensors.promotion import floating

conj_physical = unary(
    "conj_physical", "The complex conjugate of x", Operation("ConjPhysical", np.conjugate)
)


def _parts(array: Any) -> Any:
    half = array.itemsize // 2
    return as_strided(np.real(array), (*array.shape, 2), (*array.strides, half))


def _whole(array: Any) -> Any:
    if not array.ndim or array.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if array.strides[-1] != array.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(step % (2 * array.itemsize) for step in array.strides[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    return array.view(np.result_type(array.dtype, np.complex64))[..., 0]


def _joined(real: Any, imag: Any) -> Any:
    """The complex numbers of two parts, which may be infinite."""
    shape = np.broadcast_shapes(np.shape(real), np.shape(imag))
    whole = np.empty(shape, np.result_type(real, np.complex64))
    whole.real, whole.imag = real, imag
    return whole


_CONJ = Operation("Conj", np.conjugate)
_ANGLE = enter_row(Operation("Angle", np.angle, saved=("self=0",)))
_POLAR = Operation("Polar", composites.polar, saved=("result",))
_REAL = enter_row(Operation("Real", np.real, view=True, of_parts=True))
_IMAG = enter_row(Operation("Imag", np.imag, view=True, of_parts=True))
_COMPLEX = Operation("Complex", composites.complex_of, run=_joined)
_AS_REAL = Operation(
    "ViewAsReal", composites.parts_of_complex, view=True, run=_parts, of_parts=True
)
_AS_COMPLEX = Operation(
    "ViewAsComplex", composites.complex_of_parts, view=True, run=_whole, of_parts=True
)


@operation(BOTH, shapes="(…) -> (…)")
def conj(input: Any) -> Any:
    """The complex conjugates; real elements as they are."""
    return apply(_CONJ, (input,)) if input.array.dtype.kind == "c" else input


@operation(FUNCTION, shapes="(…) -> (…)", dtypes="real")
def real(input: Any) -> Any:
    """The real parts; a view of complex elements."""
    return apply(_REAL, (input,)) if input.array.dtype.kind == "c" else input


@operation(FUNCTION, shapes="(…) -> (…)", dtypes="real")
def imag(input: Any) -> Any:
    """The imaginary parts, a view of complex elements."""
    if input.array.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return apply(_IMAG, (input,))


@operation(BOTH | OUT, shapes="(…) -> (…)", dtypes="real; of integers, the default one")
def angle(input: Any) -> Any:
    """The angle to the positive real axis."""
    return apply(_ANGLE, (floating(input),))


@operation(
    FUNCTION | OUT, shapes="(…), (…) -> (…)", dtypes="complex, of parts of the operands' dtype"
)
def complex(real: Any, imag: Any) -> Any:
    """The complex numbers of two parts."""
    parts = [part.array.dtype for part in (real, imag)]
    if any(dtype.kind != "f" for dtype in parts):
        names = " and ".join(map(dtypes.scalar_name, parts))
        raise NotImplementedError(
            f"Expected both inputs to be Half, Float or Double tensors but got {names}"
        )
    if parts[0] != parts[1]:
        names = " but got scalar type ".join(map(dtypes.scalar_name, parts))
        raise RuntimeError(f"Expected object of scalar type {names} for second argument")
    return apply(_COMPLEX, (real, imag))


@operation(
    FUNCTION | OUT, shapes="(…), (…) -> (…)", dtypes="complex, of parts of the operands' dtype"
)
def polar(abs: Any, angle: Any) -> Any:
    """The complex numbers of absolute values and angles."""
    return apply(_POLAR, (abs, angle))


@operation(FUNCTION, shapes="(…) -> (…, 2)", dtypes="real")
def view_as_real(input: Any) -> Any:
    """The real and imaginary parts along a last axis, a view."""
    if input.array.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return apply_as_view(_AS_REAL, input)


@operation(FUNCTION, shapes="(…, 2) -> (…)", dtypes="complex")
def view_as_complex(input: Any) -> Any:
    """The complex numbers of the parts along the last axis, a view."""
    if input.array.dtype.kind != "f":
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a "
            f"tensor of scalar type: {dtypes.scalar_name(input.array.dtype)}"
        )
    return apply_as_view(_AS_COMPLEX, input)
