"""Differentiable views: Tensors that share memory with a base, and how they were taken.

A view remembers its base and the steps that lead from the base to it. When an in-place
operation has changed the shared memory, and with it the base's place in the graph, the view is
taken again, lazily, so its `grad_fn` leads through the change.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradscribe.runtime.arrays.eager_operation import Operation
from gradscribe.runtime.graph.grad_mode import enter_mode, grad_enabled, leave_mode
from gradscribe.runtime.graph.inference import is_inference_mode_enabled
from gradscribe.runtime.tensors.array_methods import memory_of


@dataclass(eq=False, slots=True)
class Step:
    """One view operation, with its operands after the first and its static arguments."""

    operation: Operation
    operands: Sequence[Any]
    static: tuple[Any, ...]

    def on_array(self, array: Any) -> Any:
        """The view of an array."""
        view = self.operation.call([array, *map(_array, self.operands)], self.static)
        return unlocked(view, array)

    def on_tensor(self, tensor: Any) -> Any:
        """The view of a Tensor, recorded."""
        return tensor._part(self)


Steps = tuple[Step, ...]
Chain = tuple["Chain", Step] | None
"""Steps, linked from the last one back: views of views share those that they have in common."""


class View:
    """What a view knows of its origin. version: that of the memory when it was last taken.

    is_of_itself: the base stands for what the Tensor itself was, before its axes were changed.
    node: that of the base, when the view of itself was last taken.
    origin: why neither it nor its base may be changed in place where that is recorded ("" if they
    may); a view of such a view has the same.
    cut: its tangent is its own, and none of its base; so are those of its views.
    """

    __slots__ = ("_base", "_chain", "cut", "is_of_itself", "node", "origin", "version")

    def __init__(self, base: Any, chain: Chain, origin: str = "") -> None:
        self._base = base
        self._chain = chain
        self.is_of_itself = False
        self.node: Any = None
        self.version = base._counter[0]
        self.origin = origin or current_origin()
        self.cut = False

    @property
    def base(self) -> Any:
        """The Tensor that the steps start at: of a base whose axes were changed in place since, the
        one that stands for what it was."""
        base = self._base
        return base if base._view_of is None else base._view_of.base

    @property
    def last_step(self) -> Step:
        """The step that leads to the view itself."""
        assert self._chain is not None
        return self._chain[1]

    @property
    def steps(self) -> Steps:
        """The steps that lead from the base to the view."""
        found = []
        chain = self._chain
        while chain is not None:
            chain, step = chain
            found.append(step)
        return tuple(reversed(found))

    def another(self) -> View:
        """The same view, for another Tensor."""
        return View(self.base, self._chain)

    @property
    def base_requires_grad(self) -> bool:
        """Whether the base requires gradients. Then so does the view, also one that was taken
        before, or is not recorded; but no gradient flows through that."""
        return bool(self.base._needs_grad) and not self.is_of_itself

    def refresh(self, view: Any, *, placed: bool = False) -> None:
        """Take the view again, if its memory has changed since.

        placed: its place in the graph is asked for, which there is none of where the view does not
        allow the change.
        """
        version = self.base._counter[0]
        if version == self.version:
            return
        if self.origin:
            if placed and self.base._needs_grad:
                self.refuse(view, "its base or another view of its base has been")
            return
        self.version = version
        if view._node is None and not self.base._needs_grad:
            return
        if self.is_of_itself and self.node is self.base._node:
            return  # the change was not recorded
        self.node = self.base._node
        token = enter_mode(True)
        try:
            view._move(*self._taken_again(view))
        finally:
            leave_mode(token)

    def _taken_again(self, view: Any) -> tuple[Any, int]:
        """The new place in the graph of a view whose base has changed."""
        has_parts = any(step.operation.of_parts for step in self.steps)
        if not has_parts or not self.base._needs_grad:
            return self.base._region(self.steps, view.array), 0
        again = take(self.base, self.steps)
        return again._node, again._index

    def refuse(self, view: Any, changed: str = "is being") -> None:
        """Raise the error for a recorded change in place, where the view does not allow it.

        changed: what is changed, and when.
        """
        if self.origin:
            what = f"{self._described(view, changed)} modified inplace"
            if view._node is None and self.origin in (CUSTOM, MULTIPLE):
                what += " with grad mode enabled"
            raise RuntimeError(what + _REASONS[self.origin])

    def _described(self, view: Any, changed: str) -> str:
        """Which view it is, where it was made, and what is changed."""
        node = view._node
        if self.origin not in _MODE_NAMES and node is not None:
            return f"Output {view._index} of {node.name()} is a view and {changed}"
        mode = _MODE_NAMES.get(self.origin, "no_grad mode")
        if self.origin in _MODE_NAMES and node is not None:
            output = f"Output {view._index} of {node.name()}"
            return f"{output} is a view of a view which was created in {mode} and {changed}"
        return f"A view was created in {mode} and {changed}"


NO_GRAD, INFERENCE, CUSTOM, MULTIPLE = "no_grad", "inference", "custom", "multiple"
_MODE_NAMES = {NO_GRAD: "no_grad mode", INFERENCE: "inference mode"}


def current_origin() -> str:
    """The origin of a view that is taken now."""
    if grad_enabled():
        return ""
    return INFERENCE if is_inference_mode_enabled() else NO_GRAD


_MOVE_BOTH = (
    ". Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify "
    "your code by moving both the view and the inplace either both inside the {} block (if you "
    "don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
)
_REASONS = {
    NO_GRAD: " with grad mode enabled" + _MOVE_BOTH.format("no_grad"),
    INFERENCE: " in normal mode" + _MOVE_BOTH.format("inference_mode"),
    CUSTOM: (
        ". This view was created inside a custom Function (or because an input was returned as-is) "
        "and the autograd logic to handle view+inplace would override the custom backward "
        "associated with the custom Function, leading to incorrect gradients. This behavior is "
        "forbidden. You can fix this by cloning the output of the custom Function."
    ),
    MULTIPLE: (
        ". This view is the output of a function that returns multiple views. Such functions do "
        "not allow the output views to be modified inplace. You should replace the inplace "
        "operation by an out-of-place one."
    ),
}


def view_by(viewed: Any, step: Step) -> View:
    """The view that a step leads to from a Tensor, which may be a view itself."""
    former = viewed._view_of
    view = _new(View)
    view._base = base = viewed if former is None else former.base
    view._chain = (None if former is None else former._chain), step
    view.is_of_itself = False
    view.node = None
    view.version = base._counter[0]
    origin = "" if former is None else former.origin
    view.origin = origin or ("" if grad_enabled() else current_origin())
    view.cut = former is not None and former.cut
    return view


_new: Callable[[type[View]], View] = object.__new__


def take(tensor: Any, steps: Steps) -> Any:
    """The view of a Tensor that the steps lead to."""
    for step in steps:
        tensor = step.on_tensor(tensor)
    return tensor


def take_array(array: Any, steps: Steps) -> Any:
    """The view of an array that the steps lead to."""
    for step in steps:
        array = step.on_array(array)
    return array


def positions(shape: tuple[int, ...], steps: Steps) -> Any:
    """Where, in a flat array of this shape, the elements stand that the steps lead to."""
    return take_array(np.arange(math.prod(shape)).reshape(shape), steps)


def unlocked(view: Any, original: Any) -> Any:
    """A view that may be stored to, where NumPy made it read-only though no two elements share
    memory, and that of the original may be changed."""
    flags = getattr(view, "flags", None)
    if flags is None or flags.writeable or overlaps(view):
        return view
    owner = memory_of(original)
    if not (original.flags.writeable or owner.flags.writeable):
        return view
    with contextlib.suppress(ValueError):
        view.flags.writeable = True
        return view
    if not owner.flags.forc or not owner.flags.writeable:
        return view
    offset = view.ctypes.data - owner.ctypes.data
    return np.ndarray(view.shape, view.dtype, owner.reshape(-1, order="A"), offset, view.strides)


def overlaps(array: Any) -> bool:
    """Whether two elements of an array share memory."""
    reach = array.itemsize
    for step, length in sorted(
        (abs(step), n) for step, n in zip(array.strides, array.shape, strict=True) if n > 1
    ):
        if step < reach:
            return array.size > 0 and (step == 0 or _meet(array))
        reach += step * (length - 1)
    return False


def _meet(array: Any) -> bool:
    """Whether two elements of an array share memory, where its axes reach into one another."""
    axes = zip(map(abs, array.strides), array.shape, strict=True)
    places = [step * np.arange(length) for step, length in axes]
    span = sum(int(along[-1]) for along in places) + array.itemsize
    if array.nbytes > span or any(step % array.itemsize for step in array.strides):
        return True
    found = functools.reduce(np.add.outer, places)
    return bool(np.unique(found).size < array.size)


def _array(operand: Any) -> Any:
    return getattr(operand, "array", operand)
