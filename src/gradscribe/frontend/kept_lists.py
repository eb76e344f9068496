"""Lists and dicts that code which cannot be read may have kept, by way of functions given to it.

Such code may call these functions whenever it runs again, and they may change the lists. Comes in:
each call of such code, with the lists that it is given. Goes out: the lists of earlier calls that
this one may change as well, whose items are compared after it (see `calls.foreign`). Where the
program has changed such a list since, or has made it in a branch or loop, the call is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradscribe.frontend import wording
from gradscribe.frontend.memory import storages
from gradscribe.frontend.values import DictRef, ListRef, Storage

if TYPE_CHECKING:
    from gradscribe.frontend.lowering import Lowering
    from gradscribe.ir.core import Value


@dataclass(frozen=True, eq=False, slots=True)
class KeptList:
    """A list or dict that unread code may have. contents: what it was when that was given it. made:
    the object that the code has, and which objects were in it."""

    contents: Any
    made: tuple[Value, Value]


def before_call(
    lowering: Lowering, node: Any, name: str, given: Collection[Storage]
) -> list[tuple[Value, Value]]:
    """What earlier calls have kept, and this one may change. given: the lists that it is given."""
    found = []
    for storage, kept in lowering.kept.lists.items():
        if storage not in lowering.contents or not _is_read(lowering, storage):
            continue
        is_made = all(map(lowering.builder.is_made, kept.made))
        if not is_made or lowering.contents[storage] is not kept.contents:
            lowering.unsupported(
                node,
                f"`{name}`, whose code cannot be read, may change {wording.quoted(storage.name)}, "
                "to which leads a function that another call may have kept",
                "declare what these functions do, if they do not: `gs.primitive(…, pure=True)`",
            )
        if storage not in given:
            found.append(kept.made)
    return found


def note(
    lowering: Lowering,
    lists: Sequence[ListRef | DictRef],
    made: Mapping[Storage, tuple[Value, Value]],
) -> None:
    """Note the lists that a call may have kept."""
    for item in lists:
        contents = lowering.contents[item.storage]
        lowering.kept.lists[item.storage] = KeptList(contents, made[item.storage])


def _is_read(lowering: Lowering, wanted: Storage) -> bool:
    """Whether a name leads to this that is read later, or it comes from outside."""
    if wanted in lowering.outside.entered:
        return True
    return any(
        wanted in storages(lowering, bound)
        for frame in lowering.frames
        for name, bound in frame.names.items()
        if frame.is_read_later(name, innermost=frame is lowering.frame)
    )
