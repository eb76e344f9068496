"""New lists made of others: displays, `x * n`, `x + y`, slices.

A list of few items is followed item by item; one of many, or of a number that is known only at
run time, is one IR value. Either way the new list holds the very objects that the old one does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradscribe.frontend.memory.reach import hold
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values import texts
from gradscribe.frontend.values.values import (
    ALL,
    FrontendValue,
    ListRef,
    Ref,
    Static,
    Storage,
    TupleOf,
    is_number,
)
from gradscribe.ir.core import Primitive, SliceOf, Value
from gradscribe.ir.types import Never, Scalar, Sequence, Tuple, Type
from gradscribe.primitives.lists import JOIN, REPEAT, SECTION

_FEW = 16
"""So many items of `x * n` are followed one by one."""


def new_list(lowering: Lowering, items: tuple[FrontendValue, ...], name: str = "") -> ListRef:
    """A new list of known structure."""
    storage = Storage(name, levels=ALL)
    lowering.contents[storage] = items
    return ListRef(storage)


def run_time_value(lowering: Lowering, owner: ListRef) -> Value:
    """The IR value of a list, which holds its items as objects from now on."""
    contents = lowering.contents[owner.storage]
    if isinstance(contents, tuple):
        hold(lowering, owner.storage, contents, before=True)
    return lowering.value(owner)


def known_items(lowering: Lowering, item: FrontendValue) -> tuple[FrontendValue, ...] | None:
    """The items of a tuple or list of known structure; None of anything else."""
    if isinstance(item, TupleOf):
        return item.items
    contents = lowering.contents[item.storage] if isinstance(item, ListRef) else None
    return contents if isinstance(contents, tuple) else None


def is_empty(lowering: Lowering, owner: Ref | ListRef) -> bool:
    """Whether a run-time list is known to have no items."""
    return isinstance(_item_type(lowering, owner), Never)


def holds_numbers(lowering: Lowering, item: FrontendValue) -> bool:
    """Whether this is a run-time list of numbers or strings, or of tuples of them: Python can
    search it."""
    type_ = _item_type(lowering, item)
    return type_ is not None and _is_of_numbers(type_)


def _item_type(lowering: Lowering, item: FrontendValue) -> Type | None:
    """The type of the items of a run-time list; None of anything else."""
    contents = lowering.contents[item.storage] if isinstance(item, ListRef) else None
    type_ = contents.type if isinstance(contents, Value) else None
    return type_.item if isinstance(type_, Sequence) else None


def _is_of_numbers(type_: Type) -> bool:
    if isinstance(type_, Tuple):
        return all(map(_is_of_numbers, type_.items))
    return isinstance(type_, Scalar) or type_ == texts.TEXT


def rebuilt(
    lowering: Lowering, like: FrontendValue, items: tuple[FrontendValue, ...]
) -> TupleOf | ListRef:
    """A tuple or list, as `like` is one, of these items."""
    return TupleOf(items) if isinstance(like, TupleOf) else new_list(lowering, items)


def repeated(
    lowering: Lowering, node: Any, owner: FrontendValue, count: FrontendValue
) -> TupleOf | ListRef:
    """`owner * count`, or the other way round."""
    if not isinstance(owner, (TupleOf, ListRef)):
        owner, count = count, owner
    items, n = known_items(lowering, owner), count.value if isinstance(count, Static) else count
    if items is not None and isinstance(n, int):
        is_short = len(items) * n <= _FEW
        if is_short or isinstance(owner, TupleOf) or not all(map(is_number, items)):
            return rebuilt(lowering, owner, items * n)
    if not isinstance(owner, ListRef) or not is_number(count):
        lowering.unsupported(node, "how often this is repeated is not known", "make it a list")
    return _made_of(lowering, (owner,), REPEAT, {"x": lowering.value(owner), "n": n})


def joined(lowering: Lowering, left: FrontendValue, right: FrontendValue) -> TupleOf | ListRef:
    """`left + right` of two tuples or two lists."""
    first, second = known_items(lowering, left), known_items(lowering, right)
    if first is not None and second is not None:
        return rebuilt(lowering, left, first + second)
    arguments = {"x": lowering.value(left), "y": lowering.value(right)}
    owners = tuple(item for item in (left, right) if isinstance(item, ListRef))
    return _made_of(lowering, owners, JOIN, arguments)


def made_list(item: FrontendValue) -> ListRef:
    """What a function of the prelude gives that makes a list."""
    assert isinstance(item, ListRef)
    return item


def section(lowering: Lowering, owner: ListRef, index: SliceOf) -> ListRef:
    """`owner[index]` for a slice that is known at run time only."""
    arguments = {"x": lowering.value(owner), "index": index}
    made = _made_of(lowering, (owner,), SECTION, arguments)
    made.storage.part_of = owner, index
    return made


def _made_of(
    lowering: Lowering,
    owners: tuple[ListRef, ...],
    primitive: Primitive,
    arguments: Mapping[str, Any],
) -> ListRef:
    value = lowering.emit(primitive, arguments)
    made = lowering.run_time_list(value)
    assert isinstance(value.type, Sequence)
    if isinstance(value.type.item, Scalar):
        made.storage.levels = ALL
        return made
    for owner in owners:
        made.storage.holds |= owner.storage.reached
        hold(lowering, made.storage, known_items(lowering, owner) or ())
    made.storage.levels = owners[0].storage.levels if primitive is SECTION else 0
    return made
