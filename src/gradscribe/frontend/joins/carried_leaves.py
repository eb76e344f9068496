"""Carried values taken apart into IR values."""

from __future__ import annotations

from collections.abc import Sequence as SequenceOf
from typing import Any

from gradscribe.frontend.memory.carried_parts import is_carried
from gradscribe.frontend.state.carried_entry import Entry
from gradscribe.frontend.state.knowledge import State
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    PLAIN_NUMBERS,
    DictRef,
    FlatRef,
    InstanceRef,
    ListRef,
    Ref,
    Static,
    TupleOf,
)
from gradscribe.ir.core import Value
from gradscribe.ir.types import Never
from gradscribe.primitives.control import LIST


def leaves_of(lowering: Lowering, item: Any, entry: Entry) -> list[Value] | None:
    """The IR values that a frontend value consists of; None if it has none."""
    if isinstance(item, Value):
        return [item]
    if isinstance(item, Static):
        return [lowering.value(item)] if isinstance(item.value, PLAIN_NUMBERS) else None
    if isinstance(item, InstanceRef):
        cells = lowering.cells(item)
        return _all_leaves(lowering, [lowering.contents[cell] for cell in cells], entry)
    if isinstance(item, FlatRef):
        return None
    if isinstance(item, Ref):
        return [lowering.load(item)]
    if isinstance(item, ListRef):
        item = lowering.contents[item.storage]
        return leaves_of(lowering, item, entry)
    if isinstance(item, DictRef):
        return leaves_of(lowering, lowering.contents[item.storage], entry)
    if isinstance(item, TupleOf):
        return _all_leaves(lowering, item.items, entry)
    if isinstance(item, dict):
        return _all_leaves(lowering, tuple(item.values()), entry)
    if isinstance(item, tuple):
        if entry.mode == "list":
            values = tuple(map(lowering.value, item))
            return [lowering.emit(LIST, {"items": values, "item": Never()})]
        return _all_leaves(lowering, item, entry)
    return None


def _all_leaves(lowering: Lowering, items: SequenceOf[Any], entry: Entry) -> list[Value] | None:
    leaves: list[Value] = []
    for item in items:
        if not is_carried(item):
            continue
        below = leaves_of(lowering, item, entry)
        if below is None:
            return None
        leaves += below
    return leaves


def is_like(lowering: Lowering, before: State, end: Any, start: Any, entry: Entry) -> bool:
    """Whether two values have the same static parts at the same places. What is set late has
    only the one at the end. before: the state before the loop."""
    if entry.mode == "late":
        return True
    if _structure(end) is not _structure(start):
        return False
    if isinstance(end, InstanceRef) and isinstance(start, InstanceRef):
        after, earlier = (
            {k: v for c in o.cells.values() for k, v in contents.get(c, {}).items()}
            for o, contents in ((end, lowering.contents), (start, before.contents))
        )
        if end.cls is not start.cls or after.keys() != earlier.keys():
            return False
        in_order = {name: end.cells[name] for name in (*earlier, *end.cells)}
        end.cells.clear()  # its leaves come in the order of those before the loop
        end.cells.update(in_order)
        after = {name: after[name] for name in earlier}
        return is_like(lowering, before, after, earlier, entry)
    if isinstance(end, dict) and isinstance(start, dict):
        return list(end) == list(start) and all(
            is_like(lowering, before, end[key], start[key], entry) for key in end
        )
    if isinstance(end, TupleOf) and isinstance(start, TupleOf):
        end, start = end.items, start.items
    if isinstance(end, tuple) and isinstance(start, tuple):
        pairs = zip(end, start, strict=False)
        return entry.mode == "list" or (
            len(end) == len(start)
            and all(is_like(lowering, before, one, other, entry) for one, other in pairs)
        )
    if isinstance(end, (ListRef, DictRef)) and isinstance(start, (ListRef, DictRef)):
        held, first = lowering.contents.get(end.storage), before.contents.get(start.storage)
        if type(held) is type(first) and isinstance(held, (dict, tuple)):
            return is_like(lowering, before, held, first, entry)
    if is_carried(end) and is_carried(start):
        return True
    return end is start or (isinstance(end, Static) and end == start)


def _structure(item: Any) -> type | None:
    """The class of a container or object; None for a number, an array, or what is compared
    otherwise."""
    if isinstance(item, (TupleOf, InstanceRef)):
        return item.cls
    if isinstance(item, DictRef):
        return dict
    return list if isinstance(item, ListRef) else None
