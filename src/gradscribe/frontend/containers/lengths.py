"""`len(item)`, and what is raised where a length is another one."""

from __future__ import annotations

from typing import Any

from gradscribe.errors import GradscribeError
from gradscribe.frontend.joins.branches import branch, raise_here
from gradscribe.frontend.kinds import ranges
from gradscribe.frontend.memory import outside, sequences
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.state.handlers import handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import protocols
from gradscribe.frontend.values.iterations import Range
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
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


def length(lowering: Lowering, item: FrontendValue, node: Any = None) -> FrontendValue:
    """`len(item)`."""
    node = lowering.frame.statement if node is None else node
    try:
        found = _length(lowering, outside.opened(lowering, item))
    except GradscribeError:
        raise
    except TypeError as error:
        return lowering.raises(node, error)
    if found is not None:
        return found
    what = "this value has no length"
    advice = "take the length of an array, a list, a tuple or a dict"
    if is_number(item):
        lowering.raises(node, TypeError("a number has no len()"), what, advice)
    if isinstance(item, Ref):
        lowering.raises(node, TypeError("len() of unsized object"), what, advice)
    return lowering.unsupported(node, what, advice)


def _length(lowering: Lowering, item: FrontendValue) -> FrontendValue | None:
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


def has_run_time_length(lowering: Lowering, item: FrontendValue) -> bool:
    """Whether this is a list of which only the run tells how many items it has."""
    contents = lowering.contents[item.storage] if isinstance(item, ListRef) else None
    if not isinstance(contents, Value):
        return False
    known = getattr(contents.type, "length", None)
    return known is None or lowering.builder.facts.sampled(known) is None


def raise_for_length(
    lowering: Lowering, node: Any, item: FrontendValue, compare: Any, number: int, what: str
) -> None:
    """Raise a ValueError where the number of items compares to `number` in this way."""
    raise_where(lowering, node, compare, (length(lowering, item), Static(number)), what)


def raise_where(
    lowering: Lowering, node: Any, compare: Any, numbers: tuple[Any, Any], what: str
) -> None:
    """Raise a ValueError where two numbers compare in this way."""
    wrong = lowering.apply_primitive(node, PRIMITIVES[compare], compare, numbers, {})
    branch(
        lowering,
        lowering.value(wrong),
        lambda: raise_here(lowering, ValueError, what),
        lambda: None,
    )


@handles(len)
def _len(lowering: Lowering, node: Any, item: FrontendValue, /) -> FrontendValue:
    return length(lowering, item, node)
