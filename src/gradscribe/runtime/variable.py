"""`Variable`, the spelling before Tensors had gradients: a Tensor by another name."""

from __future__ import annotations

import warnings
from typing import Any

from gradscribe.runtime.creation import as_tensor
from gradscribe.runtime.tensor import Tensor, wrap


class _VariableType(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor)


class Variable(metaclass=_VariableType):
    """`Variable(data, requires_grad=False)` is a Tensor of the same memory.

    volatile: deprecated; such a Tensor requires no gradient (use `no_grad`).
    """

    def __new__(  # type: ignore[misc]
        cls, data: Any = (), requires_grad: bool = False, volatile: bool | None = None
    ) -> Tensor:
        if volatile is not None:
            warnings.warn(
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
                DeprecationWarning,
                stacklevel=2,
            )
        tensor = wrap(as_tensor(data).array)
        if requires_grad and not volatile:
            if tensor.dtype.kind not in "fc":
                from gradscribe.runtime.creation import finished

                return finished(tensor.array, requires_grad=True)
            tensor.requires_grad_()
        return tensor
