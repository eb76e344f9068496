"""Indexing of Tensors: reads are recorded operations, stores are in-place operations.

An index as Python gives it is brought into the compiler's form: a tuple of None, Ellipsis,
integers, `SliceOf`, and `Operand(k)` for the k-th operand (an array of integers or booleans).
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from gradscribe.errors import UnsupportedError
from gradscribe.ir.core import Operand, SliceOf
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.operations.inplace import assign
from gradscribe.runtime.operations.inplace import setitem as store_at
from gradscribe.runtime.tensors.tensor import Array, Tensor, rank_of
from gradscribe.runtime.tensors.views import Step
from gradscribe.tracebacks import shorten


def _run(array: Any, *rest: Any) -> Any:
    *operands, index = rest
    return array[plain_index(index, (array, *operands))]


def taking(name: str, saved: str = "", in_place: int = 0) -> Operation:
    """A row for reads, recorded under this name."""
    return Operation(
        name,
        operator.getitem,
        ("index",),
        positional=True,
        view=True,
        run=_run,
        saved=(saved,) * (1 + in_place),
        in_place=in_place,
    )


GETITEM, ALIAS = taking("Index", "indices sizes"), taking("Alias")
SELECT = taking("Select", "dim index sizes")
SLICE = taking("Slice", "sliced start end step sizes")
_OF_ITEMS = {int: SELECT, type(None): taking("Unsqueeze", "dim:axis", in_place=1)}


def getitem(tensor: Tensor, index: Any) -> Tensor:
    """`tensor[index]`, for every kind of index."""
    try:
        given = static, operands = normalized(index)
        of = tensor
        try:
            if operands:
                of, static, operands = _with_one_kind(tensor, static, operands)
            return apply(operation_of(static, operands), (of, *operands), (static,))
        except (IndexError, UnsupportedError):
            explain(tensor.array.shape, *given)
            raise
    except Exception as error:
        shorten(error)
        raise


def _with_one_kind(
    tensor: Tensor, static: tuple[Any, ...], operands: tuple[Any, ...]
) -> tuple[Tensor, tuple[Any, ...], tuple[Any, ...]]:
    """An index with arrays in the form that NumPy understands as PyTorch does: what is left of it
    when single booleans have been given axes, and integers that stand apart from the arrays have
    selected; and what it is an index of then."""
    if any(map(_is_truth, operands)):
        tensor, static, operands = _with_axes_of_truths(tensor, static, operands)
    if _separates(static):
        selected, static = _selected_first(static, operands)
        tensor = apply(SELECT, (tensor,), (selected,))
    return tensor, static, operands


def explain(shape: tuple[int, ...], index: tuple[Any, ...], operands: tuple[Any, ...]) -> None:
    """Raise PyTorch's error for an index that does not fit a shape."""
    if not shape and index == (index[0], Ellipsis) and type(index[0]) is int:
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` "
            "in C++ to convert a 0-dim tensor to a number"
        )
    taken = [item for item in index if item is not None and item is not Ellipsis]
    masks = [o.ndim for o in operands if o.dtype.kind == "b"]
    if not shape and len(taken) == 1 and isinstance(index[0], SliceOf):
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    count = len(taken) + sum(masks) - len(masks)
    if count > len(shape):
        raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
    whole = [_WHOLE] * (len(shape) - count)
    place = index.index(Ellipsis) if Ellipsis in index else len(index)
    items = [*index[:place], *whole, *index[place + 1 :]]
    given = [operands[i.index - 1] if isinstance(i, Operand) else i for i in items]
    _explain_arrays(*_after_basic_items(shape, given))


def _after_basic_items(
    shape: tuple[int, ...], items: list[Any]
) -> tuple[list[int], list[tuple[Array, int]]]:
    """The shape that is left when integers, slices and None in an index have done their part, and
    the arrays in the index, each with the axis in that shape where it stands. Raises PyTorch's
    error for an integer outside of its axis."""
    left: list[int] = []
    arrays = []
    axis = 0
    for item in items:
        if item is None:
            left.append(1)
            continue
        if isinstance(item, np.ndarray) and _is_truth(item):
            arrays.append((np.zeros(int(item), np.int64), len(left)))
            left.append(1)
            continue
        if isinstance(item, np.ndarray):
            rank = item.ndim if item.dtype.kind == "b" else 1
            arrays.append((item, len(left)))
            left += shape[axis : axis + rank]
            axis += rank
            continue
        if isinstance(item, SliceOf):
            left.append(len(range(*slice(item.start, item.stop, item.step).indices(shape[axis]))))
        elif not -shape[axis] <= item < shape[axis]:
            raise IndexError(
                f"index {item} is out of bounds for dimension {axis} with size {shape[axis]}"
            )
        axis += 1
    return left, arrays


def _explain_arrays(shape: list[int], arrays: list[tuple[Array, int]]) -> None:
    """Raise PyTorch's error for arrays that do not fit the axes of a shape where they stand. It
    counts the axes that are indexed, not all of them."""
    integers: list[tuple[Array, int]] = []
    for array, start in arrays:
        if array.dtype.kind != "b":
            integers.append((array, shape[start]))
            continue
        for axis, length in enumerate(array.shape):
            if length != shape[start + axis]:
                raise IndexError(
                    f"The shape of the mask {list(array.shape)} at index {axis} does not match the "
                    f"shape of the indexed tensor {shape} at index {start + axis}"
                )
        integers += zip(np.nonzero(array), array.shape, strict=True)
    try:
        np.broadcast_shapes(*(array.shape for array, _ in integers))
    except ValueError:
        raise IndexError(
            "shape mismatch: indexing tensors could not be broadcast together with shapes "
            + ", ".join(str(list(array.shape)) for array, _ in integers)
        ) from None
    for dimension, (array, length) in enumerate(integers):
        outside = array[(array < -length) | (array >= length)]
        if outside.size and not length:
            raise IndexError("index is out of bounds for dimension with size 0")
        if outside.size:
            raise IndexError(
                f"index {outside[0]} is out of bounds for dimension {dimension} with size {length}"
            )


def setitem(tensor: Tensor, index: Any, value: Any) -> None:
    """`tensor[index] = value`."""
    try:
        given = static, operands = normalized(index)
        shape = tensor.array.shape
        if operands:
            try:
                tensor, static, operands = _with_one_kind(tensor, static, operands)
            except (IndexError, UnsupportedError):
                explain(shape, *given)
                raise
        if static == (Ellipsis,):
            assign(tensor, _of_rank(value, tensor.array.ndim))
            return
        if not operands and not tensor.array.flags.writeable:  # a part of it may be all the same
            part = getitem(tensor, index)
            assign(part, _of_rank(value, part.array.ndim))
            return
        step = Step(operation_of(static, operands), operands, (static,))
        try:
            store_at(tensor, step, plain_index(static, (tensor.array, *operands)), value)
        except IndexError:
            explain(shape, *given)
            raise
    except Exception as error:
        shorten(error)
        raise


def _of_rank(value: Any, rank: int) -> Any:
    """A value to store without the axes of length one that it has before those of its place."""
    extra = rank_of(value) - rank
    if extra <= 0 or any(length != 1 for length in value.shape[:extra]):
        return value
    return value.reshape(value.shape[extra:])


def _is_truth(operand: Array) -> bool:
    return not operand.ndim and operand.dtype.kind == "b"


def _with_axes_of_truths(
    tensor: Tensor, static: tuple[Any, ...], operands: tuple[Any, ...]
) -> tuple[Tensor, tuple[Any, ...], tuple[Any, ...]]:
    """A single boolean in an index is a mask of a new axis: the Tensor with such axes, and the
    index of that, in which arrays stand for the booleans. What indexed the last axes stays there.
    """
    shaped: list[Any] = []
    for item in static:
        operand = operands[item.index - 1] if isinstance(item, Operand) else None
        if operand is not None and _is_truth(operand):
            shaped.append(None)
        elif operand is not None and operand.dtype.kind == "b":
            shaped += [_WHOLE] * operand.ndim
        elif item is not None:
            shaped.append(item if item is Ellipsis else _WHOLE)
    if Ellipsis not in shaped:
        shaped.append(Ellipsis)
    arrays = [np.zeros(int(o), np.int64) if _is_truth(o) else o for o in operands]
    return apply(_OF_ITEMS[type(None)], (tensor,), (tuple(shaped),)), static, tuple(arrays)


def _separates(static: tuple[Any, ...]) -> bool:
    """Whether slices stand between integers and arrays. NumPy takes the integers for arrays then;
    for Tensors, integers select before arrays index."""
    if not any(type(item) is int for item in static):
        return False
    places = [i for i, item in enumerate(static) if type(item) in (int, Operand)]
    return places[-1] - places[0] >= len(places)


def _selected_first(
    static: tuple[Any, ...], operands: tuple[Any, ...]
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The index of the integers alone, and that of the others in what it selects."""
    selected: list[Any] = []
    for item in static:
        if isinstance(item, Operand):
            array = operands[item.index - 1]
            count = array.ndim if array.dtype.kind == "b" else 1
            selected += [_WHOLE] * count
        elif item is not None:
            selected.append(_WHOLE if isinstance(item, SliceOf) else item)
    if Ellipsis not in selected:
        selected.append(Ellipsis)
    return tuple(selected), tuple(item for item in static if type(item) is not int)


_WHOLE = SliceOf(None, None, None)


def operation_of(static: tuple[Any, ...], operands: tuple[Any, ...]) -> Operation:
    """Which of the names of PyTorch's nodes fits the index: that of the last of its items which
    does something."""
    if operands:
        return GETITEM
    done = [item for item in static if item is not Ellipsis and item != _WHOLE]
    if not done:
        return ALIAS if static == (Ellipsis,) else SLICE
    return _OF_ITEMS.get(type(done[-1]), SLICE)


def normalized(index: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The static form of an index, and the arrays in it.

    An index of basic items has an ellipsis, with which NumPy gives a view of a single element
    in place of a number.
    """
    if type(index) is int:
        return (index, Ellipsis), ()
    items = index if isinstance(index, tuple) or _is_several(index) else (index,)
    operands: list[Any] = []
    static = tuple(_normalized_item(item, operands) for item in items)
    if Ellipsis not in static:
        return static if operands else (*static, Ellipsis), tuple(operands)
    first = static.index(Ellipsis)
    rest = tuple(item for item in static[first + 1 :] if item is not Ellipsis)
    return (*static[: first + 1], *rest), tuple(operands)


def _is_several(index: Any) -> bool:
    """Whether a list stands for a tuple: `x[[[0, 1], [2, 3]]]` is `x[[0, 1], [2, 3]]`."""
    return isinstance(index, list) and any(
        isinstance(item, (list, tuple, slice, Tensor)) or item is None or item is Ellipsis
        for item in index
    )


def _normalized_item(item: Any, operands: list[Any]) -> Any:
    if type(item) is int or item is None or item is Ellipsis:
        return item
    if isinstance(item, slice):
        return _slice_of(item)
    array = np.asarray(_of_index_type(item.array) if isinstance(item, Tensor) else item)
    if array.ndim == 0 and array.dtype.kind in "iu":
        return int(array)
    if array.size == 0 and array.dtype.kind == "f" and not isinstance(item, Tensor):
        array = array.astype(np.int64)
    if array.dtype.kind not in "iub":
        if not isinstance(item, (np.ndarray, Tensor)):
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables "
                f"are valid indices (got {type(item).__name__})"
            )
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    operands.append(array)
    return Operand(len(operands))


def _of_index_type(array: Array) -> Array:
    """The array of a Tensor in an index: bytes are a mask, short integers are refused."""
    if array.dtype == np.uint8:
        if array.ndim:
            warnings.warn(_OF_BYTES, UserWarning, stacklevel=6)
        return array.astype(np.bool_)
    if array.ndim and array.dtype in (np.int8, np.int16):
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    return array


_OF_BYTES = (
    "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead."
)


def _slice_of(item: slice) -> SliceOf:
    try:
        bounds = [p if p is None else operator.index(p) for p in (item.start, item.stop, item.step)]
    except TypeError:
        raise TypeError(
            "slice indices must be integers or None or have an __index__ method"
        ) from None
    if bounds[-1] == 0:
        raise ValueError("slice step cannot be zero")
    return SliceOf(*bounds)


def plain_index(index: tuple[Any, ...], operands: tuple[Any, ...]) -> Any:
    """An index in the static form as NumPy takes it."""
    return tuple(_PLAIN.get(type(item), _same)(item, operands) for item in index)


def _same(item: Any, operands: tuple[Any, ...]) -> Any:
    return item


_PLAIN: dict[type, Any] = {
    SliceOf: lambda item, operands: slice(item.start, item.stop, item.step),
    Operand: lambda item, operands: operands[item.index],
}


def taken(tensor: Tensor, index: Any, name: str) -> Tensor:
    """`tensor[index]`, recorded under a name of its own."""
    static, operands = normalized(index)
    operation = _NAMED.setdefault(name, taking(name))
    try:
        return apply(operation, (tensor, *operands), (static,))
    except (IndexError, UnsupportedError):
        explain(tensor.array.shape, static, operands)
        raise


def at_axis(tensor: Tensor, axis: int, index: Any, name: str = "") -> Tensor:
    """`tensor[:, …, index]`, the index standing at an axis."""
    place = (*(slice(None),) * axis, index)
    return taken(tensor, place, name) if name else getitem(tensor, place)


def at_places(tensor: Tensor, axis: int, places: Iterable[Any]) -> tuple[Tensor, ...]:
    """`at_axis` for each of several indices."""
    return tuple(at_axis(tensor, axis, place) for place in places)


_NAMED: dict[str, Operation] = {}
