"""Reading and storing items: arrays by basic indices, lists, tuples and dicts.

A store makes new contents for the storage; every name that shares the storage sees them. A
store is refused where another live value may or may not share the memory.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gradscribe.errors import AliasingError
from gradscribe.frontend.lowering import Lowering, is_number
from gradscribe.frontend.scope import item_of_object
from gradscribe.frontend.values import (
    DictRef,
    ListRef,
    ObjectRef,
    Ref,
    Static,
    Storage,
    TupleOf,
    may_hold,
    may_overlap,
)
from gradscribe.ir.core import SliceOf, Value
from gradscribe.ir.types import Array, Scalar, Type, is_integer
from gradscribe.primitives.control import GET, SET
from gradscribe.primitives.indexing import ACCUMULATE, GETITEM, STORE
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.primitives.typing import TypeRuleError


def read_item(lowering: Lowering, node: Any, owner: Any, index: Any) -> Any:
    """`owner[index]`."""
    if isinstance(owner, Ref):
        return _read_array(lowering, node, owner, basic_index(lowering, node, index))
    if isinstance(owner, DictRef):
        key = _static(lowering, node, index, "a dict key")
        contents = lowering.contents[owner.storage]
        if key not in contents:
            lowering.unsupported(node, f"the dict has no key {key!r}")
        return contents[key]
    if isinstance(owner, TupleOf):
        return _read_items(lowering, node, owner, owner.items, index)
    if isinstance(owner, ListRef):
        contents = lowering.contents[owner.storage]
        if isinstance(contents, tuple):
            return _read_items(lowering, node, owner, contents, index)
        return _read_sequence(lowering, node, owner, index)
    if isinstance(owner, ObjectRef) and isinstance(index, Static):
        return item_of_object(lowering, node, owner, index.value)
    if isinstance(owner, Static) and isinstance(index, Static):
        try:
            return Static(owner.value[index.value])
        except (TypeError, LookupError) as error:
            lowering.unsupported(node, f"this item cannot be read: {error}")
    return lowering.unsupported(node, "this value cannot be indexed")


def _read_array(lowering: Lowering, node: Any, owner: Ref, index: tuple[Any, ...]) -> Any:
    step = (GETITEM, {"index": index}, None)
    view = Ref(owner.storage, (*owner.path, step), owner.exact)
    try:
        value = lowering.load(view)
    except TypeRuleError as error:
        lowering.unsupported(node, str(error))
    return value if isinstance(value.type, Scalar) else view


def _read_items(
    lowering: Lowering, node: Any, owner: Any, items: tuple[Any, ...], index: Any
) -> Any:
    if isinstance(index, slice):
        parts = [
            None if p is None else _static(lowering, node, p, "a slice bound of a tuple or list")
            for p in (index.start, index.stop, index.step)
        ]
        chosen = items[slice(*parts)]
        if isinstance(owner, TupleOf):
            return TupleOf(chosen)
        storage = Storage()
        lowering.contents[storage] = chosen
        return ListRef(storage)
    if isinstance(index, Static):
        try:
            return items[index.value]
        except (IndexError, TypeError) as error:
            lowering.unsupported(node, f"this item cannot be read: {error}")
    storage = Storage()
    lowering.contents[storage] = items
    lowering.hold(storage, items)
    return _read_sequence(lowering, node, ListRef(storage), index)


def _read_sequence(lowering: Lowering, node: Any, owner: ListRef, index: Any) -> Any:
    if isinstance(index, slice):
        lowering.unsupported(node, "slices of lists of unknown length are not supported")
    position = index.value if isinstance(index, Static) else lowering.value(index)
    value = lowering.emit(GET, {"x": lowering.value(owner), "index": position})
    return lowering.wrap(value, owner.storage.reached)


def _static(lowering: Lowering, node: Any, item: Any, what: str) -> Any:
    if isinstance(item, Static):
        return item.value
    if isinstance(item, TupleOf) and all(isinstance(i, Static) for i in item.items):
        return tuple(i.value for i in item.items)
    return lowering.unsupported(node, f"{what} must be known when the function is compiled")


def basic_index(lowering: Lowering, node: Any, index: Any) -> tuple[Any, ...]:
    """The index as the tuple that `GETITEM` takes."""
    items = index.items if isinstance(index, TupleOf) else (index,)
    return tuple(_basic_item(lowering, node, item) for item in items)


def _basic_item(lowering: Lowering, node: Any, item: Any) -> Any:
    if isinstance(item, slice):
        return SliceOf(*(_bound(lowering, node, p) for p in (item.start, item.stop, item.step)))
    if isinstance(item, Static):
        if item.value is None or item.value is Ellipsis:
            return item.value
        if isinstance(item.value, slice):
            return SliceOf(item.value.start, item.value.stop, item.value.step)
        if isinstance(item.value, (int, np.integer)) and not isinstance(item.value, bool):
            return int(item.value)
    if isinstance(item, Value) and is_integer(item.type):
        return item
    return lowering.unsupported(
        node,
        "only integers, slices, None and `...` are supported as index",
        "loop over the elements, or use `np.where`",
    )


def _bound(lowering: Lowering, node: Any, part: Any) -> Any:
    if part is None or (isinstance(part, Static) and part.value is None):
        return None
    if isinstance(part, Static) and isinstance(part.value, (int, np.integer)):
        return int(part.value)
    if isinstance(part, Value) and is_integer(part.type):
        return part
    return lowering.unsupported(node, "the bounds of a slice must be integers")


def store_item(lowering: Lowering, node: Any, owner: Any, index: Any, item: Any) -> None:
    """`owner[index] = item`."""
    if isinstance(owner, Ref):
        step = (GETITEM, {"index": basic_index(lowering, node, index)}, None)
        store(lowering, node, Ref(owner.storage, (*owner.path, step), owner.exact), item)
    elif isinstance(owner, DictRef):
        key = _static(lowering, node, index, "a dict key")
        lowering.contents[owner.storage] = lowering.contents[owner.storage] | {key: item}
    elif isinstance(owner, ListRef):
        _store_in_list(lowering, node, owner, index, item)
    else:
        lowering.unsupported(node, "items of this value cannot be stored")


def _store_in_list(lowering: Lowering, node: Any, owner: ListRef, index: Any, item: Any) -> None:
    check_store(lowering, node, owner.storage, memory=False)
    lowering.stored.add(owner.storage)
    contents = lowering.contents[owner.storage]
    if isinstance(contents, tuple) and isinstance(index, Static) and isinstance(index.value, int):
        items = list(contents)
        try:
            items[index.value] = item
        except IndexError as error:
            lowering.unsupported(node, f"this item cannot be stored: {error}")
        lowering.contents[owner.storage] = tuple(items)
        return
    if isinstance(index, slice):
        lowering.unsupported(node, "stores to slices of lists are not supported")
    lowering.hold(owner.storage, [item])
    position = index.value if isinstance(index, Static) else lowering.value(index)
    arguments = {"x": lowering.value(owner), "index": position, "value": lowering.value(item)}
    lowering.contents[owner.storage] = lowering.emit(SET, arguments, name=owner.storage.name)


def store(lowering: Lowering, node: Any, target: Ref, item: Any) -> None:
    """Store a number or an array to a view (the whole array for an empty path)."""
    _check_value(lowering, node, item)
    _change(lowering, node, STORE, target, lowering.value(item))


def augment(lowering: Lowering, node: Any, target: Ref, callee: Any, item: Any) -> None:
    """`target op= item` for a view of an array, in place as NumPy does it."""
    _check_value(lowering, node, item)
    dtype = _array_dtype(lowering, target)
    floating = np.dtype(dtype).kind in "fc"
    _check_dtype(lowering, node, dtype, lowering.value(item).type)
    if callee in (operator.add, operator.sub) and floating:
        value = lowering.value(item)
        if callee is operator.sub:
            value = lowering.emit(PRIMITIVES[operator.neg], {"x": value}, operator.neg)
        _change(lowering, node, ACCUMULATE, target, value)
        return
    primitive = PRIMITIVES[callee]
    names = list(primitive.signature.parameters) if primitive.signature else ["x", "y"]
    arguments = {names[0]: lowering.load(target), names[1]: lowering.value(item)}
    _change(lowering, node, STORE, target, lowering.emit(primitive, arguments, callee))


def _check_dtype(lowering: Lowering, node: Any, dtype: str, item: Type) -> None:
    """Refuse what NumPy refuses: in place, a result must fit the dtype of the array."""
    if not isinstance(item, (Array, Scalar)):
        return
    kinds = "biufc"
    kind, given = (np.dtype(name).kind for name in (dtype, item.dtype))
    if kinds.index(given.replace("u", "i")) > kinds.index(kind):
        lowering.unsupported(
            node,
            f"NumPy does not store a {item.dtype} result in an array of {dtype} in place",
            "convert the array first, as in `a = a.astype(float)`",
        )


def _array_dtype(lowering: Lowering, target: Ref) -> str:
    contents: Value = lowering.contents[target.storage]
    assert isinstance(contents.type, Array)
    return contents.type.dtype


def _check_value(lowering: Lowering, node: Any, item: Any) -> None:
    if not (is_number(item) or isinstance(item, Ref)):
        lowering.unsupported(
            node, "only numbers and arrays can be stored in an array", "make it an array first"
        )


def _change(lowering: Lowering, node: Any, primitive: Any, target: Ref, value: Value) -> None:
    storage = target.storage
    check_store(lowering, node, storage, exact=target.exact)
    path = tuple((step, arguments) for step, arguments, _ in target.path)
    contents: Value = lowering.contents[storage]
    lowering.contents[storage] = lowering.emit(
        primitive,
        {"x": contents, "value": value, "path": path},
        name=storage.name or contents.name,
    )
    lowering.stored.add(storage)


def check_store(
    lowering: Lowering, node: Any, storage: Storage, exact: bool = True, memory: bool = True
) -> None:
    """Refuse a store to memory that another live value may share, if that cannot be known.

    memory: whether the elements of an array change; not so where a list gets another item.
    """
    for frame in lowering.frames:
        for name, bound in frame.names.items():
            if not frame.is_read_later(name):
                continue
            for part in _parts(lowering, bound):
                other = part.storage
                ambiguous = other is not storage and (
                    may_overlap(storage, other) or (memory and may_hold(other, storage))
                )
                if not exact:
                    ambiguous = ambiguous or (other is storage and getattr(part, "exact", True))
                elif isinstance(part, Ref) and other is storage and not part.exact:
                    ambiguous = True
                if ambiguous:
                    _refuse(lowering, node, storage.name, name)


def _parts(lowering: Lowering, item: Any) -> list[Any]:
    """The references that a value is made of."""
    if isinstance(item, TupleOf):
        return [part for below in item.items for part in _parts(lowering, below)]
    if isinstance(item, (ListRef, DictRef)):
        contents = lowering.contents[item.storage]
        if isinstance(contents, Value):
            return [item]
        below = contents.values() if isinstance(contents, dict) else contents
        return [item, *(part for b in below for part in _parts(lowering, b))]
    return [item] if isinstance(item, Ref) else []


def _refuse(lowering: Lowering, node: Any, stored: str, other: str) -> None:
    lowering.unsupported(
        node,
        f"this stores into `{stored or 'an array'}`, which may share memory with `{other}`",
        f"make `{other}` a copy (`.copy()`), or a view on every path",
        AliasingError,
    )
