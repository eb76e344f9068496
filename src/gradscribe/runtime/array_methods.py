"""What a Tensor tells of its array: shape, dtype, elements, conversions to numbers and arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gradscribe.runtime import dtypes
from gradscribe.runtime.size import Size

if TYPE_CHECKING:
    from gradscribe.runtime.attached import Attached
else:
    Attached = object

Array = np.ndarray[Any, np.dtype[Any]]
Self = TypeVar("Self", bound="ArrayMethods")


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

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the length of one axis."""
        return Size(self.array.shape) if dim is None else self.array.shape[dim]

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
        strides = tuple(step // self.array.itemsize for step in self.array.strides)
        return strides if dim is None else strides[dim]

    def is_contiguous(self) -> bool:
        return self.array.flags.c_contiguous

    def is_floating_point(self) -> bool:
        return self.array.dtype.kind == "f"

    def is_complex(self) -> bool:
        return self.array.dtype.kind == "c"

    def data_ptr(self) -> int:
        """The address of the first element."""
        return int(self.array.ctypes.data)

    def numpy(self, *, force: bool = False) -> Array:
        """The wrapped array. force: also of a Tensor that requires gradients."""
        if self.requires_grad and not force:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. "
                "Use tensor.detach().numpy() instead."
            )
        return self.array

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
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(self, **options: Any) -> Any:
        if self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
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
