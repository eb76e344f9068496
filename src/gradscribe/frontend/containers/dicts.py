"""The methods of dicts whose keys are known, and `del` of their items."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from gradscribe.frontend.containers.keyed_dicts import new_dict as made_here
from gradscribe.frontend.containers.lists import LIST_METHODS
from gradscribe.frontend.containers.stores import give_items, store_item
from gradscribe.frontend.memory import iterators, outside
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import keyed, protocols
from gradscribe.frontend.values.values import DictRef, ListRef, ObjectRef, Static, Storage, TupleOf
from gradscribe.ir.probing import has

Handler = Callable[[Lowering, Any, tuple[Any, ...], dict[str, Any]], Any]


def new_dict(lowering: Lowering, items: dict[Any, Any], name: str = "") -> DictRef:
    """A new dict of known keys."""
    storage = Storage(name)
    lowering.contents[storage] = items
    return DictRef(storage)


def dict_of(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`dict(…)`: of a dict, of pairs, of keywords."""
    if len(arguments) == 1 and keyed.is_keyed(arguments[0]):
        made = protocols.call(lowering, node, arguments[0], "copy")
        arguments = ()
    else:
        made = made_here(lowering, node)
    if keyed.is_keyed(made):
        for source in (*arguments, new_dict(lowering, keywords)):
            _enter(lowering, node, made, source)
        return made
    if arguments:
        _fill(lowering, node, made, arguments[0])
    _fill(lowering, node, made, new_dict(lowering, keywords))
    return made


def united(lowering: Lowering, first: DictRef, second: DictRef) -> DictRef:
    """`first | second`."""
    items = (lowering.contents[owner.storage] for owner in (first, second))
    return new_dict(lowering, operator.or_(*items))


def keys_with(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`dict.fromkeys(keys, value)`."""
    keys, value = (*arguments, Static(None))[:2]
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
    pairs = [tuple(lowering.unpacked(node, pair)) for pair in lowering.unpacked(node, source)]
    if any(len(pair) != 2 for pair in pairs):
        lowering.raises(node, ValueError("a dict is made of pairs"))
    return pairs


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
    _pop(lowering, node, (owner, key), {})


def _view(kind: str) -> Handler:
    """`keys`, `values` and `items`."""
    return lambda lowering, node, arguments, keywords: outside.view_of(lowering, arguments[0], kind)


def _get(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    owner, key, *given = arguments
    default = given[0] if given else Static(None)
    items = keyed.by_computed_key(lowering, owner, key)
    if items is not None:
        return protocols.call(lowering, node, items, "get", key, default)
    return lowering.items_in(owner.storage).get(
        keyed.known_key(lowering, node, owner, key), default
    )


def update(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    owner, *sources = arguments
    for source in (*sources, new_dict(lowering, keywords)):
        _fill(lowering, node, owner, source)
    return Static(None)


def _setdefault(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    owner, key, *given = arguments
    known = keyed.known_key(lowering, node, owner, key)
    default = given[0] if given else Static(None)
    contents = lowering.items_in(owner.storage)
    if known not in contents:
        give_items(lowering, node, owner, contents | {known: default})
    return lowering.items_in(owner.storage)[known]


def _pop(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    owner, key, *given = arguments
    known = keyed.known_key(lowering, node, owner, key)
    contents = lowering.items_in(owner.storage)
    if known not in contents:
        if given:
            return given[0]
        lowering.raises(node, KeyError(known), f"the dict has no key {known!r}")
    rest = dict(contents)
    item = rest.pop(known)
    give_items(lowering, node, owner, rest)
    return item


def _pop_last(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`popitem`."""
    (owner,) = arguments
    contents = lowering.items_in(owner.storage)
    if not contents:
        lowering.raises(node, KeyError("popitem(): dictionary is empty"))
    key = next(reversed(contents))
    return TupleOf((Static(key), _pop(lowering, node, (owner, Static(key)), {})))


def _copy(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    return new_dict(lowering, dict(lowering.items_in(arguments[0].storage)))


def _clear(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    give_items(lowering, node, arguments[0], {})
    return Static(None)


DICT_METHODS: dict[str, Handler] = {
    "items": _view("items"),
    "values": _view("values"),
    "keys": _view("keys"),
    "get": _get,
    "update": update,
    "setdefault": _setdefault,
    "pop": _pop,
    "popitem": _pop_last,
    "copy": _copy,
    "clear": _clear,
}
METHODS_OF: dict[type, dict[str, Handler]] = {ListRef: LIST_METHODS, DictRef: DICT_METHODS}
