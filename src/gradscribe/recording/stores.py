"""Stores to arrays of a recorded run: the memory of an array, and so of its views, gets a new
value. The elements of a view have positions in its memory: the same view of all positions."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

import numpy as np

from gradscribe.errors import GradscribeError, NoDerivativeError, UnsupportedError
from gradscribe.ir.core import Operand
from gradscribe.ir.overlaps import copied
from gradscribe.recording import calls, classes, operations, texts, unread
from gradscribe.recording.arrays import RecordedArray, present
from gradscribe.recording.layouts import laid_like
from gradscribe.recording.levels import Traced, plain, refused
from gradscribe.recording.prelude import stored
from gradscribe.runtime.graph.grad_mode import grad_enabled

_LOCK = threading.RLock()


def setitem(array: RecordedArray, index: Any, value: Any) -> None:
    """`array[index] = value`."""
    memory = array._memory
    memory.check()
    texts.refuse_stored(array, [value])
    if not array._writeable:
        raise ValueError("assignment destination is read-only")
    if unread.is_storing():
        raise refused(
            NoDerivativeError(
                "code that is not followed, in C, stores to an array that records what is done to "
                "it",
                "use functions of NumPy, or make the call a `gs.primitive`",
            )
        )
    if not grad_enabled() and any(type(present(each)) is Traced for each in (array, value)):
        raise refused(
            UnsupportedError(
                "a store under `no_grad` in a function that runs as it is",
                "store outside of the block: `gs.stop_gradient(value)`",
            )
        )
    memory.check_overlap()
    _refuse_overwritten(array, index, value)
    if not isinstance(value, np.ndarray):
        value = classes.called(value, "__array__")
        value = classes.as_number(value, is_complex=np.iscomplexobj(plain(memory.value)))
    if operations.is_truth(index):
        if not index:
            return
        index = Ellipsis
    if memory.is_shared:
        _store_plainly(array, index, value)
        return
    if array._base is not None:
        index = _place(array, index)
        if index is None:
            return
    with _LOCK:  # threads may store to other elements at the same time
        memory.value = _stored(memory.value, index, value)
        memory.version += 1


def _store_plainly(array: RecordedArray, index: Any, value: Any) -> None:
    """A store that code which does not record sees."""
    if type(present(value)) is Traced:
        raise refused(
            UnsupportedError(
                "a value that is differentiated cannot be stored in an array that code which does "
                "not record has been given, as `np.asarray(x)`",
                "store it in a copy: `x.copy()`",
            )
        )
    array._shared()[operations.uncovered(index)] = operations.uncovered(value)


def _place(view: RecordedArray, index: Any) -> tuple[Any, ...] | None:
    """Where an index of a view is in its memory; None if that has no axes, and is not meant."""
    own = plain(view._memory.value)
    if plain(view._present()).dtype != own.dtype:
        raise refused(
            UnsupportedError(
                "a store to a part of complex numbers, or to what they are read as",
                "make the complex array of new parts: `re + 1j * im`",
            )
        )
    found = _seen(view, _positions(own))[operations.uncovered(index)]
    if own.ndim:
        return np.unravel_index(found, own.shape)
    if np.size(found) > 1:
        raise refused(
            UnsupportedError(
                "a store to one element several times, by way of a view",
                "store the last of the values",
            )
        )
    return (None,) * np.ndim(found) if np.size(found) else None


def _positions(array: Any) -> Any:
    """The numbers of the elements of an array, which lie in memory as these do."""
    positions = np.empty_like(array, dtype=np.intp)
    positions[...] = np.arange(array.size).reshape(array.shape)
    return positions


def _seen(view: RecordedArray, memory: Any) -> Any:
    """What a view shows of its memory, if that is this."""
    for step in view._steps:
        memory = step.plainly(memory)
    return memory


def _refuse_overwritten(array: RecordedArray, index: Any, value: Any) -> None:
    """Refuse a store of a part of an array in another part of it where NumPy reads items that it
    has stored already."""
    if not _shares(value, array):
        return
    positions = _positions(plain(array._memory.value))
    given = _seen(value, positions)
    expected, own = given.copy(), _seen(array, positions)
    apart, place = own.copy(), operations.uncovered(index)
    with contextlib.suppress(ValueError, IndexError):  # is raised where it is stored
        own[place] = given
        apart[place] = expected
    if not np.array_equal(own, apart):
        raise refused(
            UnsupportedError(
                "this stores a part of an array in another part of it, and NumPy reads items that "
                "it has stored already",
                "store a copy: `.copy()`",
            )
        )


def _stored(target: Any, index: Any, value: Any) -> Any:
    """The value of an array after a store."""
    if isinstance(value, (list, tuple)):
        value = np.asarray(value)
    operands = operations.Operands(numbers=True)
    operands.values.append(target)
    source = operands.add(value)
    if not any(type(each) is Traced for each in operands.values):
        changed = copied(target)
        found = plain(operands.values[1]) if operands.values[1:] else value
        changed[operations.uncovered(index)] = found
        return changed
    items, integers = operands.add_index(index)
    args = (Operand(0), source, items)
    try:
        made = calls.call(stored, args, {}, operands.values, integers)[0]
    except GradscribeError as error:
        operations.raise_own(error, lambda: _store_to_copy(plain(target), index, value))
        raise
    return laid_like(made, plain(target))


def _store_to_copy(array: Any, index: Any, value: Any) -> None:
    copied(array)[operations.uncovered(index)] = operations.uncovered(value)


def fill(array: RecordedArray, value: Any) -> None:
    """All elements of an array replaced, by one value or by those of another array."""
    setitem(array, Ellipsis, value)


def update(array: RecordedArray, value: Any) -> RecordedArray:
    """`array op= …` with this result."""
    found, own = plain(present(value)), plain(array._present())
    if not np.can_cast(np.asarray(found).dtype, own.dtype, "same_kind"):
        raise TypeError(
            f"Cannot cast ufunc output from dtype('{np.asarray(found).dtype}') to "
            f"dtype('{own.dtype}') with casting rule 'same_kind'"
        )
    if np.broadcast_shapes(np.shape(found), own.shape) != own.shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {own.shape} doesn't match the broadcast "
            f"shape {np.broadcast_shapes(np.shape(found), own.shape)}"
        )
    fill(array, value)
    return array


def _shares(value: Any, target: Any) -> bool:
    is_part = type(value) is RecordedArray and type(target) is RecordedArray
    return is_part and value._memory is target._memory


def apart(value: Any, target: Any) -> Any:
    """A value as it is before a store to the target, of which it may be a part."""
    return value.copy() if value is not target and _shares(value, target) else value


def refuse_overlap(target: Any, *values: Any) -> None:
    """Refuse a store item by item of what may be read from items that have been stored."""
    if any(_shares(value, target) for value in values):
        raise refused(
            UnsupportedError(
                "what is stored item by item may share memory with what it is stored to",
                "store a copy: `.copy()`",
            )
        )
