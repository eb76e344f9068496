"""`Variable`, the spelling before Tensors had gradients: a Tensor by another name."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from gradscribe.runtime.graph.engine import current_run
from gradscribe.runtime.tensors.creation import made_of_data
from gradscribe.runtime.tensors.sharing import as_tensor
from gradscribe.runtime.tensors.tensor import Tensor, wrap
from gradscribe.runtime.tensors.volatile import SPREADING


class _Engine:
    """Legacy: the engine by the name under which extensions of PyTorch reach it."""

    @staticmethod
    def queue_callback(callback: Callable[[], Any]) -> None:
        """Call a function when the backward run that is under way is done."""
        run = current_run()
        if run is None:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        run.callbacks.append(callback)


class _VariableType(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor)


class Variable(metaclass=_VariableType):
    """`Variable(data, requires_grad=False)` is a Tensor of the same memory.

    volatile: deprecated, use `no_grad`. Such a Tensor, and all that is computed of it, requires no
    gradient, whatever else does.
    """

    _execution_engine = _Engine()

    def __new__(  # type: ignore[misc]
        cls, data: Any = (), requires_grad: bool = False, volatile: bool | None = None
    ) -> Tensor:
        if volatile is not None:
            warnings.warn(
                "volatile is deprecated. Use `with gs.no_grad():` instead.",
                DeprecationWarning,
                stacklevel=2,
            )
        tensor = wrap(as_tensor(data).array)
        if volatile:
            SPREADING.mark(tensor)
        elif requires_grad:
            if tensor.dtype.kind not in "fc":
                return made_of_data(tensor.array, None, None, True)
            tensor.requires_grad_()
        return tensor
