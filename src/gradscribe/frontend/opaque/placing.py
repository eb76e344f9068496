"""Arrays and lists from outside that the program puts in containers from outside.

    W[0] += 1.0
    HISTORY.append(W)

The container gets the array itself, whatever the program has stored to it so far: what that holds
in the end is written to it when the call returns. Until then nobody may look. (What a transform is
given as arguments it takes copies of.)
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from gradscribe.frontend.memory.reach import storages
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, ObjectRef, Storage
from gradscribe.ir.core import Method, Value

_PLACING = frozenset(
    {"append", "appendleft", "extend", "extendleft", "insert", "setdefault", "__setitem__"}
)
_CONTAINERS = (list, collections.deque, dict)


def placed(
    lowering: Lowering, node: Any, callee: Any, given: Sequence[FrontendValue]
) -> dict[Storage, Value]:
    """The arrays and lists from outside that a call puts in a container from outside, as what they
    were found as. given: the container, and what is put there."""
    if not (given and isinstance(callee, Method) and callee.name in _PLACING):
        return {}
    owner = given[0]
    if not isinstance(owner, ObjectRef) or type(owner.target) not in _CONTAINERS:
        return {}
    found: dict[Storage, Value] = {}
    for storage in storages(lowering, *given[1:]):
        if storage in lowering.outside.originals:
            found[storage] = lowering.outside.originals[storage]
        elif _may_be_found(lowering, storage):
            lowering.unsupported(
                node,
                f"`{callee.name}` puts what may be in a list from outside in another container",
                "put a copy there",
            )
    lowering.outside.placed.update(found)
    return found


def found_outside(lowering: Lowering, arrays: Iterable[Storage]) -> dict[Storage, Value]:
    """Those of these that are from outside, and that no other code has, as they were found."""
    originals, handles = lowering.outside.originals, lowering.kept.handles
    return {s: originals[s] for s in arrays if s in originals and s not in handles}


@contextmanager
def themselves(lowering: Lowering, own: Mapping[Storage, Value]) -> Iterator[None]:
    """Within the block, these are what they were found as: they are put in containers that code
    which cannot be read has."""
    held = {storage: lowering.contents[storage] for storage in own}
    lowering.outside.placed.update(own)
    lowering.contents.update(own)
    yield
    lowering.contents.update(held)


def _may_be_found(lowering: Lowering, storage: Storage) -> bool:
    """Whether something may be an array or list from outside, or holds one that is not met here as
    an item of it."""
    reached = storage.reached
    if isinstance(lowering.contents.get(storage), tuple):
        reached -= storage.holds
    return any(one in lowering.outside.entered for one in reached)


def refuse_looking(lowering: Lowering, node: Any, name: str, only_reads: bool) -> None:
    """Refuse a call of unread code that may find what was put outside, where that is no longer what
    it was, or may be changed by that call."""
    for storage, original in lowering.outside.placed.items():
        if not only_reads or lowering.contents.get(storage, original) is not original:
            lowering.unsupported(
                node,
                f"`{name}`, whose code cannot be read, may use `{storage.name}`, which is in a "
                "container from outside",
                "put a copy there",
            )
