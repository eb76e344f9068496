"""The dtypes of Tensors: NumPy's own, under PyTorch's names, and the default floating type.

Within the package a dtype is NumPy's. What users see (`gs.float64`, `x.dtype`) is a `dtype`, which
wraps one: it prints as in PyTorch, and NumPy takes it wherever it takes a dtype.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

Dtype = np.dtype[Any]

float64 = np.dtype(np.float64)
float32 = np.dtype(np.float32)
float16 = np.dtype(np.float16)
complex128 = np.dtype(np.complex128)
complex64 = np.dtype(np.complex64)
int64 = np.dtype(np.int64)
int32 = np.dtype(np.int32)
int16 = np.dtype(np.int16)
int8 = np.dtype(np.int8)
uint8 = np.dtype(np.uint8)
uint16 = np.dtype(np.uint16)
uint32 = np.dtype(np.uint32)
uint64 = np.dtype(np.uint64)
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
"""The name of the legacy constructor, and of `Tensor.type()`, for each dtype that has one."""

_TYPE_NAMES = TYPED_TENSORS | {d: f"UInt{8 * d.itemsize}Tensor" for d in (uint16, uint32, uint64)}


class PublicDtype:
    """The element type of Tensors: `gs.float64` and so on. Equal to NumPy's dtype of that name."""

    __slots__ = ("dtype",)

    dtype: Dtype
    """NumPy's; where NumPy looks for it."""

    _known: ClassVar[dict[Dtype, PublicDtype]] = {}

    def __new__(cls, wrapped: Any) -> PublicDtype:
        wrapped = to_dtype(wrapped)
        known = cls._known.get(wrapped)
        if known is None:
            known = cls._known[wrapped] = super().__new__(cls)
            known.dtype = wrapped
        return known

    @property
    def is_floating_point(self) -> bool:
        return self.dtype.kind == "f"

    @property
    def is_complex(self) -> bool:
        return self.dtype.kind == "c"

    @property
    def is_signed(self) -> bool:
        return self.dtype.kind in "ifc"

    def to_real(self) -> PublicDtype:
        """The dtype of the real part."""
        return PublicDtype(np.empty(0, self.dtype).real.dtype)

    def to_complex(self) -> PublicDtype:
        """The complex dtype of the same precision."""
        return PublicDtype(np.result_type(self.dtype, np.complex64))

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "dtype"), name)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PublicDtype) or other is None:
            return self is other
        return bool(self.dtype == other)

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return dtype_name(self.dtype)

    def __reduce__(self) -> Any:
        return PublicDtype, (self.dtype.str,)


PublicDtype.__name__ = PublicDtype.__qualname__ = "dtype"
PublicDtype.__module__ = "gradscribe"

_BY_NAME: dict[str, Dtype] = {f"torch.{name}": dtype for dtype, name in _TYPE_NAMES.items()} | {
    name: dtype for dtype, name in _TYPE_NAMES.items()
}

_default = float64


def default() -> Dtype:
    """NumPy's dtype of new Tensors made of Python floats."""
    return _default


def get_default_dtype() -> PublicDtype:
    """The floating type of new Tensors made of Python floats."""
    return PublicDtype(_default)


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
    """Whatever names a dtype (`gs.float64`, NumPy's, Python's, "torch.FloatTensor") as NumPy's."""
    if type(dtype) is PublicDtype:
        return dtype.dtype
    if isinstance(dtype, str) and dtype in _BY_NAME:
        return _BY_NAME[dtype]
    if isinstance(getattr(dtype, "dtype", None), PublicDtype):  # FloatTensor and its kind
        return to_dtype(dtype.dtype)
    try:
        found: Dtype = np.dtype(dtype)
    except TypeError:
        if isinstance(dtype, str):
            raise ValueError(f"invalid type: {dtype!r}") from None
        raise
    return found


def dtype_name(dtype: Dtype | PublicDtype) -> str:
    """The dtype as PyTorch prints it: `torch.float64`."""
    return f"torch.{dtype.name}"


def c_name(dtype: Dtype | PublicDtype) -> str:
    """The dtype as PyTorch's core calls it: `double`."""
    return _C_NAMES.get(to_dtype(dtype), str(dtype))


_C_NAMES = {float64: "double", float32: "float", int64: "long", int32: "int"}


def cpp_name(dtype: Dtype | PublicDtype) -> str:
    """The dtype as the compiler of PyTorch's core calls it: `long int`."""
    return _CPP_NAMES.get(to_dtype(dtype).name, c_name(dtype))


_CPP_NAMES = {
    "bool": "bool",
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "short int",
    "int64": "long int",
    "uint16": "short unsigned int",
    "uint32": "unsigned int",
    "uint64": "long unsigned int",
    "float16": "c10::Half",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}


def type_name(dtype: Dtype | PublicDtype | None) -> str:
    """The name of Tensors of this dtype: `torch.DoubleTensor`."""
    return f"torch.{'Tensor' if dtype is None else _TYPE_NAMES.get(to_dtype(dtype), 'Tensor')}"


def scalar_name(dtype: Dtype) -> str:
    """The dtype as in the names of typed Tensors: `Double`."""
    return type_name(dtype).removeprefix("torch.").removesuffix("Tensor")


def is_differentiable(dtype: Dtype | PublicDtype) -> bool:
    """Whether Tensors of this dtype can require gradients."""
    return to_dtype(dtype).kind in "fc"


# fmt: off
_DEVICES = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga",
    "maia", "xla", "lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
)
# fmt: on
"""The devices that PyTorch knows."""


class device:
    """Where the memory of Tensors is: `device(type='cpu')`."""

    __slots__ = ("index", "type")

    def __init__(self, type: Any, index: int | None = None) -> None:
        name, colon, number = str(type).partition(":")
        if name not in _DEVICES:
            raise RuntimeError(
                f"Expected one of {', '.join(_DEVICES)} device type at start of device string: "
                f"{name}"
            )
        if colon and not number.isdecimal():
            raise RuntimeError(f"Invalid device string: '{type}'")
        self.type = name
        self.index = int(number) if number else index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (device, str)) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __reduce__(self) -> Any:
        return device, (self.type, self.index)


CPU = device("cpu")


def check_device(device: Any) -> None:
    """Raise the error for a device that there is not; None names none."""
    if device is not None and str(device).partition(":")[0] != "cpu":
        raise RuntimeError(f"no such device: {device}. Tensors live on 'cpu'")


class finfo:
    """The limits of a floating dtype (the default one where none is named)."""

    def __init__(self, type: Any = None) -> None:
        found = np.finfo(to_dtype(_default if type is None else type))
        self.bits = int(found.bits)
        self.eps = float(found.eps)
        self.max = float(found.max)
        self.min = float(found.min)
        self.tiny = self.smallest_normal = float(found.tiny)
        self.resolution = float(found.resolution)
        self.dtype = found.dtype.name

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        values = ", ".join(f"{name}={getattr(self, name):g}" for name in names)
        return f"finfo({values}, dtype={self.dtype})"


class iinfo:
    """The limits of an integer dtype."""

    def __init__(self, type: Any) -> None:
        found = np.iinfo(to_dtype(type))
        self.bits, self.min, self.max = int(found.bits), int(found.min), int(found.max)
        self.dtype = found.dtype.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


class _Named:
    """One of a few values, which print as in PyTorch."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class layout(_Named):
    """How Tensors are kept in memory: all are `strided`."""


class memory_format(_Named):
    """The order in which the elements of a Tensor lie in memory."""


strided = layout("strided")
