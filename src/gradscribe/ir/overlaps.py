"""Whether two arrays share memory: at the same addresses, or in one file that both map (see
`mapped_memory`); copies that lie in memory as the arrays do."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradscribe.ir.mapped_memory import ANYWHERE, exporter_of, file_of, place_in_file

_MAX_WORK: Any = 10_000
"""How hard `np.shares_memory` may try (its stub knows only the two special values)."""

Array = np.ndarray[Any, Any]

Position = tuple[int, int, int]
"""The device and number of a file, and a byte of it; zeros, and an address. Of a mapping of which
the file is not known: -1, and any byte."""


def share_memory(a: Any, b: Any) -> bool:
    """Whether two arrays may have an element in common; of other values, whether they are one."""
    if a is b:
        return True
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
        return False
    if exporter_of(a) is not exporter_of(b) and file_of(a) is not None and file_of(b) is not None:
        if file_of(a) is ANYWHERE or file_of(b) is ANYWHERE:
            return True
        ranges = [(x, y) for x in extents(a) for y in extents(b)]
        return any(start < stop and begin < end for (start, end), (begin, stop) in ranges)
    try:
        return np.shares_memory(a, b, max_work=_MAX_WORK)
    except RuntimeError:  # NumPy's TooHardError: who cannot tell must refuse
        return True


def overlaps_itself(array: Array) -> bool:
    """Whether two elements of an array may share memory: where a step along one axis is shorter
    than all that lies along the axes of shorter steps."""
    if array.flags.c_contiguous or array.flags.f_contiguous or not array.size:
        return False
    axes = zip(array.strides, array.shape, strict=True)
    reach = array.itemsize
    for step, n in sorted((abs(step), n) for step, n in axes if n > 1):
        if step < reach:
            return True
        reach += step * (n - 1)
    return False


def root_of(array: Array) -> Array:
    """The array that this one is a view of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def owner_of_memory(array: Any) -> Any:
    """The object that an array has its memory from, if it is no array, and others hold it, too."""
    if not isinstance(array, np.ndarray):
        return None
    owner = root_of(array).base
    if owner is None:
        return None
    if isinstance(owner, memoryview):
        owner = owner.obj
    return owner if sys.getrefcount(owner) > _ALONE else None


_ALONE = 3
"""The references to an object that an array alone holds: that, a variable and an argument."""


def extents(array: Array) -> Iterator[tuple[Position, Position]]:
    """Where an array begins, and where it has ended: in memory, and in the file that it maps."""
    return positions(array, *_bounds(array))


def positions(shown: Any, low: int, high: int) -> Iterator[tuple[Position, Position]]:
    """The same of an object that shows the memory between two addresses."""
    yield (0, 0, low), (0, 0, high)
    file = file_of(shown)
    if file is ANYWHERE:
        yield (-1, -1, 0), (-1, -1, sys.maxsize)
    elif file is not None:
        start = place_in_file(shown, low)
        yield (file.device, file.number, start), (file.device, file.number, start + high - low)


def _bounds(array: Array) -> tuple[int, int]:
    """The address of the first byte of an array, and that after its last."""
    start: int = array.__array_interface__["data"][0]
    if not array.size:
        return start, start
    steps = [(n - 1) * step for n, step in zip(array.shape, array.strides, strict=True)]
    low, high = sum(s for s in steps if s < 0), sum(s for s in steps if s > 0)
    return start + low, start + high + array.itemsize


def copied(array: Array) -> Array:
    """A copy of an array, of the same strides."""
    made = np.array(array, order="K", subok=False)
    if made.strides == array.strides or not array.size or array.dtype.hasobject:
        return made
    made = empty_like(array)
    made[...] = array
    return made


def empty_like(like: Array) -> Array:
    """An array of the shape, dtype and strides of another one, in memory of its own."""
    (made,) = _laid_out([like])
    return made


def copied_together(arrays: Sequence[Array]) -> list[Array]:
    """Copies of arrays of one memory, which share memory where these do."""
    copies = _laid_out(arrays)
    for copy, array in zip(copies, arrays, strict=True):
        copy[...] = array
    return copies


def _laid_out(arrays: Sequence[Array]) -> list[Array]:
    """Arrays of the same shapes, dtypes and strides, as far from each other in new memory."""
    bounds = list(map(_bounds, arrays))
    start = min(low for low, _ in bounds)
    memory = np.zeros(max(high for _, high in bounds) - start, np.uint8)
    return [
        np.ndarray(a.shape, a.dtype, memory, a.__array_interface__["data"][0] - start, a.strides)
        for a in arrays
    ]
