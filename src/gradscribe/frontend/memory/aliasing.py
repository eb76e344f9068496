"""Refusing stores to memory that another live value may share, where the types cannot tell."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import gast

from gradscribe.errors import AliasingError
from gradscribe.frontend.interface import RunTimeKeyError
from gradscribe.frontend.memory import kept_memory, places, read_only_mappings, sharing
from gradscribe.frontend.memory.kept_memory import HANDING_ON
from gradscribe.frontend.memory.reach import storages
from gradscribe.frontend.state import wording
from gradscribe.frontend.state.knowledge import State
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    ListRef,
    Storage,
    may_hold,
    may_overlap,
)
from gradscribe.ir.core import Value
from gradscribe.ir.types import Never, Sequence

APART = ("arrays told apart", 0, 0)
"""Stands among the places for which a function is lowered once more, where a name that is one array
or another after a branch or loop is to be an `Either` of both, so that what is stored by it is
stored to the right one."""

TOGETHER = ("arrays not told apart", 0, 0)
"""Stands among them where a function was refused that way."""


def tells_apart(lowering: Lowering) -> bool:
    """Whether they are told apart."""
    return APART in lowering.keyed


def may_tell_apart(lowering: Lowering, error: Exception) -> bool:
    """Whether what is refused for this reason may not be where they are told apart."""
    return isinstance(error, AliasingError) and not {APART, TOGETHER} & lowering.keyed


@contextmanager
def changing_items(lowering: Lowering, node: Any, container: Storage) -> Iterator[None]:
    """Around whatever gives a list or dict other items (or the same in another order), or an
    attribute another value."""
    read_only_mappings.refuse_change(lowering, container)
    check_store(lowering, node, container, memory=False)
    with places.changing(lowering, container, items=True):
        yield


def check_store(
    lowering: Lowering,
    node: Any,
    storage: Storage,
    memory: bool = True,
    known: Collection[Storage] = (),
) -> None:
    """Refuse a store to memory that another live value may share, if that cannot be known.

    memory: whether the elements of an array change; where a list gets another item, only that
    list does, and those that may hold it. known: what will be read anew.
    """
    if storage in lowering.cached.lists:
        what = "this changes what a function returned that remembers its results"
        lowering.unsupported(node, what, "change a copy of it")
    if places.is_settled(lowering, storage):
        places.open_list(lowering, lowering.places[storage].owner)
    depth = None if memory else _depth(lowering, storage)
    for name, bound in _live(lowering):
        for other in storages(lowering, bound):
            if other not in known and _is_ambiguous(lowering, storage, other, depth):
                stored = _name_of(lowering, node, storage)
                kind = _KINDS[type(lowering.contents[storage])]
                if not (memory and _is_checked(lowering, node, storage, other, (stored, name))):
                    refuse_store(lowering, node, stored, name, kind)
    if memory and storage in lowering.kept.renamed:
        stored = _name_of(lowering, node, storage)
        refuse_store(lowering, node, stored, "what unread code may have")
    if memory:
        for other in _kept_besides(lowering, storage):
            name = other.name or "what unread code may have kept"
            stored = _name_of(lowering, node, storage)
            if not _is_checked(lowering, node, storage, other, (stored, name)):
                is_last = kept_memory.hands_on(lowering)  # else what they hand on may tell
                refuse_store(lowering, node, stored, name, place=None if is_last else HANDING_ON)


def note_given(lowering: Lowering, given: Iterable[Storage]) -> None:
    """Take note that unread code may have some memory under the names of these arrays, too."""
    for storage in given:
        if is_carried(storage):
            lowering.kept.carried.add(storage)
        else:
            lowering.kept.renamed |= {
                other
                for other, held in lowering.contents.items()
                if other is not storage
                and isinstance(held, Value)
                and not is_carried(other)
                and may_overlap(storage, other)
            }


def refuse_kept_again(
    lowering: Lowering, node: Any, before: State, renamed: Collection[Storage]
) -> None:
    """At the end of an iteration: refuse one that has given unread code what may be an array that
    there was before, under another name: the next one may give it that again, or store to it.

    before: the state at its beginning. renamed: what such code might have so then.
    """
    for storage in lowering.kept.renamed:
        if storage in before.contents and storage not in renamed:
            _refuse_kept(lowering, node, "an iteration", storage)
    for storage in lowering.kept.carried:  # at first it is what there was before
        lowering.kept.renamed |= {one for one in storage.overlaps if not is_carried(one)}
    lowering.kept.carried.clear()


def refuse_kept_twice(
    lowering: Lowering, node: Any, name: str, given: Iterable[Storage], kept: Container[Storage]
) -> None:
    """Refuse to give unread code what may share memory with what it has, for it has two arrays
    then. given: that, which it may keep; kept: all that it may have."""
    for storage in given:
        if is_carried(storage):
            if len(storage.overlaps) > 1:  # it is not only at first what there was before
                _refuse_kept(lowering, node, wording.quoted(name), storage)
            continue
        for other in lowering.kept.renamed:
            if may_overlap(storage, other):
                _refuse_kept(lowering, node, wording.quoted(name), other)
        for other in _kept_besides(lowering, storage):
            if other in kept:
                _refuse_kept(lowering, node, wording.quoted(name), other)


def _kept_besides(lowering: Lowering, storage: Storage) -> Iterator[Storage]:
    """What unread code has that may share memory with this, for which it has another handle, or
    none. (What a loop carries has the handle of what it is.)"""
    handles = lowering.kept.handles
    if storage in handles and handles[storage].is_found:
        return
    for other, handle in handles.items():
        is_there = isinstance(lowering.contents.get(other), Value)
        is_other = other is not storage and not is_carried(other) and not handle.is_found
        if is_there and is_other and may_overlap(storage, other):
            yield other


def is_carried(storage: Storage) -> bool:
    """Whether this stands for what a loop carries under a name, or has carried."""
    return storage.family is not None and storage.family.of_loop


def _refuse_kept(lowering: Lowering, node: Any, who: str, other: Storage) -> NoReturn:
    lowering.unsupported(
        node,
        f"{who} gives code that cannot be read what may be {wording.quoted(other.name, 'an array')}"
        ", which it may have, too",
        "give it a copy (`.copy()`), or a view on every path",
        AliasingError,
    )


def _is_checked(
    lowering: Lowering, node: Any, storage: Storage, other: Storage, names: tuple[str, str]
) -> bool:
    """Whether it is checked at run time that a store to one memory is not seen through the other,
    or what that holds. names: of both."""
    others = [held for held in other.holds if may_overlap(storage, held)]
    if may_overlap(storage, other):
        others.append(other)
    return all(sharing.is_checked(lowering, node, storage, one, names) for one in others)


def _is_ambiguous(lowering: Lowering, storage: Storage, other: Storage, depth: int | None) -> bool:
    """Whether a store to one memory may be seen through another. depth: how many levels of lists
    there are in what is stored to, if those that hold fewer cannot see it."""
    if other is storage:
        return False
    is_list = isinstance(lowering.contents[other], Value)  # else its parts come, too
    if not (may_overlap(storage, other) or (is_list and may_hold(other, storage))):
        return False
    if depth is not None:
        levels = _depth(lowering, other)
        if levels is not None and levels < depth:
            return False
    is_known = places.root(lowering, other) is places.root(lowering, storage)
    return not is_known  # how the two lie in one list is known


def _depth(lowering: Lowering, storage: Storage) -> int | None:
    """How many levels of lists there are in what a storage holds; None if that is not known."""
    contents = lowering.contents[storage]
    if not isinstance(contents, Value):
        return None
    type_, depth = contents.type, 0
    while isinstance(type_, Sequence):
        type_, depth = type_.item, depth + 1
    return None if isinstance(type_, Never) else depth


def shares(lowering: Lowering, item: FrontendValue, target: FrontendValue) -> bool:
    """Whether a value, or what a list holds, may share memory with an array."""
    own = getattr(target, "storage", None)
    reached = (one for storage in storages(lowering, item) for one in storage.reached)
    return own is not None and any(may_overlap(one, own) for one in reached)


def refuse_overlap(lowering: Lowering, node: Any) -> NoReturn:
    """Refuse a store item by item of what may be read from items that have been stored."""
    lowering.unsupported(
        node,
        "what is stored item by item may share memory with what it is stored to",
        "store a copy: `.copy()`, or `np.array(…)` of a list",
    )


def _live(lowering: Lowering) -> Iterator[tuple[str, FrontendValue]]:
    """What may be read after the current statement: names, what loops run over, the attributes
    of objects from outside that were stored, containers from outside, and what unread code has."""
    for frame in lowering.frames:
        for name, bound in frame.names.items():
            if frame.is_read_later(name, innermost=frame is lowering.frame):
                yield name, bound
    for storage, lent in lowering.kept.lists.items():
        if storage in lowering.contents:
            yield storage.name or "what compiled code has kept", lent.item
    for item in lowering.loops.iterated:
        yield item.storage.name or "what the loop runs over", item
    for storage, ref in lowering.outside.containers.items():
        if ref.grown and storage in lowering.contents:
            yield ref.name, ListRef(storage)
    for cell in lowering.outside.fields.values():
        yield cell.name, DictRef(cell)
    for opened in lowering.outside.opened.values():
        yield getattr(getattr(opened, "storage", None), "name", "") or "what is outside", opened
    if lowering.has_tensors:  # other arguments than these are copies
        for storage, contents in lowering.outside.given.items():
            if isinstance(contents, (tuple, dict)) and storage in lowering.contents:
                given = DictRef(storage) if isinstance(contents, dict) else ListRef(storage)
                yield storage.name or "an argument", given
    for held in lowering.outside.captured.values():  # the caller may read it
        yield getattr(getattr(held, "storage", None), "name", "") or "a variable from outside", held
    if lowering.nesting.enclosed is not None:  # its caller reads what it leaves in them
        yield from lowering.nesting.enclosed.given_lists()


def _name_of(lowering: Lowering, node: Any, storage: Storage) -> str:
    """The name through which a statement stores to items of this memory, or else its own."""
    if isinstance(node, gast.AugAssign):
        node = node.target
    elif isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute):
        node = node.func.value
    while isinstance(node, gast.Subscript):
        node = node.value
    name = node.id if isinstance(node, gast.Name) else ""
    bound = lowering.frame.names.get(name)
    reached = () if bound is None else storages(lowering, bound)
    return name if any(may_overlap(one, storage) for one in reached) else storage.name


_KINDS: dict[type, str] = {dict: "a dict", tuple: "a list", Value: "an array or list"}


def refuse_store(
    lowering: Lowering,
    node: Any,
    stored: str,
    other: str,
    kind: str = "an array",
    place: Any = None,
) -> NoReturn:
    """place: where the function is to be lowered once more otherwise, to find out more."""
    what = f"this stores into {wording.quoted(stored, kind)}, which may share memory with `{other}`"
    advice = f"make `{other}` a copy (`.copy()`), or a view on every path"
    if place is not None:
        error = RunTimeKeyError(what, advice, lowering.location(node))
        error.place = place
        raise error
    lowering.unsupported(node, what, advice, AliasingError)
