"""Items of run-time lists as what they are: parts of the list, which a store through them changes.

    row = T[i]
    row[j] = v      makes a new row, and, of that, a new T

An item that is read is a storage of its own. It is known to be the item at its *place* as long as
the list is the value that it was read from; a store to the item is then written through to the
list. Once the list has changed otherwise, the item may or may not be in it: a store to it is
ambiguous (see `aliasing.check_store`). So it is from the beginning where the list may hold one
object twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from gradscribe.frontend.memory.reach import hold
from gradscribe.frontend.state.knowledge import Index, ReadItem, State
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import ListRef, Ref, Storage
from gradscribe.ir.core import Value
from gradscribe.primitives.control import GET, SET


def put(lowering: Lowering, item: Storage, owner: Storage, value: Value, index: Index) -> None:
    """Note that this storage is the item at an index of a list, which is `value`."""
    lowering.places[item] = ReadItem(owner, lowering.contents[owner], value, index)


def open_list(lowering: Lowering, owner: Storage) -> None:
    """Make a list whose items are known one by one a run-time value. The arrays and lists that were
    its items are the items at their places from now on."""
    contents = lowering.contents[owner]
    if isinstance(contents, Value):
        return
    for item in contents:
        if isinstance(item, ListRef):
            open_list(lowering, item.storage)
    hold(lowering, owner, contents, before=True)
    read = {item: p for item, p in lowering.places.items() if p.contents is contents}
    known = [place.value for place in read.values()]
    value = lowering.contents[owner] = known[0] if known else lowering.value(ListRef(owner))
    for item, place in read.items():
        put(lowering, item, owner, value, place.index)
    for index, item in enumerate(contents if owner.levels else ()):
        whole = isinstance(item, ListRef) or (isinstance(item, Ref) and not item.path)
        if whole and not is_settled(lowering, item.storage):
            put(lowering, item.storage, owner, value, index)


def is_settled(state: Lowering | State, item: Storage) -> bool:
    """Whether this storage is certainly the item at its place."""
    place = state.places.get(item)
    return place is not None and state.contents.get(place.owner) is place.contents


def root(lowering: Lowering, item: Storage) -> Storage:
    """The list (of lists …) that this storage is certainly an item of; itself, if it is none."""
    while is_settled(lowering, item):
        item = lowering.places[item].owner
    return item


@contextmanager
def changing(lowering: Lowering, item: Storage, items: bool = False) -> Iterator[None]:
    """Around what gives a storage new contents: the lists that it is an item of change with it, and
    so do the other items of those that have been read. items: what changes is which items the
    list has, so that those read before lose their places."""
    if items:
        lowering.changes.stored.add(item)
        lowering.changes.rearranged.add(item)
        lowering.changes.regrouped.add(root(lowering, item))
    found = lowering.places
    settled = [
        other
        for other in found
        if is_settled(lowering, other) and not (items and _lies_in(lowering, other, item))
    ]
    lowering.places = {other: found[other] for other in settled}
    if item in lowering.places:  # what is changed is read where it is changed
        place = lowering.places[item]
        arguments = {"x": place.value, "index": place.index}
        lowering.contents[item] = lowering.emit(GET, arguments, name=item.name)
        _keep_below(lowering, item, settled)
    yield
    changed = {item}
    while item in lowering.places:
        place = lowering.places[item]
        tree = {"x": place.value, "index": place.index, "value": lowering.value_in(item)}
        made = lowering.emit(SET, tree, name=place.owner.name)
        lowering.contents[place.owner] = made
        lowering.places[item] = ReadItem(place.owner, made, made, place.index)
        lowering.changes.stored.add(place.owner)
        lowering.changes.distinct.add(place.owner)
        item = place.owner
        changed.add(item)
    lowering.changes.roots.add(item)
    kept = [other for other in settled if other in lowering.places]
    _read_again(lowering, [other for other in kept if other not in changed])


def _keep_below(lowering: Lowering, owner: Storage, settled: Iterable[Storage]) -> None:
    """What was read of a list is of it still, once that is read again."""
    contents = lowering.value_in(owner)
    for item in settled:
        place = lowering.places[item]
        if place.owner is owner:
            lowering.places[item] = ReadItem(owner, contents, contents, place.index)


def _lies_in(lowering: Lowering, item: Storage, owner: Storage) -> bool:
    """Whether an item is in a list, which may have been read more than once, or deeper."""
    while is_settled(lowering, item):
        item = lowering.places[item].owner
        if _may_be_one(lowering, item, owner):
            return True
    return False


def _may_be_one(lowering: Lowering, one: Storage, other: Storage) -> bool:
    """Whether two items may be at one place."""
    if one is other:
        return True
    if one not in lowering.places or other not in lowering.places:
        return False
    first, second = lowering.places[one], lowering.places[other]
    if isinstance(first.index, int) and isinstance(second.index, int):
        is_counted_alike = (first.index < 0) is (second.index < 0)
        if is_counted_alike and first.index != second.index:
            return False
    return _may_be_one(lowering, first.owner, second.owner)


def _read_again(lowering: Lowering, items: Iterable[Storage]) -> None:
    """Items whose lists have changed in place: an item of an item comes after that."""
    for item in items:
        place = lowering.places[item]
        contents = lowering.contents[place.owner]
        if contents is not place.contents and isinstance(contents, Value):
            arguments = {"x": contents, "index": place.index}
            lowering.contents[item] = lowering.emit(GET, arguments, name=item.name)
            lowering.places[item] = ReadItem(place.owner, contents, contents, place.index)


def renew(lowering: Lowering, before: State, after: tuple[State, ...]) -> None:
    """After a loop or branch (or at the beginning of an iteration), whose sides have ended in
    `after`: the items that are at their places on every side are so still, and are read again."""
    kept = [item for item in before.places if is_settled(before, item)]
    _read_again(
        lowering, [item for item in kept if all(is_settled(state, item) for state in after)]
    )
