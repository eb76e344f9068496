"""`sorted`, `min` and `max` of objects, and of tuples and lists with objects in them.

Where the order is known at run time only, an item of the sorted list is an object of its own, made
of what the attributes of the original objects hold there. It may be any of those: it is read as
they are, and a store to it is ambiguous.
"""

from __future__ import annotations

import operator
from typing import Any

from gradscribe.frontend.memory import at_once, sequences
from gradscribe.frontend.memory.reach import storages
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.structures import opened, rebuilt
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    InstanceRef,
    ListRef,
    ObjectRef,
    Static,
)
from gradscribe.ir.types import Never
from gradscribe.primitives.control import GET, LIST
from gradscribe.primitives.lists import ORDER, order


def holds_objects(lowering: Lowering, item: FrontendValue) -> bool:
    """Whether this is, or holds, an object or dict, which no list holds at run time."""
    if isinstance(item, (InstanceRef, ObjectRef, DictRef)):
        return True
    items = sequences.known_items(lowering, item) or ()
    return any(holds_objects(lowering, below) for below in items)


def ranks(
    lowering: Lowering, node: Any, items: tuple[FrontendValue, ...], reverse: bool
) -> tuple[Any, ...]:
    """The position of each item in the order that their `<` says; equal ones keep theirs."""
    found: list[Any] = [Static(0)] * len(items)
    trial = lowering.trial()
    for later in range(len(items)):
        for earlier in range(later):
            pair = (earlier, later) if reverse else (later, earlier)
            is_less = lowering.truth(lowering.operate(node, operator.lt, *(items[i] for i in pair)))
            flag = Static(is_less) if isinstance(is_less, bool) else is_less
            before = lowering.operate(node, operator.sub, Static(1), flag)
            found[later] = lowering.operate(node, operator.add, found[later], before)
            found[earlier] = lowering.operate(node, operator.add, found[earlier], flag)
    if len(items) > 2 and at_once.changes_something(lowering, trial):
        what = "these objects are sorted by a comparison that changes something, or has effects"
        lowering.unsupported(node, what, "sort by a `key`, or keep the comparison free of effects")
    return tuple(found)


def in_order(
    lowering: Lowering,
    node: Any,
    items: tuple[FrontendValue, ...],
    keys: tuple[FrontendValue, ...],
    reverse: bool,
) -> ListRef:
    """A list of the items, sorted by their keys, which are numbers."""
    parts = [opened(lowering, node, item) for item in items]
    if any(part.structure != parts[0].structure for part in parts):
        lowering.unsupported(
            node, "objects of different kinds are sorted", "sort numbers that tell them apart"
        )
    given = sequences.new_list(lowering, keys)
    numbers = lowering.apply_primitive(node, ORDER, order, (given, Static(reverse)), {})
    columns = [
        lowering.emit(LIST, {"items": column, "item": Never()})
        for column in zip(*(part.leaves for part in parts), strict=True)
    ]
    reached = frozenset(s for item in items for s in storages(lowering, item))
    made = []
    for position in range(len(items)):
        number = lowering.emit(GET, {"x": lowering.value(numbers), "index": position})
        leaves = [lowering.emit(GET, {"x": column, "index": number}) for column in columns]
        item = rebuilt(lowering, parts[0].structure, leaves)
        for storage in storages(lowering, item):
            storage.overlaps |= reached
        made.append(item)
    return sequences.new_list(lowering, tuple(made))
