"""The items of what is unpacked."""

from __future__ import annotations

import enum
import operator
from typing import Any

from gradscribe.frontend.containers import iteration as iterations
from gradscribe.frontend.containers import iteration_items
from gradscribe.frontend.containers.lengths import raise_for_length
from gradscribe.frontend.containers.subscripts import read_item
from gradscribe.frontend.kinds.static_values import stands_for
from gradscribe.frontend.memory import at_once, iterators, outside
from gradscribe.frontend.memory.sequences import known_items
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import instances
from gradscribe.frontend.values.iterations import ItemsOf, Iteration
from gradscribe.frontend.values.values import (
    DictRef,
    FlatRef,
    FrontendValue,
    ListRef,
    OneShot,
    Ref,
    Static,
    TupleOf,
)
from gradscribe.ir.affine import Affine
from gradscribe.ir.core import Value
from gradscribe.ir.types import Array, Opaque, Sequence, Tuple


def unpacked(
    lowering: Lowering, node: Any, item: FrontendValue, expected: int | None = None
) -> tuple[Any, ...]:
    """The items of a value whose number of items is known, or expected: then it is compared at run
    time."""
    if isinstance(item, (OneShot, FlatRef)):
        with at_once.taking(lowering, node):
            return unpacked(lowering, node, iterators.taken(lowering, node, item), expected)
    item = outside.opened(lowering, item)
    if instances.is_object(item):
        item = iterations.all_taken(lowering, node, iterations.over(lowering, node, item))
        return unpacked(lowering, node, _taken_list(item), expected)
    if isinstance(item, TupleOf):
        return item.items
    items = known_items(lowering, item)
    if items is not None:
        return items
    if isinstance(item, ListRef):
        type_ = lowering.value_in(item.storage).type
        length = type_.length if isinstance(type_, Sequence) else None
        return _counted_items(lowering, node, item, length, expected)
    if isinstance(item, DictRef):
        return tuple(map(Static, lowering.items_in(item.storage)))
    if stands_for(item, _STATIC_ITEMS):
        return tuple(Static(i) for i in item.value)
    if isinstance(item, Iteration):
        return iteration_items.unrolled(lowering, node, item)
    if isinstance(item, Ref):
        type_ = lowering.load(item).type
        assert isinstance(type_, Array)
        if not type_.rank:
            error = TypeError("iteration over a 0-d array")
            what = "an array without axes has no items"
            lowering.raises(node, error, what, "use the array itself, or `np.atleast_1d`")
        return _counted_items(lowering, node, item, type_.dims[0], expected)
    if isinstance(item, Value) and isinstance(item.type, Tuple):
        return known_items(lowering, lowering.wrap(item)) or ()
    if unknown.is_opaque(item) and expected is not None:
        return _of_object(lowering, node, item, expected)
    iterations.raise_for_number(lowering, node, item)
    return lowering.unsupported(
        node, "the number of items is not known when the function is compiled", "index instead"
    )


def _taken_list(item: Iteration) -> FrontendValue:
    """The list that an iteration runs over from its first item to its last, or the iteration."""
    return item.owner if isinstance(item, ItemsOf) and not item.reversed else item


def _of_object(lowering: Lowering, node: Any, item: Value, expected: int) -> tuple[Any, ...]:
    """The items of an object that is only known at run time."""
    items = unknown.emit(lowering, list, (item,), {}, Opaque(list))
    _compare_length(lowering, node, items, expected)
    numbers = map(Static, range(expected))
    return tuple(
        unknown.emit(lowering, operator.getitem, (items, n), {}, Opaque()) for n in numbers
    )


def is_counted(lowering: Lowering, item: FrontendValue) -> bool:
    """Whether `unpacked` can tell the items one by one, and they are not many."""
    contents = lowering.contents[item.storage] if isinstance(item, ListRef) else None
    type_ = lowering.load(item).type if isinstance(item, Ref) else getattr(contents, "type", None)
    if isinstance(type_, Sequence):
        length = type_.length
    elif isinstance(type_, Array) and type_.rank:
        length = type_.dims[0]
    else:
        return not isinstance(item, OneShot)
    count = None if length is None else lowering.builder.facts.sampled(length)
    return count is not None and count <= _MANY


_MANY = 32
"""So many items are followed one by one in a list display."""

_STATIC_ITEMS = (tuple, list, range, str, set, frozenset, enum.EnumMeta)


def _counted_items(
    lowering: Lowering, node: Any, item: Ref | ListRef, length_: Affine | None, expected: int | None
) -> tuple[Any, ...]:
    """The items of a list or array: as many as there are in the specializing call."""
    count = None if length_ is None else lowering.builder.facts.sampled(length_)
    if count is None and expected is None:
        what = "the number of items is not known when the function is compiled"
        lowering.unsupported(node, what, "index instead")
    if count is None:
        count = expected or 0
        _compare_length(lowering, node, item, count)
    return tuple(read_item(lowering, node, item, Static(i)) for i in range(count))


def divided(lowering: Lowering, node: Any, item: ListRef, first: int, last: int) -> tuple[Any, ...]:
    """The first items of a list whose length only the run tells, the list of those in the middle,
    and the last ones."""
    least = first + last
    what = f"not enough values to unpack (expected at least {least})"
    raise_for_length(lowering, node, item, operator.lt, least, what)
    ends = [*range(first), *range(-last, 0)]
    items = [read_item(lowering, node, item, Static(i)) for i in ends]
    bounds = slice(Static(first), Static(-last) if last else None)
    middle = read_item(lowering, node, item, bounds)
    return (*items[:first], middle, *items[first:])


def _compare_length(lowering: Lowering, node: Any, item: FrontendValue, expected: int) -> None:
    """Raise what Python raises where a list or array has another number of items."""
    what = f"expected {expected} values to unpack"
    raise_for_length(lowering, node, item, operator.ne, expected, what)
