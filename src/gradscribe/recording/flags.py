"""`x.flags` of an array of a recorded run."""

from __future__ import annotations

from typing import Any

from gradscribe.recording.arrays import RecordedArray
from gradscribe.recording.levels import plain

_NAMES: dict[str, str] = {
    "A": "aligned",
    "B": "behaved",
    "C": "c_contiguous",
    "CA": "carray",
    "CONTIGUOUS": "c_contiguous",
    "F": "f_contiguous",
    "FA": "farray",
    "FORTRAN": "f_contiguous",
    "O": "owndata",
    "W": "writeable",
    "X": "writebackifcopy",
}
"""The short names of flags."""


def set_writeable(array: RecordedArray, value: Any) -> None:
    """Say whether an array may be stored to, which a view may not if its base may not."""
    if value and array._base is not None and not array._base._writeable:
        raise ValueError("cannot set WRITEABLE flag to True of this array")
    array._writeable = bool(value)


class Flags:
    """The flags of the array; whether it is writeable can be set."""

    __slots__ = ("_array",)

    def __init__(self, array: RecordedArray) -> None:
        object.__setattr__(self, "_array", array)

    def __getattr__(self, name: str) -> Any:
        if name == "writeable":
            return self._array._writeable
        if name == "owndata":
            return self._array._base is None and not self._array._memory.is_view
        return getattr(plain(self._array._present()).flags, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "writeable":
            raise AttributeError(f"`flags.{name}` cannot be set here")
        set_writeable(self._array, value)

    def __getitem__(self, name: str) -> Any:
        return getattr(self, _NAMES.get(name, name.lower()))

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self, _NAMES.get(name, name.lower()), value)

    def __repr__(self) -> str:
        return repr(plain(self._array._present()).flags)
