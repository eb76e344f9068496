"""Differentiable views: Tensors that share memory with a base, and how they were taken.

A view remembers its base and the steps that lead from the base to it. When an in-place
operation has changed the shared memory, and with it the base's place in the graph, the view is
taken again, lazily, so its `grad_fn` leads through the change.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradscribe.runtime.grad_mode import enter_mode, grad_enabled, leave_mode
from gradscribe.runtime.inference import is_inference_mode_enabled

if TYPE_CHECKING:
    from gradscribe.runtime.eager import Operation
    from gradscribe.runtime.tensor import Tensor


@dataclass(frozen=True, eq=False, slots=True)
class Step:
    """One view operation, with its operands after the first and its static arguments."""

    operation: Operation
    operands: Sequence[Any]
    static: tuple[Any, ...]

    def on_array(self, array: Any) -> Any:
        """The view of an array."""
        view = self.operation.call([array, *map(_array, self.operands)], self.static)
        unlock(view, array)
        return view

    def on_tensor(self, tensor: Tensor) -> Tensor:
        """The view of a Tensor, recorded."""
        from gradscribe.runtime.eager import apply

        return apply(self.operation, [tensor, *self.operands], self.static)


Steps = tuple[Step, ...]


class View:
    """What a view knows of its origin. version: that of the memory when it was last taken.

    origin: why it may not be changed in place where that is recorded ("" if it may).
    """

    __slots__ = ("_base", "origin", "steps", "version")

    def __init__(self, base: Tensor, steps: Steps, origin: str = "") -> None:
        self._base = base
        self.steps = steps
        self.version = base.counter[0]
        self.origin = origin or current_origin()

    @property
    def base(self) -> Tensor:
        """The Tensor that the steps start at: of a base whose axes were changed in place since, the
        one that stands for what it was."""
        base = self._base
        return base if base.view_of is None else base.view_of.base

    def refresh(self, view: Tensor) -> None:
        """Take the view again, if its memory has changed since."""
        version = self.base.counter[0]
        if version == self.version:
            return
        if self.origin == CUSTOM and self.base.needs_grad:
            self.refuse(view)  # now and whenever it is used again
        self.version = version
        if not self.base.needs_grad:
            return
        from gradscribe.runtime.tensor import move

        token = enter_mode(True)
        try:
            again = take(self.base, self.steps)
        finally:
            leave_mode(token)
        assert again.node is not None
        move(view, again.node, again.index)

    def refuse(self, view: Tensor) -> None:
        """Raise the error for a recorded change in place, where the view does not allow it."""
        if self.origin:
            node = view.node
            what = f"Output {view.index} of {node.name()}" if node is not None else "A Tensor"
            raise RuntimeError(_REFUSALS[self.origin].format(what))


NO_GRAD, INFERENCE, CUSTOM, MULTIPLE = "no_grad", "inference", "custom", "multiple"


def current_origin() -> str:
    """The origin of a view that is taken now."""
    if grad_enabled():
        return ""
    return INFERENCE if is_inference_mode_enabled() else NO_GRAD


_REFUSALS = {
    NO_GRAD: (
        "A view was created in no_grad mode and is being modified inplace with grad mode enabled. "
        "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify "
        "your code by moving both the view and the inplace either both inside the no_grad block "
        "(if you don't want the inplace to be tracked) or both outside (if you want the inplace "
        "to be tracked)."
    ),
    INFERENCE: (
        "A view was created in inference mode and is being modified inplace in normal mode. Given "
        "that this use case is ambiguous and error-prone, it is forbidden. You can clarify your "
        "code by moving both the view and the inplace either both inside the inference_mode block "
        "(if you don't want the inplace to be tracked) or both outside (if you want the inplace "
        "to be tracked)."
    ),
    CUSTOM: (
        "{} is a view and is being modified inplace. This view was created inside a custom "
        "Function (or because an input was returned as-is) and the autograd logic to handle "
        "view+inplace would override the custom backward associated with the custom Function, "
        "leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning "
        "the output of the custom Function."
    ),
    MULTIPLE: (
        "{} is a view and is being modified inplace. This view is the output of a function that "
        "returns multiple views. Such functions do not allow the output views to be modified "
        "inplace. You should replace the inplace operation by an out-of-place one."
    ),
}


def steps_to(viewed: Tensor, step: Step) -> tuple[Tensor, Steps]:
    """The base of a view that is taken of a Tensor, and the steps from the base to the view."""
    if viewed.view_of is None:
        return viewed, (step,)
    return viewed.view_of.base, (*viewed.view_of.steps, step)


def take(tensor: Tensor, steps: Steps) -> Tensor:
    """The view of a Tensor that the steps lead to."""
    for step in steps:
        tensor = step.on_tensor(tensor)
    return tensor


def take_array(array: Any, steps: Steps) -> Any:
    """The view of an array that the steps lead to."""
    for step in steps:
        array = step.on_array(array)
    return array


def unlock(view: Any, original: Any) -> None:
    """Let a view be stored to that NumPy made read-only, if no two elements share memory."""
    flags = getattr(view, "flags", None)
    if flags is None or flags.writeable or not original.flags.writeable:
        return
    reach = view.itemsize
    for step, length in sorted(
        (abs(step), n) for step, n in zip(view.strides, view.shape, strict=True) if n > 1
    ):
        if step < reach:
            return
        reach += step * (length - 1)
    with contextlib.suppress(ValueError):
        view.flags.writeable = True


def _array(operand: Any) -> Any:
    return getattr(operand, "array", operand)
