"""Dicts whose keys are known at run time only.

Such a dict is found out when a key that is computed is met. The function is then lowered once
more, with every dict of that place in the source an object of the class below: two lists, of its
keys and of its items. What the methods do is written in Python, and lowered as a user's class.
(`calls.keyed_dicts` makes them.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn, TypeGuard

from gradscribe.frontend.interface import RunTimeKeyError
from gradscribe.frontend.memory import sequences
from gradscribe.frontend.state import wording
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.instances import class_of, has_methods, new_instance
from gradscribe.frontend.values import texts
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    InstanceRef,
    ListRef,
    Ref,
    Static,
    Storage,
    TupleOf,
    is_number,
)
from gradscribe.ir.probing import in_class
from gradscribe.primitives.users_code import is_users, may_change


class KeyedItems:
    """A dict, as its keys and its items, in the order in which they were entered."""

    order: list[Any]
    held: list[Any]

    def __len__(self) -> int:
        return len(self.order)

    def __contains__(self, key: Any) -> bool:
        return is_key(self.order, key)

    def __iter__(self) -> Any:
        return self.order

    def __reversed__(self) -> Any:
        return reversed(self.order)

    def __getitem__(self, key: Any) -> Any:
        if not is_key(self.order, key):
            raise KeyError(key)
        return self.held[self.order.index(key)]

    def __setitem__(self, key: Any, item: Any) -> None:
        put(self.order, self.held, key, item)

    def __delitem__(self, key: Any) -> None:
        if not is_key(self.order, key):
            raise KeyError(key)
        position = self.order.index(key)
        del self.order[position]
        del self.held[position]

    def __eq__(self, other: Any) -> bool:
        if not hasattr(other, "items") or len(self.order) != len(other):
            return False
        return all(key in other and other[key] == item for key, item in self.items())

    __hash__ = None  # type: ignore[assignment]

    def __or__(self, other: Any) -> Any:
        united = self.copy()
        united.update(other)
        return united

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def get(self, key: Any, default: Any = None) -> Any:
        if is_key(self.order, key):
            return self.held[self.order.index(key)]
        return default

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if not is_key(self.order, key):
            self.order.append(key)
            self.held.append(default)
        return self.held[self.order.index(key)]

    def pop(self, key: Any, *default: Any) -> Any:
        if not is_key(self.order, key):
            if default:
                return default[0]
            raise KeyError(key)
        position = self.order.index(key)
        del self.order[position]
        return self.held.pop(position)

    def popitem(self) -> Any:
        if not self.order:
            raise KeyError("popitem(): dictionary is empty")
        return self.order.pop(), self.held.pop()

    def clear(self) -> None:
        self.order.clear()
        self.held.clear()

    def copy(self) -> Any:
        return keyed(list(self.order), list(self.held))

    def __copy__(self) -> Any:
        return self.copy()

    def update(self, other: Any = (), **named: Any) -> None:
        pairs = other.items() if hasattr(other, "items") else other
        for key, item in pairs:
            put(self.order, self.held, key, item)
        for key, item in named.items():
            put(self.order, self.held, key, item)

    def keys(self) -> Any:
        return self.order

    def values(self) -> Any:
        return self.held

    def items(self) -> Any:
        return ((key, self.held[position]) for position, key in enumerate(self.order))


class OrderedItems(KeyedItems):
    """An `OrderedDict`, which can rearrange its items."""

    def copy(self) -> Any:
        return ordered(list(self.order), list(self.held))

    def move_to_end(self, key: Any, last: Any = True) -> None:
        item = self.pop(key)
        if last:
            self.order.append(key)
            self.held.append(item)
        else:
            self.order.insert(0, key)
            self.held.insert(0, item)


def ordered(order: list[Any], held: list[Any]) -> Any:
    """The `OrderedDict` of these keys and items."""
    raise NotImplementedError


def keyed(order: list[Any], held: list[Any]) -> Any:
    """The dict of these keys and items: `of_lists`."""
    raise NotImplementedError


def put(order: list[Any], held: list[Any], key: Any, item: Any) -> None:
    """What storing an item means; on run-time lists it is `keyed_dicts._put`."""
    if is_key(order, key):
        held[order.index(key)] = item
    else:
        order.append(key)
        held.append(item)


def is_key(order: list[Any], key: Any) -> bool:
    """Whether a key is among others. A tuple and a number are never one key, though NumPy's numbers
    are equal to tuples of one that is equal to them: `calls.keyed_dicts` sees to that."""
    return key in order


def is_keyed(item: FrontendValue) -> TypeGuard[InstanceRef]:
    """Whether this stands for such a dict."""
    return isinstance(item, InstanceRef) and issubclass(item.cls, KeyedItems)


def by_computed_key(
    lowering: Lowering, owner: FrontendValue, key: FrontendValue
) -> InstanceRef | None:
    """A dict that the function has not made, as the items that a computed key is looked up in; None
    where the key is known, or the dict can be made with computed keys from the beginning."""
    if not isinstance(owner, DictRef) or owner.storage.place is not None or not _is_computed(key):
        return None
    contents = lowering.items_in(owner.storage)
    order = sequences.new_list(lowering, tuple(map(_key, contents)))
    held = sequences.new_list(lowering, tuple(contents.values()))
    lowering.contents[held.storage] = sequences.run_time_value(lowering, held)
    held.storage.levels = 0  # an item that is read is not at a place of this list, but of the dict
    return of_lists(lowering, order, held)


def of_lists(
    lowering: Lowering, order: ListRef, held: ListRef, cls: type[KeyedItems] = KeyedItems
) -> InstanceRef:
    """The dict of the keys and the items in these lists, which are nobody else's."""
    order.storage.of_dict, held.storage.of_dict = "keys", "items"
    made = new_instance(lowering, cls, {"order": order, "held": held})
    return replace(made, lists=((order, "_keys"), (held, "")))


def _key(key: Any) -> TupleOf | Static:
    return TupleOf(tuple(map(_key, key))) if isinstance(key, tuple) else Static(key)


def _is_computed(key: FrontendValue) -> bool:
    parts = key.items if isinstance(key, TupleOf) else (key,)
    return all(map(_is_plain, parts)) and not all(isinstance(part, Static) for part in parts)


def check_hash(lowering: Lowering, node: Any, owner: FrontendValue, key: FrontendValue) -> None:
    """Say what Python raises where a dict is given a key that has no hash."""
    if isinstance(owner, DictRef) or is_keyed(owner):
        refuse_unhashable(lowering, node, key)


def known_key(lowering: Lowering, node: Any, owner: DictRef, key: FrontendValue) -> Any:
    """The key that a frontend value is, of a dict whose keys are known."""
    if isinstance(key, Static):
        check_key(lowering, node, key)
        return key.value
    if isinstance(key, TupleOf) and all(isinstance(part, (Static, TupleOf)) for part in key.items):
        return tuple(known_key(lowering, node, owner, part) for part in key.items)
    return refuse_key(lowering, node, owner, key)


def refuse_unhashable(lowering: Lowering, node: Any, key: FrontendValue) -> None:
    """Raise what Python raises for a key that has no hash, as Tensors have."""
    kinds = {ListRef: "list", DictRef: "dict", set: "set"}
    if not lowering.has_tensors:
        kinds[Ref] = "numpy.ndarray"
    for part in key.items if isinstance(key, TupleOf) else (key,):
        kind = kinds.get(type(part.value) if isinstance(part, Static) else type(part))
        if kind is not None:
            lowering.raises(node, TypeError(f"unhashable type: '{kind}'"))
        if isinstance(part, TupleOf):
            refuse_unhashable(lowering, node, part)
        check_key(lowering, node, part)


def check_key(lowering: Lowering, node: Any, key: FrontendValue) -> None:
    """Refuse a key that the user's code compares, if that may change something: how often it runs
    depends on the hashes of all keys."""
    if not isinstance(key, Static) and not has_methods(key):
        return
    cls = class_of(key)
    if in_class(cls, "__hash__") is None:
        lowering.raises(node, TypeError(f"unhashable type: '{cls.__name__}'"))
    for name in ("__hash__", "__eq__"):
        function = in_class(cls, name)
        if is_users(function) and may_change(function):
            lowering.unsupported(
                node,
                f"the `{name}` of `{cls.__name__}`, which may change something, runs for a key",
                "use a key of another class, or a list",
            )


def refuse_key(lowering: Lowering, node: Any, owner: FrontendValue, key: FrontendValue) -> NoReturn:
    """A dict of known keys is given one that is not known."""
    refuse_unhashable(lowering, node, key)
    is_plain = _is_plain(key) or (isinstance(key, TupleOf) and all(map(_is_plain, key.items)))
    error = RunTimeKeyError(
        "a dict key must be known when the function is compiled",
        "use a list, or numbers, strings or tuples of them as keys of a dict made in the function",
        lowering.location(node),
    )
    if is_plain and isinstance(owner, DictRef):
        error.place = owner.storage.place
    raise error


def refuse_other_keys(lowering: Lowering, storage: Storage) -> NoReturn:
    """A dict has other keys, or the same in another order, on each of two paths."""
    error = RunTimeKeyError(
        f"{wording.quoted(storage.name, 'a dict')} has other keys on each path",
        "give it the same keys on every path, in the same order",
        lowering.builder.location,
    )
    error.place = storage.place
    raise error


def _is_plain(item: FrontendValue) -> bool:
    return is_number(item) or texts.is_text(item)
