"""The methods of lists, and `del` of their items.

On a list whose items are known one by one, the method is done on those; on a run-time list it is
an operation that gives the list's next value.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from typing import Any

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.containers import reducing
from gradscribe.frontend.containers.subscripts import read_item
from gradscribe.frontend.memory import iterators, sequences
from gradscribe.frontend.memory.aliasing import changing_items
from gradscribe.frontend.memory.reach import hold
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.prelude import prelude
from gradscribe.frontend.state.handlers import Handler, enter, handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import instances
from gradscribe.frontend.structures.indices import step_of
from gradscribe.frontend.values.values import FrontendValue, ListRef, Static, Storage, is_number
from gradscribe.ir.core import Method, SliceOf, Value
from gradscribe.ir.known import all_known
from gradscribe.ir.types import BOOL, INT, Never, Sequence
from gradscribe.primitives.control import APPEND, GET, LIST, POP, RUN
from gradscribe.primitives.lists import DELETE, INSERT, JOIN, SECTION, SET_SECTION


class ChangedInLoopError(UnsupportedError):
    """A list is changed while a loop runs over it: the storage of the list."""

    def __init__(self, storage: Storage, location: Any) -> None:
        super().__init__(
            "this changes a list while a loop runs over it",
            "loop over a copy of it, as in `for x in xs[:]`, or use `while`",
            location,
        )
        self.storage = storage


def _changes(method: Handler) -> Handler:
    """A method that gives the list other items, or the same in another order."""

    @functools.wraps(method)
    def handler(
        lowering: Lowering, node: Any, /, owner: ListRef, *given: FrontendValue, **named: Any
    ) -> FrontendValue:
        if owner.storage in _run_over(lowering):
            raise ChangedInLoopError(owner.storage, lowering.location(node))
        with changing_items(lowering, node, owner.storage):
            return method(lowering, node, owner, *given, **named)

    return handler


def _run_over(lowering: Lowering) -> list[Storage]:
    """The lists that loops run over, or a slice of them."""
    return [item.storage for item in lowering.loops.iterated] + lowering.loops.sliced


def must_keep_size(lowering: Lowering, node: Any, lists: Iterable[ListRef]) -> bool:
    """Whether a loop runs over the keys or the items of a dict, and would raise where it takes the
    next; a loop that may be left before that is to see to it itself."""
    run_over = [owner.storage for owner in lists if owner.storage in _run_over(lowering)]
    for storage in run_over:
        if storage in lowering.loops.left:
            raise ChangedInLoopError(storage, lowering.location(node))
    return bool(run_over)


CHANGED_SIZE = "dictionary changed size during iteration"


def has_other_keys(now: list[Any], before: list[Any]) -> bool:
    """Whether a dict has other keys, in these lists of its keys or items, than before a loop."""
    return len(now) != len(before)


@handles(has_other_keys)
def _has_other_keys(
    lowering: Lowering, node: Any, /, now: ListRef, before: ListRef
) -> FrontendValue:
    if now.storage.of_dict == "keys":
        return unknown.emit(lowering, operator.ne, (now, before), {}, BOOL, RUN)
    return lowering.inline(node, has_other_keys, (now, before))


def refuse_other_size(lowering: Lowering, node: Any, is_same: Value | None = None) -> None:
    """Say what Python raises where a dict changes its size in a loop over it; where it is known at
    run time only whether it does, refuse it there."""
    what = "this loop changes the size of the dict that it runs over"
    advice = "loop over a copy: `for key in list(d):`"
    if is_same is None:
        lowering.raises(node, RuntimeError(CHANGED_SIZE), what, advice)
    lowering.check(is_same, what, advice)


def _emit(lowering: Lowering, owner: ListRef, primitive: Any, **arguments: Any) -> None:
    """The list's next value, made from the one before."""
    tree = {"x": sequences.run_time_value(lowering, owner), **arguments}
    lowering.contents[owner.storage] = lowering.emit(primitive, tree, name=owner.storage.name)


@handles(list.append)
@_changes
def append(lowering: Lowering, node: Any, owner: ListRef, item: FrontendValue, /) -> Static:
    _add(lowering, owner, item)
    return Static(None)


def _add(lowering: Lowering, owner: ListRef, item: FrontendValue) -> None:
    contents = lowering.contents[owner.storage]
    if isinstance(contents, tuple):
        lowering.contents[owner.storage] = (*contents, item)
    else:
        hold(lowering, owner.storage, [item])
        _emit(lowering, owner, APPEND, value=lowering.value(item))


@handles(list.extend)
@_changes
def extend(lowering: Lowering, node: Any, owner: ListRef, given: FrontendValue, /) -> Static:
    (item,) = iterators.taken_into(lowering, node, owner, (given,))
    contents = lowering.contents[owner.storage]
    below = reducing.items_of(lowering, item)
    if isinstance(contents, tuple) and below is not None:
        lowering.contents[owner.storage] = contents + below
        return Static(None)
    if below is not None:
        for one in below:
            _add(lowering, owner, one)
        return Static(None)
    other = lowering.listed(node, item)
    hold(lowering, owner.storage, contents if isinstance(contents, tuple) else ())
    _emit(lowering, owner, JOIN, y=lowering.value(other))
    _hold_items(lowering, owner, other)
    return Static(None)


def _hold_items(lowering: Lowering, owner: ListRef, other: ListRef) -> None:
    """Note that a run-time list has got the items of another one: of itself, maybe."""
    own, contents = owner.storage, lowering.contents[other.storage]
    hold(lowering, own, contents if isinstance(contents, tuple) else ())
    is_twice = own is other.storage or not own.reached.isdisjoint(other.storage.reached)
    if not sequences.holds_numbers(lowering, owner):
        own.levels = 0 if is_twice else min(own.levels, other.storage.levels)
    own.holds |= other.storage.holds


@handles(list.insert)
@_changes
def _insert(
    lowering: Lowering, node: Any, owner: ListRef, index: FrontendValue, item: FrontendValue, /
) -> Static:
    contents = lowering.contents[owner.storage]
    if isinstance(contents, tuple) and isinstance(index, Static):
        items = list(contents)
        items.insert(index.value, item)
        lowering.contents[owner.storage] = tuple(items)
        return Static(None)
    hold(lowering, owner.storage, [item, *(contents if isinstance(contents, tuple) else ())])
    value, place = lowering.value(item), _position(lowering, index)
    if place == 0:
        _emit(lowering, owner, INSERT, index=0, value=value)
        return Static(None)
    after = lowering.emit(
        SECTION, {"x": lowering.value(owner), "index": SliceOf(place, None, None)}
    )
    _emit(lowering, owner, SECTION, index=SliceOf(None, place, None))
    _emit(lowering, owner, APPEND, value=value)
    _emit(lowering, owner, JOIN, y=after)
    return Static(None)


def _position(lowering: Lowering, index: FrontendValue) -> Any:
    if not isinstance(index, Static):
        return lowering.value(index)
    try:
        return operator.index(index.value)
    except TypeError as error:
        return lowering.raises(lowering.frame.statement, error)


@handles(list.pop)
def _pop(
    lowering: Lowering, node: Any, owner: ListRef, index: FrontendValue = Static(-1), /
) -> FrontendValue:
    item = _taken(lowering, node, owner, index)
    delete_item(lowering, node, owner, index)
    return item


def _taken(lowering: Lowering, node: Any, owner: ListRef, index: FrontendValue) -> FrontendValue:
    """An item that leaves the list."""
    contents = lowering.contents[owner.storage]
    if isinstance(contents, tuple) and isinstance(index, Static):
        if contents or not lowering.assumed:
            try:
                list(contents).pop(index.value)
            except (IndexError, TypeError) as error:
                lowering.raises(node, error, f"this item cannot be read: {error}")
        return read_item(lowering, node, owner, index)
    arguments = {"x": lowering.value(owner), "index": _position(lowering, index)}
    hold(lowering, owner.storage, contents if isinstance(contents, tuple) else ())
    storage = owner.storage
    return lowering.wrap(lowering.emit(GET, arguments), storage.overlaps | storage.holds)


@_changes
def delete_item(lowering: Lowering, node: Any, owner: ListRef, index: FrontendValue, /) -> Static:
    """`del owner[index]`."""
    contents = lowering.contents[owner.storage]
    if isinstance(index, slice):
        _delete_section(lowering, node, owner, index)
        return Static(None)
    if isinstance(contents, tuple) and isinstance(index, Static):
        items = list(contents)
        try:
            del items[index.value]
        except (IndexError, TypeError) as error:
            lowering.raises(node, error)
        lowering.contents[owner.storage] = tuple(items)
        return Static(None)
    place = _position(lowering, index)
    if place == -1:
        _emit(lowering, owner, POP)
    else:
        _emit(lowering, owner, DELETE, index=place)
    return Static(None)


def _delete_section(lowering: Lowering, node: Any, owner: ListRef, index: slice) -> None:
    contents = lowering.contents[owner.storage]
    (section,) = step_of(lowering, node, index)[1]["index"]
    parts = (section.start, section.stop, section.step)
    if isinstance(contents, tuple) and not any(isinstance(part, Value) for part in parts):
        items = list(contents)
        del items[slice(*parts)]
        lowering.contents[owner.storage] = tuple(items)
    elif section.step is None and section.start in (None, 0):
        _emit(lowering, owner, SECTION, index=SliceOf(section.stop, None, None))
    elif section.step is None and section.stop is None:
        _emit(lowering, owner, SECTION, index=SliceOf(None, section.start, None))
    else:
        _splice(lowering, node, owner, index, sequences.new_list(lowering, ()))


def _splice(lowering: Lowering, node: Any, owner: ListRef, index: slice, items: Any) -> None:
    """Put other items, as many as there are, in the place of a slice of a list."""
    start, stop, step = (
        Static(None) if part is None else part for part in (index.start, index.stop, index.step)
    )
    if not (isinstance(step, Static) and step.value in (None, 1)):
        lowering.unsupported(
            node,
            "a slice with a step is replaced by another number of items",
            "build a new list",
        )
    spliced = lowering.inline(node, prelude.spliced, (owner, start, stop, items))
    lowering.contents[owner.storage] = sequences.run_time_value(
        lowering, sequences.made_list(spliced)
    )


@_changes
def store_section(
    lowering: Lowering, node: Any, owner: ListRef, index: slice, item: FrontendValue, /
) -> Static:
    """`owner[a:b] = item`."""
    contents = lowering.contents[owner.storage]
    (section,) = step_of(lowering, node, index)[1]["index"]
    parts = (section.start, section.stop, section.step)
    below = reducing.items_of(lowering, item)
    is_static = not any(isinstance(part, Value) for part in parts)
    if isinstance(contents, tuple) and below is not None and is_static:
        items = list(contents)
        try:
            items[slice(*parts)] = below
        except ValueError as error:
            lowering.raises(node, error)
        lowering.contents[owner.storage] = tuple(items)
        return Static(None)
    other = lowering.listed(node, item)
    value = lowering.value(other)
    replaced = lowering.emit(SECTION, {"x": lowering.value(owner), "index": section})
    types = value.type, replaced.type
    lengths = all_known([t.length if isinstance(t, Sequence) else None for t in types])
    same = lengths is not None and lowering.builder.facts.equal(*lengths)
    if parts == (None, None, None):
        lowering.contents[owner.storage] = value
    elif same:
        _emit(lowering, owner, SET_SECTION, index=section, value=value)
    else:
        _splice(lowering, node, owner, index, other)
    _hold_items(lowering, owner, other)
    return Static(None)


@_changes
def take_items(lowering: Lowering, node: Any, owner: ListRef, value: Value, /) -> Static:
    """Give a list all the items of another one, which is an IR value."""
    lowering.contents[owner.storage] = value
    return Static(None)


@handles(list.remove)
def _remove(lowering: Lowering, node: Any, owner: ListRef, item: FrontendValue, /) -> Static:
    position = lowering.inline(node, prelude.index_to_remove, (owner, item))
    delete_item(lowering, node, owner, position)
    return Static(None)


@handles(list.clear)
@_changes
def _clear(lowering: Lowering, node: Any, owner: ListRef, /) -> Static:
    contents = lowering.contents[owner.storage]
    empty = lowering.emit(LIST, {"items": (), "item": Never()})
    lowering.contents[owner.storage] = () if isinstance(contents, tuple) else empty
    return Static(None)


@handles(list.reverse)
@_changes
def _reverse(lowering: Lowering, node: Any, owner: ListRef, /) -> Static:
    contents = lowering.contents[owner.storage]
    if isinstance(contents, tuple):
        lowering.contents[owner.storage] = contents[::-1]
    else:
        _emit(lowering, owner, SECTION, index=SliceOf(None, None, -1))
    return Static(None)


@handles(list.sort)
@_changes
def _sort(
    lowering: Lowering,
    node: Any,
    owner: ListRef,
    /,
    *,
    key: FrontendValue = Static(None),
    reverse: FrontendValue = Static(False),
) -> Static:
    items = ListRef(Storage(holds=owner.storage.holds, levels=owner.storage.levels))
    lowering.contents[items.storage] = lowering.contents[owner.storage]
    lowering.contents[owner.storage] = ()  # it is empty while it is sorted
    made = reducing.in_order(lowering, node, items, key=key, reverse=reverse)
    if lowering.contents[owner.storage] != ():
        lowering.raises(node, ValueError("list modified during sort"))
    lowering.contents[owner.storage] = lowering.contents[made.storage]
    owner.storage.holds |= made.storage.holds
    return Static(None)


@handles(list.copy)
def _copy(lowering: Lowering, node: Any, owner: ListRef, /) -> FrontendValue:
    return lowering.listed(node, owner)


def _searched(function: Any) -> Handler:
    """`index` and `count`."""

    def handler(
        lowering: Lowering, node: Any, owner: ListRef, wanted: FrontendValue, /
    ) -> FrontendValue:
        items = sequences.known_items(lowering, owner)
        known = [i.value for i in (wanted, *(items or ())) if instances.is_folded(i)]
        if items is not None and len(known) == 1 + len(items):
            try:
                return Static(getattr(known[1:], function.__name__)(known[0]))
            except ValueError as error:
                lowering.raises(node, error)
        if sequences.holds_numbers(lowering, owner):
            method = Method(function.__name__)
            return unknown.emit(lowering, method, (owner, wanted), {}, INT, RUN)
        is_told = function is prelude.index and is_number(wanted)
        found_by = prelude.index_of_number if is_told else function
        return lowering.inline(node, found_by, (owner, wanted))

    return handler


enter({list.index: _searched(prelude.index), list.count: _searched(prelude.count)})
