"""Forward mode on Tensors: `forward_ad`'s dual levels.

A dual level knows the tangent of each Tensor that has one, and gives a tangent to the result of
each operation on such; `tangents.py` computes those.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, ref

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.graph.engine import reached_from
from gradscribe.runtime.graph.inference import is_inference_mode_enabled
from gradscribe.runtime.graph.modes import Call, Mode, enter, leave
from gradscribe.runtime.graph.node import Edge, Node
from gradscribe.runtime.modes.tangents import (
    is_recorded,
    tangent_of_result,
    tangents_of_compiled_gradients,
    tangents_of_gradients,
    tangents_of_results,
)
from gradscribe.runtime.operations import shaping
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.operations.operation import OperationNode
from gradscribe.runtime.tensors.tensor import Tensor, edge_of, wrap
from gradscribe.runtime.tensors.views import View, take


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` returns."""

    primal: Tensor
    tangent: Tensor | None


class _Level(Mode):
    """The tangents of one level, by the identity of their Tensors."""

    def __init__(self) -> None:
        self._tangents: dict[int, tuple[ref[Tensor], Tensor]] = {}
        self._of_nodes: WeakKeyDictionary[Node, list[Tensor | None]] = WeakKeyDictionary()
        self._paused = False

    def tangent(self, tensor: Any) -> Tensor | None:
        """The tangent of a Tensor, or None; there are none in inference mode."""
        if self._paused or not is_forward_enabled() or is_inference_mode_enabled():
            return None
        found = self._own(tensor)
        if found is None and isinstance(tensor, Tensor) and tensor._view_of is not None:
            return self._of_base(tensor, tensor._view_of)
        return found

    def _own(self, tensor: Any) -> Tensor | None:
        entry = self._tangents.get(id(tensor))
        return None if entry is None or entry[0]() is not tensor else entry[1]

    def _of_base(self, tensor: Tensor, view: View) -> Tensor | None:
        """The tangent of a view whose base has come by one since the view was taken."""
        found = None if view.cut else self._own(view.base)
        if found is not None:
            with self.paused():
                found = take(found, view.steps)
            self.attach(tensor, found)
        return found

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Within the block, no Tensor has a tangent."""
        self._paused, before = True, self._paused
        try:
            yield
        finally:
            self._paused = before

    def attach(self, tensor: Tensor, tangent: Tensor) -> None:
        """Give a Tensor this tangent."""
        key = id(tensor)
        self._tangents[key] = ref(tensor, lambda _: self._tangents.pop(key, None)), tangent

    def finished(
        self, operation: Operation, operands: Sequence[Any], static: tuple[Any, ...], out: Tensor
    ) -> None:
        tangents = [self.tangent(operand) for operand in operands]
        if any(tangent is not None for tangent in tangents):
            tangent = tangent_of_result(operation, operands, static, out, tangents)
            if tangent is not None:
                self.attach(out, tangent)
            if out._node is not None:
                self._of_nodes[out._node] = [*tangents, tangent]

    def watch(self, nodes: Iterable[Any], of_edges: dict[Edge, Tensor | None]) -> None:
        """Know nodes of compiled functions by the tangents of what their edges lead to."""
        for node in nodes:
            if isinstance(node, OperationNode) and node.kernel.call is None:
                active = dict(zip(node.kernel.active, node.next_edges, strict=True))
                of_leaves = [
                    of_edges.get(active[position]) if position in active else None
                    for position in range(len(node.leaves))
                ]
                self._of_nodes[node] = [*of_leaves, None]

    def called(self, call: Call, leaves: Sequence[Any], results: Sequence[Any]) -> None:
        tangents = [self.tangent(leaf) for leaf in leaves]
        if all(tangent is None for tangent in tangents):
            return
        with self.paused():
            found = tangents_of_results(call, leaves, tangents)
        for result, tangent in zip(results, found, strict=True):
            if tangent is not None:
                self.attach(result, tangent)

    def needs_tensors(self, nodes: Sequence[Node], seeds: Sequence[Tensor]) -> bool:
        if any(self.tangent(seed) is not None for seed in seeds):
            return True
        return bool(self._of_nodes) and bool(reached_from(nodes) & {*self._of_nodes})

    def detached(self, tensor: Tensor, result: Tensor) -> None:
        if result is tensor:
            self._tangents.pop(id(tensor), None)

    def finished_gradient(self, gradient: Tensor, result: Tensor) -> None:
        tangent = self.tangent(gradient)
        if tangent is not None:
            self.attach(result, tangent.detach())

    def differentiated(
        self, node: Node, cotangents: Sequence[Tensor | None], results: Sequence[Tensor | None]
    ) -> None:
        of_operands = self._of_nodes.get(node, ())[:-1]
        of_cotangents = [None if c is None else self.tangent(c) for c in cotangents]
        given = [t for t in (*of_operands, *of_cotangents) if t is not None]
        if not given:
            return
        if not isinstance(node, OperationNode):
            raise NotImplementedError(f"forward mode through the backward of {node.name()}")
        with self.paused():
            if node.kernel.call is None:
                tangents = tangents_of_compiled_gradients(
                    node, cotangents, of_operands, of_cotangents
                )
            else:
                tangents = tangents_of_gradients(node, cotangents[0], of_operands, of_cotangents[0])
        for result, tangent in zip(results, tangents, strict=True):
            if result is not None and tangent is not None:
                self.attach(result, tangent)

    def recalled(self, node: OperationNode, position: int | None, tensor: Tensor) -> None:
        known = self._of_nodes.get(node)
        if known is None or self.tangent(tensor) is not None:
            return
        tangent = known[-1 if position is None else position]
        if tangent is not None:
            self.attach(tensor, tangent)

    def copied(self, tensor: Tensor, copy: Tensor) -> None:
        tangent = self.tangent(tensor)
        if tangent is not None:
            self.attach(copy, tangent.clone())

    def shared(self, tensor: Tensor, other: Tensor) -> None:
        tangent = self.tangent(tensor)
        if tangent is not None:
            self.attach(other, tangent)

    def stored(self, target: Tensor, place: Any, value: Any) -> None:
        given = self.tangent(value)
        own = self.tangent(target)
        if own is None:
            if given is None:
                return
            own = self._new_tangent(target)
        own[place] = 0 if given is None else given.clone()

    def _new_tangent(self, target: Tensor) -> Tensor:
        """Zeros for a Tensor without tangent: for a view, the same view of its base's, unless it
        has one of its own."""
        if target._view_of is None or target._view_of.cut:
            own = wrap(np.zeros_like(target.array))
        else:
            base = target._view_of.base
            known = self.tangent(base)
            own = self._new_tangent(base) if known is None else known
            for step in target._view_of.steps:
                own = step.on_tensor(own)
        self.attach(target, own)
        return own


_levels: ContextVar[tuple[_Level, ...]] = ContextVar("gradscribe_dual_levels", default=())


def current_level() -> _Level | None:
    """The innermost level, if there is one."""
    levels = _levels.get()
    return levels[-1] if levels else None


def level_number() -> int:
    """The number of the innermost level; -1 where there is none."""
    return len(_levels.get()) - 1


def enter_dual_level() -> int:
    """Enter a level; returns its number."""
    if _levels.get():
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    level = _Level()
    _levels.set((level,))
    enter(level)
    return level_number()


def exit_dual_level(*, level: int | None = None) -> None:
    """Leave a level, whose tangents are gone then."""
    if level is not None and level != level_number():
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This "
            "is not supported."
        )
    levels = _levels.get()
    if not levels:
        raise RuntimeError("Dual level must be a positive number.")
    _levels.set(levels[:-1])
    leave(levels[-1])


_enabled: ContextVar[bool] = ContextVar("gradscribe_forward_mode", default=True)
is_forward_enabled = _enabled.get
"""Whether Tensors are seen to have tangents here."""


class set_forward_enabled(contextlib.AbstractContextManager[None]):
    """From now on, or within the block: whether Tensors are seen to have tangents."""

    def __init__(self, mode: bool) -> None:
        self._before = is_forward_enabled()
        _enabled.set(mode)

    def __exit__(self, *_: object) -> None:
        _enabled.set(self._before)


@contextlib.contextmanager
def dual_level() -> Iterator[int]:
    """Within the block, Tensors may have tangents."""
    number = enter_dual_level()
    try:
        yield number
    finally:
        exit_dual_level(level=number)


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """The Tensor (a view of it) with a tangent, which what is computed of it will have, too."""
    present, number = current_level(), _checked_number("_make_dual", level)
    if number < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    if present is None:
        raise RuntimeError(
            "Trying to access a forward AD level with an invalid index. This index was either not "
            "created or is already deleted."
        )
    if number != level_number():
        raise RuntimeError("Invalid level given to _make_dual")
    for name, given in (("primal", tensor), ("tangent", tangent)):
        if not dtypes.is_differentiable(given.dtype):
            raise ValueError(
                f"Expected {name} to be floating point or complex, but got: "
                f"{dtypes.dtype_name(given.dtype)}"
            )
    if present.tangent(tangent) is not None:
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same level"
            f"{level_number()} is not supported."
        )
    if present.tangent(tensor) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the "
            f"same level {level_number()} is not supported."
        )
    check_size(tensor, tangent)
    dual = shaping.view_as(tensor, tensor)
    _cut(dual)
    present.attach(dual, tangent)
    return dual


def _checked_number(name: str, level: int | None) -> int:
    """The number of a level, the innermost where none is given."""
    if level is None:
        return level_number()
    if not isinstance(level, int) or isinstance(level, bool):
        raise TypeError(f"{name}(): argument 'level' must be int, not {type(level).__name__}")
    return level


def check_size(tensor: Tensor, tangent: Tensor) -> None:
    """Raise the error for a tangent of another shape than the Tensor."""
    if tensor.shape != tangent.shape:
        raise RuntimeError(other_size(tensor.shape, tangent.shape))


def other_size(shape: Sequence[int], given: Sequence[int]) -> str:
    """What is said of a tangent of another shape than the Tensor."""
    return (
        "Trying to set a forward gradient that has a different size than that of the original "
        f"Tensor, this is not supported. Tensor is of size {list(shape)} while the given forward "
        f"gradient is of size {list(given)}."
    )


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The Tensor without its tangent, and the tangent (None where it has none)."""
    present, number = current_level(), _checked_number("_unpack_dual", level)
    tangent = None if present is None or number < 0 else present.tangent(tensor)
    if tangent is None:
        return UnpackedDualTensor(tensor, None)
    if number != level_number():
        raise RuntimeError("Invalid level given to _fw_primal")
    primal = apply(shaping.VIEW, (tensor,), (tensor.array.shape,), watched=False)
    _cut(primal)
    return UnpackedDualTensor(primal, tangent)


def _cut(view: Tensor) -> None:
    if view._view_of is not None:
        view._view_of.cut = True


def call_with_tangents(call: Call, leaves: Sequence[Any]) -> list[Any]:
    """The results of a call that is recorded as a whole, with the tangents that those of its
    leaves give them. call: is given Tensors that require gradients in place of those leaves."""
    level = current_level()
    assert level is not None
    tangents = [level.tangent(leaf) for leaf in leaves]
    results: list[Any] = []
    of_edges: dict[Edge, Tensor | None] = {}
    given: dict[int, Any] = {}

    def run(varied: Sequence[Any]) -> Sequence[Any]:
        given.update((id(v), leaf) for v, leaf in zip(varied, leaves, strict=True))
        moved = [(v, t) for v, t in zip(varied, tangents, strict=True) if t is not None]
        of_edges.update((edge_of(v), t) for v, t in moved)
        results.extend(call(varied))
        return results

    with level.paused():
        found = tangents_of_results(run, leaves, tangents)
    is_kept = is_recorded((*leaves, *tangents))
    level.watch({r._node for r in results if isinstance(r, Tensor) and is_kept}, of_edges)
    for position, (result, tangent) in enumerate(zip(results, found, strict=True)):
        if id(result) in given:
            results[position] = given[id(result)]
        elif isinstance(result, Tensor):
            results[position] = result if is_kept else result.detach()
            if tangent is not None:
                level.attach(results[position], tangent)
    return results
