"""Stores and reads that meet: of arrays through equal paths, of lists and tuples."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from gradscribe.ir.core import Operation, Value, map_operands
from gradscribe.ir.types import Scalar
from gradscribe.primitives.control import APPEND, GET, ITEM, LIST, POP, SET, TUPLE, ZEROS_LIKE
from gradscribe.primitives.indexing import ACCUMULATE, GETITEM, STORE
from gradscribe.transforms.simplify.algebra import broadcast_source
from gradscribe.transforms.simplify.table import derived, exact

if TYPE_CHECKING:
    from gradscribe.transforms.simplify.rewriter import Rewriter


@derived(STORE, ACCUMULATE)
def store_broadcast(rewriter: Rewriter, operation: Operation) -> Value | None:
    """A store broadcasts by itself."""
    x, value, *rest = operation.operands
    source = broadcast_source(rewriter, value)
    return None if source is None else rewriter.again(operation, x, source, *rest)


@derived(ACCUMULATE)
def accumulate_whole(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Adding to a whole array is an addition; to zeros, the value itself."""
    x, value = operation.operands[:2]
    if operation.attributes["path"] or not rewriter.same_type(value, operation.result):
        return None
    return rewriter.replacement(operation, operator.add, x, value)


@derived(ACCUMULATE)
def accumulate_into_zeros(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Adding to what has just been set to zero is a store."""
    x, *_ = operation.operands
    if not all(isinstance(index.type, Scalar) for index in operation.operands[2:]):
        return None
    if rewriter.made_by(x, ZEROS_LIKE) and rewriter.used_once(x):
        return _store(rewriter, operation, x)
    zeroed = _overwritten(rewriter, operation)
    if zeroed is None or zeroed.primitive is not STORE:
        return None
    stored = rewriter.constant_of(zeroed.operands[1])
    if isinstance(stored, (int, float)) and stored == 0:
        return _store(rewriter, operation, zeroed.operands[0])
    return None


def _store(rewriter: Rewriter, operation: Operation, x: Value) -> Value | None:
    """The store of an operation's value, by its path, in another array."""
    operands = (x, *operation.operands[1:])
    arguments = map_operands(dict(operation.attributes), lambda operand: operands[operand.index])
    result = operation.result
    return rewriter.emit(STORE, arguments, operation, type_=result.type, name=result.name)


@derived(STORE)
def store_again(rewriter: Rewriter, operation: Operation) -> Value | None:
    """A store over a store that nobody has read; a store of what stands there already."""
    x, value = operation.operands[:2]
    if not operation.attributes["path"] and rewriter.same_type(value, operation.result):
        return value
    read = rewriter.made_by(value, GETITEM)
    if read is not None and read.operands[0] is x and _path(read) == _path(operation):
        return x
    overwritten = _overwritten(rewriter, operation)
    return None if overwritten is None else _store(rewriter, operation, overwritten.operands[0])


@derived(GETITEM)
def read_stored(rewriter: Rewriter, operation: Operation) -> Value | None:
    """What was stored is read back, where the store has not converted it."""
    store = rewriter.made_by(operation.operands[0], STORE)
    if store is None or _path(store) != _path(operation):
        return None
    value = store.operands[1]
    return value if rewriter.same_type(value, operation.result) else None


def _overwritten(rewriter: Rewriter, operation: Operation) -> Operation | None:
    """The store just before, through the same path, that nothing but this store sees."""
    x = operation.operands[0]
    before = rewriter.made_by(x, STORE, ACCUMULATE)
    if before is None or not rewriter.used_once(x) or _path(before) != _path(operation):
        return None
    return before


def _path(operation: Operation) -> Any:
    """The path of a store or read, with values in place of operands."""
    if operation.primitive is GETITEM:
        path: Any = ((GETITEM, {"index": operation.attributes["index"]}),)
    else:
        path = operation.attributes["path"]
    return map_operands(path, lambda operand: operation.operands[operand.index])


@exact(ITEM)
def item_of_tuple(rewriter: Rewriter, operation: Operation) -> Value | None:
    made = rewriter.made_by(operation.operands[0], TUPLE)
    if made is None:
        return None
    item: Value = _arguments(made)["items"][operation.attributes["position"]]
    return item if rewriter.same_type(item, operation.result) else None


@exact(GET)
def get_known(rewriter: Rewriter, operation: Operation) -> Value | None:
    """The item that was put in a list: by its display, by `append`, or by assignment."""
    made = rewriter.made_by(operation.operands[0], LIST, APPEND, SET)
    if made is None:
        return None
    index = _arguments(operation)["index"]
    if isinstance(index, Value) and rewriter.constant_of(index) is not None:
        index = rewriter.constant_of(index)
    item = _GET_FROM[made.primitive](_arguments(made), index)
    if item is None or not rewriter.same_type(item, operation.result):
        return None
    return item


def _from_list(arguments: dict[str, Any], index: Any) -> Value | None:
    items = arguments["items"]
    if isinstance(index, int) and -len(items) <= index < len(items):
        item: Value = items[index]
        return item
    return None


def _from_append(arguments: dict[str, Any], index: Any) -> Value | None:
    return arguments["value"] if index == -1 else None


def _from_set(arguments: dict[str, Any], index: Any) -> Value | None:
    return arguments["value"] if index == arguments["index"] else None


_GET_FROM = {LIST: _from_list, APPEND: _from_append, SET: _from_set}


@exact(POP)
def pop_appended(rewriter: Rewriter, operation: Operation) -> Value | None:
    made = rewriter.made_by(operation.operands[0], APPEND)
    if made is None:
        return None
    x: Value = made.operands[0]
    return x if x.type == operation.result.type else None


def _arguments(operation: Operation) -> dict[str, Any]:
    """An operation's arguments with its operands in place."""
    operands = operation.operands
    return map_operands(  # type: ignore[no-any-return]
        dict(operation.attributes), lambda operand: operands[operand.index]
    )
