"""Numbers as an array, and an array as numbers: the operations that have as many operands, or
results, as the array has elements. Nothing is compiled for them, and they are linear."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gradscribe.recording.calls import evaluate
from gradscribe.recording.levels import plain

if TYPE_CHECKING:
    from gradscribe.runtime.operations.kernel import Derivatives

Function = Callable[..., tuple[Any, ...]]


class Linear:
    """The `Derivatives` (see `runtime.operations.kernel`) of a linear function of the last leaves.

    before: how many leaves come before those, and are not read. transposed: from cotangents of
    the results to those of the operands.
    """

    has_given_rules = has_choices = False

    def __init__(
        self, before: int, operands: int, results: int, function: Function, transposed: Function
    ) -> None:
        self.active = tuple(range(before, before + operands))
        self.outputs = tuple(range(results))
        self._before = before
        self._function = function
        self._transposed = transposed

    def forward(self, *leaves: Any) -> tuple[tuple[Any, ...], Any]:
        """(results, record)"""
        return self.primal(*leaves), ()

    def primal(self, *leaves: Any) -> tuple[Any, ...]:
        """The results."""
        return self._function(*leaves[self._before :])

    def adjoint(self, record: Any, *cotangents: Any) -> tuple[Any, ...]:
        """The cotangents of the operands."""
        return self._transposed(*cotangents)

    @property
    def gradient(self) -> Linear:
        """Of (*leaves, *cotangents), the cotangents of the operands."""
        operands, results = len(self.active), len(self.outputs)
        before = self._before + operands
        return Linear(before, results, operands, self._transposed, self._function)

    @property
    def tangent(self) -> Linear:
        """Of (*leaves, *tangents), the tangents of the results."""
        operands, results = len(self.active), len(self.outputs)
        before = self._before + operands
        return Linear(before, operands, results, self._function, self._transposed)


def packed(numbers: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """The array of this shape of numbers, of a run or not."""
    dtype = np.array([plain(number) for number in numbers]).dtype
    pack, unpack = _between(shape, dtype)
    return _evaluated(Linear(0, len(numbers), 1, pack, unpack), numbers)[0]


def unpacked(array: Any) -> tuple[Any, ...]:
    """The elements of an array of a run."""
    given = plain(array)
    pack, unpack = _between(given.shape, given.dtype)
    return _evaluated(Linear(0, 1, given.size, unpack, pack), [array])


def _evaluated(linear: Linear, operands: Sequence[Any]) -> tuple[Any, ...]:
    return evaluate(cast("Derivatives", linear), operands, is_first=True)


def _between(shape: tuple[int, ...], dtype: Any) -> tuple[Function, Function]:
    """From numbers to an array in a tuple, and back."""

    def pack(*numbers: Any) -> tuple[Any, ...]:
        return (np.array(numbers, dtype).reshape(shape),)

    def unpack(array: Any) -> tuple[Any, ...]:
        return tuple(array.ravel())

    return pack, unpack
