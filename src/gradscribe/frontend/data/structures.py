"""Frontend values taken apart into a structure and IR values, to be put together elsewhere.

A recursive function is lowered apart from its callers. What it is given (arguments, and the
frames that it closes over) is handed over as a structure, which two calls have in common or
not, and the IR values in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import singledispatchmethod
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from gradscribe.frontend.data.instances import new_instance, set_attribute
from gradscribe.frontend.frame import Frame
from gradscribe.frontend.lowering import PLAIN_NUMBERS, Lowering
from gradscribe.frontend.source import assigned_names, read_places
from gradscribe.frontend.values import (
    BoundMethod,
    DictRef,
    InstanceRef,
    ListRef,
    LocalFunction,
    ObjectRef,
    PartialOf,
    Ref,
    Static,
    Storage,
    TupleOf,
    Unbound,
)
from gradscribe.ir.core import Value

if TYPE_CHECKING:
    from gradscribe.frontend.interface import Path


class TooLargeError(Exception):
    """A value is made of more numbers and arrays than wanted."""


@dataclass(frozen=True)
class Slot:
    """The IR value of this number. wrapped: the contents of an array or list."""

    number: int
    wrapped: bool


@dataclass(frozen=True)
class _Absent:
    """A name that has no value that could be handed over."""


@dataclass(frozen=True)
class _Static:
    item: Static


@dataclass(frozen=True)
class _Object:
    """An object outside the program, found at a place that is told by identity."""

    place: tuple[Any, ...]
    item: ObjectRef = field(compare=False)


@dataclass(frozen=True)
class _Instance:
    """An object whose attributes are known, of this number; they may lead to it again."""

    number: int
    attributes: _Container


@dataclass(frozen=True)
class _Again:
    """The object of this number."""

    number: int


@dataclass(frozen=True)
class _Container:
    """cls: of a tuple or object; list or dict for those. keys: of a dict, or the attributes of an
    object, otherwise none."""

    cls: type
    parts: tuple[Any, ...]
    keys: tuple[Any, ...] = ()


@dataclass(frozen=True)
class _Method:
    receiver: Any
    name: str
    function: Any


@dataclass(frozen=True)
class _Partial:
    function: Any
    arguments: _Container
    keywords: _Container
    names: tuple[str, ...]


@dataclass(frozen=True)
class _Function:
    """A nested function: its tree, defaults, and the number of the frame that it closes over."""

    node: Any
    defaults: _Container
    frame: int


@dataclass(frozen=True)
class _FrameNames:
    """A frame that functions close over: what they read of it, and the frame around it."""

    node: Any
    names: _Container
    outer: int | None
    frame: Frame = field(compare=False)


@dataclass(frozen=True)
class Structure:
    """Hashable; equal for values that differ in nothing but IR values."""

    root: Any
    frames: tuple[_FrameNames, ...]


@dataclass(frozen=True)
class Opened:
    """storages: all memory that the leaves are (views of) contents of. owners: for each leaf, the
    array or list that it is the contents of."""

    structure: Structure
    leaves: list[Value]
    owners: list[Ref | ListRef | None]
    storages: frozenset[Storage]


def opened(lowering: Lowering, node: Any, item: Any, most: float = math.inf) -> Opened:
    """A frontend value, taken apart; `TooLargeError` where it has more leaves than `most`. node:
    the call that hands it over, for errors."""
    opening = _Opening(lowering, node, most)
    structure = Structure(opening.open(item), opening.closures())
    return Opened(structure, opening.leaves, opening.owners, frozenset(opening.storages))


class _Opening:
    def __init__(self, lowering: Lowering, node: Any, most: float) -> None:
        self.lowering = lowering
        self.node = node
        self.most = most
        self.leaves: list[Value] = []
        self.owners: list[Ref | ListRef | None] = []
        self.storages: set[Storage] = set()
        self._frames: dict[Frame, dict[str, Any]] = {}
        self._numbers: dict[Storage, int] = {}

    def closures(self) -> tuple[_FrameNames, ...]:
        numbers = {frame: number for number, frame in enumerate(self._frames)}
        return tuple(
            _FrameNames(
                frame.source.node,
                _Container(dict, tuple(names.values()), tuple(names)),
                None if frame.outer is None else numbers[frame.outer],
                frame,
            )
            for frame, names in self._frames.items()
        )

    @singledispatchmethod
    def open(self, item: Any) -> Any:
        return self.lowering.unsupported(
            self.node,
            "a recursive function cannot be given this value",
            "pass numbers, arrays, and tuples or lists of those",
        )

    @open.register
    def _(self, item: Value) -> Slot:
        return self._leaf(item, None)

    @open.register
    def _(self, item: Ref) -> Slot:
        self.storages.add(item.storage)
        return self._leaf(self.lowering.load(item), item)

    @open.register
    def _(self, item: Static) -> Any:
        is_flag = isinstance(item.value, (bool, np.bool_))
        if isinstance(item.value, PLAIN_NUMBERS) and not is_flag:
            return self._leaf(self.lowering.constant(item.value), None)
        return _Static(item)

    @open.register
    def _(self, item: ObjectRef) -> _Object:
        path: Path = item.path
        root = path.root if isinstance(path.root, int) else id(path.root)
        return _Object((id(item.target), root, path.steps), item)

    @open.register
    def _(self, item: TupleOf) -> _Container:
        return _Container(item.cls, self._parts(item.items))

    @open.register
    def _(self, item: ListRef) -> Any:
        self.storages.add(item.storage)
        contents = self.lowering.contents[item.storage]
        if isinstance(contents, Value):
            return self._leaf(contents, item)
        return _Container(list, self._parts(contents))

    @open.register
    def _(self, item: DictRef) -> Any:
        self.storages.add(item.storage)
        return self.open(self.lowering.contents[item.storage])

    @open.register
    def _(self, item: InstanceRef) -> Any:
        if item.storage in self._numbers:
            return _Again(self._numbers[item.storage])
        number = self._numbers[item.storage] = len(self._numbers)
        self.storages.add(item.storage)
        names = [name for name, cell in item.cells.items() if cell in self.lowering.contents]
        fields = [self.lowering.contents[item.cells[name]][name] for name in names]
        self.storages.update(item.cells[name] for name in names)
        return _Instance(number, _Container(item.cls, self._parts(fields), tuple(names)))

    @open.register
    def _(self, item: Unbound) -> _Absent:
        return _Absent()

    @open.register
    def _(self, item: BoundMethod) -> _Method:
        return _Method(self.open(item.receiver), item.name, item.function)

    @open.register
    def _(self, item: PartialOf) -> _Partial:
        given = _Container(tuple, self._parts(item.arguments))
        named = _Container(tuple, self._parts(tuple(item.keywords.values())))
        return _Partial(self.open(item.function), given, named, tuple(item.keywords))

    @open.register
    def _(self, item: LocalFunction) -> _Function:
        self._close_over(item.frame, _free_names(item.node))
        defaults = self.open(item.defaults)
        return _Function(item.node, defaults, list(self._frames).index(item.frame))

    @open.register(dict)
    def _(self, item: dict[str, Any]) -> _Container:
        return _Container(dict, self._parts(tuple(item.values())), tuple(item))

    def _close_over(self, frame: Frame | None, wanted: set[str]) -> None:
        """Take what a nested function reads of the frames around it."""
        while frame is not None:
            names = self._frames.setdefault(frame, {})
            found = sorted(wanted & set(frame.names))
            wanted = wanted.difference(found)
            for name in found:
                if name not in names:
                    names[name] = _Absent()
                    item = frame.names[name]
                    if isinstance(item, _HANDED_OVER):
                        names[name] = self.open(item)
            frame = frame.outer

    def _parts(self, items: Sequence[Any]) -> tuple[Any, ...]:
        return tuple([self.open(item) for item in items])

    def _leaf(self, value: Value, owner: Ref | ListRef | None) -> Slot:
        if len(self.leaves) >= self.most:
            raise TooLargeError
        self.leaves.append(value)
        self.owners.append(owner)
        return Slot(len(self.leaves) - 1, wrapped=owner is not None)


def _free_names(node: Any) -> set[str]:
    """The names that a nested function may read of the frames around it."""
    body = node.body if isinstance(node.body, list) else [node.body]
    below = [inside for statement in body for inside in gast.walk(statement)]
    outer = {name for n in below if isinstance(n, gast.Nonlocal) for name in n.names}
    named = (n for n in gast.walk(node.args) if isinstance(n, gast.Name))
    own = {name.id for name in named if isinstance(name.ctx, gast.Param)}
    own |= assigned_names(body) - outer
    return set(read_places(body)) - own


_HANDED_OVER = (Value, Ref, Static, ObjectRef, InstanceRef, PartialOf, TupleOf, ListRef, DictRef,
                BoundMethod, LocalFunction)  # fmt: skip


def rebuilt(lowering: Lowering, structure: Structure, leaves: Sequence[Value]) -> Any:
    """The frontend value of a structure, of these leaves, in another lowering."""
    return _Building(lowering, structure, leaves).build(structure.root)


class _Building:
    def __init__(self, lowering: Lowering, structure: Structure, leaves: Sequence[Value]) -> None:
        self.lowering = lowering
        self.leaves = leaves
        self.instances: dict[int, InstanceRef] = {}
        self.frames = [Frame(f.frame.source, f.frame.function, {}) for f in structure.frames]
        for frame, closed in zip(self.frames, structure.frames, strict=True):
            frame.outer = None if closed.outer is None else self.frames[closed.outer]
            frame.end = closed.frame.end
        for frame, closed in zip(self.frames, structure.frames, strict=True):
            for name, part in zip(closed.names.keys, closed.names.parts, strict=True):
                if not isinstance(part, _Absent):
                    frame.names[name] = self.build(part)

    def build(self, part: Any) -> Any:
        return _BUILD[type(part)](self, part)

    def leaf(self, part: Slot) -> Any:
        value = self.leaves[part.number]
        return self.lowering.wrap(value) if part.wrapped else value

    def container(self, part: _Container) -> Any:
        items = tuple([self.build(below) for below in part.parts])
        if part.cls is dict:
            return self._stored(DictRef, dict(zip(part.keys, items, strict=True)))
        if part.cls is list:
            return self._stored(ListRef, items)
        return TupleOf(items, part.cls)

    def instance(self, part: _Instance) -> InstanceRef:
        attributes = part.attributes
        made = self.instances[part.number] = new_instance(self.lowering, attributes.cls, {})
        for name, below in zip(attributes.keys, attributes.parts, strict=True):
            set_attribute(self.lowering, made, name, self.build(below))
        return made

    def _stored(self, cls: Callable[[Storage], Any], contents: Any) -> Any:
        storage = Storage()
        self.lowering.contents[storage] = contents
        return cls(storage)

    def partial(self, part: _Partial) -> PartialOf:
        given, named = self.container(part.arguments), self.container(part.keywords)
        keywords = dict(zip(part.names, named.items, strict=True))
        return PartialOf(self.build(part.function), given.items, keywords)

    def function(self, part: _Function) -> LocalFunction:
        names = zip(part.defaults.keys, map(self.build, part.defaults.parts), strict=True)
        return LocalFunction(part.node, self.frames[part.frame], dict(names))


_BUILD: dict[type, Callable[[_Building, Any], Any]] = {
    Slot: _Building.leaf,
    _Static: lambda building, part: part.item,
    _Object: lambda building, part: part.item,
    _Container: _Building.container,
    _Instance: _Building.instance,
    _Again: lambda building, part: building.instances[part.number],
    _Absent: lambda building, part: Unbound("it has no value on one path"),
    _Method: lambda building, part: BoundMethod(
        building.build(part.receiver), part.name, part.function
    ),
    _Partial: _Building.partial,
    _Function: _Building.function,
}


# -- at run time -----------------------------------------------------------------------------------


def python_object(structure: Structure, leaves: Sequence[Any]) -> Any:
    """The Python object of a structure without functions, of these numbers and arrays."""
    return _object_of(structure.root, leaves, {})


def _object_of(part: Any, leaves: Sequence[Any], made: dict[int, Any]) -> Any:
    """made: the objects so far, by number."""
    if isinstance(part, Slot):
        return leaves[part.number]
    if isinstance(part, _Static):
        return part.item.value
    if isinstance(part, _Object):
        return part.item.target
    if isinstance(part, _Again):
        return made[part.number]
    if isinstance(part, _Instance):
        attributes = part.attributes
        found: Any = object.__new__(attributes.cls)
        made[part.number] = found
        for name, below in zip(attributes.keys, attributes.parts, strict=True):
            object.__setattr__(found, name, _object_of(below, leaves, made))
        return found
    if not isinstance(part, _Container):
        raise TypeError("a function is no part of an object that is made at run time")
    items = [_object_of(below, leaves, made) for below in part.parts]
    if part.cls is dict:
        return dict(zip(part.keys, items, strict=True))
    return part.cls(*items) if hasattr(part.cls, "_fields") else part.cls(items)
