"""Differentiable views: Tensors that share memory with a base, and how they were taken.

A view remembers its base and the steps that lead from the base to it. When an in-place
operation has changed the shared memory, and with it the base's place in the graph, the view is
taken again, lazily, so its `grad_fn` leads through the change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradscribe.runtime.grad_mode import enter_mode, leave_mode

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
        return self.operation.call([array, *map(_array, self.operands)], self.static)

    def on_tensor(self, tensor: Tensor) -> Tensor:
        """The view of a Tensor, recorded."""
        from gradscribe.runtime.eager import apply

        return apply(self.operation, [tensor, *self.operands], self.static)


Steps = tuple[Step, ...]


class View:
    """What a view knows of its origin. version: that of the memory when it was last taken."""

    __slots__ = ("base", "steps", "version")

    def __init__(self, base: Tensor, steps: Steps) -> None:
        self.base = base
        self.steps = steps
        self.version = base.counter[0]

    def refresh(self, view: Tensor) -> None:
        """Take the view again, if its memory has changed since."""
        version = self.base.counter[0]
        if version == self.version:
            return
        self.version = version
        if not self.base.needs_grad:
            return
        token = enter_mode(True)
        try:
            again = take(self.base, self.steps)
        finally:
            leave_mode(token)
        view.node, view.index, view.needs_grad = again.node, again.index, True


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


def _array(operand: Any) -> Any:
    return getattr(operand, "array", operand)
