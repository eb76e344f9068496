"""The memory that frontend values refer to: which storages they reach, and what lists hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NoReturn

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.kinds.trees import reached
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    ALL,
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
    """Note that the list in this storage holds the very objects that these values are, and so do
    the lists that it is in. It may hold one twice, if it holds it already, or if another iteration
    of a loop may put it there.

    before: it held them before the iterations of the loops around.
    """
    around = [*_lists_around(lowering, storage)]
    present = set[Storage]() if before else {one for own in around for one in own.holds}
    start = 0 if before or not lowering.loops.iterations else lowering.loops.iterations[-1].serial
    for item in items:
        if isinstance(item, FlatRef):
            raise UnsupportedError(
                "`flat` of an array cannot be an item of this list",
                "keep the array itself, and take its `flat` where it is used",
                lowering.builder.location,
            )
        _refuse_view(lowering, storage, item)
        if not before and lowering.outside.is_seen(storage):
            _refuse_copy(lowering, item, start)
        storage.read_only |= is_read_only(item)
        storage.kept |= is_kept(lowering, item)
        held = {other for other in storages(lowering, item) if other is not storage}
        levels = 1 + item.storage.levels if isinstance(item, ListRef) else ALL
        for other in held:
            oldest = min(one.serial for one in (other, *other.overlaps))
            is_new = max(storage.serial, oldest) >= start
            if not is_new or any(may_overlap(other, one) for one in (*present, *around)):
                levels = 0
        for level, own in enumerate(around):
            own.levels = min(own.levels, level + levels)
        present |= held
    reached = {other for one in present for other in one.reached}
    for own in around:
        own.holds |= reached - {own}
    _unsettle(lowering)


def _refuse_copy(lowering: Lowering, item: FrontendValue, start: int) -> None:
    """Refuse to put a list whose items are known one by one in a list that is seen outside, where
    it is seen itself or put twice: such a list is made anew there.

    start: the serial number of the first storage of this iteration."""
    lists = [part.storage for part in reached(lowering, item) if isinstance(part, ListRef)]
    for own in lists:
        if isinstance(lowering.contents[own], tuple):
            refuse_copied(lowering, own, lists)
            if own.serial < start:
                _refuse_elsewhere(lowering)


def refuse_copied(lowering: Lowering, storage: Storage | None, held: Iterable[Storage]) -> None:
    """Refuse to leave a list outside of which a list that is seen there has a copy, or that has
    copies of such: what is put in a list and has items that are known one by one is made anew.

    storage: the list, if its items are known; held: what it holds."""
    seen = {one for one in lowering.contents if lowering.outside.is_seen(one)}
    if storage is not None and any(storage in one.holds for one in seen):
        _refuse_elsewhere(lowering)
    if any(one in seen and isinstance(lowering.contents[one], tuple) for one in held):
        _refuse_elsewhere(lowering)


def _refuse_elsewhere(lowering: Lowering) -> NoReturn:
    raise UnsupportedError(
        "a list of several kinds of items is put in a list, and is elsewhere, too",
        "put a copy there (`list(…)`)",
        lowering.builder.location,
    )


def _lists_around(lowering: Lowering, storage: Storage) -> Iterator[Storage]:
    """A list, the list that it is an item of, and so on."""
    yield storage
    while storage in lowering.places:
        storage = lowering.places[storage].owner
        yield storage


def _unsettle(lowering: Lowering) -> None:
    """Where a list may hold an object twice in lists in it, so may these, which have been read; and
    of a list that may, no item is known to be at one place alone."""
    for storage in lowering.places:
        for level, own in enumerate(_lists_around(lowering, storage)):
            storage.levels = min(storage.levels, max(own.levels - level, 0))
    places = lowering.places.items()
    lowering.places = {item: place for item, place in places if place.owner.levels}


def _refuse_view(lowering: Lowering, storage: Storage, item: FrontendValue) -> None:
    """Refuse to put a view in a list from outside, with Tensors: it would be a copy there."""
    is_view = isinstance(item, Ref) and bool(item.path)
    if is_view and lowering.has_tensors and storage in lowering.outside.entered:
        raise UnsupportedError(
            "a view is put in a list from outside, where it is copied with Tensors",
            "put a copy there (`.copy()`), or keep it in a dict or an attribute",
            lowering.builder.location,
        )


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
