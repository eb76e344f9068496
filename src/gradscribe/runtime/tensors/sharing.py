"""Tensors of data that are already there: of arrays, buffers and other libraries' arrays, whose
memory they share."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.rows import FUNCTION, operation
from gradscribe.runtime.tensors.creation import array_of, finished, taken, tensor
from gradscribe.runtime.tensors.tensor import Array, Tensor


@operation(FUNCTION, shapes="that of the data")
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """A Tensor of the data, which shares memory with an array, and is a Tensor itself if it can."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray):
        return taken(data, dtype, device)
    if not isinstance(data, (list, tuple)):
        return taken(array_of(data, dtype), dtype, device)
    return tensor(data, dtype=dtype, device=device)


@operation(FUNCTION, shapes="that of the data")
def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """A Tensor of a Tensor, an array, an array of another library, a buffer or nested sequences.

    copy: True for memory of its own, False for that of the object, None for a copy where one is
    needed. requires_grad: as the object does, where nothing is said; False cuts the graph.
    Raises ValueError where copy is False and the memory cannot be shared.
    """
    dtypes.check_device(device)
    shared = _sharing(obj, dtype)
    if shared is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return tensor(obj, dtype=dtype, requires_grad=bool(requires_grad))
    wanted = shared.array.dtype if dtype is None else dtypes.to_dtype(dtype)
    if copy is False and wanted != shared.array.dtype:
        names = (dtypes.scalar_name(kind) for kind in (shared.array.dtype, wanted))
        raise ValueError("can't alias tensor with dtype '{}' into dtype '{}'.".format(*names))
    found: Tensor = shared.to(wanted)
    if copy and found is shared:
        found = shared.clone()
    if requires_grad is None or requires_grad == found.requires_grad:
        return found
    return found.detach().requires_grad_(requires_grad)


def _sharing(obj: Any, dtype: Any) -> Tensor | None:
    """A Tensor in the memory of an object; None for objects without such memory."""
    if isinstance(obj, Tensor):
        return obj
    if isinstance(obj, np.ndarray):
        return taken(obj)
    if isinstance(obj, np.generic):
        return finished(np.array(obj))
    if hasattr(obj, "__dlpack__"):
        return from_dlpack(obj)
    try:
        memoryview(obj)
    except TypeError:
        return None
    return frombuffer(obj, dtype=dtypes.default() if dtype is None else dtype)


@operation(FUNCTION, shapes="(…) -> (…)")
def from_numpy(array: Array) -> Tensor:
    """A Tensor that shares memory with an array."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    return taken(array)


@operation(FUNCTION, shapes="(count)")
def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A Tensor that shares the memory of an object with the buffer protocol."""
    try:
        length = memoryview(buffer).nbytes
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    kind = np.dtype(dtypes.to_dtype(dtype))
    _check_part(length, kind.itemsize, count, offset)
    return finished(np.frombuffer(buffer, kind, count, offset), None, None, requires_grad)


def _check_part(length: int, itemsize: int, count: int, offset: int) -> None:
    """The errors for elements that are not in a buffer of this length."""
    if not length or not count:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({length} bytes) minus 1"
        )
    if count > 0 and offset + count * itemsize > length:
        raise ValueError(
            f"requested buffer length ({count} * {itemsize} bytes) after offset ({offset} bytes) "
            f"must not be greater than actual buffer length ({length} bytes)"
        )
    if count < 0 and (length - offset) % itemsize:
        raise ValueError(
            f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a "
            f"multiple of element size ({itemsize})"
        )


class _OfCapsule:
    """What NumPy takes in place of a bare DLPack capsule, of main memory."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class _Writable:
    """The memory of an array that may be written to: a capsule of the first version of DLPack says
    nothing of that, and NumPy then makes arrays that are only read."""

    def __init__(self, array: Array) -> None:
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}
        self._array = array


@operation(FUNCTION, shapes="(…) -> (…)")
def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A Tensor that shares memory with an array of another library, or with a capsule of one.

    copy: True for memory of its own. Raises ValueError where a capsule is given and anything is
    said of device or copy.
    """
    dtypes.check_device(device)
    if hasattr(ext_tensor, "__dlpack__"):
        found = finished(np.from_dlpack(ext_tensor))
        return found.clone() if copy else found
    if device is not None or copy is not None:
        raise ValueError("device and copy kwargs not supported when ext_tensor is a DLPack capsule")
    array = np.from_dlpack(_OfCapsule(ext_tensor))
    return finished(array if array.flags.writeable else np.asarray(_Writable(array)))
