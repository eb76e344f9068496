"""`torchlike.nn.Parameter`: a leaf that a model is trained by."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.tensors.copies import placed_array, reduced
from gradscribe.runtime.tensors.tensor import Self, Tensor, fill, wrap


class Parameter(Tensor):
    """A Tensor, of the memory of another, that requires a gradient unless told otherwise.

    What is computed of it are Tensors as ever; only the class tells a model which of its
    attributes are to be trained.
    """

    def __new__(cls: type[Self], *_: Any, **__: Any) -> Self:
        return object.__new__(cls)

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        if data is None:
            fill(self, np.zeros(0, dtypes.default()))
        else:
            fill(self, data.array)
            self._counter = data._counter
        if requires_grad and not dtypes.is_differentiable(self.array.dtype):
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients"
            )
        self.requires_grad_(requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(deepcopy(self.detach(), memo), self.requires_grad)
        found: Parameter = memo[id(self)]
        return found

    def __reduce__(self) -> Any:
        _, (elements, strides, requires_grad, cls), attributes = reduced(self)
        return _rebuild, (elements, strides, requires_grad, cls), attributes

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"


def _rebuild(
    elements: Any, strides: Any, requires_grad: bool, cls: type[Parameter] = Parameter
) -> Parameter:
    return cls(wrap(placed_array(elements, strides)), requires_grad)
