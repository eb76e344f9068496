"""Indexing of Tensors: reads are recorded operations, stores are in-place operations.

An index as Python gives it is brought into the compiler's form: a tuple of None, Ellipsis,
integers, `SliceOf`, and `Operand(k)` for the k-th operand (an array of integers or booleans).
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gradscribe.ir.core import Operand, SliceOf
from gradscribe.runtime.eager import Operation, apply
from gradscribe.runtime.inplace import setitem as store_at
from gradscribe.runtime.tensor import Tensor
from gradscribe.runtime.views import Step


def _run(array: Any, *rest: Any) -> Any:
    *operands, index = rest
    return array[plain_index(index, (array, *operands))]


GETITEM = Operation("Index", operator.getitem, ("index",), positional=True, view=True, run=_run)
SELECT = Operation("Select", operator.getitem, ("index",), positional=True, view=True, run=_run)
SLICE = Operation("Slice", operator.getitem, ("index",), positional=True, view=True, run=_run)


def getitem(tensor: Tensor, index: Any) -> Tensor:
    """`tensor[index]`, for every kind of index."""
    static, operands = normalized(index)
    return apply(operation_of(static, operands), (tensor, *operands), (static,))


def setitem(tensor: Tensor, index: Any, value: Any) -> None:
    """`tensor[index] = value`."""
    static, operands = normalized(index)
    step = Step(operation_of(static, operands), operands, (static,))
    store_at(tensor, step, plain_index(static, (tensor.array, *operands)), value)


def operation_of(static: tuple[Any, ...], operands: tuple[Any, ...]) -> Operation:
    """Which of the names of PyTorch's nodes fits the index."""
    if operands:
        return GETITEM
    return SELECT if any(type(item) is int for item in static) else SLICE


def normalized(index: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The static form of an index, and the arrays in it.

    An index of basic items has an ellipsis, with which NumPy gives a view of a single element
    in place of a number.
    """
    items = index if isinstance(index, tuple) else (index,)
    operands: list[Any] = []
    static = tuple(_normalized_item(item, operands) for item in items)
    if not operands and Ellipsis not in static:
        static = (*static, Ellipsis)
    return static, tuple(operands)


def _normalized_item(item: Any, operands: list[Any]) -> Any:
    if type(item) is int or item is None or item is Ellipsis:
        return item
    if isinstance(item, slice):
        return SliceOf(*(_bound(part) for part in (item.start, item.stop, item.step)))
    if isinstance(item, Tensor):
        item = item.array
    array = np.asarray(item)
    if array.ndim == 0 and array.dtype.kind in "iu":
        return int(array)
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)
    if array.dtype.kind not in "iub":
        raise IndexError(
            "tensors used as indices must be long, int, byte or bool tensors; "
            f"got {array.dtype.name}"
        )
    operands.append(array)
    return Operand(len(operands))


def _bound(part: Any) -> int | None:
    return None if part is None else operator.index(part)


def plain_index(index: tuple[Any, ...], operands: tuple[Any, ...]) -> Any:
    """An index in the static form as NumPy takes it."""
    return tuple(_PLAIN.get(type(item), _same)(item, operands) for item in index)


def _same(item: Any, operands: tuple[Any, ...]) -> Any:
    return item


_PLAIN: dict[type, Any] = {
    SliceOf: lambda item, operands: slice(item.start, item.stop, item.step),
    Operand: lambda item, operands: operands[item.index],
}
