"""The dtypes of Tensors: NumPy's own, under PyTorch's names, and the default floating type."""

from __future__ import annotations

from typing import Any

import numpy as np

Dtype = np.dtype[Any]

float64 = double = np.dtype(np.float64)
float32 = np.dtype(np.float32)
float16 = half = np.dtype(np.float16)
complex128 = cdouble = np.dtype(np.complex128)
complex64 = cfloat = np.dtype(np.complex64)
int64 = long = np.dtype(np.int64)
int32 = np.dtype(np.int32)
int16 = short = np.dtype(np.int16)
int8 = np.dtype(np.int8)
uint8 = np.dtype(np.uint8)
bool_ = np.dtype(np.bool_)

TYPED_TENSORS: dict[Dtype, str] = {
    float64: "DoubleTensor",
    float32: "FloatTensor",
    float16: "HalfTensor",
    complex128: "ComplexDoubleTensor",
    complex64: "ComplexFloatTensor",
    int64: "LongTensor",
    int32: "IntTensor",
    int16: "ShortTensor",
    int8: "CharTensor",
    uint8: "ByteTensor",
    bool_: "BoolTensor",
}
"""The name of the legacy constructor, and of `Tensor.type()`, for each dtype."""

_BY_NAME: dict[str, Dtype] = {f"torch.{name}": dtype for dtype, name in TYPED_TENSORS.items()} | {
    name: dtype for dtype, name in TYPED_TENSORS.items()
}

_default = float64


def get_default_dtype() -> Dtype:
    """The floating type of new Tensors made of Python floats."""
    return _default


def set_default_dtype(dtype: Any) -> None:
    """Change the floating type of new Tensors made of Python floats (float64 at first)."""
    global _default
    dtype = to_dtype(dtype)
    if dtype.kind != "f":
        raise TypeError(
            "only floating-point types are supported as the default type, "
            f"got {dtype_name(dtype)} instead"
        )
    _default = dtype


def to_dtype(dtype: Any) -> Dtype:
    """Whatever names a dtype (NumPy's, Python's, "torch.FloatTensor") as a NumPy dtype."""
    if isinstance(dtype, str) and dtype in _BY_NAME:
        return _BY_NAME[dtype]
    if dtype is float:
        return _default
    found: Dtype = np.dtype(dtype)
    return found


def dtype_name(dtype: Dtype) -> str:
    """The dtype as PyTorch prints it: `torch.float64`."""
    return f"torch.{dtype.name}"


def c_name(dtype: Dtype) -> str:
    """The dtype as PyTorch's core calls it: `double`."""
    return _C_NAMES.get(dtype, str(dtype))


_C_NAMES = {float64: "double", float32: "float", int64: "long", int32: "int"}


def type_name(dtype: Dtype | None) -> str:
    """The name of Tensors of this dtype: `torch.DoubleTensor`."""
    return f"torch.{'Tensor' if dtype is None else TYPED_TENSORS.get(dtype, 'Tensor')}"


def is_differentiable(dtype: Dtype) -> bool:
    """Whether Tensors of this dtype can require gradients."""
    return dtype.kind in "fc"
