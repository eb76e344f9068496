"""The legacy constructors of one dtype each: `FloatTensor`, `LongTensor` and so on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.tensors.tensor import Tensor, legacy_array, wrap


class TypedTensor(type):
    """The classes `FloatTensor`, `LongTensor` and so on, of which Tensors of one dtype are
    instances. Calling one makes a Tensor of data or of these sizes, as PyTorch did long ago."""

    make: Callable[..., Tensor]
    dtype: dtypes.PublicDtype

    def __new__(cls, name: str, bases: tuple[type, ...], contents: dict[str, Any]) -> TypedTensor:
        if bases:
            raise TypeError(f"type 'torch.{bases[0].__name__}' is not an acceptable base type")
        return super().__new__(cls, name, bases, contents)

    def __call__(cls, *data: Any) -> Tensor:
        return cls.make(*data)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and instance.array.dtype == cls.dtype


def _typed(dtype: dtypes.Dtype, name: str) -> TypedTensor:
    def constructor(*data: Any) -> Tensor:
        return wrap(legacy_array(data, dtype))

    contents = {
        "__doc__": f"Legacy: a Tensor of {dtype.name}, of data or of these sizes.",
        "__module__": "gradscribe",
        "make": staticmethod(constructor),
        "dtype": dtypes.PublicDtype(dtype),
    }
    return TypedTensor(name, (), contents)


TYPED_CONSTRUCTORS = {name: _typed(dtype, name) for dtype, name in dtypes.TYPED_TENSORS.items()}
"""`FloatTensor`, `LongTensor`, and so on."""
