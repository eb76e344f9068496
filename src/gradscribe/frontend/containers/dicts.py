"""The methods of dicts whose keys are known, and `del` of their items."""

from __future__ import annotations

import collections
import functools
import operator
from dataclasses import replace
from typing import Any

from gradscribe.frontend.containers.keyed_dicts import new_dict as made_here
from gradscribe.frontend.containers.stores import give_items, store_item
from gradscribe.frontend.kinds.static_values import object_of
from gradscribe.frontend.memory import iterators, outside
from gradscribe.frontend.state.handlers import handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import keyed, protocols
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    InstanceRef,
    ObjectRef,
    Static,
    Storage,
    TupleOf,
)
from gradscribe.ir.probing import has


def new_dict(lowering: Lowering, items: dict[Any, Any], name: str = "") -> DictRef:
    """A new dict of known keys."""
    storage = Storage(name)
    lowering.contents[storage] = items
    return DictRef(storage)


def is_ordered(item: FrontendValue) -> bool:
    """Whether this is an `OrderedDict`."""
    return isinstance(item, DictRef) and item.storage.derived is collections.OrderedDict


@handles(collections.OrderedDict)
@iterators.taking()
def _ordered(
    lowering: Lowering, node: Any, /, *arguments: FrontendValue, **keywords: FrontendValue
) -> FrontendValue:
    """`OrderedDict(…)`."""
    made: Any = _dict(lowering, node, *arguments, **keywords)
    if isinstance(made, InstanceRef):
        return replace(made, cls=keyed.OrderedItems)
    return _as_ordered(made)


def _as_ordered(made: DictRef) -> DictRef:
    made.storage.derived = collections.OrderedDict
    return made


@handles(dict)
@iterators.taking()
def _dict(
    lowering: Lowering, node: Any, /, *arguments: FrontendValue, **keywords: FrontendValue
) -> FrontendValue:
    """`dict(…)`: of a dict, of pairs, of keywords."""
    if len(arguments) == 1 and keyed.is_keyed(arguments[0]):
        copied: Any = protocols.call_own(lowering, node, arguments[0], "copy")
        made: FrontendValue = replace(copied, cls=keyed.KeyedItems)
        arguments = ()
    else:
        made = made_here(lowering, node)
    for source in (*arguments, new_dict(lowering, keywords)):
        if isinstance(made, DictRef):
            _fill(lowering, node, made, source)
        else:
            _enter(lowering, node, made, source)
    return made


def united(lowering: Lowering, first: DictRef, second: DictRef) -> DictRef:
    """`first | second`."""
    items = (lowering.contents[owner.storage] for owner in (first, second))
    made = new_dict(lowering, operator.or_(*items))
    return _as_ordered(made) if is_ordered(first) or is_ordered(second) else made


@handles(dict.fromkeys)
def _of_keys(
    lowering: Lowering, node: Any, keys: FrontendValue, value: FrontendValue = Static(None), /
) -> FrontendValue:
    """`dict.fromkeys(keys, value)`."""
    pairs = [(key, value) for key in lowering.unpacked(node, keys)]
    return made_here(lowering, node, pairs)


def _enter(lowering: Lowering, node: Any, made: Any, source: Any) -> None:
    """Enter the items of a dict, or of an iterable of pairs, one by one."""
    is_dict = isinstance(source, DictRef)
    pairs = outside.view_of(lowering, source, "items") if is_dict else source
    for key, item in _pairs(lowering, node, pairs):
        store_item(lowering, node, made, key, item)


def _pairs(lowering: Lowering, node: Any, source: Any) -> list[tuple[Any, Any]]:
    """What a dict is made of: the keys of a mapping, which is what has a method `keys`, with its
    items; or pairs."""
    keys = protocols.call(lowering, node, source, "keys")
    if keys is not None:
        read = functools.partial(protocols.call, lowering, node, source, "__getitem__")
        return [(key, read(key)) for key in lowering.unpacked(node, keys)]
    if isinstance(source, ObjectRef) and has(type(source.target), "keys"):
        what = f"a dict is made of the items of a `{type(source.target).__name__}` here"
        lowering.unsupported(node, what, "enter its items one by one, or pass in a dict")
    rows = [lowering.unpacked(node, row) for row in lowering.unpacked(node, source)]
    if any(len(row) != 2 for row in rows):
        lowering.raises(node, ValueError("a dict is made of pairs"))
    return [(key, item) for key, item in rows]


def _fill(lowering: Lowering, node: Any, owner: DictRef, source: Any) -> None:
    """Enter the items of a dict, or of an iterable of pairs."""
    if isinstance(source, DictRef):
        new = lowering.items_in(source.storage)
    else:
        with iterators.item_by_item(lowering, node):
            pairs = _pairs(lowering, node, source)
        new = {keyed.known_key(lowering, node, owner, key): value for key, value in pairs}
    give_items(lowering, node, owner, lowering.items_in(owner.storage) | new)


def delete_key(lowering: Lowering, node: Any, owner: DictRef, key: Any) -> None:
    """`del owner[key]`."""
    _pop(lowering, node, owner, key)


@handles(dict.keys)
def _keys(lowering: Lowering, node: Any, owner: DictRef, /) -> FrontendValue:
    return outside.view_of(lowering, owner, "keys")


@handles(dict.values)
def _values(lowering: Lowering, node: Any, owner: DictRef, /) -> FrontendValue:
    return outside.view_of(lowering, owner, "values")


@handles(dict.items)
def _items(lowering: Lowering, node: Any, owner: DictRef, /) -> FrontendValue:
    return outside.view_of(lowering, owner, "items")


@handles(dict.get)
def _get(
    lowering: Lowering,
    node: Any,
    owner: DictRef,
    key: FrontendValue,
    default: FrontendValue = Static(None),
    /,
) -> FrontendValue:
    items = keyed.by_computed_key(lowering, owner, key)
    if items is not None:
        return protocols.call_own(lowering, node, items, "get", key, default)
    return lowering.items_in(owner.storage).get(
        keyed.known_key(lowering, node, owner, key), default
    )


@handles(dict.update)
def update(
    lowering: Lowering,
    node: Any,
    owner: DictRef,
    /,
    *sources: FrontendValue,
    **keywords: FrontendValue,
) -> Static:
    for source in (*sources, new_dict(lowering, keywords)):
        _fill(lowering, node, owner, source)
    return Static(None)


@handles(dict.setdefault)
def _setdefault(
    lowering: Lowering,
    node: Any,
    owner: DictRef,
    key: FrontendValue,
    default: FrontendValue = Static(None),
    /,
) -> FrontendValue:
    known = keyed.known_key(lowering, node, owner, key)
    contents = lowering.items_in(owner.storage)
    if known not in contents:
        give_items(lowering, node, owner, contents | {known: default})
    return lowering.items_in(owner.storage)[known]


@handles(dict.pop)
def _pop(
    lowering: Lowering,
    node: Any,
    owner: DictRef,
    key: FrontendValue,
    default: FrontendValue | None = None,
    /,
) -> FrontendValue:
    known = keyed.known_key(lowering, node, owner, key)
    contents = lowering.items_in(owner.storage)
    if known not in contents:
        if default is not None:
            return default
        lowering.raises(node, KeyError(known), f"the dict has no key {known!r}")
    rest = dict(contents)
    item: FrontendValue = rest.pop(known)
    give_items(lowering, node, owner, rest)
    return item


@handles(dict.popitem)
def _pop_last(lowering: Lowering, node: Any, owner: DictRef, /) -> TupleOf:
    """`popitem`."""
    contents = lowering.items_in(owner.storage)
    if not contents:
        lowering.raises(node, KeyError("popitem(): dictionary is empty"))
    key = next(reversed(contents))
    return TupleOf((Static(key), _pop(lowering, node, owner, Static(key))))


@handles(dict.copy)
def _copy(lowering: Lowering, node: Any, owner: DictRef, /) -> FrontendValue:
    made = new_dict(lowering, dict(lowering.items_in(owner.storage)))
    if outside.makes_items(owner.storage.derived):
        factory = outside.factory_of(lowering, node, owner)
        return lowering.call(node, Static(collections.defaultdict), (factory, made), {})
    return _as_ordered(made) if is_ordered(owner) else made


@handles(collections.OrderedDict.move_to_end)
def _move_to_end(
    lowering: Lowering,
    node: Any,
    owner: DictRef,
    /,
    key: FrontendValue,
    last: FrontendValue = Static(True),
) -> Static:
    known = keyed.known_key(lowering, node, owner, key)
    contents = lowering.items_in(owner.storage)
    if known not in contents:
        lowering.raises(node, KeyError(known), f"the dict has no key {known!r}")
    moved = {own: item for own, item in contents.items() if own == known}
    rest = {own: item for own, item in contents.items() if own not in moved}
    to_end = object_of(lowering, node, last)
    give_items(lowering, node, owner, rest | moved if to_end else moved | rest)
    return Static(None)


@handles(dict.clear)
def _clear(lowering: Lowering, node: Any, owner: DictRef, /) -> Static:
    give_items(lowering, node, owner, {})
    return Static(None)
