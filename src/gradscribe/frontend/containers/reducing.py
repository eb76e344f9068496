"""`any`, `all`, `min`, `max`, `sorted` and `list`, of structures and of run-time lists.

What has known items is decided item by item; else the loops of the `prelude` are lowered.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from gradscribe.frontend.containers import lengths, object_order
from gradscribe.frontend.joins.branches import conditional
from gradscribe.frontend.memory.iterators import taken
from gradscribe.frontend.memory.sequences import holds_numbers, known_items, new_list
from gradscribe.frontend.prelude import prelude
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import instances
from gradscribe.frontend.values.iterations import KnownItems
from gradscribe.frontend.values.values import (
    ALL,
    DictRef,
    ListRef,
    Ref,
    Static,
    Storage,
    TupleOf,
)
from gradscribe.primitives.registry import PRIMITIVES

Handler = Callable[[Lowering, Any, tuple[Any, ...], dict[str, Any]], Any]


def items_of(lowering: Lowering, item: Any) -> tuple[Any, ...] | None:
    """The items of a structure; None where their number is known at run time only."""
    known = known_items(lowering, item)
    if known is not None:
        return known
    if isinstance(item, DictRef) or (
        isinstance(item, Static) and isinstance(item.value, (str, set, frozenset, tuple))
    ):
        return lowering.unpacked(None, item)
    if isinstance(item, KnownItems):
        return item.in_order(item.items)
    return None


def listed(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`list(items)`."""
    if not arguments:
        return new_list(lowering, ())
    source = taken(lowering, node, arguments[0])
    items = items_of(lowering, source)
    if items is not None:
        return new_list(lowering, items)
    if isinstance(source, ListRef):
        return copied(lowering, source)
    if isinstance(source, Ref):
        shared = source.storage.reached
        rows = lowering.apply_primitive(node, PRIMITIVES[list], list, (source,), {})
        rows.storage.holds |= shared
        return rows
    return lowering.inline(node, prelude.listed, (source,))


def copied(lowering: Lowering, source: ListRef) -> ListRef:
    """A new list with the items of another; it shares none that are numbers."""
    is_plain = holds_numbers(lowering, source)
    storage = Storage(levels=ALL) if is_plain else Storage(holds=source.storage.reached)
    lowering.contents[storage] = lowering.contents[source.storage]
    return ListRef(storage)


def _decided(is_any: bool) -> Handler:
    """`any` and `all`."""
    function = prelude.any_of if is_any else prelude.all_of

    def handler(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:

        (source,) = arguments
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

    def handler(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
        key, default = _options(keywords)
        source = arguments[0] if len(arguments) == 1 else TupleOf(arguments)
        items = items_of(lowering, source)
        if items == () and default is not None:
            return default
        if default is not None and items is None:
            return _or_default(lowering, node, handler, source, keywords)
        if key is not None:
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


def _options(keywords: dict[str, Any]) -> Any:
    given = {name: item for name, item in keywords.items() if not _is_none(item)}
    return given.get("key"), given.get("default")


def _is_none(item: Any) -> bool:
    return isinstance(item, Static) and item.value is None


def _indexable(lowering: Lowering, node: Any, source: Any) -> Any:
    if isinstance(source, (ListRef, Ref, TupleOf)):
        return source
    return listed(lowering, node, (source,), {})


def _or_default(
    lowering: Lowering, node: Any, handler: Handler, source: Any, keywords: dict[str, Any]
) -> Any:
    source = _indexable(lowering, node, source)
    default = keywords["default"]
    others = {name: item for name, item in keywords.items() if name != "default"}
    filled = lowering.truth(lengths.length(lowering, source))
    if isinstance(filled, bool):
        return handler(lowering, node, (source,), others) if filled else default
    then = functools.partial(handler, lowering, node, (source,), others)
    return conditional(lowering, node, filled, then, lambda: default)


def _pairwise(lowering: Lowering, node: Any, callee: Any, items: tuple[Any, ...]) -> Any:
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


def _sorted(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    (source,) = arguments
    key, reverse = keywords.get("key", Static(None)), keywords.get("reverse", Static(False))
    if not isinstance(reverse, Static) or set(keywords) - {"key", "reverse"}:
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
    source = listed(lowering, node, (source,), {})
    if _is_none(key):
        return lowering.inline(node, prelude.in_order, (source, reverse))
    return lowering.inline(node, prelude.in_order_by, (source, key, reverse))


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


REDUCING: dict[Any, Handler] = {
    any: _decided(True),
    all: _decided(False),
    min: _extreme(min, prelude.smallest, prelude.smallest_by),
    max: _extreme(max, prelude.largest, prelude.largest_by),
    sorted: _sorted,
    list: listed,
}
