"""`any`, `all`, `min`, `max`, `sorted` and `list`, of structures and of run-time lists.

What has known items is decided item by item; else the loops of the `prelude` are lowered.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from gradscribe.frontend.containers import iteration as iterations
from gradscribe.frontend.containers import lengths, object_order
from gradscribe.frontend.joins.branches import conditional
from gradscribe.frontend.kinds.static_values import stands_for
from gradscribe.frontend.memory.iterators import taken, taking
from gradscribe.frontend.memory.sequences import holds_numbers, known_items, made_list, new_list
from gradscribe.frontend.prelude import prelude
from gradscribe.frontend.state.handlers import Handler, enter, handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import instances
from gradscribe.frontend.values.iterations import ItemsByNext, KnownItems
from gradscribe.frontend.values.values import (
    ALL,
    DictRef,
    FrontendValue,
    ListRef,
    Ref,
    Static,
    Storage,
    TupleOf,
)
from gradscribe.primitives.registry import PRIMITIVES

_NONE, _FALSE = Static(None), Static(False)


def items_of(lowering: Lowering, item: FrontendValue) -> tuple[Any, ...] | None:
    """The items of a structure; None where their number is known at run time only."""
    known = known_items(lowering, item)
    if known is not None:
        return known
    if isinstance(item, DictRef) or (stands_for(item, (str, set, frozenset, tuple))):
        return lowering.unpacked(None, item)
    if isinstance(item, KnownItems):
        return item.in_order(item.items)
    return None


def listed(lowering: Lowering, node: Any, source: FrontendValue) -> ListRef:
    """`list(source)`."""
    source = taken(lowering, node, source)
    items = items_of(lowering, source)
    if items is not None:
        return new_list(lowering, items)
    if isinstance(source, ItemsByNext):
        return iterations.taken_list(lowering, node, source)
    if isinstance(source, ListRef):
        return copied(lowering, source)
    if isinstance(source, Ref):
        shared = source.storage.reached
        rows = made_list(lowering.apply_primitive(node, PRIMITIVES[list], list, (source,), {}))
        rows.storage.holds |= shared
        return rows
    return made_list(lowering.inline(node, prelude.listed, (source,)))


@handles(list)
@taking()
def _list(lowering: Lowering, node: Any, iterable: FrontendValue = TupleOf(()), /) -> ListRef:
    return listed(lowering, node, iterable)


def copied(lowering: Lowering, source: ListRef) -> ListRef:
    """A new list with the items of another; it shares none that are numbers."""
    is_plain = holds_numbers(lowering, source)
    storage = Storage(levels=ALL) if is_plain else Storage(holds=source.storage.reached)
    lowering.contents[storage] = lowering.contents[source.storage]
    return ListRef(storage)


def _decided(is_any: bool) -> Handler:
    """`any` and `all`."""
    function = prelude.any_of if is_any else prelude.all_of

    def handler(lowering: Lowering, node: Any, source: FrontendValue, /) -> FrontendValue:
        items = items_of(lowering, source)
        if items is None:
            return lowering.inline(node, function, (source,))
        rest: list[Any] = []
        for item in items:
            known = bool(item.value) if instances.is_folded(item) else None
            if known is is_any and not rest:
                return Static(is_any)
            if known in (None, is_any):
                rest.append(item)
        if not rest:
            return Static(not is_any)
        return lowering.inline(node, function, (TupleOf(tuple(rest)),))

    return handler


def _extreme(callee: Any, plain: Any, by_key: Any) -> Handler:
    """`min` and `max`: of numbers pairwise, as Python compares them; of lists by a loop; of tuples
    and objects by their order."""

    def handler(
        lowering: Lowering,
        node: Any,
        /,
        first: FrontendValue,
        *rest: FrontendValue,
        key: FrontendValue = _NONE,
        default: FrontendValue = _NONE,
    ) -> FrontendValue:
        source = TupleOf((first, *rest)) if rest else first
        items = items_of(lowering, source)
        if items == () and not _is_none(default):
            return default
        if not _is_none(default) and items is None:
            source = _indexable(lowering, node, source)
            filled = lowering.truth(lengths.length(lowering, source))
            found = functools.partial(handler, lowering, node, source, key=key)
            if isinstance(filled, bool):
                return found() if filled else default
            return conditional(lowering, node, filled, found, lambda: default)
        if not _is_none(key):
            return lowering.inline(node, by_key, (_indexable(lowering, node, source), key))
        if items is None:
            return lowering.inline(node, plain, (_indexable(lowering, node, source),))
        if not items:
            lowering.unsupported(
                node,
                f"this call of `{callee.__name__}` has no items",
                "give `default=`, or call it only where there are items",
            )
        if any(
            isinstance(item, (TupleOf, ListRef))
            or instances.has_methods(item)
            or object_order.holds_objects(lowering, item)
            for item in items
        ):
            return lowering.inline(node, plain, (TupleOf(items),))
        return _pairwise(lowering, node, callee, items)

    return handler


def _is_none(item: FrontendValue) -> bool:
    return isinstance(item, Static) and item.value is None


def _indexable(lowering: Lowering, node: Any, source: Any) -> FrontendValue:
    if isinstance(source, (ListRef, Ref, TupleOf)):
        return source
    return listed(lowering, node, source)


def _pairwise(
    lowering: Lowering, node: Any, callee: Any, items: tuple[FrontendValue, ...]
) -> FrontendValue:
    result = items[0]
    for item in items[1:]:
        if isinstance(result, Static) and isinstance(item, Static):
            try:
                result = Static(callee(result.value, item.value))
            except Exception as error:
                lowering.raises(node, error)
            continue
        primitive = PRIMITIVES[callee]
        result = lowering.apply_primitive(node, primitive, callee, (result, item), {})
    return result


@handles(sorted)
@taking()
def _sorted(
    lowering: Lowering,
    node: Any,
    iterable: FrontendValue,
    /,
    *,
    key: FrontendValue = _NONE,
    reverse: FrontendValue = _FALSE,
) -> ListRef:
    return in_order(lowering, node, iterable, key, reverse)


def in_order(
    lowering: Lowering,
    node: Any,
    source: FrontendValue,
    key: FrontendValue = _NONE,
    reverse: FrontendValue = _FALSE,
) -> ListRef:
    """`sorted(source, key=key, reverse=reverse)`, of what is no iterator."""
    if not isinstance(reverse, Static):
        lowering.unsupported(
            node, "`reverse` must be known when the function is compiled", "write `True` or `False`"
        )
    keys = items = items_of(lowering, source)
    trial = lowering.trial()
    if items is not None and not _is_none(key):
        keys = tuple(lowering.call(node, key, (item,), {}) for item in items)
    known = None if keys is None else _known_keys(keys)
    if items is not None and known is not None:
        try:
            numbers = sorted(range(len(items)), key=known.__getitem__, reverse=bool(reverse.value))
        except TypeError as error:
            lowering.raises(node, error)
        return new_list(lowering, tuple(items[number] for number in numbers))
    if items and any(object_order.holds_objects(lowering, item) for item in items):
        assert keys is not None
        is_reversed = bool(reverse.value)
        if _is_none(key):
            keys = object_order.ranks(lowering, node, items, is_reversed)
            is_reversed = False
        return object_order.in_order(lowering, node, items, keys, is_reversed)
    trial.take_back()
    source = listed(lowering, node, source)
    if _is_none(key):
        return made_list(lowering.inline(node, prelude.in_order, (source, reverse)))
    return made_list(lowering.inline(node, prelude.in_order_by, (source, key, reverse)))


def _known_keys(items: Sequence[Any]) -> list[Any] | None:
    """What decides the order of these items, if that is known now: the items themselves, or
    what tuples begin with if it is different in each."""
    if all(map(instances.is_folded, items)):
        return [item.value for item in items]
    firsts = [item.items[0] for item in items if isinstance(item, TupleOf) and item.items]
    keys = [first.value for first in firsts if instances.is_folded(first)]
    if len(keys) < len(items):
        return None
    return keys if len(set(keys)) == len(keys) else None


_in_turns, _by_key = taking(in_turns=True), taking(by_key=True)
enter(
    {
        any: _in_turns(_decided(True)),
        all: _in_turns(_decided(False)),
        min: _by_key(_extreme(min, prelude.smallest, prelude.smallest_by)),
        max: _by_key(_extreme(max, prelude.largest, prelude.largest_by)),
    }
)
