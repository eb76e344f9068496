"""`Operation`: one row of the table of eager operations."""

from __future__ import annotations

import contextlib
import functools
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradscribe.runtime.arrays.explaining import Explain, explained
from gradscribe.runtime.arrays.floating_point_errors import silent
from gradscribe.runtime.arrays.node_names import Number
from gradscribe.runtime.arrays.operand_checks import Check
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
    check: PyTorch's error for operands that NumPy takes. explain: its words for NumPy's error.

    Of the node:
    node: the stem of its name, if that is another one. reflected: the stem where the first operand
        is a number, which then does not count among the inputs.
    number: which of the forms of the function it is ("MeanBackward1"); in_place: what is added to
        it where a Tensor is changed in place.
    saved: for each number, what the node tells that it has kept (`saved_names.py`).
    commutes: the Tensor counts as the first operand, wherever it stands.
    from_operands: PyTorch computes the derivative of the operands alone, and this package of the
        result, too.
    of_parts: a view that changes the dtype.
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
    check: Check | None = None
    explain: Explain | None = None
    node: str = ""
    reflected: str = ""
    number: Number | int = 0
    in_place: int = 0
    saved: tuple[str, ...] = ()
    commutes: bool = False
    from_operands: bool = False
    of_parts: bool = False

    def node_name(self, are_tensors: Sequence[bool], static: Mapping[str, Any]) -> str:
        """The name of the node of a call. are_tensors: which of its operands are Tensors."""
        stem = self.node or self.name
        if self.reflected and not are_tensors[0]:
            stem = self.reflected
        number = self.number if isinstance(self.number, int) else self.number(are_tensors, static)
        stem, *copied = stem.partition("_")
        return f"{stem}Backward{number}{''.join(copied)}"

    def refusal(self, operands: Sequence[Any]) -> Exception | None:
        """PyTorch's error for operands that it does not take; None for those that it takes."""
        return None if self.check is None else self.check(operands)

    def refuse(self, operands: Sequence[Any]) -> None:
        """Raise PyTorch's error for operands that it does not take."""
        error = self.refusal(operands)
        if error is not None:
            raise error

    @silent
    def call(self, arrays: Sequence[Any], static: tuple[Any, ...]) -> Any:
        """The operation on arrays; what NumPy refuses is refused in PyTorch's words."""
        self.refuse(arrays)
        try:
            return self._call(arrays, static)
        except (ValueError, TypeError, IndexError) as error:
            better = explained(error, self.name, self.explain, arrays, static)
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
