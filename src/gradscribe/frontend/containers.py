"""The methods of lists and dicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradscribe.frontend import calls
from gradscribe.frontend.lowering import Lowering
from gradscribe.frontend.subscripts import check_store
from gradscribe.frontend.values import DictRef, ListRef, Static, TupleOf
from gradscribe.primitives.control import APPEND, GET, POP

Handler = Callable[[Lowering, Any, tuple[Any, ...], dict[str, Any]], Any]


def _append(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    owner, item = arguments
    check_store(lowering, node, owner.storage, memory=False)
    lowering.stored.add(owner.storage)
    contents = lowering.contents[owner.storage]
    if isinstance(contents, tuple):
        lowering.contents[owner.storage] = (*contents, item)
    else:
        lowering.hold(owner.storage, [item])
        tree = {"x": contents, "value": lowering.value(item)}
        lowering.contents[owner.storage] = lowering.emit(APPEND, tree, name=owner.storage.name)
    return Static(None)


def extend_list(lowering: Lowering, node: Any, owner: ListRef, item: Any) -> None:
    """`owner += item`, `owner.extend(item)`, for items whose number is known."""
    for below in calls.unpacked(lowering, node, item):
        _append(lowering, node, (owner, below), {})


def _extend(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    extend_list(lowering, node, arguments[0], arguments[1])
    return Static(None)


def _pop(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    owner = arguments[0]
    contents = lowering.contents[owner.storage]
    if isinstance(contents, tuple):
        items = list(contents)
        position = calls.static_integer(lowering, node, arguments[1]) if len(arguments) > 1 else -1
        try:
            item = items.pop(position)
        except IndexError as error:
            lowering.unsupported(node, str(error))
        lowering.contents[owner.storage] = tuple(items)
        return item
    if len(arguments) > 1:
        lowering.unsupported(node, "`pop` of a position is not supported on this list")
    item = lowering.emit(GET, {"x": contents, "index": -1})
    lowering.contents[owner.storage] = lowering.emit(POP, {"x": contents}, name=owner.storage.name)
    return lowering.wrap(item)


def _dict_items(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    contents = lowering.contents[arguments[0].storage]
    return TupleOf(tuple(TupleOf((Static(k), v)) for k, v in contents.items()))


def _dict_values(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    return TupleOf(tuple(lowering.contents[arguments[0].storage].values()))


def _dict_keys(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    return TupleOf(tuple(Static(k) for k in lowering.contents[arguments[0].storage]))


def _dict_get(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    default = arguments[2] if len(arguments) > 2 else Static(None)
    return lowering.contents[arguments[0].storage].get(arguments[1].value, default)


LIST_METHODS: dict[str, Handler] = {"append": _append, "extend": _extend, "pop": _pop}
DICT_METHODS: dict[str, Handler] = {
    "items": _dict_items,
    "values": _dict_values,
    "keys": _dict_keys,
    "get": _dict_get,
}

METHODS_OF: dict[type, dict[str, Handler]] = {ListRef: LIST_METHODS, DictRef: DICT_METHODS}
