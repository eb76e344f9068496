"""What a user's function sees in a recorded run: `RecordedArray` and `RecordedNumber`.

They stand for arrays of NumPy, and for numbers of NumPy and Python, and say so (`__class__`); yet
they have no buffer that compiled code could read behind their back. What they do is attached in
`methods`; here stands what they are. An array has memory, which its views share: `Memory` holds
its present value, and a view knows the steps that lead to it, and is taken again after a store.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol
from weakref import ref

import numpy as np

from gradscribe.errors import AliasingError, UnsupportedError
from gradscribe.ir.overlaps import copied
from gradscribe.ir.probing import in_class
from gradscribe.recording.levels import (
    CREATED,
    Traced,
    is_running,
    opened,
    plain,
    refused,
    values_in,
)


class Step(Protocol):
    """From what is viewed to a view of it."""

    def on(self, value: Any) -> Any:
        """The view of a value of the run."""

    def plainly(self, array: Any) -> Any:
        """The view of an array of positions."""


class Memory:
    """What the views of one array share.

    value: its present value, of which nobody changes the array. is_shared: but that it is an array
    that code which does not record has been given. overlaps: it stands for an argument that shares
    memory with another one. version: how often the value was replaced. refusal: the error for a use
    of what stands in it now, which has no known derivative. shown: what it shows parts of in
    Python, and has a copy of here, with the versions of which that is. is_view: it stands for an
    argument that is a view of an array of the caller's.
    """

    __slots__ = ("is_shared", "is_view", "overlaps", "refusal", "shown", "value", "version")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.version = 0
        self.is_shared = False
        self.is_view = False
        self.overlaps = False
        self.refusal: Exception | None = None
        self.shown: tuple[tuple[Memory, int], ...] = ()

    def show(self, arrays: Iterable[Any]) -> None:
        """Note that in Python this is memory of these arrays, too: none of them may be stored to
        as long as it is read."""
        memories = {array._memory for array in arrays}
        self.shown = tuple((memory, memory.version) for memory in memories)

    def check(self) -> None:
        """Refuse to read what has no known derivative, or to store beside it."""
        if self.refusal is not None:
            raise refused(self.refusal)
        if any(memory.version != version for memory, version in self.shown):
            raise refused(
                AliasingError(
                    "an array is read that shares memory with one that was stored to since",
                    "make a copy of it (`.copy()`) before the store",
                )
            )

    def check_overlap(self) -> None:
        """Refuse to store to what shares memory with another array."""
        if self.overlaps or self.shown:
            raise refused(
                AliasingError(
                    "a store to an array that shares memory with another one",
                    "make a copy of one of them (`.copy()`)",
                )
            )


class RecordedArray:
    """An array of NumPy in a recorded run.

    memory: shared with its views. steps: from the value of the memory to its own.
    """

    __slots__ = ("__weakref__", "_base", "_memory", "_steps", "_value", "_version", "_writeable")

    def __init__(
        self,
        memory: Memory,
        base: RecordedArray | None = None,
        steps: tuple[Step, ...] = (),
        value: Any = None,
        writeable: bool = True,
    ) -> None:
        self._memory = memory
        self._base = base
        self._steps = steps
        self._value = memory.value if base is None else value
        self._version = memory.version
        self._writeable = writeable
        _note(self)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return np.ndarray

    def _present(self) -> Any:
        """Its value now, of which nobody changes the array."""
        self._memory.check()
        value = self._current()
        return copied(value) if self._memory.is_shared else value

    def _shared(self) -> Any:
        """Its array, which code that does not record may change from now on."""
        memory = self._memory
        if not memory.is_shared:
            memory.value = copied(opened(memory.value))
            memory.is_shared = True
            memory.version += 1
        array = self._current()
        if memory.overlaps or not self._writeable:
            array = array.view()
            array.flags.writeable = False
        return array

    def _current(self) -> Any:
        memory = self._memory
        if self._version != memory.version:
            value = memory.value
            for step in self._steps:
                value = step.on(value)
            self._value, self._version = value, memory.version
        self._value = opened(self._value)
        return self._value


class RecordedNumber:
    """A number of NumPy or Python in a recorded run."""

    __slots__ = ("__weakref__", "_value")

    def __init__(self, value: Any) -> None:
        self._value = value
        _note(self)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(plain(self._value))

    def _present(self) -> Any:
        """Its value."""
        self._value = opened(self._value)
        return self._value


def _note(value: RecordedArray | RecordedNumber) -> None:
    created = CREATED.get()
    if created is not None:
        created.append(ref(value))


def has_shared_memory(value: Any) -> bool:
    """Whether others may have the memory of an array, though they have not the array."""
    is_array = type(value) is RecordedArray
    return is_array and (value._base is not None or value._memory.is_shared)


RECORDED = (RecordedArray, RecordedNumber)

PLAIN = (np.ndarray, np.memmap)
"""The classes of plain arrays."""


def check_class(array: Any) -> None:
    """Refuse arrays of other classes, which a record would make plain ones."""
    if type(array) not in PLAIN:
        raise UnsupportedError(
            f"a {type(array).__name__}, whose operators need not mean what NumPy's do",
            "pass a plain array: `np.asarray(m)`",
        )


def is_recorded(value: Any) -> bool:
    """Whether a value is one of a recorded run."""
    return type(value) in RECORDED


def is_taken_for_array(value: Any) -> bool:
    """Whether NumPy makes an array of an object, of a table of pandas, say."""
    is_known = is_recorded(value) or isinstance(value, (np.ndarray, np.generic))
    return not is_known and in_class(type(value), "__array__") is not None


def present(value: Any) -> Any:
    """The traced or plain value of what the user's function holds."""
    return value._present() if type(value) in RECORDED else value


def lent(value: Any) -> Any:
    """The plain array or number that a value is now, for a call that does not keep it."""
    if type(value) is not RecordedArray:
        return plain(present(value))
    value._memory.check()
    return plain(value._current())


def is_active(value: Any) -> bool:
    """Whether a derivative goes through a value of a recorded run."""
    return type(value._present()) is Traced


def holds_active(tree: Any) -> bool:
    """Whether a derivative goes through a value in nested tuples, lists and dicts."""
    return any(is_recorded(value) and is_active(value) for value in values_in(tree))


def shown(value: Any) -> Any:
    """What the user's function gets for a traced or plain value."""
    array = plain(value)
    if isinstance(array, np.ndarray) and array.dtype.kind in "fc":
        if type(value) is not Traced and type(array) not in PLAIN:
            return array
        if type(value) is Traced or is_running():
            return RecordedArray(Memory(value))
        return array if array.flags.owndata else copied(array)
    return RecordedNumber(value) if type(value) is Traced else value


def stopped(value: Any) -> Any:
    """What `gs.stop_gradient` gives of a value. Of an array it shows the memory, into which what is
    differentiated may be stored later: neither is stored to."""
    if type(value) is not RecordedArray:
        return constant(value)
    made = shown(constant(value))
    made._memory.show([value])
    return made


def constant(value: Any) -> Any:
    """A value of a run as a plain one, of its own; any other as it is."""
    if type(value) not in RECORDED:
        return value
    array = plain(value._present())
    return array.copy(order="K") if isinstance(array, np.ndarray) else array
