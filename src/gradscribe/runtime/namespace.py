"""The names that the runtime gives to `gs`: `from gradscribe.runtime.namespace import *`."""

# ruff: noqa: F403
import math

import numpy as np

from gradscribe.runtime import in_place_names
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
from gradscribe.runtime.arrays.size import Size
from gradscribe.runtime.graph import grad_mode, inference
from gradscribe.runtime.graph.anomaly import (
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_anomaly_enabled,
)
from gradscribe.runtime.graph.grad_mode import *
from gradscribe.runtime.graph.inference import *
from gradscribe.runtime.in_place_names import *
from gradscribe.runtime.operations import (
    activations,
    calculus,
    complex_numbers,
    distinct,
    factorizations,
    gathering,
    joining,
    ordering,
    products,
    rearranging,
    scattering,
    shaping,
    slices,
    special,
    strides,
    viewing,
    windows,
)
from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.operations.activations import *
from gradscribe.runtime.operations.calculus import *
from gradscribe.runtime.operations.common import *
from gradscribe.runtime.operations.complex_numbers import *
from gradscribe.runtime.operations.distinct import *
from gradscribe.runtime.operations.factorizations import *
from gradscribe.runtime.operations.gathering import *
from gradscribe.runtime.operations.joining import *
from gradscribe.runtime.operations.ordering import *
from gradscribe.runtime.operations.products import *
from gradscribe.runtime.operations.rearranging import *
from gradscribe.runtime.operations.scattering import *
from gradscribe.runtime.operations.shaping import *
from gradscribe.runtime.operations.slices import *
from gradscribe.runtime.operations.special import *
from gradscribe.runtime.operations.spellings import spelled
from gradscribe.runtime.operations.strides import *
from gradscribe.runtime.operations.viewing import *
from gradscribe.runtime.operations.windows import *
from gradscribe.runtime.tensors import creation, promotion, queries, randomness, sharing
from gradscribe.runtime.tensors.creation import *
from gradscribe.runtime.tensors.promotion import *
from gradscribe.runtime.tensors.queries import *
from gradscribe.runtime.tensors.randomness import *
from gradscribe.runtime.tensors.sharing import *
from gradscribe.runtime.tensors.tensor import Tensor

dtype = dtypes.PublicDtype

BoolTensor = creation.TYPED_CONSTRUCTORS["BoolTensor"]
ByteTensor = creation.TYPED_CONSTRUCTORS["ByteTensor"]
CharTensor = creation.TYPED_CONSTRUCTORS["CharTensor"]
DoubleTensor = creation.TYPED_CONSTRUCTORS["DoubleTensor"]
FloatTensor = creation.TYPED_CONSTRUCTORS["FloatTensor"]
HalfTensor = creation.TYPED_CONSTRUCTORS["HalfTensor"]
IntTensor = creation.TYPED_CONSTRUCTORS["IntTensor"]
LongTensor = creation.TYPED_CONSTRUCTORS["LongTensor"]
ShortTensor = creation.TYPED_CONSTRUCTORS["ShortTensor"]

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

# fmt: off
__all__ = [
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
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
    "device",
    "double",
    "dtype",
    "e",
    "finfo",
    "float",
    "float16",
    "float32",
    "float64",
    "get_default_dtype",
    "half",
    "iinfo",
    "inf",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "layout",
    "long",
    "memory_format",
    "nan",
    "newaxis",
    "pi",
    "preserve_format",
    "set_anomaly_enabled",
    "set_default_dtype",
    "set_printoptions",
    "short",
    "strided",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]
# fmt: on
__all__ += complex_numbers.__all__
__all__ += creation.__all__
__all__ += distinct.__all__
__all__ += functions.__all__
__all__ += windows.__all__
__all__ += scattering.__all__
__all__ += rearranging.__all__
__all__ += in_place_names.__all__
__all__ += factorizations.__all__
__all__ += calculus.__all__
__all__ += activations.__all__
__all__ += gathering.__all__
__all__ += grad_mode.__all__
__all__ += inference.__all__
__all__ += joining.__all__
__all__ += ordering.__all__
__all__ += products.__all__
__all__ += promotion.__all__
__all__ += queries.__all__
__all__ += randomness.__all__
__all__ += shaping.__all__
__all__ += sharing.__all__
__all__ += slices.__all__
__all__ += special.__all__
__all__ += strides.__all__
__all__ += viewing.__all__

globals().update({name: spelled(globals()[name]) for name in __all__})
