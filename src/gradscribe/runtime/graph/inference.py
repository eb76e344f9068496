"""`inference_mode`: Tensors made within have no version and no place in any graph, for good."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import Token
from typing import Any

from gradscribe.runtime.arrays.eager_operation import Operation
from gradscribe.runtime.graph.grad_mode import INFERENCE, GradMode, enter_mode, leave_mode
from gradscribe.runtime.graph.modes import Mode, enter, leave
from gradscribe.runtime.graph.variable import Variable

# fmt: off
__all__ = [
    "inference_mode", "is_inference", "is_inference_mode_enabled",
]
# fmt: on

SAVED = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
    "inference mode in computation tracked by autograd. To work around this, you can make a clone "
    "to get a normal tensor and use it in autograd, or use `gs.no_grad()` instead of "
    "`gs.inference_mode()`."
)
_STORED = (
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone "
    "to get a normal tensor before doing inplace update.See "
    "https://github.com/pytorch/rfcs/pull/17 for more details."
)
_REQUIRED = "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."


REQUIRED = 2
"""`needs_grad` of an inference Tensor that requires a gradient; None: of any other. So kernels tell
them from ordinary Tensors."""


class Untracked(list[int]):
    """What inference Tensors have for a version counter."""

    def __setitem__(self, index: Any, version: Any) -> None:
        pass


def is_inference_mode_enabled() -> bool:
    """Whether the innermost `inference_mode` is on."""
    return INFERENCE.get() is not None


def is_inference(tensor: Variable) -> bool:
    """Whether a Tensor was made in inference mode."""
    return type(tensor._counter) is Untracked


def refuse_store(tensor: Variable) -> None:
    """Raise the error for a store into an inference Tensor outside of the mode."""
    if is_inference(tensor) and INFERENCE.get() is None:
        raise RuntimeError(_STORED)


def refuse_requiring(tensor: Variable) -> None:
    """Raise the error for `requires_grad` on an inference Tensor outside of the mode."""
    if is_inference(tensor) and INFERENCE.get() is None:
        raise RuntimeError(_REQUIRED)


def all_inference(operands: Sequence[Any]) -> bool:
    """Whether all Tensors among the operands are inference Tensors: then nothing is recorded."""
    counters = [getattr(operand, "_counter", None) for operand in operands]
    return all(counter is None or type(counter) is Untracked for counter in counters)


class _Marking(Mode):
    """Makes inference Tensors of all that is made in the mode; one for all threads."""

    def finished(
        self, operation: Operation, operands: Sequence[Any], static: tuple[Any, ...], out: Variable
    ) -> None:
        if out._view_of is None:
            self.made(out)

    def made(self, tensor: Variable) -> None:
        if INFERENCE.get() is not None and tensor._node is None:
            tensor._counter = Untracked([0])
            tensor._needs_grad = REQUIRED if tensor._needs_grad else None


_MARKING = _Marking()


class inference_mode(GradMode):
    """Like `no_grad`; besides, Tensors made inside can never take part in differentiation. Also
    a decorator."""

    def __new__(cls, mode: Any = True) -> Any:
        instance = super().__new__(cls)
        if not callable(mode):
            return instance
        instance.__init__()  # type: ignore[misc]
        return instance(mode)

    def __init__(self, mode: bool = True) -> None:
        super().__init__(not mode)
        self.mode = mode

    def __enter__(self) -> None:
        self._tokens: tuple[Token[bool | None], Token[bool]] = (
            INFERENCE.set(False if self.mode else None),
            enter_mode(not self.mode),
        )
        enter(_MARKING)

    def __exit__(self, *_: Any) -> None:
        leave(_MARKING)
        inference, grad = self._tokens
        INFERENCE.reset(inference)
        leave_mode(grad)

    def clone(self) -> GradMode:
        return inference_mode(self.mode)
