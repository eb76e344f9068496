"""Forward mode on Tensors: `forward_ad`'s dual levels.

A dual level knows the tangent of each Tensor that has one, and gives a tangent to the result of
each operation on such. The tangent of an operation is taken from its adjoint: J^T u is linear in
u, and its derivative by u along v is J v. So tangents can be differentiated by a backward, too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, ref

import numpy as np

from gradscribe.runtime import dtypes, shaping
from gradscribe.runtime.backward import grad
from gradscribe.runtime.eager import Operation, apply
from gradscribe.runtime.engine import reached_from
from gradscribe.runtime.grad_mode import enter_mode, grad_enabled, leave_mode
from gradscribe.runtime.modes import MODES, Mode
from gradscribe.runtime.node import Node
from gradscribe.runtime.operation import OperationNode
from gradscribe.runtime.saved import unpacked
from gradscribe.runtime.tensor import Tensor, wrap


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
        """The tangent of a Tensor, or None."""
        if self._paused:
            return None
        entry = self._tangents.get(id(tensor))
        return None if entry is None or entry[0]() is not tensor else entry[1]

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
            tangent = _tangent_of_result(operation, operands, static, out, tangents)
            if tangent is not None:
                self.attach(out, tangent)
            if out.node is not None:
                self._of_nodes[out.node] = tangents

    def starting(self, nodes: Sequence[Node], create_graph: bool) -> None:
        if self._of_nodes and not create_graph and reached_from(nodes) & {*self._of_nodes}:
            raise NotImplementedError(
                "a backward through dual Tensors, whose gradients have tangents, needs "
                "create_graph=True"
            )

    def differentiated(
        self, node: Node, cotangents: Sequence[Tensor | None], results: Sequence[Tensor | None]
    ) -> None:
        of_operands = self._of_nodes.get(node, ())
        of_cotangents = [None if c is None else self.tangent(c) for c in cotangents]
        given = [t for t in (*of_operands, *of_cotangents) if t is not None]
        if not given:
            return
        if not isinstance(node, OperationNode) or node.kernel.call is None:
            raise NotImplementedError(f"forward mode through the backward of {node.name()}")
        tangents = _tangents_of_gradients(node, cotangents, of_operands, of_cotangents)
        for result, tangent in zip(results, tangents, strict=True):
            if result is not None and tangent is not None:
                self.attach(result, wrap(np.asarray(tangent)))

    def copied(self, tensor: Tensor, copy: Tensor) -> None:
        tangent = self.tangent(tensor)
        if tangent is not None:
            self.attach(copy, tangent.clone())

    def stored(self, target: Tensor, place: Any, value: Any) -> None:
        given = self.tangent(value)
        own = self.tangent(target)
        if own is None:
            if given is None:
                return
            own = self._new_tangent(target)
        own[place] = 0 if given is None else given.clone()

    def _new_tangent(self, target: Tensor) -> Tensor:
        """Zeros for a Tensor without tangent: for a view, the same view of its base's."""
        if target.view_of is None:
            own = wrap(np.zeros_like(target.array))
        else:
            base = target.view_of.base
            own = self.tangent(base) or self._new_tangent(base)
            for step in target.view_of.steps:
                own = step.on_tensor(own)
        self.attach(target, own)
        return own


_levels: list[_Level] = []


def current_level() -> _Level | None:
    """The innermost level, if there is one."""
    return _levels[-1] if _levels else None


def enter_dual_level() -> int:
    """Enter a level; returns its number."""
    if _levels:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    level = _Level()
    _levels.append(level)
    MODES.append(level)
    return len(_levels) - 1


def exit_dual_level(*, level: int | None = None) -> None:
    """Leave a level, whose tangents are gone then."""
    if not _levels or (level is not None and level != len(_levels) - 1):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This "
            "is not supported."
        )
    MODES.remove(_levels.pop())


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
    present = current_level()
    if present is None:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    for name, given in (("primal", tensor), ("tangent", tangent)):
        if not dtypes.is_differentiable(given.dtype):
            raise ValueError(
                f"Expected {name} to be floating point or complex, but got: "
                f"{dtypes.dtype_name(given.dtype)}"
            )
    check_size(tensor, tangent)
    dual = shaping.view_as(tensor, tensor)
    present.attach(dual, tangent)
    return dual


def check_size(tensor: Tensor, tangent: Tensor) -> None:
    """Raise the error for a tangent of another shape than the Tensor."""
    if tensor.shape != tangent.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {list(tensor.shape)} while the "
            f"given forward gradient is of size {list(tangent.shape)}."
        )


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The Tensor without its tangent, and the tangent (None where it has none)."""
    present = current_level()
    tangent = None if present is None else present.tangent(tensor)
    if tangent is None:
        return UnpackedDualTensor(tensor, None)
    primal = apply(shaping.VIEW, (tensor,), (tensor.array.shape,), watched=False)
    return UnpackedDualTensor(primal, tangent)


def _tangent_of_result(
    operation: Operation,
    operands: Sequence[Any],
    static: tuple[Any, ...],
    out: Tensor,
    tangents: Sequence[Tensor | None],
) -> Tensor | None:
    """The tangent of an operation's result; None where it has no derivative."""
    if not operation.differentiable or not dtypes.is_differentiable(out.array.dtype):
        return None
    if operation.view and tangents[0] is not None:
        return apply(operation, (tangents[0], *operands[1:]), static, watched=False)
    recording = grad_enabled() and any(
        isinstance(value, Tensor) and value.requires_grad for value in (*operands, *tangents)
    )
    token = enter_mode(True)
    try:
        varied = [
            operand if tangent is None else _stand_in(operand, recording)
            for operand, tangent in zip(operands, tangents, strict=True)
        ]
        again = apply(operation, varied, static, watched=False)
        moving = [i for i, tangent in enumerate(tangents) if tangent is not None]
        directions = [t for t in tangents if t is not None]
        return forward_product(again, [varied[i] for i in moving], directions, recording)
    finally:
        leave_mode(token)


def _tangents_of_gradients(
    node: OperationNode,
    cotangents: Sequence[Tensor | None],
    of_leaves: Sequence[Tensor | None],
    of_cotangents: Sequence[Tensor | None],
) -> Sequence[Any]:
    """The tangents of what a node's backward has given: F_2 along the tangents of the leaves and
    of the cotangent (see `operation.py`)."""
    kernel = node.kernel
    if any(t is not None and i not in kernel.active for i, t in enumerate(of_leaves)):
        raise NotImplementedError(
            f"forward mode through the backward of {node.name()}, by an operand that requires no "
            "gradient"
        )
    (seed,), (of_seed,) = cotangents, of_cotangents
    assert seed is not None
    along = [of_leaves[position] if of_leaves else None for position in kernel.active]
    leaves = unpacked(node.leaves, {})
    kinds = [leaves[position] for position in kernel.active]
    direction = [
        np.zeros_like(kind) if tangent is None else tangent.array
        for kind, tangent in zip((*kinds, seed.array), (*along, of_seed), strict=True)
    ]
    results = kernel.derivatives.order(2)(*leaves, seed.array, *direction)
    return results[: len(kernel.active)]


def _stand_in(operand: Tensor, recording: bool) -> Tensor:
    """A place of its own in the graph for one operand, so that derivatives by it are its alone."""
    if recording and operand.requires_grad:
        return apply(shaping.VIEW, (operand,), (operand.array.shape,), watched=False)
    return operand.detach().requires_grad_()


def forward_product(
    out: Tensor, inputs: Sequence[Tensor], tangents: Sequence[Tensor], recording: bool
) -> Tensor:
    """J v for the recorded function that gave `out` of the inputs."""
    zeros = wrap(np.zeros_like(out.array))
    if not out.requires_grad:
        return zeros
    weight = wrap(np.zeros_like(out.array)).requires_grad_()
    rows = grad(out, inputs, weight, create_graph=True, allow_unused=True)
    pairs = [
        (row, t)
        for row, t in zip(rows, tangents, strict=True)
        if row is not None and row.requires_grad
    ]
    if not pairs:
        return zeros
    reached, directions = zip(*pairs, strict=True)
    (product,) = grad(reached, weight, directions, create_graph=recording, allow_unused=True)
    return zeros if product is None else product
