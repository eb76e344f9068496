"""Carried values taken apart into IR values."""

from __future__ import annotations

from gradscribe.frontend.memory.carried_parts import is_carried, parts_of
from gradscribe.frontend.state.carried_entry import Entry
from gradscribe.frontend.state.knowledge import State
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    DictRef,
    FlatRef,
    FrontendValue,
    InstanceRef,
    Items,
    ListRef,
    Ref,
    Static,
    TupleOf,
    is_number,
)
from gradscribe.ir.core import Value
from gradscribe.ir.types import Never
from gradscribe.primitives.control import LIST


def leaves_of(lowering: Lowering, item: FrontendValue | Items, entry: Entry) -> list[Value] | None:
    """The IR values that a frontend value consists of; None if it has none."""
    parts = parts_of(item, lowering.contents)
    if parts is None:
        return _leaf(lowering, item)
    if entry.mode == "list" and parts.shape.form is ListRef:
        values = tuple(map(lowering.value, parts.items))
        return [lowering.emit(LIST, {"items": values, "item": Never()})]
    leaves: list[Value] = []
    for part in filter(is_carried, parts.items):
        below = leaves_of(lowering, part, entry)
        if below is None:
            return None
        leaves += below
    return leaves


def _leaf(lowering: Lowering, item: FrontendValue | Items) -> list[Value] | None:
    if isinstance(item, Ref) and not isinstance(item, FlatRef):
        return [lowering.load(item)]
    if isinstance(item, (ListRef, DictRef)):
        return _leaf(lowering, lowering.contents[item.storage])
    if isinstance(item, Value) or is_number(item):
        return [lowering.value(item)]
    return None


def is_like(
    lowering: Lowering,
    before: State,
    end: FrontendValue | Items,
    start: FrontendValue | Items,
    entry: Entry,
) -> bool:
    """Whether two values have the same static parts at the same places. What is set late has
    only the one at the end. before: the state before the loop."""
    if entry.mode == "late":
        return True
    if _structure(end) is not _structure(start):
        return False
    if isinstance(end, InstanceRef) and isinstance(start, InstanceRef):
        _arrange(lowering, before, end, start)
    parts, others = parts_of(end, lowering.contents), parts_of(start, before.contents)
    if parts is None or others is None:
        is_leaf = is_carried(end) and is_carried(start)
        return is_leaf or end is start or (isinstance(end, Static) and end == start)
    if entry.mode == "list" and parts.shape.form is ListRef:
        return True
    return parts.shape == others.shape and all(
        is_like(lowering, before, *pair, entry)
        for pair in zip(parts.items, others.items, strict=True)
    )


def _arrange(lowering: Lowering, before: State, end: InstanceRef, start: InstanceRef) -> None:
    """Let the attributes of an object stand in the order of those before the loop, in which its
    leaves are."""
    earlier = [name for name, cell in start.cells.items() if cell in before.contents]
    if {name for name, cell in end.cells.items() if cell in lowering.contents} == {*earlier}:
        in_order = {name: end.cells[name] for name in (*earlier, *end.cells)}
        end.cells.clear()
        end.cells.update(in_order)


def _structure(item: FrontendValue | Items) -> type | None:
    """The class of a container or object; None for a number, an array, or what is compared
    otherwise."""
    if isinstance(item, (TupleOf, InstanceRef)):
        return item.cls
    return {DictRef: dict, ListRef: list}.get(type(item))
