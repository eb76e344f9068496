"""Read-only mappings from outside (`types.MappingProxyType`): what they show is a dict, which may
be changed between calls, and by the function, which finds it under another name."""

from __future__ import annotations

import gc
import types
from typing import Any

from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.memory import outside
from gradscribe.frontend.memory.outside_kinds import is_settled
from gradscribe.frontend.state.dependencies import depend
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import Storage


def is_known(lowering: Lowering, value: Any, path: AccessPath, name: str) -> bool:
    """Whether this is a read-only mapping of what stays what it is, as the metadata of a field can
    be; makes it a condition of each call that it holds the same."""
    if not isinstance(value, types.MappingProxyType) or not all(map(is_settled, value.values())):
        return False
    note_read(lowering, value, name)
    depend(lowering, path, tuple(value), "keys")
    for key, item in value.items():
        depend(lowering, path.item(key), item)
    return True


def note_read(lowering: Lowering, value: Any, name: str) -> None:
    """Note that the dict which this shows, if it is a read-only mapping, is read; refuse it where
    the program has changed that."""
    found = lowering.outside
    for shown in gc.get_referents(value) if isinstance(value, types.MappingProxyType) else ():
        found.read_through.add(id(shown))
        found.read.add(id(shown))
        changed = (s for s, before in found.entered.items() if lowering.contents.get(s) != before)
        if id(shown) in found.grown or any(_held_in(lowering, s) is shown for s in changed):
            outside.refuse_changed(lowering, name)


def _held_in(lowering: Lowering, storage: Storage) -> Any:
    """The container from outside whose items a storage holds."""
    opened = lowering.outside.containers.get(storage)
    return lowering.outside.memory.get(storage) if opened is None else opened.target


def refuse_change(lowering: Lowering, storage: Storage) -> None:
    """Refuse to change a dict that is read by way of a read-only mapping, too."""
    read = lowering.outside.read_through
    if read and id(_held_in(lowering, storage)) in read:
        outside.refuse_changed(lowering, storage.name)
