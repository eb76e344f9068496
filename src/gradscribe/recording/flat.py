"""`x.flat`: the elements of an array of a recorded run, one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.recording import operations, protocol, stores
from gradscribe.recording.arrays import RecordedArray, is_recorded
from gradscribe.recording.levels import plain, values_in


class Flat:
    """What `x.flat` gives."""

    def __init__(self, array: RecordedArray) -> None:
        self.base = array
        self._next = 0

    def _place(self, index: Any) -> Any:
        shape = plain(self.base._present()).shape
        positions = np.arange(int(np.prod(shape))).reshape(shape).ravel()
        return np.unravel_index(positions[operations.uncovered(index)], shape)

    def __getitem__(self, index: Any) -> Any:
        self._next = 0  # as in NumPy
        return self._read(index)

    def _read(self, index: Any) -> Any:
        return operations.getitem(self.base, self._place(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        self._next = 0
        stores.refuse_overlap(self.base, index, value)
        own, given = plain(self.base._present()), operations.uncovered(index)
        np.empty_like(own).flat[given] = operations.uncovered(value)  # raises what NumPy raises
        items = _repeated(value, np.size(own.flat[given]))
        if items is not None:
            stores.setitem(self.base, self._place(index), items)

    def __len__(self) -> int:
        return int(plain(self.base._present()).size)

    def __iter__(self) -> Flat:
        return self

    def __next__(self) -> Any:
        place = self._next
        if place >= len(self):
            raise StopIteration
        self._next += 1
        return self._read(place)

    @property
    def index(self) -> int:
        """The number of the element that comes next."""
        return self._next

    @property
    def coords(self) -> tuple[int, ...]:
        """Its place in the array."""
        shape = plain(self.base._present()).shape
        over = shape[:1] + (0,) * (len(shape) - 1)  # after the last one
        whole = self._next < len(self)
        return tuple(map(int, np.unravel_index(self._next, shape))) if whole else over

    def copy(self) -> Any:
        """The elements as an array of one axis."""
        return self._read(slice(None))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self._read(slice(None)), dtype)


def _repeated(value: Any, count: int) -> Any:
    """So many elements of what is stored, over and over; None of an empty array."""
    if isinstance(value, (list, tuple)):
        is_plain = not any(map(is_recorded, values_in(value)))
        value = np.asarray(value) if is_plain else protocol.array_of(value, None)
    if not isinstance(value, np.ndarray) or not np.ndim(value):
        return value
    elements = np.ravel(value)
    if elements.size == count:
        return elements
    return elements[np.arange(count) % elements.size] if elements.size else None
