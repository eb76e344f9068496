"""`len(item)`, and what is raised where a length is another one."""

from __future__ import annotations

from typing import Any

from gradscribe.errors import GradscribeError
from gradscribe.frontend.joins.branches import branch, raise_here
from gradscribe.frontend.kinds import ranges
from gradscribe.frontend.memory import outside, sequences
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import protocols
from gradscribe.frontend.values.iterations import Range
from gradscribe.frontend.values.values import (
    DictRef,
    ListRef,
    Ref,
    Static,
    TupleOf,
    is_number,
)
from gradscribe.ir.core import Value
from gradscribe.ir.types import INT, Array, Opaque, Sequence
from gradscribe.primitives.control import LEN
from gradscribe.primitives.indexing import LENGTH
from gradscribe.primitives.registry import PRIMITIVES


def length(lowering: Lowering, item: Any) -> Any:
    """`len(item)`."""
    item = outside.opened(lowering, item)
    special = protocols.call(lowering, None, item, "__len__")
    if special is not None:
        return special
    if isinstance(item, TupleOf):
        return Static(len(item.items))
    if isinstance(item, Static):
        return Static(len(item.value))
    if isinstance(item, Range):
        return ranges.length(lowering, item)
    value = lowering.contents[item.storage] if isinstance(item, (ListRef, DictRef)) else None
    if isinstance(value, (tuple, dict)):
        return Static(len(value))
    if isinstance(item, ListRef) and sequences.is_empty(lowering, item):
        return Static(0)
    value = lowering.value(item)
    if isinstance(value.type, Array) and value.type.rank:
        known_length = value.type.dims[0].known
        if known_length is not None:
            return Static(known_length)
        return lowering.emit(LENGTH, {"x": value, "axis": 0})
    if isinstance(value.type, Sequence):
        if value.type.length is not None and value.type.length.known is not None:
            return Static(value.type.length.known)
        return lowering.emit(LEN, {"x": value})
    if isinstance(value.type, Opaque):
        return unknown.emit(lowering, len, (value,), {}, INT)
    return None


def has_run_time_length(lowering: Lowering, item: Any) -> bool:
    """Whether this is a list of which only the run tells how many items it has."""
    contents = lowering.contents[item.storage] if isinstance(item, ListRef) else None
    if not isinstance(contents, Value):
        return False
    known = getattr(contents.type, "length", None)
    return known is None or lowering.builder.facts.sampled(known) is None


def raise_for_length(
    lowering: Lowering, node: Any, item: Any, compare: Any, number: int, what: str
) -> None:
    """Raise a ValueError where the number of items compares to `number` in this way."""
    raise_where(lowering, node, compare, (length(lowering, item), Static(number)), what)


def raise_where(
    lowering: Lowering, node: Any, compare: Any, numbers: tuple[Any, Any], what: str
) -> None:
    """Raise a ValueError where two numbers compare in this way."""
    wrong = lowering.apply_primitive(node, PRIMITIVES[compare], compare, numbers, {})
    branch(lowering, wrong, lambda: raise_here(lowering, ValueError, what), lambda: None)


def len_of(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`len(item)`."""
    try:
        result = length(lowering, arguments[0])
    except GradscribeError:
        raise
    except TypeError as error:
        lowering.raises(node, error)
    if result is not None:
        return result
    what = "this value has no length"
    advice = "take the length of an array, a list, a tuple or a dict"
    if is_number(arguments[0]):
        lowering.raises(node, TypeError("a number has no len()"), what, advice)
    if isinstance(arguments[0], Ref):
        lowering.raises(node, TypeError("len() of unsized object"), what, advice)
    return lowering.unsupported(node, what, advice)
