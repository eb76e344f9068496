"""Stores and reads that meet: of arrays through equal paths, of lists and tuples."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from gradscribe.ir.core import Operation, Value, map_operands
from gradscribe.ir.types import Array, Scalar, Sequence
from gradscribe.primitives.control import APPEND, GET, ITEM, LIST, POP, SET, TUPLE, ZEROS_LIKE
from gradscribe.primitives.indexing import ACCUMULATE, GATHER, GETITEM, READS, STORE, may_repeat
from gradscribe.transforms.passes.simplify.algebra import broadcast_source
from gradscribe.transforms.passes.simplify.table import derived, exact

if TYPE_CHECKING:
    from gradscribe.transforms.passes.simplify.rewriter import Rewriter

_REORDERED = 4
"""How many additions a store may be moved before."""


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


@derived(STORE, ACCUMULATE)
def fill_zeros(rewriter: Rewriter, operation: Operation) -> Value | None:
    """A number in all of an array of zeros is a full array."""
    x, value = operation.operands[:2]
    zeros = rewriter.made_by(x, ZEROS_LIKE)
    if zeros is None or operation.attributes["path"] or not isinstance(value.type, Scalar):
        return None
    return rewriter.replacement(operation, np.full_like, zeros.operands[0], value)


@derived(ACCUMULATE)
def accumulate_into_zeros(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Adding to what has been set to zero is a store. Additions in between come after it: they
    commute, whether or not they meet the same elements."""
    path = _path(operation)
    if may_repeat(path):
        return None
    between: list[Operation] = []
    x = operation.operands[0]
    while rewriter.used_once(x):
        before = rewriter.made_by(x, ACCUMULATE, STORE, ZEROS_LIKE, np.zeros)
        if before is None:
            return None
        if before.primitive is not ACCUMULATE:
            return _store_first(rewriter, operation, before, between[::-1])
        if len(between) == _REORDERED or _path(before) == path:
            return None
        between.append(before)
        x = before.operands[0]
    return None


def _store_first(
    rewriter: Rewriter, operation: Operation, zeros: Operation, between: list[Operation]
) -> Value | None:
    """The operation's value stored in `zeros`, if those are zero where it goes, then the
    additions that stood in between."""
    x = zeros.result
    if zeros.primitive is STORE:
        number = rewriter.constant_of(zeros.operands[1])
        if _path(zeros) != _path(operation) or number is None or number != 0:
            return None
        x = zeros.operands[0]
    result = _store(rewriter, operation, x)
    for addition in between:
        if result is not None:
            result = rewriter.again(addition, result, *addition.operands[1:])
    return result


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
    read = rewriter.made_by(value, GETITEM, GATHER)
    if read is not None and read.operands[0] is x and _path(read) == _path(operation):
        return x
    overwritten = _overwritten(rewriter, operation)
    return None if overwritten is None else _store(rewriter, operation, overwritten.operands[0])


@derived(GETITEM, GATHER)
def read_stored(rewriter: Rewriter, operation: Operation) -> Value | None:
    """What was stored is read back, where the store has not converted it.

    A part of an array that exists only to be stored stays so: it is computed in place.
    """
    x = operation.operands[0]
    store = rewriter.made_by(x, STORE)
    if store is None or _path(store) != _path(operation) or may_repeat(_path(store)):
        return None
    value = store.operands[1]
    in_place = isinstance(value.type, Array) and rewriter.used_once(value)
    if in_place and not rewriter.used_once(x):
        return None
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
    if operation.primitive in READS:
        step = {name: item for name, item in operation.attributes.items() if name != "x"}
        path: Any = ((operation.primitive, step),)
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
    if made.primitive is SET and isinstance(item.type, Sequence):
        return item if rewriter.made_by(item, ZEROS_LIKE) else None  # changed where it is
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
    operands, attributes = operation.operands, dict(operation.attributes)
    arguments: dict[str, Any] = map_operands(attributes, lambda operand: operands[operand.index])
    return arguments
