"""What `RecordedNumber` has and the number that it stands for has not: a `float` has no `sum`, a
`np.float64` no `dot`. Programs tell numbers from arrays by that."""

from __future__ import annotations

import functools
from typing import Any

from gradscribe.ir.probing import in_class
from gradscribe.recording import exits
from gradscribe.recording.levels import plain

_OWN = frozenset({"_present", "_value"})

_ASKED = frozenset({"__array__", "__array_wrap__", "__deepcopy__"})
"""What NumPy, and `copy`, ask of the object itself where they are given one. (Operators and other
protocols are asked of the class.)"""


def attribute(self: Any, name: str) -> Any:
    """An attribute of a number that records, if the number has one of this name."""
    if name not in _OWN:
        kind: Any = type(plain(object.__getattribute__(self, "_value")))
        if not _has(kind, name) and (name not in _ASKED or exits.is_asked_for(name)):
            raise AttributeError(name)  # `__getattr__` says so in Python's words
    return object.__getattribute__(self, name)


@functools.lru_cache(maxsize=4096)
def _has(kind: type, name: str) -> bool:
    return in_class(kind, name, _NOTHING) is not _NOTHING


_NOTHING = object()
