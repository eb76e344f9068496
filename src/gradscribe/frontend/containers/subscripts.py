"""Reading items: of arrays, lists, tuples and dicts.

A basic index of an array gives a view of its storage; what is gathered is an array of its own.
"""

from __future__ import annotations

import operator
from typing import Any, NoReturn

import numpy as np

from gradscribe.frontend.containers import index_tricks
from gradscribe.frontend.joins.branches import raise_here
from gradscribe.frontend.kinds import number_classes, presence, ranges, tensors
from gradscribe.frontend.kinds.raised import as_python
from gradscribe.frontend.kinds.static_values import stands_for
from gradscribe.frontend.memory import outside, places, read_only_mappings, sequences
from gradscribe.frontend.memory.aliasing import changing_items
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.state.definitions import NotYetKnownError
from gradscribe.frontend.state.interruptions import MisfitError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import items_at_a_number, protocols
from gradscribe.frontend.structures.indices import Step, step_of
from gradscribe.frontend.structures.keyed import by_computed_key, check_hash, known_key
from gradscribe.frontend.values import texts
from gradscribe.frontend.values.iterations import Range
from gradscribe.frontend.values.values import (
    DictRef,
    FlatRef,
    FrontendValue,
    ListRef,
    ObjectRef,
    Ref,
    Static,
    TupleOf,
    ViewOf,
)
from gradscribe.ir.core import Value
from gradscribe.ir.probing import in_class
from gradscribe.ir.types import INT, Opaque, Scalar
from gradscribe.primitives.control import COPY, GET, STOP_GRADIENT
from gradscribe.primitives.indexing import GATHER
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.primitives.users_code import is_computed_in_c, is_users


@as_python(operator.getitem)
def read_item(
    lowering: Lowering, node: Any, owner: FrontendValue, index: FrontendValue
) -> FrontendValue:
    """`owner[index]`."""
    if isinstance(owner, ObjectRef) and (
        id(owner.target) in lowering.outside.opened
        or not isinstance(index, Static)
        or outside.is_made_by_reading(owner.target, index.value)
    ):
        owner = outside.opened(lowering, owner)
    check_hash(lowering, node, owner, index)
    if (
        isinstance(owner, (TupleOf, ListRef))
        and isinstance(index, Value)
        and unknown.may_run(index)
    ):
        index = unknown.emit(lowering, operator.index, (index,), {}, INT)
    special = index_tricks.joined(lowering, node, owner, index)
    if special is None:
        special = protocols.call(lowering, node, owner, "__getitem__", index_argument(index))
    if special is not None:
        return special
    if isinstance(owner, Value) and isinstance(owner.type, Scalar) and not owner.type.weak:
        return _read_number(lowering, node, owner, index)
    if isinstance(owner, Ref):
        return _read_array(lowering, node, owner, step_to(lowering, node, owner, index))
    makes_items = isinstance(owner, DictRef) and outside.makes_items(owner.storage.derived)
    items = None if makes_items else by_computed_key(lowering, owner, index)
    if items is not None:
        return protocols.call_own(lowering, node, items, "__getitem__", index)
    if isinstance(owner, DictRef):
        return _read_dict(lowering, node, owner, index)
    if isinstance(owner, ViewOf) and not lowering.frame.is_of_package:
        error = TypeError(f"'dict_{owner.kind}' object is not subscriptable")
        lowering.raises(node, error, "", "make a list of it first, as in `list(d.values())[0]`")
    if isinstance(owner, TupleOf):
        return _read_items(lowering, node, owner, owner.items, index)
    if isinstance(owner, ListRef):
        return _read_list(lowering, node, owner, index)
    if isinstance(owner, ObjectRef) and is_computed_in_c(
        in_class(type(owner.target), "__getitem__")
    ):
        return unknown.emit(lowering, operator.getitem, (owner, index), {}, Opaque())
    if isinstance(owner, ObjectRef) and isinstance(index, Static):
        read_only_mappings.note_read(lowering, owner.target, owner.name)
        return outside.item_of_object(lowering, node, owner, index.value)
    place = index_argument(index)
    if stands_for(owner, type):
        own = in_class(owner.value, "__class_getitem__")
        if isinstance(own, classmethod) and is_users(own.__func__):
            method = lowering.attribute(node, owner, "__class_getitem__")
            return lowering.call(node, method, (place,), {})
    if isinstance(owner, Static) and isinstance(place, Static):
        try:
            return Static(owner.value[place.value])
        except (TypeError, LookupError) as error:
            lowering.raises(node, error, f"this item cannot be read: {error}")
    if isinstance(owner, Range):
        return ranges.section(lowering, node, owner, index)
    if unknown.is_opaque(owner) or texts.is_text(owner):
        return unknown.operate(lowering, node, operator.getitem, (owner, index))
    return lowering.unsupported(
        node, "this value cannot be indexed", "index an array, a list, a tuple or a dict"
    )


def index_argument(index: FrontendValue) -> FrontendValue:
    """An index as it is handed to `__getitem__`."""
    if isinstance(index, slice):
        parts = (index.start, index.stop, index.step)
        if all(part is None or isinstance(part, Static) for part in parts):
            return Static(slice(*(None if part is None else part.value for part in parts)))
    return index


def step_to(lowering: Lowering, node: Any, owner: Ref, index: FrontendValue) -> Step:
    """The step from an array to what `[index]` is."""
    step = step_of(lowering, node, index)
    if step[0] is GATHER:
        tensors.refuse_index(lowering, node, owner, step[1]["index"])
    return step


def _read_array(lowering: Lowering, node: Any, owner: Ref, step: Step) -> FrontendValue:
    if step[0] is GATHER:
        return lowering.wrap(lowering.emit(GATHER, {"x": lowering.load(owner), **step[1]}))
    view = part_of(owner, step)
    try:
        value = lowering.load(view)
    except MisfitError as error:
        error.location = lowering.location(node)
        raise
    found: FrontendValue = value if isinstance(value.type, Scalar) else view
    if isinstance(owner, FlatRef) and isinstance(found, Ref):
        found = lowering.wrap(lowering.emit(COPY, {"x": value}))
    return cut(lowering, found) if lowering.modes.cutting else found


def _read_number(
    lowering: Lowering, node: Any, owner: Value, index: FrontendValue
) -> FrontendValue:
    """A NumPy number is indexed as an array without axes; `x[()]` is the number itself."""
    if presence.catches(lowering, TypeError):
        classes = number_classes.possible(lowering, owner)
        if len(classes) > 1:
            number_classes.refuse_several(lowering, node, classes)
    if isinstance(index, TupleOf) and not index.items:
        return owner
    return read_item(lowering, node, _as_array(lowering, node, owner), index)


def _as_array(lowering: Lowering, node: Any, number: Value) -> FrontendValue:

    return lowering.apply_primitive(node, PRIMITIVES[np.array], np.array, (number,), {})


def cut(lowering: Lowering, item: FrontendValue) -> FrontendValue:
    """The value without derivative (`.data`, `.detach()`, the argument of `.item()`)."""
    shared = frozenset({item.storage}) if isinstance(item, Ref) else frozenset()
    return lowering.wrap(lowering.emit(STOP_GRADIENT, {"x": lowering.value(item)}), shared)


def part_of(owner: Ref, step: Step) -> Ref:
    """The part of an array that a step leads to."""
    return Ref(owner.storage, (*owner.path, step))


def _read_dict(
    lowering: Lowering, node: Any, owner: DictRef, index: FrontendValue
) -> FrontendValue:
    key = known_key(lowering, node, owner, index)
    contents = lowering.items_in(owner.storage)
    if key not in contents and outside.makes_items(owner.storage.derived):
        made = lowering.call(node, outside.factory_of(lowering, node, owner), (), {})
        with changing_items(lowering, node, owner.storage):
            lowering.contents[owner.storage] = {**lowering.items_in(owner.storage), key: made}
        return made
    if key not in contents:
        found = protocols.call(lowering, node, owner, "__missing__", index)
        if found is None:
            lowering.raises(node, KeyError(key), f"the dict has no key {key!r}")
        return found
    return contents[key]


def _read_list(
    lowering: Lowering, node: Any, owner: ListRef, index: FrontendValue
) -> FrontendValue:
    contents = lowering.contents[owner.storage]
    if isinstance(contents, tuple):
        return _read_items(lowering, node, owner, contents, index)
    return _read_sequence(lowering, node, owner, index)


def _read_items(
    lowering: Lowering,
    node: Any,
    owner: TupleOf | ListRef,
    items: tuple[FrontendValue, ...],
    index: FrontendValue,
) -> FrontendValue:
    if not items and isinstance(owner, TupleOf) and isinstance(index, Value):
        error = IndexError("tuple index out of range")
        lowering.raises(node, error, f"this item cannot be read: {error}")
    index = items_at_a_number.place_among(lowering, owner, items, index)
    if isinstance(index, slice):
        (section,) = step_of(lowering, node, index)[1]["index"]
        parts = (section.start, section.stop, section.step)
        if not any(isinstance(part, Value) for part in parts):
            try:
                chosen = items[slice(*parts)]
            except (TypeError, ValueError) as error:
                lowering.raises(node, error)
            return sequences.rebuilt(lowering, owner, chosen)
        if isinstance(owner, TupleOf):
            owner = sequences.new_list(lowering, items)
        return sequences.section(lowering, owner, section)
    if isinstance(index, Static):
        is_list = isinstance(owner, ListRef) and not items
        if is_list and lowering.assumed and not lowering.exceptions.attempts:
            _raise_for_empty(lowering)
        try:
            found: FrontendValue
            found = (list(items) if isinstance(owner, ListRef) else items)[index.value]
            return found
        except (IndexError, TypeError) as error:
            lowering.raises(node, error, f"this item cannot be read: {error}")
    held = sequences.new_list(lowering, items)
    sequences.run_time_value(lowering, held)
    return _read_sequence(lowering, node, held, index, owner)


def _read_sequence(
    lowering: Lowering, node: Any, owner: ListRef, index: FrontendValue, original: Any = None
) -> FrontendValue:
    """original: the list itself, where `owner` stands for what it holds now."""
    if isinstance(index, slice):
        (section,) = step_of(lowering, node, index)[1]["index"]
        return sequences.section(lowering, owner, section)
    position = index.value if isinstance(index, Static) else lowering.value(index)
    if lowering.assumed and sequences.is_empty(lowering, owner):
        _raise_for_empty(lowering)
    value = lowering.value(owner)
    item = lowering.emit(GET, {"x": value, "index": position})
    found = lowering.wrap(item, owner.storage.reached)
    if isinstance(found, (Ref, ListRef)):
        found.storage.read_only = owner.storage.read_only
    levels, original = owner.storage.levels, original or owner
    if levels and isinstance(found, (Ref, ListRef)) and isinstance(original, ListRef):
        found.storage.levels = levels - 1
        places.put(lowering, found.storage, original.storage, value, position)
    return found


def _raise_for_empty(lowering: Lowering) -> NoReturn:
    """An item of a list that is empty, as far as is known, on a path: it raises if it is taken. A
    loop that adds items is lowered again."""
    raise_here(lowering, IndexError, "list index out of range")
    raise NotYetKnownError(None, lowering.builder.location)
