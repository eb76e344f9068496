"""Lists, dicts and objects of the program, as the objects that unread code sees in their place.

One class for each kind of container. Comes in: a container, and what the program holds in it. Goes
out: the operations that make the object, fill it with that, and take over what a call has left in
it: numbers are read anew if they are constants; all else must be what it was, or the program is
refused at run time. When this is done tells `lent_containers`.
"""

from __future__ import annotations

import collections
import itertools
import operator
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, TypeGuard, TypeVar

import numpy as np

from gradscribe.frontend.kinds.varying import may_vary
from gradscribe.frontend.memory import aliasing
from gradscribe.frontend.objects.construction import can_instantiate
from gradscribe.frontend.state import dependencies
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import instances
from gradscribe.frontend.structures.run_time_arguments import argument_of
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    Held,
    InstanceRef,
    ListRef,
    Static,
    Storage,
    Unbound,
    is_number,
)
from gradscribe.ir.core import Method, Operation, SliceOf, Value
from gradscribe.ir.probing import in_class, probe
from gradscribe.ir.types import BOOL, Opaque, Scalar, Type
from gradscribe.ir.types import Sequence as ListType
from gradscribe.primitives.control import EFFECT
from gradscribe.primitives.typing import type_of

Container = ListRef | DictRef | InstanceRef
_Item = TypeVar("_Item", bound=Container)
_Maker = tuple[Any, tuple[Any, ...], type]
"""What makes an empty object: a function, its arguments, and the class of what it gives."""


@dataclass(eq=False, slots=True)
class Lent(Generic[_Item]):
    """A container that unread code has.

    item: the container. made: the object that it is there, which `block` makes. call: the number of
    the call that it was made for. state: what the program held when that was last brought into
    step; step: what the operation that did so has made. objects: which objects were in it before
    the present call, of those that are compared.
    """

    lowering: Lowering
    item: _Item
    made: Value
    block: list[Operation]
    call: int
    state: Held | None = None
    step: Value | None = None
    objects: dict[Any, Value] = field(default_factory=dict)

    entry: ClassVar[Any] = operator.getitem
    """How one of its parts is read."""

    # -- what a container of the kind is -----------------------------------------------------------

    @classmethod
    def is_possible(cls, lowering: Lowering, item: _Item) -> bool:
        """Whether there can be an object in its place."""
        return not isinstance(lowering.contents[item.storage], Value)

    @classmethod
    def empty(cls, item: _Item) -> _Maker:
        """What makes an empty object."""
        raise NotImplementedError

    @classmethod
    def state_of(cls, lowering: Lowering, item: _Item) -> Held:
        held: Held = lowering.contents[item.storage]
        return held

    @classmethod
    def parts_of(cls, lowering: Lowering, item: _Item) -> dict[Any, FrontendValue]:
        """What is in it, by position, key or name; nothing if that is not known one by one."""
        held = cls.state_of(lowering, item)
        return held if isinstance(held, dict) else {}

    def filling(self, parts: dict[Any, Any]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
        """The calls that let the object hold these parts: functions and their arguments."""
        raise NotImplementedError

    def check_keys(self, name: str, keys: list[Any]) -> None:
        """Check that the object has these parts, and no others."""
        found = self._call(set, self.made, type_=Opaque(set))
        same = self._call(operator.eq, found, self._call(set, keys), type_=BOOL)
        self._check(same, f"`{name}` changed what there is in a container, which is not followed")

    def take(self, node: Any, parts: dict[Any, FrontendValue], read: set[Any]) -> None:
        """Let the container hold these parts. read: the keys of those that were read anew."""
        with aliasing.changing_items(self.lowering, node, self.item.storage):
            is_dict = isinstance(self.item, DictRef)
            self.lowering.contents[self.item.storage] = parts if is_dict else tuple(parts.values())

    def identities(self) -> Value:
        """A list of which keys and objects are in it."""
        return self._call(list, self._call(map, id, self.made), type_=Opaque(list))

    # -- around a call -----------------------------------------------------------------------------

    def bring_into_step(self, objects: Mapping[Storage, Value]) -> None:
        """Let the object hold what the program's container holds, unless it does on all paths.
        objects: those that the containers in it are."""
        if self.is_in_step():
            return
        self.state, self.step = self.state_of(self.lowering, self.item), None
        held = self.parts_of(self.lowering, self.item)
        parts = {key: argument_of(self.lowering, part, objects) for key, part in held.items()}
        for callee, arguments in self.filling(parts):
            self.step = self._call(callee, *arguments)

    def is_in_step(self) -> bool:
        is_filled = self.step is not None and self.lowering.builder.is_made(self.step)
        return is_filled and _is_same(self.state_of(self.lowering, self.item), self.state)

    def note_objects(self) -> None:
        """Before a call: which objects are in it that have to be there after the call, too."""
        constants = self.constants(self.lowering, self.item)
        self.objects = {}
        if not constants and not isinstance(self.item, InstanceRef):
            self.objects[None] = self.identities()
            return
        for key in self.parts_of(self.lowering, self.item):
            if key not in constants:
                self.objects[key] = self._entry(key, Opaque())

    def read_back(self, node: Any, name: str) -> None:
        """After a call of this name: let the container hold what is in the object."""
        if None in self.objects:
            same = self._call(operator.eq, self.identities(), self.objects[None], type_=BOOL)
            kind = "list" if isinstance(self.item, ListRef) else "dict"
            self._check(same, f"`{name}` changed which items a {kind} has, which is not followed")
        else:
            self._read_parts(node, name)
        self.state = self.state_of(self.lowering, self.item)

    def _read_parts(self, node: Any, name: str) -> None:
        """The numbers among what is in it."""
        constants = self.constants(self.lowering, self.item)
        parts = self.parts_of(self.lowering, self.item)
        self.check_keys(name, list(parts))
        read: dict[Any, FrontendValue] = {}
        for key, part in parts.items():
            if key in constants:
                read[key] = found = self._entry(key, constants[key])
                pair: tuple[Any, Any] = (self._call(type, found), class_of(constants[key]))
            else:
                read[key] = part
                pair = self._entry(key, Opaque()), self.objects[key]
            same = self._call(operator.is_, *pair, type_=BOOL)
            what = f"`{name}` put something of another kind in {key!r}, which is not followed"
            self._check(same, what)
        self.take(node, read, set(constants))

    @classmethod
    def constants(cls, lowering: Lowering, item: _Item) -> dict[Any, Scalar]:
        """The numbers in it that are read anew after a call, with their types: none if one of them
        may depend on what is differentiated, or the container is one from outside."""
        parts = cls.parts_of(lowering, item)
        numbers = {key: part for key, part in parts.items() if is_number(part)}
        if item.storage in lowering.outside.entered:
            return {}
        if any(may_vary(lowering, part, surely=True) for part in numbers.values()):
            return {}
        return {key: _type_of(part) for key, part in numbers.items()}

    @classmethod
    def is_read_anew(cls, lowering: Lowering, item: _Item) -> bool:
        """Whether there are such numbers."""
        return bool(cls.constants(lowering, item))

    # -- operations --------------------------------------------------------------------------------

    def _entry(self, key: Any, type_: Type) -> Value:
        return self._call(type(self).entry, self.made, key, type_=type_)

    def _check(self, condition: Value, what: str) -> None:
        self.lowering.check(condition, what)

    def _call(self, callee: Any, *arguments: Any, type_: Type = Opaque()) -> Value:  # noqa: B008
        return call(self.lowering, callee, arguments, type_)


class LentList(Lent[ListRef]):
    """A list. One of numbers of one type may be of any length after a call."""

    __slots__ = ()

    @classmethod
    def is_possible(cls, lowering: Lowering, item: ListRef) -> bool:
        contents = lowering.contents[item.storage]
        if not isinstance(contents, Value):
            return True
        is_outside = item.storage in lowering.outside.entered
        is_list = isinstance(contents.type, ListType) and isinstance(contents.type.item, Scalar)
        return is_list and not is_outside

    @classmethod
    def empty(cls, item: ListRef) -> _Maker:
        return list, (), list

    @classmethod
    def parts_of(cls, lowering: Lowering, item: ListRef) -> dict[Any, FrontendValue]:
        held = lowering.contents[item.storage]
        return {} if isinstance(held, Value) else dict(enumerate(held))

    def filling(self, parts: dict[Any, Any]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
        held = self.lowering.contents[self.item.storage]
        items = held if isinstance(held, Value) else list(parts.values())
        yield operator.setitem, (self.made, SliceOf(None, None, None), items)

    def check_keys(self, name: str, keys: list[Any]) -> None:
        same = self._call(operator.eq, self._call(len, self.made), len(keys), type_=BOOL)
        self._check(same, f"`{name}` changed what there is in a container, which is not followed")

    def note_objects(self) -> None:
        if self.numbers(self.lowering, self.item) is None:
            Lent.note_objects(self)
        else:
            self.objects = {}

    def _read_parts(self, node: Any, name: str) -> None:
        number = self.numbers(self.lowering, self.item)
        if number is None:
            Lent._read_parts(self, node, name)
            return
        lowering, storage = self.lowering, self.item.storage
        kinds = self._call(list, self._call(map, type, self.made), type_=Opaque(list))
        count = self._call(len, self.made)
        wanted = self._call(operator.mul, [class_of(number)], count, type_=Opaque(list))
        same = self._call(operator.eq, kinds, wanted, type_=BOOL)
        what = f"`{name}` put something else than such numbers in a list, which is not followed"
        self._check(same, what)
        with aliasing.changing_items(lowering, node, storage):
            found = self._call(list, self.made, type_=ListType(number))
            lowering.contents[storage] = lowering.builder.rename(found, storage.name)

    @classmethod
    def is_read_anew(cls, lowering: Lowering, item: ListRef) -> bool:
        is_list = cls.numbers(lowering, item) is not None
        return is_list or bool(cls.constants(lowering, item))

    @classmethod
    def numbers(cls, lowering: Lowering, item: ListRef) -> Scalar | None:
        """The type of all items of a list of constants."""
        contents = lowering.contents[item.storage]
        if isinstance(contents, Value):
            number = contents.type.item if isinstance(contents.type, ListType) else None
            is_outside = item.storage in lowering.outside.entered
            if not isinstance(number, Scalar) or is_outside:
                return None
            return None if may_vary(lowering, item, surely=True) else replace(number, value=None)
        found = cls.constants(lowering, item)
        kinds = set(found.values())
        return kinds.pop() if len(kinds) == 1 and len(found) == len(contents) else None


class LentDict(Lent[DictRef]):
    """A dict of known keys."""

    __slots__ = ()

    @classmethod
    def empty(cls, item: DictRef) -> _Maker:
        made = collections.OrderedDict if item.storage.derived is collections.OrderedDict else dict
        return made, (), made

    def filling(self, parts: dict[Any, Any]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
        yield Method("clear"), (self.made,)
        yield Method("update"), (self.made, parts)

    def identities(self) -> Value:
        items = self._call(Method("items"), self.made)
        items = self._call(itertools.chain.from_iterable, items)
        return self._call(list, self._call(map, id, items), type_=Opaque(list))


class LentObject(Lent[InstanceRef]):
    """An object that the function has made, of nothing but its attributes."""

    __slots__ = ()
    entry = getattr

    @classmethod
    def is_possible(cls, lowering: Lowering, item: InstanceRef) -> bool:
        made, local = item.cls, dependencies.LOCAL_CLASSES
        is_library = dependencies.is_library(made) and made is not types.SimpleNamespace
        if is_library or made in local or item.storage in lowering.outside.entered:
            return False
        if not can_instantiate(made):
            return False
        if isinstance(in_class(made, "__setattr__"), types.FunctionType):
            return False
        if item.storage in lowering.changes.reordered:
            return False
        parts = cls.parts_of(lowering, item)
        if any(isinstance(part, Unbound) for part in parts.values()):
            return False
        kinds = (in_class(made, name, None) for name in parts)
        return not any(probe(type(kind), "__set__") and not _is_slot(kind) for kind in kinds)

    @classmethod
    def empty(cls, item: InstanceRef) -> _Maker:
        is_plain = item.cls is types.SimpleNamespace
        return (item.cls, (), item.cls) if is_plain else (object.__new__, (item.cls,), item.cls)

    @classmethod
    def state_of(cls, lowering: Lowering, item: InstanceRef) -> Held:
        return lowering.attributes(item)

    def filling(self, parts: dict[Any, Any]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
        yield from ((setattr, (self.made, name, part)) for name, part in parts.items())

    def check_keys(self, name: str, keys: list[Any]) -> None:
        cls = self.item.cls
        if not cls.__dictoffset__:
            return
        keys = [key for key in keys if not _is_slot(in_class(cls, key, None))]
        found = self._call(set, self._call(vars, self.made, type_=Opaque(dict)), type_=Opaque(set))
        same = self._call(operator.eq, found, self._call(set, keys), type_=BOOL)
        self._check(same, f"`{name}` changed what there is in a container, which is not followed")

    def take(self, node: Any, parts: dict[Any, FrontendValue], read: set[Any]) -> None:
        for key in read:
            with aliasing.changing_items(self.lowering, node, self.item.cells[key]):
                instances.set_attribute(self.lowering, self.item, key, parts[key])


KINDS: dict[type, type[Lent[Any]]] = {ListRef: LentList, DictRef: LentDict, InstanceRef: LentObject}


def is_container(item: FrontendValue) -> TypeGuard[Container]:
    """Whether this is one of these containers."""
    return type(item) in KINDS


def _is_same(first: Held, second: Held | None) -> bool:
    if isinstance(first, dict) and isinstance(second, dict):
        return list(first) == list(second) and all(first[key] is second[key] for key in first)
    return first is second


def _is_slot(kind: Any) -> bool:
    return isinstance(kind, types.MemberDescriptorType)


def _type_of(part: Static | Value) -> Scalar:
    found = type_of(part.value) if isinstance(part, Static) else part.type
    assert isinstance(found, Scalar)
    return replace(found, value=None)


_CLASSES = {"float64": float, "int64": int, "complex128": complex, "bool": bool}


def class_of(number: Scalar) -> type:
    """The class of a number of this type at run time."""
    return _CLASSES[number.dtype] if number.weak else np.dtype(number.dtype).type


def call(lowering: Lowering, callee: Any, arguments: tuple[Any, ...], type_: Type) -> Value:
    """A call at run time, in its place."""
    tree = {"args": arguments, "keywords": {}, "type": type_}
    return lowering.plain(EFFECT, tree, callee)
