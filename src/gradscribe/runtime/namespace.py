"""The names that the runtime gives to `gs`: what the rows say, modes, dtypes and constants."""

import math
from collections.abc import Callable as _Callable
from typing import Any as _Any

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.dtypes import (
    device,
    finfo,
    get_default_dtype,
    iinfo,
    layout,
    memory_format,
    set_default_dtype,
    strided,
)
from gradscribe.runtime.arrays.memory_formats import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    preserve_format,
)
from gradscribe.runtime.arrays.printing import set_printoptions
from gradscribe.runtime.arrays.rows import IN_PLACE_FUNCTION, MAIN
from gradscribe.runtime.arrays.size import Size
from gradscribe.runtime.graph.anomaly import (
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_anomaly_enabled,
)
from gradscribe.runtime.graph.grad_mode import (
    enable_grad,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from gradscribe.runtime.graph.inference import (
    inference_mode,
    is_inference,
    is_inference_mode_enabled,
)
from gradscribe.runtime.operations import inplace
from gradscribe.runtime.operations.spellings import publish, spelled
from gradscribe.runtime.tensors.randomness import Generator, default_generator
from gradscribe.runtime.tensors.tensor import Tensor
from gradscribe.runtime.tensors.typed_constructors import TYPED_CONSTRUCTORS

dtype = dtypes.PublicDtype

BoolTensor = TYPED_CONSTRUCTORS["BoolTensor"]
ByteTensor = TYPED_CONSTRUCTORS["ByteTensor"]
CharTensor = TYPED_CONSTRUCTORS["CharTensor"]
DoubleTensor = TYPED_CONSTRUCTORS["DoubleTensor"]
FloatTensor = TYPED_CONSTRUCTORS["FloatTensor"]
HalfTensor = TYPED_CONSTRUCTORS["HalfTensor"]
IntTensor = TYPED_CONSTRUCTORS["IntTensor"]
LongTensor = TYPED_CONSTRUCTORS["LongTensor"]
ShortTensor = TYPED_CONSTRUCTORS["ShortTensor"]

float64 = double = dtype(dtypes.float64)
float32 = float = dtype(dtypes.float32)
float16 = half = dtype(dtypes.float16)
complex128 = cdouble = dtype(dtypes.complex128)
complex64 = cfloat = dtype(dtypes.complex64)
int64 = long = dtype(dtypes.int64)
int32 = int = dtype(dtypes.int32)
int16 = short = dtype(dtypes.int16)
int8 = dtype(dtypes.int8)
uint8 = dtype(dtypes.uint8)
uint16 = dtype(dtypes.uint16)
uint32 = dtype(dtypes.uint32)
uint64 = dtype(dtypes.uint64)
bool = dtype(dtypes.bool_)

pi = math.pi
e = math.e
inf = math.inf
nan = math.nan
newaxis = np.newaxis

__all__ = [
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "Generator",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "Size",
    "Tensor",
    "bool",
    "cdouble",
    "cfloat",
    "channels_last",
    "channels_last_3d",
    "complex64",
    "complex128",
    "contiguous_format",
    "default_generator",
    "device",
    "double",
    "dtype",
    "e",
    "enable_grad",
    "finfo",
    "float",
    "float16",
    "float32",
    "float64",
    "get_default_dtype",
    "half",
    "iinfo",
    "inf",
    "inference_mode",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "is_inference",
    "is_inference_mode_enabled",
    "layout",
    "long",
    "memory_format",
    "nan",
    "newaxis",
    "no_grad",
    "pi",
    "preserve_format",
    "set_anomaly_enabled",
    "set_default_dtype",
    "set_grad_enabled",
    "set_printoptions",
    "short",
    "strided",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]


def _in_place(function: _Callable[..., _Any], name: str) -> _Callable[..., Tensor]:
    """`gs.name_(x)`, which changes x."""

    def method(input: Tensor, *args: _Any, **options: _Any) -> _Any:
        return getattr(input, name)(*args, **options)

    def update(input: Tensor, *args: _Any, **options: _Any) -> Tensor:
        return inplace.update(input, function, *args, **options)

    made = method if hasattr(Tensor, name) else update
    made.__name__ = made.__qualname__ = name
    made.__module__ = "gradscribe"
    made.__doc__ = f"`input.{name}(...)`."
    return spelled(made)  # type: ignore[no-any-return]


_changing = {
    f"{name}_": _in_place(row.function, f"{name}_")
    for row in MAIN
    if IN_PLACE_FUNCTION in row.spelling
    for name in row.changing_names()
}
globals().update(_changing)
__all__ += [*publish(MAIN, globals()), *_changing]
