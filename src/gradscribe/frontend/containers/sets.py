"""Sets: one that the function never changes is known when it is compiled; others are objects of
the running program, whose items are never differentiated."""

from __future__ import annotations

import operator
from typing import Any

from gradscribe.frontend.containers import object_order
from gradscribe.frontend.containers.run_time_sets import check_items, is_set, place_of
from gradscribe.frontend.memory.iterators import taking
from gradscribe.frontend.objects import construction
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.state.handlers import handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.keyed import refuse_unhashable
from gradscribe.frontend.structures.standard_classes import DistinctItems, hashed
from gradscribe.frontend.values.values import FrontendValue, ListRef, Static, TupleOf, known_objects
from gradscribe.ir.types import BOOL, Opaque

_NO_ITEMS = TupleOf(())


def new_set(lowering: Lowering, node: Any, items: Any) -> FrontendValue:
    """A new set of the items of a list."""
    place = lowering.builder.location and place_of(lowering.builder.location)
    if place in lowering.keyed or object_order.holds_objects(lowering, items):
        return construction.instantiate(lowering, node, DistinctItems, (items,), {})
    if not lowering.frame.source.changes_sets and _known_items(lowering, items) is not None:
        return _known(lowering, node, items, set)
    given = () if lowering.contents[items.storage] == () else (items,)
    return unknown.emit(lowering, set, given, {}, Opaque(set))


def _known_items(lowering: Lowering, items: ListRef) -> list[Any] | None:
    below = lowering.contents[items.storage]
    return known_objects(below) if isinstance(below, tuple) else None


def _known(lowering: Lowering, node: Any, items: ListRef, cls: type) -> Static:
    known = _known_items(lowering, items)
    if known is None:
        lowering.unsupported(
            node,
            "the items of a set must be known when the function is compiled",
            "use a list, or a dict with these keys",
        )
    for item in map(Static, known):
        refuse_unhashable(lowering, node, item)
    return Static(cls(known))


def contains(lowering: Lowering, container: FrontendValue, item: FrontendValue) -> FrontendValue:
    """`item in container`, of an object that is known at run time only."""
    if is_set(container):
        check_items(lowering, container, (item,))
    return unknown.emit(lowering, operator.contains, (container, item), {}, BOOL)


@handles(set)
@taking()
def _set(lowering: Lowering, node: Any, iterable: FrontendValue = _NO_ITEMS, /) -> FrontendValue:
    return new_set(lowering, node, lowering.listed(node, iterable))


@handles(frozenset)
@taking()
def _frozen(lowering: Lowering, node: Any, iterable: FrontendValue = _NO_ITEMS, /) -> Static:
    return _known(lowering, node, lowering.listed(node, iterable), frozenset)


@handles(hashed)
def _hashed(lowering: Lowering, node: Any, item: FrontendValue, /) -> FrontendValue:
    refuse_unhashable(lowering, node, item)
    return item
