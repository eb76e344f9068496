"""Stores of a part of an array in another part of it.

NumPy copies what is stored where both overlap, save where they lie along one axis in the same
direction: then it goes from one end to the other, and with unequal steps (`y[::2] = y[:3]`) it
reads items that it has written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradscribe.ir.core import Operation, SliceOf, Value
from gradscribe.ir.types import Array
from gradscribe.primitives.indexing import GETITEM, STORE
from gradscribe.transforms.passes.bufferize.aliasing import Aliasing
from gradscribe.transforms.passes.bufferize.buffers import alias


def reads_what_it_writes(
    aliasing: Aliasing, makers: Mapping[Value, Operation], operation: Operation
) -> bool:
    """Whether NumPy may read items that it has written, unless the value is a copy."""
    if operation.primitive is not STORE:
        return False
    target, value = operation.operands[:2]
    if not (isinstance(value.type, Array) and value.type.rank == 1):
        return False
    if not alias(aliasing.buffers(target)[()], aliasing.buffers(value)[()]):
        return False
    taken = makers.get(value)
    if taken is None or taken.primitive is not GETITEM:
        return True
    index, path = taken.attributes["index"], operation.attributes["path"]
    return taken.operands[0].type is not target.type or _step(index) != _step(path) or not path


def _step(index: Any) -> int | None:
    """The step of the only slice of an index; None of any other."""
    slices = [item for item in index if item is not Ellipsis]
    if len(slices) != 1 or not isinstance(slices[0], SliceOf):
        return None
    step = slices[0].step
    return 1 if step is None else step if isinstance(step, int) else None
