"""Making dicts, of known keys or of keys that are computed, and storing items of the latter."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from gradscribe.frontend.calls import handlers, inlining, opaque
from gradscribe.frontend.control.branches import branch
from gradscribe.frontend.data import construction
from gradscribe.frontend.data.aliasing import changing_items
from gradscribe.frontend.data.keyed import KeyedItems, put
from gradscribe.frontend.data.stores import store_item
from gradscribe.frontend.lowering import Lowering
from gradscribe.frontend.memory import hold
from gradscribe.frontend.values import DictRef, ListRef, Static, Storage
from gradscribe.ir.core import Method, Primitive, Value
from gradscribe.ir.types import BOOL, INT
from gradscribe.primitives.control import APPEND, RUN, SET


def enter(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`put(order, held, key, item)`. The item is in the list once, whether it is stored in the
    place of another or appended."""
    order, held, key, item = arguments
    if not isinstance(lowering.contents[held.storage], Value):
        return inlining.inline(lowering, node, put, arguments)
    key, item = lowering.named(key, ""), lowering.value(item)
    lowering.changes.stored |= {order.storage, held.storage}
    hold(lowering, held.storage, [arguments[3]])

    def replace() -> None:
        position = opaque.emit(lowering, Method("index"), (order, key), {}, INT, RUN)
        change(held, SET, {"index": position, "value": item})

    def append() -> None:
        change(order, APPEND, {"value": lowering.value(key)})
        change(held, APPEND, {"value": item})

    def change(owner: ListRef, primitive: Primitive, given: dict[str, Any]) -> None:
        with changing_items(lowering, node, owner.storage):
            tree = {"x": lowering.value(owner), **given}
            name = owner.storage.name
            lowering.contents[owner.storage] = lowering.emit(primitive, tree, name=name)

    is_there = opaque.emit(lowering, operator.contains, (order, key), {}, BOOL, RUN)
    branch(lowering, is_there, replace, append)
    return Static(None)


def new_dict(lowering: Lowering, node: Any, pairs: Iterable[tuple[Any, Any]] = ()) -> Any:
    """A dict that the function makes, here in its source."""
    where = lowering.location(node)
    place = where.filename, where.line, where.column
    if place in lowering.keyed:
        made: Any = construction.instantiate(lowering, node, KeyedItems, (), {})
    else:
        made = DictRef(Storage(place=place))
        lowering.contents[made.storage] = {}
    for key, item in pairs:
        store_item(lowering, node, made, key, item)
    return made


handlers.FUNCTIONS[put] = enter
