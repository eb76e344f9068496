"""`Operation`: one row of the table of eager operations."""

from __future__ import annotations

import contextlib
import functools
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradscribe.runtime.arrays.explaining import explained
from gradscribe.runtime.arrays.floating_point_errors import silent
from gradscribe.runtime.arrays.operand_checks import check_operands
from gradscribe.tracebacks import level_of_user

_REDUCING: dict[Any, Callable[..., Any]] = {
    np.sum: np.add.reduce,
    np.prod: np.multiply.reduce,
    np.max: np.maximum.reduce,
    np.min: np.minimum.reduce,
}
"""What NumPy's reductions come to for an array."""


@dataclass(frozen=True, eq=False, slots=True)
class Operation:
    """One row of the table of eager operations.

    name: the stem of the node's name ("Add").
    callee: what the compiler knows, called as `callee(*operands, **static)`.
    parameters: the callee's names of its static arguments.
    sequence: the callee takes its operands as one tuple (np.concatenate).
    positional: static arguments follow the first operand by position, and their integers are
        operands for the compiler, so that it need not compile anew for each (shapes, indices).
    view: the result may share memory with the first operand.
    differentiable: False where the result has no derivative (comparisons, argmax).
    wraps_numbers: numbers count among the inputs that `next_functions` tells of.
    counts_elements: NumPy warns where it has too few (no) elements to average.
    run: what is called where nothing is recorded, if not the callee: `run(*arrays, *static)`.
    """

    name: str
    callee: Callable[..., Any]
    parameters: tuple[str, ...] = ()
    sequence: bool = False
    positional: bool = False
    view: bool = False
    differentiable: bool = True
    wraps_numbers: bool = False
    counts_elements: bool = False
    run: Callable[..., Any] | None = None

    @silent
    def call(self, arrays: Sequence[Any], static: tuple[Any, ...]) -> Any:
        """The operation on arrays; what NumPy refuses is refused in PyTorch's words."""
        check_operands(self.name, arrays)
        try:
            return self._call(arrays, static)
        except (ValueError, TypeError, IndexError) as error:
            better = explained(error, self.name, arrays, static)
            if better is error:
                raise
            raise better from None
        except OverflowError:
            numbers = [_wrapped(item, arrays) for item in arrays]
            return self._call(numbers, static)

    def _call(self, arrays: Sequence[Any], static: tuple[Any, ...]) -> Any:
        if self.run is not None:
            return self.run(*arrays, *static)
        if self.positional:
            return self.callee(arrays[0], *static, *arrays[1:])
        arguments = (arrays,) if self.sequence else arrays
        if not static:
            return self.callee(*arguments)
        return self.callee(*arguments, **dict(zip(self.parameters, static, strict=False)))

    def caller(self, static: tuple[Any, ...]) -> Callable[..., Any]:
        """The operation on arrays with these static arguments, nothing being checked."""
        if self.run is not None or self.positional or self.sequence:
            return lambda *arrays: self._call(arrays, static)
        callee = _REDUCING.get(self.callee, self.callee)
        options = dict(zip(self.parameters, static, strict=False))
        return functools.partial(callee, **options) if options else callee

    def has_too_few(self, operand: Any, static: tuple[Any, ...]) -> bool:
        """Whether there may be too few elements for an average or a deviation."""
        array = getattr(operand, "array", operand)
        correction = static[1] if self.parameters[1] == "ddof" else 0
        shape = array.shape if isinstance(array, np.ndarray) else np.shape(array)
        if min(shape, default=math.inf) <= max(correction, 0):
            return True
        return self.callee is np.nanmean and bool(np.isnan(array).any())

    def tell_of_few(self, operand: Any, static: tuple[Any, ...], result: Any) -> None:
        """Warn of a deviation that has no degrees of freedom left."""
        array, found = operand.array, result.array
        if self.parameters[1] == "ddof" and array.size <= static[1] * max(found.size, 1):
            warnings.warn(
                f"{self.name.lower()}(): degrees of freedom is <= 0. Correction should be strictly "
                "less than the reduction factor (input numel divided by output numel).",
                UserWarning,
                stacklevel=level_of_user(),
            )


@contextlib.contextmanager
def unwarned() -> Iterator[None]:
    """Within the block, an average of nothing is NaN without NumPy's warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def _wrapped(item: Any, operands: Sequence[Any]) -> Any:
    """One of Python's integers as the integers of the arrays beside it count, modulo a power of
    two; any other operand as it is."""
    if type(item) is not int:
        return item
    dtype = np.result_type(*(a.dtype for a in operands if isinstance(a, (np.ndarray, np.generic))))
    if dtype.kind not in "iu":
        return item
    bits = 8 * dtype.itemsize
    lowest = 0 if dtype.kind == "u" else -(1 << bits - 1)
    return (item - lowest) % (1 << bits) + lowest
