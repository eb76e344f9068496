"""Storing items: to arrays, lists and dicts.

A store makes new contents for the storage; every name that shares the storage sees them.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gradscribe.frontend.containers import object_arrays
from gradscribe.frontend.containers.lists import store_section
from gradscribe.frontend.containers.subscripts import index_argument, part_of, step_to
from gradscribe.frontend.kinds import number_classes
from gradscribe.frontend.kinds.raised import as_python
from gradscribe.frontend.kinds.static_values import stands_for
from gradscribe.frontend.memory import kept_memory, outside, places, sequences
from gradscribe.frontend.memory.aliasing import (
    changing_items,
    check_store,
    refuse_overlap,
    refuse_store,
    shares,
)
from gradscribe.frontend.memory.reach import hold, is_read_only
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.prelude import array_changes
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import items_at_a_number, protocols
from gradscribe.frontend.structures.indices import as_array
from gradscribe.frontend.structures.keyed import check_hash, known_key
from gradscribe.frontend.values.values import (
    DictRef,
    FlatRef,
    FrontendValue,
    ListRef,
    Ref,
    Static,
    Step,
    TupleOf,
)
from gradscribe.ir.core import SliceOf, Value
from gradscribe.ir.types import BOOL, Array, Opaque, Scalar, Type
from gradscribe.primitives.control import SET
from gradscribe.primitives.indexing import ACCUMULATE, GATHER, GETITEM, STORE, may_repeat
from gradscribe.primitives.registry import PRIMITIVES


@as_python(operator.setitem)
def store_item(
    lowering: Lowering, node: Any, owner: FrontendValue, index: FrontendValue, item: FrontendValue
) -> None:
    """`owner[index] = item`."""
    owner = outside.opened(lowering, owner)
    check_hash(lowering, node, owner, index)
    given = index_argument(index), item
    if protocols.call(lowering, node, owner, "__setitem__", *given) is not None:
        return
    if isinstance(owner, FlatRef) and any(shares(lowering, i, owner) for i in (index, item)):
        refuse_overlap(lowering, node)
    if isinstance(owner, FlatRef) and owner.array is not None:
        lowering.inline(node, array_changes.put_flat, (owner.array, index, item))
    elif isinstance(owner, Ref):
        target = part_of(owner, step_to(lowering, node, owner, index))
        store_sequence(lowering, node, target, item)
    elif isinstance(owner, DictRef):
        key = known_key(lowering, node, owner, index)
        give_items(lowering, node, owner, lowering.items_in(owner.storage) | {key: item})
    elif isinstance(owner, ListRef):
        _store_in_list(lowering, node, owner, index, item)
    elif isinstance(owner, TupleOf):
        what = f"'{owner.cls.__name__}' object does not support item assignment"
        lowering.raises(node, TypeError(what))
    elif unknown.is_opaque(owner):
        object_arrays.store(lowering, node, owner, index, item)
    else:
        lowering.unsupported(
            node,
            "items of this value cannot be stored",
            "store to the items of an array, a list or a dict",
        )


def give_items(lowering: Lowering, node: Any, owner: DictRef, items: dict[Any, Any]) -> None:
    """Let a dict have these items from now on."""
    with changing_items(lowering, node, owner.storage):
        lowering.contents[owner.storage] = items


def _store_in_list(
    lowering: Lowering, node: Any, owner: ListRef, index: FrontendValue, item: FrontendValue
) -> None:
    if owner.storage in lowering.loops.sliced:
        refuse_store(lowering, node, owner.storage.name, "the slice that the loop runs over")
    if isinstance(index, slice):
        contents = lowering.contents[owner.storage]
        if isinstance(contents, tuple):
            index = items_at_a_number.place_among(lowering, owner, contents, index)
        store_section(lowering, node, owner, index, item)
        return
    with changing_items(lowering, node, owner.storage):
        lowering.contents[owner.storage] = _with_item(lowering, node, owner, index, item)


def _with_item(
    lowering: Lowering, node: Any, owner: ListRef, index: FrontendValue, item: FrontendValue
) -> Any:
    """The contents of a list after a store."""
    contents = lowering.contents[owner.storage]
    if isinstance(contents, tuple):
        index = items_at_a_number.place_among(lowering, owner, contents, index)
        if stands_for(index, int):
            items = list(contents)
            try:
                items[index.value] = item
            except IndexError as error:
                lowering.unsupported(
                    node, f"this item cannot be stored: {error}", "grow the list with `append`"
                )
            return tuple(items)
    position = index.value if isinstance(index, Static) else lowering.value(index)
    x = sequences.run_time_value(lowering, owner)
    hold(lowering, owner.storage, [item])
    arguments = {"x": x, "index": position, "value": lowering.value(item)}
    return lowering.emit(SET, arguments, name=owner.storage.name)


def store(lowering: Lowering, node: Any, target: Ref, item: FrontendValue) -> None:
    """Store a number or an array to a view (the whole array for an empty path)."""
    is_nested = isinstance(item, (TupleOf, ListRef))
    item = as_array(lowering, node, item)
    refuse_other_step(lowering, node, target, item)
    if is_nested and _rank(lowering, item) > _rank(lowering, target):
        lowering.raises(node, ValueError("setting an array element with a sequence"))
    _change(lowering, node, STORE, target, lowering.value(item))


def store_sequence(lowering: Lowering, node: Any, target: Ref, item: FrontendValue) -> None:
    """`target[...] = item`. Of a sequence that has the shape of a view, NumPy stores the items one
    after another: what is a view of the same memory is read after those before it are stored."""
    is_gathered = any(step is GATHER for step, *_ in target.path)
    if is_gathered or not _holds_views(lowering, item, target):
        store(lowering, node, target, item)
        return
    whole, items = as_array(lowering, node, item), sequences.known_items(lowering, item)
    has_shape = _has_shape(lowering, whole, target)
    if has_shape is False:
        store(lowering, node, target, whole)
    elif not has_shape or items is None:
        refuse_overlap(lowering, node)
    else:
        for number, one in enumerate(items):
            row = part_of(target, step_to(lowering, node, target, Static(number)))
            _refuse_unless_known(lowering, node, one, row)
            store_sequence(lowering, node, row, one)


def _refuse_unless_known(lowering: Lowering, node: Any, item: FrontendValue, target: Ref) -> None:
    """Refuse to store what may be a view of an array, and may be a copy."""
    is_sequence = isinstance(item, (TupleOf, ListRef))
    is_view = isinstance(item, Ref) and item.storage is target.storage
    if not is_sequence and not is_view and shares(lowering, item, target):
        refuse_overlap(lowering, node)


def _holds_views(lowering: Lowering, item: FrontendValue, target: Ref) -> bool:
    """Whether this is a sequence of arrays, some of which may share memory with an array."""
    is_sequence = isinstance(item, (TupleOf, ListRef))
    of_arrays = is_sequence and not sequences.holds_numbers(lowering, item)
    return of_arrays and shares(lowering, item, target)


def _has_shape(lowering: Lowering, item: FrontendValue, target: Ref) -> bool | None:
    """Whether an array has the very shape of a view, so that it is not broadcast to that; None
    where that is not known."""
    given, own = lowering.value(item).type, lowering.load(target).type
    if not isinstance(given, Array) or not isinstance(own, Array) or given.rank != own.rank:
        return False
    pairs = zip(given.dims, own.dims, strict=True)
    agree = [lowering.builder.facts.equal(*pair) for pair in pairs]
    return False if False in agree else None if None in agree else True


def refuse_other_step(lowering: Lowering, node: Any, target: Ref, item: FrontendValue) -> None:
    """Refuse to store a slice of an array in another slice of it, with another step: NumPy goes
    from one end to the other, and may read what it has stored."""
    if not isinstance(item, Ref) or item.storage is not target.storage:
        return
    path, taken = target.path, item.path
    if not path or not taken or path[:-1] != taken[:-1] or _rank(lowering, item) != 1:
        return
    given, stored = _only_slice(taken[-1]), _only_slice(path[-1])
    if given is None or stored is None:
        return
    steps = [1 if part.step is None else part.step for part in (given, stored)]
    if not all(isinstance(one, int) for one in steps) or steps[0] * steps[1] < 0:
        return
    if steps[0] == steps[1] or (given.start == stored.start and abs(steps[0]) > abs(steps[1])):
        return
    lowering.unsupported(
        node,
        "this stores a slice of an array in another slice of it, with another step: NumPy may read "
        "items that it has stored already",
        "store a copy: `.copy()`",
    )


def _only_slice(step: Step) -> SliceOf | None:
    """The slice of a step that takes a slice along the only axis that it leaves."""
    index = step[1].get("index", ())
    slices = [one for one in index if isinstance(one, SliceOf)]
    others = (one for one in index if one is not Ellipsis)
    return slices[0] if len(slices) == 1 and all(one is slices[0] for one in others) else None


def _rank(lowering: Lowering, item: FrontendValue) -> int:
    rank: int = getattr(lowering.value(item).type, "rank", 0)
    return rank


def _augmented(target: Any, callee: Any, item: FrontendValue) -> None:
    """What Python does for `target op= item`, to an example."""
    target[...] = callee(target, item)


@as_python(_augmented)
def augment(lowering: Lowering, node: Any, target: Ref, callee: Any, item: FrontendValue) -> None:
    """`target op= item` for a view of an array, in place as NumPy does it; for one element, or
    gathered ones, by reading, computing and storing."""
    item = as_array(lowering, node, item)
    if callee is operator.matmul and _rank(lowering, item) < 2:
        lowering.raises(node, ValueError("`@=` takes an array with at least two axes"))
    value, old = lowering.value(item), lowering.load(target)
    if isinstance(old.type, Array):
        check_dtype(lowering, node, target, value.type)
        if callee is not operator.matmul and _rank(lowering, item) > old.type.rank:
            what = "non-broadcastable output operand: it has fewer axes than what it is changed by"
            lowering.raises(node, ValueError(what))
    steps = [step[:2] for step in target.path]
    keeps = 2 <= _dtype_kind(old.type) >= _dtype_kind(value.type)
    with lowering.exceptions.storing_partly():  # a `FloatingPointError` comes when all is stored
        if callee in (operator.add, operator.sub) and keeps and not may_repeat(tuple(steps)):
            accumulate(lowering, node, target, callee, item)
            return
        primitive = PRIMITIVES[callee]
        names = list(primitive.signature.parameters) if primitive.signature else ["x", "y"]
        result = lowering.emit(primitive, {names[0]: old, names[1]: value}, callee)
        if isinstance(old.type, Array):
            check_dtype(lowering, node, target, result.type)
        _change(lowering, node, STORE, target, result)


def accumulate(
    lowering: Lowering, node: Any, target: Ref, callee: Any, item: FrontendValue
) -> None:
    """Add to a view (or subtract from it); where a gathered element comes twice, twice."""
    value = lowering.value(as_array(lowering, node, item))
    check_dtype(lowering, node, target, value.type)
    if callee is operator.sub:
        value = lowering.emit(PRIMITIVES[operator.neg], {"x": value}, operator.neg)
    _change(lowering, node, ACCUMULATE, target, value)


def _dtype_kind(type_: Type) -> int:
    """bool, integer, floating, complex as 0 to 3."""
    kind = np.dtype(getattr(type_, "dtype", "O")).kind
    return "bifc".find(kind.replace("u", "i"))


def check_dtype(lowering: Lowering, node: Any, target: Ref, item: Type) -> None:
    """Refuse what NumPy refuses: in place, a result must fit the dtype of the array."""
    if not isinstance(item, (Array, Scalar)):
        return
    contents = lowering.value_in(target.storage)
    assert isinstance(contents.type, Array)
    dtype = contents.type.dtype
    if isinstance(item, Scalar) and item.weak:
        fits = _dtype_kind(item) <= _dtype_kind(contents.type)
    else:
        fits = np.can_cast(item.dtype, dtype, "same_kind")
    if not fits:
        lowering.unsupported(
            node,
            f"NumPy does not store a {item.dtype} result in an array of {dtype} in place",
            "convert the array first, as in `a = a.astype(float)`",
            python=TypeError,
        )


def _change(lowering: Lowering, node: Any, primitive: Any, target: Ref, value: Value) -> None:
    storage = target.storage
    if is_read_only(target):
        lowering.unsupported(
            node, "this array is read-only", "make a copy of it (`.copy()`)", python=ValueError
        )
    check_store(lowering, node, storage)
    kept_memory.refuse_store(lowering, node, storage)
    if isinstance(value.type, Array) and not value.type.rank:
        value = _as_element(lowering, target, value)
    value = unknown.as_it_is(lowering, value)
    path = tuple((step, arguments) for step, arguments, _ in target.path)
    contents = lowering.value_in(storage)
    if _is_floating(value) and number_classes.may_hold_integers(lowering, contents):
        _refuse_integers(lowering, contents)
    with places.changing(lowering, storage):
        lowering.contents[storage] = lowering.emit(
            primitive,
            {"x": contents, "value": value, "path": path},
            name=storage.name or contents.name,
        )
    lowering.changes.stored.add(storage)


def _is_floating(value: Value) -> bool:
    return isinstance(value.type, (Array, Scalar)) and np.dtype(value.type.dtype).kind in "fc"


def _refuse_integers(lowering: Lowering, array: Value) -> None:
    """Refuse at run time an array of integers, which cuts off what is stored to it, where it is
    compiled as one of floats."""
    found = unknown.emit(lowering, getattr, (array, Static("dtype")), {}, Opaque(np.dtype))
    assert isinstance(array.type, Array)
    dtype = Static(np.dtype(array.type.dtype))
    is_same = unknown.emit(lowering, operator.eq, (found, dtype), {}, BOOL)
    what = "numbers are stored to an array of integers, which cuts them off"
    lowering.check(lowering.value(is_same), what, "make it of floats")


def _as_element(lowering: Lowering, target: Ref, value: Value) -> Value:
    """An array without axes as the number that it is, where one element is stored to."""
    if isinstance(lowering.load(target).type, Array):
        return value
    return lowering.emit(GETITEM, {"x": value, "index": ()})
