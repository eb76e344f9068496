"""Making dicts, of known keys or of keys that are computed, and storing items of the latter."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from gradscribe.frontend.containers.lists import must_keep_size, refuse_other_size
from gradscribe.frontend.containers.stores import store_item
from gradscribe.frontend.joins.branches import branch
from gradscribe.frontend.kinds.static_values import stands_for
from gradscribe.frontend.memory.aliasing import changing_items
from gradscribe.frontend.memory.reach import hold
from gradscribe.frontend.memory.sequences import new_list
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.state.handlers import handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.keyed import (
    OrderedItems,
    is_key,
    keyed,
    of_lists,
    ordered,
    put,
)
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    InstanceRef,
    ListRef,
    Static,
    Storage,
    TupleOf,
)
from gradscribe.ir.core import Method, Primitive, Value
from gradscribe.ir.types import BOOL, INT, Scalar, Sequence, Tuple
from gradscribe.primitives.control import APPEND, RUN, SET


@handles(put)
def _put(
    lowering: Lowering,
    node: Any,
    /,
    order: ListRef,
    held: FrontendValue,
    key: FrontendValue,
    item: FrontendValue,
) -> FrontendValue:
    """`put(order, held, key, item)`. The item is in the list once, whether it is stored in the
    place of another or appended."""
    met = held if isinstance(held, ListRef) else None  # not on a path that was not met yet
    if met is None or not isinstance(lowering.contents[met.storage], Value):
        return lowering.inline(node, put, (order, held, key, item))
    key, value = lowering.named(key, ""), lowering.value(item)
    lowering.changes.stored |= {order.storage, met.storage}
    hold(lowering, met.storage, [item])

    def replace() -> None:
        position = unknown.emit(lowering, Method("index"), (order, key), {}, INT, RUN)
        change(met, SET, {"index": position, "value": value})

    def append() -> None:
        change(order, APPEND, {"value": lowering.value(key)})
        change(met, APPEND, {"value": value})

    def change(owner: ListRef, primitive: Primitive, given: dict[str, Any]) -> None:
        with changing_items(lowering, node, owner.storage):
            tree = {"x": lowering.value(owner), **given}
            name = owner.storage.name
            lowering.contents[owner.storage] = lowering.emit(primitive, tree, name=name)

    keeps_size = must_keep_size(lowering, node, (order, met))
    if _has_other_keys(lowering, node, order, key):
        if keeps_size:
            refuse_other_size(lowering, node)
        append()
    else:
        found = unknown.emit(lowering, operator.contains, (order, key), {}, BOOL, RUN)
        is_there = lowering.value(found)
        if keeps_size:
            refuse_other_size(lowering, node, is_there)
            replace()
        else:
            branch(lowering, is_there, replace, append)
    return Static(None)


def new_dict(lowering: Lowering, node: Any, pairs: Iterable[tuple[Any, Any]] = ()) -> FrontendValue:
    """A dict that the function makes, here in its source."""
    where = lowering.location(node)
    place = where.filename, where.line, where.column
    if place in lowering.keyed:
        made: InstanceRef | DictRef = of_lists(
            lowering, new_list(lowering, ()), new_list(lowering, ())
        )
    else:
        made = DictRef(Storage(place=place))
        lowering.contents[made.storage] = {}
    for key, item in pairs:
        store_item(lowering, node, made, key, item)
    return made


@handles(is_key)
def _is_key(
    lowering: Lowering, node: Any, /, order: FrontendValue, key: FrontendValue
) -> FrontendValue:
    if isinstance(order, ListRef) and _has_other_keys(lowering, node, order, key):
        return Static(False)
    return lowering.membership(node, True, key, order)


def _has_other_keys(lowering: Lowering, node: Any, order: ListRef, key: Any) -> bool:
    """Whether the keys of a dict are tuples, and this is none; or the other way round."""
    items = lowering.contents[order.storage]
    if isinstance(items, Value):
        type_ = items.type.item if isinstance(items.type, Sequence) else None
        return isinstance(type_, (Tuple, Scalar)) and isinstance(type_, Tuple) is not _is_tuple(key)
    kinds = set(map(_is_tuple, items))
    if len(kinds) > 1:
        what = "this dict has numbers and tuples as keys, which are computed"
        lowering.unsupported(node, what, "use a dict for each kind")
    return bool(kinds) and _is_tuple(key) not in kinds


def _is_tuple(key: Any) -> bool:
    is_typed = isinstance(key, Value) and isinstance(key.type, Tuple)
    is_known = stands_for(key, tuple)
    return isinstance(key, TupleOf) or is_typed or is_known


@handles(keyed)
def _keyed(lowering: Lowering, node: Any, /, order: ListRef, held: ListRef) -> FrontendValue:
    return of_lists(lowering, order, held)


@handles(ordered)
def _ordered(lowering: Lowering, node: Any, /, order: ListRef, held: ListRef) -> FrontendValue:
    return of_lists(lowering, order, held, OrderedItems)
