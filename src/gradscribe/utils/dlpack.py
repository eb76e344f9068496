"""`gs.utils.dlpack`: memory shared with Tensors and arrays of other libraries."""

from typing import Any

from gradscribe.runtime.tensors.sharing import from_dlpack
from gradscribe.runtime.tensors.tensor import Tensor

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Tensor) -> Any:
    """A capsule of the memory of a Tensor, for `from_dlpack` of another library to take."""
    return tensor.__dlpack__()
