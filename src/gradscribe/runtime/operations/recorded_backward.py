"""The backward of one eager operation as operations on Tensors: what a recorded backward runs.

Each operand, and the result, is brought back into its place in the graph when the derivative
first reads it, and only then checked for changes in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradscribe.runtime.arrays.kinds import kind_for
from gradscribe.runtime.graph.modes import MODES, tell_recalled
from gradscribe.runtime.operations.kept_call import KeptCall
from gradscribe.runtime.operations.saved_values import recalled, recalled_result
from gradscribe.runtime.tensors.saved import Packed
from gradscribe.runtime.tensors.tensor import Tensor, wrap


class RecordedCall:
    """One recorded call of an operation, as the `kernel.Point` of a derivative."""

    def __init__(self, node: KeptCall) -> None:
        self._node = node

    def operand(self, position: int) -> Any:
        """A Tensor, or the number that it was."""
        if not isinstance(self._node.leaves[position], (np.ndarray, Packed)):
            return self._node.leaves[position]
        operand = recalled(self._node, position)
        if MODES:
            tell_recalled(self._node, position, operand)
        return operand

    def result(self) -> Tensor:
        result = recalled_result(self._node)
        if MODES:
            tell_recalled(self._node, None, result)
        return result

    def operand_like(self, position: int) -> Any:
        value = self._node.leaves[position]
        return (
            kind_for(value.dtype, tuple(value.shape)).stand_in
            if isinstance(value, Packed)
            else value
        )

    def result_like(self) -> np.ndarray:
        ((shape, dtype),) = self._node.output_types
        result: np.ndarray = kind_for(dtype, tuple(shape)).stand_in
        return result


def recorded_gradients(node: KeptCall, cotangents: Sequence[Tensor | None]) -> list[Tensor]:
    """The gradients of the active operands, recorded."""
    derivative = node.kernel.by_operations
    assert derivative is not None
    given = [
        wrap(np.zeros(shape, dtype)) if cotangent is None else cotangent
        for cotangent, (shape, dtype) in zip(cotangents, node.output_types, strict=True)
    ]
    found = derivative.gradients(RecordedCall(node), given)
    return [g if isinstance(g, Tensor) else wrap(np.asarray(g)) for g in found]
