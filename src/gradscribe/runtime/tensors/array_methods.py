"""What a Tensor tells of its array: shape, dtype, elements, conversions to numbers and arrays."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.explaining import out_of_range
from gradscribe.runtime.arrays.memory_formats import is_arranged
from gradscribe.runtime.arrays.size import Size
from gradscribe.runtime.graph.grad_mode import grad_enabled

if TYPE_CHECKING:
    from gradscribe.runtime.tensors.attached import Attached
else:
    Attached = object

Array = np.ndarray[Any, np.dtype[Any]]
Self = TypeVar("Self", bound="ArrayMethods")


class Storage:
    """The memory that a Tensor and its views share."""

    def __init__(self, memory: Array) -> None:
        self._memory = memory

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return int(self._memory.ctypes.data)

    def nbytes(self) -> int:
        """How many bytes there are."""
        return self._memory.nbytes

    size = nbytes

    def __len__(self) -> int:
        return self._memory.nbytes


def memory_of(array: Array) -> Array:
    """The array that owns the memory of an array."""
    base: Any = array.base
    while base is not None:
        array = base if isinstance(base, np.ndarray) else array
        base = getattr(base, "base", None)  # views by strides have a base that is no array
    return array


class ArrayMethods(Attached):
    """The half of Tensor that has to do with its array alone."""

    __slots__ = ()

    array: Array
    """The wrapped array."""

    if TYPE_CHECKING:

        @property
        def requires_grad(self) -> bool: ...

    @property
    def shape(self) -> Size:
        return Size(self.array.shape)

    @property
    def dtype(self) -> dtypes.PublicDtype:
        return dtypes.PublicDtype(self.array.dtype)

    @property
    def ndim(self) -> int:
        return self.array.ndim

    @property
    def device(self) -> dtypes.device:
        return dtypes.CPU

    @property
    def itemsize(self) -> int:
        return self.array.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.array.nbytes

    @property
    def layout(self) -> dtypes.layout:
        return dtypes.strided

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the length of one axis."""
        if dim is None:
            return Size(self.array.shape)
        if not -self.array.ndim <= dim < self.array.ndim:
            raise out_of_range(dim, self.array.ndim)
        return self.array.shape[dim]

    def dim(self) -> int:
        """The number of axes."""
        return self.array.ndim

    ndimension = dim

    def numel(self) -> int:
        """The number of elements."""
        return self.array.size

    nelement = numel

    def element_size(self) -> int:
        """The size of one element in bytes."""
        return self.array.itemsize

    def stride(self, dim: int | None = None) -> Any:
        """How many elements to step over along each axis, or one."""
        strides = self.array.strides
        if not self.array.size and not any(strides):  # as if no length were zero
            strides = np.empty([max(n, 1) for n in self.array.shape], self.array.dtype).strides
        strides = tuple(step // self.array.itemsize for step in strides)
        return strides if dim is None else strides[dim]

    def storage_offset(self) -> int:
        """How many elements of the memory come before the first one."""
        return (self.data_ptr() - int(memory_of(self.array).ctypes.data)) // self.array.itemsize

    def untyped_storage(self) -> Storage:
        """The memory of this Tensor and its views."""
        return Storage(memory_of(self.array))

    storage = untyped_storage

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Whether the elements lie in memory in this format (by default, in order)."""
        return is_arranged(self.array, memory_format)

    def get_device(self) -> int:
        """The number of the device: -1 for the CPU."""
        return -1

    def is_floating_point(self) -> bool:
        return self.array.dtype.kind == "f"

    def is_complex(self) -> bool:
        return self.array.dtype.kind == "c"

    def data_ptr(self) -> int:
        """The address of the first element."""
        return int(self.array.ctypes.data)

    const_data_ptr = data_ptr

    def dim_order(self) -> tuple[int, ...]:
        """The axes, from that of the longest steps in memory to that of the shortest."""
        steps = self.array.strides
        return tuple(sorted(range(self.array.ndim), key=lambda axis: -abs(steps[axis])))

    def numpy(self, *, force: bool = False) -> Array:
        """An array of the same memory. force: also of a Tensor whose use is recorded."""
        if self.requires_grad and not force and grad_enabled():
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. "
                "Use tensor.detach().numpy() instead."
            )
        shared: Array = self.array.view()
        return shared

    def cpu(self: Self) -> Self:
        return self

    def item(self) -> Any:
        """The only element, as a Python number."""
        if self.array.size != 1:
            raise RuntimeError(
                f"a Tensor with {self.array.size} elements cannot be converted to Scalar"
            )
        return self.array.item()

    def tolist(self) -> Any:
        """Nested lists of Python numbers."""
        return self.array.tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        try:
            array = self.numpy()
        except RuntimeError as error:
            if not sys._getframe(1).f_globals.get("__name__", "").startswith("scipy."):
                raise
            advice = "A function of SciPy is recorded as `gs.differentiable(function)(tensor)`."
            raise RuntimeError(f"{error} {advice}") from None
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(self, **options: Any) -> Any:
        if self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        if not isinstance(options.get("stream"), int | None):
            raise TypeError("stream must be ``int`` or ``none``")
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()

    def __bool__(self) -> bool:
        if self.array.size == 1:
            return bool(self.array)
        reason = "no values" if self.array.size == 0 else "more than one value"
        raise RuntimeError(f"Boolean value of Tensor with {reason} is ambiguous")

    def __float__(self) -> float:
        return float(self._only_element())

    def __int__(self) -> int:
        return int(self._only_element())

    def __complex__(self) -> complex:
        return complex(self._only_element())

    def _only_element(self) -> Any:
        if self.array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self.array.item()

    def __index__(self) -> int:
        if self.array.size != 1 or self.array.dtype.kind not in "iub":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.array.item())

    def __len__(self) -> int:
        if self.array.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self.array)

    def __hash__(self) -> int:
        return id(self)

    def __format__(self, specification: str) -> str:
        if self.array.ndim == 0:
            return format(self.item(), specification)
        return object.__format__(self, specification)
