"""What a call of a compiled function has found outside, and whether it would find the same now.

Comes in: what reads it (see `Entry`), with what was assumed of it. The object is an implicit input
of functions that call code which may change what they read (`frontend.memory.outside_state`).
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradscribe.compiler.keys import array_of, field_names, is_structure
from gradscribe.primitives.argument_trees import is_same


class OutsideState:
    """read: gives the captured values (None: something else is no longer what it was). objects: the
    numbers of those of which no more is read than which they are. arguments: of the call."""

    def __init__(
        self,
        read: Callable[[], Sequence[Any] | None],
        objects: Collection[int],
        arguments: Sequence[Any],
    ) -> None:
        self._read = read
        self._arguments = frozenset(map(id, _numbers(tuple(map(_held, arguments)))))
        self._objects = objects
        self._values = read() or ()
        self._held = self._all_held(self._values)
        self._copies: Mapping[int, Any] = {}

    def renew(self, copies: Mapping[int, Any]) -> None:
        """Let copies of what is captured, by its identity, be the same as that. The program reads
        these: what may change before it reads it is taken over."""
        self._copies = copies

    def _all_held(self, values: Sequence[Any]) -> list[Any]:
        return [v if n in self._objects else _held(v) for n, v in enumerate(values)]

    def is_unchanged(self, settled: int | None, tainted: bool) -> bool:
        """See `primitives.outside_state`."""
        found = self._read()
        if found is None:
            return False
        for number, (value, held) in enumerate(zip(found, self._all_held(found), strict=True)):
            before, is_read = self._values[number], settled is None or number < settled
            is_array = value is before and isinstance(value, np.ndarray)
            is_other = tainted and not self._are_identical(held, self._held[number])
            if is_other or not is_same(held, self._held[number]):
                if is_read or not is_array:
                    return False
                self._held[number] = held
                if id(value) in self._copies:
                    np.copyto(self._copies[id(value)], value)
        return True

    def _are_identical(self, held: Any, before: Any) -> bool:
        """Whether the numbers in two such trees are the same objects, and no arguments."""
        if isinstance(held, tuple) and isinstance(before, tuple) and len(held) == len(before):
            return all(map(self._are_identical, held, before))
        own = (held is before) and id(held) not in self._arguments
        return own or not isinstance(held, _NUMBERS)


_NUMBERS = (float, complex, np.inexact)


def _numbers(held: Any) -> Iterator[Any]:
    """The numbers in such a tree that may be differentiated."""
    if isinstance(held, tuple):
        for item in held:
            yield from _numbers(item)
    elif isinstance(held, _NUMBERS):
        yield held


def _held(value: Any) -> Any:
    """What a value holds, as a tree that does not change with it; other objects are themselves."""
    value = array_of(value)
    if isinstance(value, np.ndarray):
        return np.array(value, order="K")
    if isinstance(value, (list, tuple, collections.deque)):
        return tuple(map(_held, value))
    if isinstance(value, dict):
        return tuple(value), tuple(map(_held, value.values()))
    if is_structure(type(value)):
        return tuple(_held(getattr(value, name)) for name in field_names(type(value)))
    return value
