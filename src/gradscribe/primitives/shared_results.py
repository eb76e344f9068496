"""Results of recorded calls that others hold, too: they must stay what they were.

The program around a recorded call has its result in memory of its own. What the called function has
returned from outside, or has kept, another recorded call may change, and the program itself when it
stores outside; the copy would not change with it. So what stands in a result and has other holders
is compared, bytewise, after each recorded call of the run, and at its end.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from gradscribe.primitives.argument_trees import copied, is_same, plain_tree


class Values(Protocol):
    """What is known of the values of a recorded run."""

    def plain(self, value: Any) -> Any:
        """The value itself; of an array that others have after the run, that array, then."""

    def is_shared(self, value: Any) -> bool:
        """Whether others may have the memory of an array of the run, and not the array."""


@dataclass(frozen=True)
class _Part:
    """An array or list of a result that is shared: what it is, and what it held."""

    value: Any
    plain: Callable[[Any], Any]
    before: Any

    def is_unchanged(self) -> bool:
        return is_same(self.plain(self.value), self.before)


_Watched = dict[int, _Part]
"""What is watched, by its identity."""

_WATCHED: ContextVar[_Watched | None] = ContextVar("_WATCHED", default=None)


@contextmanager
def watching() -> Iterator[None]:
    """A block that is a run of a program."""
    opened = _WATCHED.set({})
    try:
        yield
    finally:
        _WATCHED.reset(opened)


def watch(results: tuple[Any], given: Any, values: Values) -> None:
    """Note what is shared of the result of a call, which nobody holds but this tuple. given: the
    arguments of the call, which are the program's own."""
    watched = _WATCHED.get()
    if watched is None:
        return
    own = {id(_memory(array)) for array in _arrays_in(given)}
    for part in _shared(results, own, values):
        if id(part) not in watched:
            plain = partial(plain_tree, plain=values.plain)
            watched[id(part)] = _Part(part, plain, copied(plain(part)))


def are_unchanged() -> bool:
    """Whether all that is shared still is what it was."""
    return all(part.is_unchanged() for part in (_WATCHED.get() or {}).values())


def _references(container: Any) -> list[int]:
    return [sys.getrefcount(item) for item in container]


(_ONE,) = _references([object()])
"""The count for what nothing holds but a container."""


def _shared(container: Any, own: set[int], values: Values) -> Iterator[Any]:
    items = tuple(container.values()) if type(container) is dict else container
    counts = _references(items)
    if type(container) is dict:
        counts = [count - 1 for count in counts]
    for count, item in zip(counts, items, strict=True):
        if type(item) in (list, dict) and count > _ONE:
            yield item
        elif type(item) in (tuple, list, dict):
            yield from _shared(item, own, values)
        elif type(item) is np.ndarray:
            if (count > _ONE or _is_view_of_shared(item)) and id(_memory(item)) not in own:
                yield item
        elif isinstance(item, np.ndarray) and (count > _ONE or values.is_shared(item)):
            yield item


def _is_view_of_shared(array: Any) -> bool:
    """Whether others hold what an array is a view of, by which the array itself does."""
    return array.base is not None and _references((array.base,))[0] > _ONE + 1


def _arrays_in(tree: Any) -> Iterator[Any]:
    if type(tree) is np.ndarray:
        yield tree
    elif type(tree) in (tuple, list, dict):
        for item in tree.values() if type(tree) is dict else tree:
            yield from _arrays_in(item)


def _memory(array: Any) -> Any:
    """What an array is a view of; itself, if of nothing."""
    return array if array.base is None else array.base
