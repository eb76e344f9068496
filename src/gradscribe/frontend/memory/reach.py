"""The memory that frontend values refer to: which storages they reach, and what lists hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.kinds.trees import reached
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    DictRef,
    FlatRef,
    FrontendValue,
    InstanceRef,
    ListRef,
    Ref,
    Storage,
    may_overlap,
)
from gradscribe.primitives.indexing import READ_ONLY


def storages(lowering: Lowering, *items: FrontendValue) -> Iterator[Storage]:
    """All storages that values reach."""
    for item in reached(lowering, *items):
        if isinstance(item, (Ref, ListRef, DictRef, InstanceRef)):
            yield item.storage


def hold(
    lowering: Lowering, storage: Storage, items: Iterable[FrontendValue], before: bool = False
) -> None:
    """Note that the list in this storage holds the very objects that these values are. It may
    hold one twice, if it holds it already, or if another iteration of a loop may put it there.

    before: it held them before the iterations of the loops around.
    """
    present = set[Storage]() if before else set(storage.holds)
    start = 0 if before or not lowering.loops.iterations else lowering.loops.iterations[-1].serial
    for item in items:
        if isinstance(item, FlatRef):
            raise UnsupportedError(
                "`flat` of an array cannot be an item of this list",
                "keep the array itself, and take its `flat` where it is used",
                lowering.builder.location,
            )
        storage.read_only |= is_read_only(item)
        storage.kept |= is_kept(lowering, item)
        held = {other for other in storages(lowering, item) if other is not storage}
        for other in held:
            oldest = min(one.serial for one in (other, *other.overlaps))
            is_new = max(storage.serial, oldest) >= start
            if not is_new or any(may_overlap(other, one) for one in present):
                storage.levels = 0
        if isinstance(item, ListRef):
            storage.levels = min(storage.levels, 1 + item.storage.levels)
        present |= held
    storage.holds |= {reached for one in present for reached in one.reached} - {storage}


def is_kept(lowering: Lowering, item: FrontendValue) -> bool:
    """Whether code that cannot be read may have some of the memory that a value reaches."""
    kept = lowering.kept
    given = kept.handles.keys() | kept.lost.keys() | kept.lists.keys()
    return any(storage.kept or storage in given for storage in storages(lowering, item))


def is_read_only(item: object) -> bool:
    """Whether an array cannot be stored to, perhaps, or a list may hold one that cannot be."""
    if isinstance(item, Ref) and any(step.name in READ_ONLY for step, _, _ in item.path):
        return True
    return isinstance(item, (Ref, ListRef)) and item.storage.read_only
