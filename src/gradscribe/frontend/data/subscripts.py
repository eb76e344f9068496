"""Reading and storing items: of arrays, lists, tuples and dicts.

A store makes new contents for the storage; every name that shares the storage sees them. A
store is refused where another live value may or may not share the memory.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, NoReturn

import gast
import numpy as np

from gradscribe.errors import AliasingError
from gradscribe.frontend import outside, wording
from gradscribe.frontend.calls import opaque, tensors, texts
from gradscribe.frontend.calls.definitions import NotYetKnownError
from gradscribe.frontend.data import index_tricks, places, protocols, ranges, sequences
from gradscribe.frontend.data.indices import Step, as_array, step_of
from gradscribe.frontend.data.keyed import by_computed_key, known_key
from gradscribe.frontend.lowering import Lowering, MisfitError
from gradscribe.frontend.memory import hold, is_read_only
from gradscribe.frontend.values import (
    DictRef,
    InstanceRef,
    Iteration,
    ListRef,
    ObjectRef,
    Ref,
    Static,
    Storage,
    TupleOf,
    may_hold,
    may_overlap,
)
from gradscribe.ir.core import Value
from gradscribe.ir.types import Array, Never, Scalar, Sequence, Type
from gradscribe.primitives.control import GET, SET, STOP_GRADIENT
from gradscribe.primitives.indexing import ACCUMULATE, GATHER, GETITEM, STORE, may_repeat
from gradscribe.primitives.registry import PRIMITIVES


def read_item(lowering: Lowering, node: Any, owner: Any, index: Any) -> Any:
    """`owner[index]`."""
    if isinstance(owner, ObjectRef) and (
        id(owner.target) in lowering.opened or not isinstance(index, Static)
    ):
        owner = outside.opened(lowering, owner)
    special = index_tricks.joined(lowering, node, owner, index)
    if special is None:
        special = protocols.call(lowering, node, owner, "__getitem__", _as_argument(index))
    if special is not None:
        return special
    if isinstance(owner, Value) and isinstance(owner.type, Scalar) and not owner.type.weak:
        return _read_number(lowering, node, owner, index)
    if isinstance(owner, Ref):
        return _read_array(lowering, node, owner, _step(lowering, node, owner, index))
    items = by_computed_key(lowering, owner, index)
    if items is not None:
        return protocols.call(lowering, node, items, "__getitem__", index)
    if isinstance(owner, DictRef):
        key = known_key(lowering, node, owner, index)
        contents = lowering.contents[owner.storage]
        if key not in contents:
            lowering.raises(node, KeyError(key), f"the dict has no key {key!r}")
        return contents[key]
    if isinstance(owner, TupleOf):
        return _read_items(lowering, node, owner, owner.items, index)
    if isinstance(owner, ListRef):
        contents = lowering.contents[owner.storage]
        if isinstance(contents, tuple):
            return _read_items(lowering, node, owner, contents, index)
        return _read_sequence(lowering, node, owner, index)
    if isinstance(owner, ObjectRef) and isinstance(index, Static):
        return outside.item_of_object(lowering, node, owner, index.value)
    if isinstance(owner, Static) and isinstance(index, Static):
        try:
            return Static(owner.value[index.value])
        except (TypeError, LookupError) as error:
            lowering.raises(node, error, f"this item cannot be read: {error}")
    if isinstance(owner, Iteration) and owner.kind == "range":
        return ranges.section(lowering, node, owner, index)
    if opaque.is_opaque(owner) or texts.is_text(owner):
        return opaque.operate(lowering, node, operator.getitem, (owner, index))
    return lowering.unsupported(
        node, "this value cannot be indexed", "index an array, a list, a tuple or a dict"
    )


def _as_argument(index: Any) -> Any:
    """An index as it is handed to `__getitem__`."""
    if isinstance(index, slice):
        parts = (index.start, index.stop, index.step)
        if all(part is None or isinstance(part, Static) for part in parts):
            return Static(slice(*(None if part is None else part.value for part in parts)))
    return index


def _step(lowering: Lowering, node: Any, owner: Ref, index: Any) -> Step:
    """The step from an array to what `[index]` is."""
    step = step_of(lowering, node, index)
    if step[0] is GATHER:
        tensors.refuse_index(lowering, node, owner, step[1]["index"])
    return step


def _read_array(lowering: Lowering, node: Any, owner: Ref, step: Step) -> Any:
    if step[0] is GATHER:
        return lowering.wrap(lowering.emit(GATHER, {"x": lowering.load(owner), **step[1]}))
    view = part_of(owner, step)
    try:
        value = lowering.load(view)
    except MisfitError as error:
        error.location = lowering.location(node)
        raise
    found = value if isinstance(value.type, Scalar) else view
    return cut(lowering, found) if lowering.cutting else found


def _read_number(lowering: Lowering, node: Any, owner: Value, index: Any) -> Any:
    """A NumPy number is indexed as an array without axes; `x[()]` is the number itself."""
    if isinstance(index, TupleOf) and not index.items:
        return owner
    return read_item(lowering, node, _as_array(lowering, node, owner), index)


def _as_array(lowering: Lowering, node: Any, number: Value) -> Any:
    from gradscribe.frontend.calls.application import apply_primitive

    return apply_primitive(lowering, node, PRIMITIVES[np.array], np.array, (number,), {})


def cut(lowering: Lowering, item: Any) -> Any:
    """The value without derivative (`.data`, `.detach()`, the argument of `.item()`)."""
    shared = frozenset({item.storage}) if isinstance(item, Ref) else frozenset()
    return lowering.wrap(lowering.emit(STOP_GRADIENT, {"x": lowering.value(item)}), shared)


def part_of(owner: Ref, step: Step) -> Ref:
    """The part of an array that a step leads to."""
    return Ref(owner.storage, (*owner.path, step))


def _read_items(
    lowering: Lowering, node: Any, owner: Any, items: tuple[Any, ...], index: Any
) -> Any:
    if isinstance(index, slice):
        (section,) = step_of(lowering, node, index)[1]["index"]
        parts = (section.start, section.stop, section.step)
        if not any(isinstance(part, Value) for part in parts):
            return sequences.rebuilt(lowering, owner, items[slice(*parts)])
        if isinstance(owner, TupleOf):
            owner = sequences.new_list(lowering, items)
        return sequences.section(lowering, owner, section)
    if isinstance(index, Static):
        is_list = isinstance(owner, ListRef) and not items
        if is_list and lowering.assumed and not lowering.attempts:
            _raise_for_empty(lowering)
        try:
            return items[index.value]
        except (IndexError, TypeError) as error:
            lowering.raises(node, error, f"this item cannot be read: {error}")
    held = sequences.new_list(lowering, items)
    sequences.run_time_value(lowering, held)
    return _read_sequence(lowering, node, held, index, owner)


def _read_sequence(
    lowering: Lowering, node: Any, owner: ListRef, index: Any, original: Any = None
) -> Any:
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
    from gradscribe.frontend.control.branches import raise_here

    raise_here(lowering, IndexError, "list index out of range")
    raise NotYetKnownError(None, lowering.builder.location)


def store_item(lowering: Lowering, node: Any, owner: Any, index: Any, item: Any) -> None:
    """`owner[index] = item`."""
    owner = outside.opened(lowering, owner)
    if protocols.call(lowering, node, owner, "__setitem__", _as_argument(index), item) is not None:
        return
    if isinstance(owner, Ref):
        store(lowering, node, part_of(owner, _step(lowering, node, owner, index)), item)
    elif isinstance(owner, DictRef):
        key = known_key(lowering, node, owner, index)
        lowering.stored.add(owner.storage)
        lowering.contents[owner.storage] = lowering.contents[owner.storage] | {key: item}
    elif isinstance(owner, ListRef):
        _store_in_list(lowering, node, owner, index, item)
    elif isinstance(owner, TupleOf):
        what = f"'{owner.cls.__name__}' object does not support item assignment"
        lowering.raises(node, TypeError(what))
    elif opaque.is_opaque(owner):
        from gradscribe.frontend.calls import object_arrays

        object_arrays.store(lowering, node, owner, index, item)
    else:
        lowering.unsupported(
            node,
            "items of this value cannot be stored",
            "store to the items of an array, a list or a dict",
        )


def _store_in_list(lowering: Lowering, node: Any, owner: ListRef, index: Any, item: Any) -> None:
    check_store(lowering, node, owner.storage, memory=False)
    if owner.storage in lowering.sliced:
        _refuse(lowering, node, owner.storage.name, "the slice that the loop runs over")
    contents = lowering.contents[owner.storage]
    if isinstance(contents, tuple) and isinstance(index, Static) and isinstance(index.value, int):
        items = list(contents)
        try:
            items[index.value] = item
        except IndexError as error:
            lowering.unsupported(
                node, f"this item cannot be stored: {error}", "grow the list with `append`"
            )
        lowering.stored.add(owner.storage)
        lowering.contents[owner.storage] = tuple(items)
        return
    if isinstance(index, slice):
        from gradscribe.frontend.data.containers import store_section

        store_section(lowering, node, (owner, index, item), {})
        return
    position = index.value if isinstance(index, Static) else lowering.value(index)
    with places.changing(lowering, owner.storage, items=True):
        x = sequences.run_time_value(lowering, owner)
        hold(lowering, owner.storage, [item])
        arguments = {"x": x, "index": position, "value": lowering.value(item)}
        lowering.contents[owner.storage] = lowering.emit(SET, arguments, name=owner.storage.name)


def store(lowering: Lowering, node: Any, target: Ref, item: Any) -> None:
    """Store a number or an array to a view (the whole array for an empty path)."""
    item = as_array(lowering, node, item)
    _change(lowering, node, STORE, target, lowering.value(item))


def augment(lowering: Lowering, node: Any, target: Ref, callee: Any, item: Any) -> None:
    """`target op= item` for a view of an array, in place as NumPy does it; for one element, or
    gathered ones, by reading, computing and storing."""
    item = as_array(lowering, node, item)
    value, old = lowering.value(item), lowering.load(target)
    if isinstance(old.type, Array):
        check_dtype(lowering, node, target, value.type)
    steps = [step[:2] for step in target.path]
    keeps = 2 <= _dtype_kind(old.type) >= _dtype_kind(value.type)
    if callee in (operator.add, operator.sub) and keeps and not may_repeat(tuple(steps)):
        accumulate(lowering, node, target, callee, item)
        return
    primitive = PRIMITIVES[callee]
    names = list(primitive.signature.parameters) if primitive.signature else ["x", "y"]
    result = lowering.emit(primitive, {names[0]: old, names[1]: value}, callee)
    if isinstance(old.type, Array):
        check_dtype(lowering, node, target, result.type)
    _change(lowering, node, STORE, target, result)


def accumulate(lowering: Lowering, node: Any, target: Ref, callee: Any, item: Any) -> None:
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
    contents: Value = lowering.contents[target.storage]
    assert isinstance(contents.type, Array)
    dtype = contents.type.dtype
    kinds = "biufc"
    kind, given = (np.dtype(name).kind for name in (dtype, item.dtype))
    if kinds.index(given.replace("u", "i")) > kinds.index(kind):
        lowering.unsupported(
            node,
            f"NumPy does not store a {item.dtype} result in an array of {dtype} in place",
            "convert the array first, as in `a = a.astype(float)`",
        )


def _change(lowering: Lowering, node: Any, primitive: Any, target: Ref, value: Value) -> None:
    storage = target.storage
    if is_read_only(target):
        lowering.unsupported(node, "this array is read-only", "make a copy of it (`.copy()`)")
    check_store(lowering, node, storage)
    if isinstance(value.type, Array) and not value.type.rank:
        value = _as_element(lowering, target, value)
    path = tuple((step, arguments) for step, arguments, _ in target.path)
    contents: Value = lowering.contents[storage]
    with places.changing(lowering, storage):
        lowering.contents[storage] = lowering.emit(
            primitive,
            {"x": contents, "value": value, "path": path},
            name=storage.name or contents.name,
        )
    lowering.stored.add(storage)


def _as_element(lowering: Lowering, target: Ref, value: Value) -> Value:
    """An array without axes as the number that it is, where one element is stored to."""
    if isinstance(lowering.load(target).type, Array):
        return value
    return lowering.emit(GETITEM, {"x": value, "index": ()})


def check_store(lowering: Lowering, node: Any, storage: Storage, memory: bool = True) -> None:
    """Refuse a store to memory that another live value may share, if that cannot be known.

    memory: whether the elements of an array change; where a list gets another item, only that
    list does, and those that may hold it.
    """
    if storage in lowering.protected:
        what = "this changes what a function returned that remembers its results"
        lowering.unsupported(node, what, "change a copy of it")
    if places.is_settled(lowering, storage):
        places.open_list(lowering, lowering.places[storage].owner)
    root, depth = places.root(lowering, storage), _depth(lowering, storage)
    for name, bound in _live(lowering):
        for part in _parts(lowering, bound, ()):
            other = part.storage
            is_list = isinstance(lowering.contents[other], Value)  # else its parts come, too
            ambiguous = other is not storage and (
                may_overlap(storage, other) or (is_list and may_hold(other, storage))
            )
            if ambiguous and not memory and depth is not None:
                levels = _depth(lowering, other)
                ambiguous = levels is None or levels >= depth
            if ambiguous and places.root(lowering, other) is root:
                ambiguous = False  # how the two lie in one list is known
            if ambiguous:
                _refuse(lowering, node, _name_of(node) or storage.name, name)


def _depth(lowering: Lowering, storage: Storage) -> int | None:
    """How many levels of lists there are in what a storage holds; None if that is not known."""
    contents = lowering.contents[storage]
    if not isinstance(contents, Value):
        return None
    type_, depth = contents.type, 0
    while isinstance(type_, Sequence):
        type_, depth = type_.item, depth + 1
    return None if isinstance(type_, Never) else depth


def _live(lowering: Lowering) -> Iterator[tuple[str, Any]]:
    """What may be read after the current statement: names, what loops run over, and the attributes
    of objects from outside that were stored."""
    for frame in lowering.frames:
        for name, bound in frame.names.items():
            if frame.is_read_later(name, innermost=frame is lowering.frame):
                yield name, bound
    for item in lowering.iterated:
        yield item.storage.name or "what the loop runs over", item
    for cell in lowering.fields.values():
        yield cell.name, DictRef(cell)


def _parts(lowering: Lowering, item: Any, within: tuple[Storage, ...]) -> list[Any]:
    """The references that a value is made of. within: the objects that it was reached through."""
    if isinstance(item, TupleOf):
        return [part for below in item.items for part in _parts(lowering, below, within)]
    if isinstance(item, InstanceRef) and item.storage not in within:
        within = (*within, item.storage)
        return [
            part
            for cell in lowering.cells(item)
            for part in _parts(lowering, DictRef(cell), within)
        ]
    if isinstance(item, (ListRef, DictRef)):
        contents = lowering.contents[item.storage]
        if isinstance(contents, Value):
            return [item]
        below = contents.values() if isinstance(contents, dict) else contents
        return [item, *(part for b in below for part in _parts(lowering, b, within))]
    return [item] if isinstance(item, Ref) else []


def _name_of(node: Any) -> str:
    """The name through which a statement stores to items; empty if it is none."""
    while isinstance(node, gast.Subscript):
        node = node.value
    return node.id if isinstance(node, gast.Name) else ""


def _refuse(lowering: Lowering, node: Any, stored: str, other: str) -> None:
    lowering.unsupported(
        node,
        f"this stores into {wording.quoted(stored)}, which may share memory with `{other}`",
        f"make `{other}` a copy (`.copy()`), or a view on every path",
        AliasingError,
    )
