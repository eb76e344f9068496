"""The backward of one eager operation as operations on Tensors: what a recorded backward runs.

A `RecordedCall` is what the rules of `recorded_rules.py` are written with: the cotangent, the
operands and the result, each brought back into its place in the graph when a rule first reads it,
and only then checked for changes in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gradscribe.runtime.kernel import signature
from gradscribe.runtime.modes import MODES, tell_recalled
from gradscribe.runtime.saved import Packed
from gradscribe.runtime.saved_values import recalled, recalled_result
from gradscribe.runtime.tensor import Tensor

if TYPE_CHECKING:
    from gradscribe.runtime.operation import OperationNode


class RecordedCall:
    """One recorded call of an operation, and the cotangent of its result."""

    def __init__(self, node: OperationNode, grad: Tensor) -> None:
        self.grad = grad
        self._node = node
        self._operands: dict[int, Any] = {}
        assert node.kernel.call is not None
        operation, static = node.kernel.call
        self.static: dict[str, Any] = dict(zip(operation.parameters, static, strict=False))

    def __getitem__(self, position: int) -> Any:
        """An operand: a Tensor, or the number that it was."""
        if position not in self._operands:
            self._operands[position] = self._recalled(position)
        return self._operands[position]

    def _recalled(self, position: int) -> Any:
        if not isinstance(self._node.leaves[position], (np.ndarray, Packed)):
            return self._node.leaves[position]
        operand = recalled(self._node, position)
        if MODES:
            tell_recalled(self._node, position, operand)
        return operand

    @cached_property
    def result(self) -> Tensor:
        """The result of the operation."""
        result = recalled_result(self._node)
        if MODES:
            tell_recalled(self._node, None, result)
        return result

    def signature(self, position: int) -> tuple[tuple[int, ...], Any]:
        """Shape and dtype of an operand, which is not read for it."""
        value = self._node.leaves[position]
        return (value.shape, value.dtype) if isinstance(value, Packed) else signature(value)

    def shape(self, position: int) -> tuple[int, ...]:
        """The shape of an operand."""
        return self.signature(position)[0]


def recorded_gradients(node: OperationNode, grad: Tensor) -> list[Tensor]:
    """The gradients of the active operands, recorded."""
    call = RecordedCall(node, grad)
    rule = node.kernel.rule
    assert rule is not None
    return [fitted(rule(call, p), *call.signature(p)) for p in node.kernel.active]


def fitted(gradient: Tensor, shape: Sequence[int], dtype: Any) -> Tensor:
    """A gradient summed over the axes along which its operand was broadcast, and of its dtype."""
    if gradient.array.shape != tuple(shape):
        gradient = _summed_to(gradient, tuple(shape))
    if gradient.array.dtype.kind == "c" and np.dtype(dtype).kind != "c":
        gradient = gradient.real
    return gradient if gradient.array.dtype == dtype else gradient.to(dtype)


def _summed_to(gradient: Tensor, shape: tuple[int, ...]) -> Tensor:
    present = gradient.array.shape
    added = len(present) - len(shape)
    axes = [
        axis
        for axis, length in enumerate(present)
        if axis < added or (shape[axis - added] == 1 and length != 1)
    ]
    if axes:
        gradient = gradient.sum(axes, keepdim=True)
    return gradient.reshape(shape) if added else gradient
