"""Frontend values taken apart into a structure and IR values, to be put together elsewhere.

A recursive function is lowered apart from its callers. What it is given (arguments, and the
frames that it closes over) is handed over as a structure, which two calls have in common or
not, and the IR values in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, TypeAlias, TypeVar

import gast
import numpy as np

from gradscribe.frontend.kinds.structure_parts import (
    Absent,
    Again,
    Container,
    FrameNames,
    Function,
    Instance,
    Kept,
    Known,
    Method,
    Outside,
    Part,
    Partial,
    Slot,
    Structure,
)
from gradscribe.frontend.memory import places
from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.instances import new_instance, set_attribute
from gradscribe.frontend.syntax.bindings import assigned_names, read_places
from gradscribe.frontend.values.values import (
    PLAIN_NUMBERS,
    BoundMethod,
    DictRef,
    FlatRef,
    FrontendValue,
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


class TooLargeError(Exception):
    """A value is made of more numbers and arrays than wanted."""


@dataclass(frozen=True)
class NumberIn:
    """What a number is the item of: a dict, or an attribute of an object."""

    storage: Storage
    key: Any


Owner: TypeAlias = Ref | ListRef | NumberIn
_Held = TypeVar("_Held", bound=ListRef | DictRef | InstanceRef)


@dataclass(frozen=True)
class Opened:
    """storages: all memory that the leaves are (views of) contents of. owners: for each leaf, what
    it is the contents or an item of, if that can be stored to. kept: the lists and dicts, by
    number, with what they held."""

    structure: Structure
    leaves: list[Value]
    owners: list[Owner | None]
    storages: frozenset[Storage]
    kept: dict[int, tuple[Storage, Any]]

    def differs_in_lists(self, other: Opened) -> bool:
        """Whether this is the same as the other, or differs only in what has been changed of the
        lists and dicts in it."""
        changed = frozenset(
            number
            for number, (storage, contents) in self.kept.items()
            if number in other.kept
            and other.kept[number][0] is storage
            and other.kept[number][1] is not contents
        )
        if not changed:
            return self.structure == other.structure
        return bool(self.structure.without(changed) == other.structure.without(changed))


def opened(
    lowering: Lowering,
    node: Any,
    item: FrontendValue,
    most: float = math.inf,
    growing: frozenset[int] = frozenset(),
) -> Opened:
    """A frontend value, taken apart; `TooLargeError` where it has more leaves than `most`. node:
    the call that hands it over, for errors. growing: the numbers of lists that are handed over as
    run-time lists."""
    opening = _Opening(lowering, node, most, growing)
    structure = Structure(opening.open(item), opening.closures(), opening.numbered)
    storages = frozenset(opening.storages)
    return Opened(structure, opening.leaves, opening.owners, storages, opening.kept)


class _Opening:
    def __init__(self, lowering: Lowering, node: Any, most: float, growing: frozenset[int]) -> None:
        self.lowering = lowering
        self.node = node
        self.most = most
        self.growing = growing
        self.leaves: list[Value] = []
        self.owners: list[Owner | None] = []
        self.kept: dict[int, tuple[Storage, Any]] = {}
        self.numbered: dict[int, Kept | Instance] = {}
        self.storages: set[Storage] = set()
        self.frames: dict[Frame, dict[str, Part]] = {}
        self._numbers: dict[Storage, int] = {}

    def closures(self) -> tuple[FrameNames, ...]:
        numbers = {frame: number for number, frame in enumerate(self.frames)}
        return tuple(
            FrameNames(
                frame.source.node,
                Container(dict, tuple(names.values()), tuple(names)),
                None if frame.outer is None else numbers[frame.outer],
                frame,
            )
            for frame, names in self.frames.items()
        )

    def open(self, item: FrontendValue) -> Part:
        return _opened(item, self)

    def named(self, items: dict[str, FrontendValue]) -> Container:
        return Container(dict, self.parts(tuple(items.values())), tuple(items))

    def once(
        self, item: _Held, take: Callable[[int, _Held], Kept | Instance]
    ) -> Kept | Instance | Again:
        """An object, list or dict: it gets a number, which stands for it where it is met again."""
        storage = item.storage
        if storage in self._numbers:
            return Again(self._numbers[storage])
        number = self._numbers[storage] = len(self._numbers)
        self.storages.add(storage)
        self.numbered[number] = take(number, item)
        return self.numbered[number]

    def instance(self, number: int, item: InstanceRef) -> Instance:
        cells = {n: cell for n, cell in item.cells.items() if cell in self.lowering.contents}
        self.storages.update(cells.values())
        parts = [self._items(cell)[0] for cell in cells.values()]
        return Instance(number, Container(item.cls, tuple(parts), tuple(cells)))

    def keep(self, number: int, item: ListRef | DictRef) -> Kept:
        storage = item.storage
        if number in self.growing:
            places.open_list(self.lowering, storage)
        contents = self.lowering.contents[storage]
        self.kept[number] = storage, contents
        part: Slot | Container
        if isinstance(contents, Value):
            assert isinstance(item, ListRef)
            part = self.leaf(contents, item)
        elif isinstance(contents, dict):
            part = Container(dict, self._items(storage), tuple(contents))
        else:
            part = Container(list, self.parts(contents))
        return Kept(number, part, storage.place, storage.levels)

    def _items(self, storage: Storage) -> tuple[Part, ...]:
        """The items of a dict, or the one attribute in a cell."""
        contents = self.lowering.items_in(storage)
        parts = self.parts(tuple(contents.values()))
        for key, part in zip(contents, parts, strict=True):
            if isinstance(part, Slot) and not part.wrapped:
                self.owners[part.number] = NumberIn(storage, key)
        return parts

    def close_over(self, frame: Frame | None, wanted: set[str]) -> None:
        """Take what a nested function reads of the frames around it."""
        while frame is not None:
            names = self.frames.setdefault(frame, {})
            found = sorted(wanted & set(frame.names))
            wanted = wanted.difference(found)
            for name in found:
                if name not in names:
                    names[name] = Absent()
                    item = frame.names[name]
                    if isinstance(item, _HANDED_OVER):
                        names[name] = self.open(item)
            frame = frame.outer

    def parts(self, items: Sequence[FrontendValue]) -> tuple[Part, ...]:
        return tuple([self.open(item) for item in items])

    def leaf(self, value: Value, owner: Owner | None) -> Slot:
        if len(self.leaves) >= self.most:
            raise TooLargeError
        self.leaves.append(value)
        self.owners.append(owner)
        return Slot(len(self.leaves) - 1, wrapped=owner is not None)


@singledispatch
def _opened(item: FrontendValue, opening: _Opening) -> Part:
    """What stands for a value. (No method: from CPython 3.13 on, those keep their object alive.)"""
    return opening.lowering.unsupported(
        opening.node,
        "a recursive function cannot be given this value",
        "pass numbers, arrays, and tuples or lists of those",
    )


@_opened.register
def _(item: Value, opening: _Opening) -> Slot:
    return opening.leaf(item, None)


@_opened.register
def _(item: Ref, opening: _Opening) -> Slot:
    opening.storages.add(item.storage)
    return opening.leaf(opening.lowering.load(item), item)


@_opened.register
def _(item: Static, opening: _Opening) -> Slot | Known:
    is_flag = isinstance(item.value, (bool, np.bool_))
    if isinstance(item.value, PLAIN_NUMBERS) and not is_flag:
        return opening.leaf(opening.lowering.constant(item.value), None)
    return Known(item)


@_opened.register
def _(item: ObjectRef, opening: _Opening) -> Outside:
    path = item.path
    root = path.root if isinstance(path.root, int) else id(path.root)
    return Outside((id(item.target), root, path.steps), item)


@_opened.register
def _(item: TupleOf, opening: _Opening) -> Container:
    return Container(item.cls, opening.parts(item.items))


@_opened.register
def _(item: ListRef, opening: _Opening) -> Part:
    return opening.once(item, opening.keep)


@_opened.register
def _(item: DictRef, opening: _Opening) -> Part:
    return opening.once(item, opening.keep)


@_opened.register
def _(item: InstanceRef, opening: _Opening) -> Part:
    return opening.once(item, opening.instance)


@_opened.register
def _(item: Unbound, opening: _Opening) -> Absent:
    return Absent()


@_opened.register
def _(item: BoundMethod, opening: _Opening) -> Method:
    return Method(opening.open(item.receiver), item.name, item.function)


@_opened.register
def _(item: PartialOf, opening: _Opening) -> Partial:
    given = Container(tuple, opening.parts(item.arguments))
    named = Container(tuple, opening.parts(tuple(item.keywords.values())))
    return Partial(opening.open(item.function), given, named, tuple(item.keywords))


@_opened.register
def _(item: LocalFunction, opening: _Opening) -> Function:
    opening.close_over(item.frame, _free_names(item.node))
    defaults = opening.named(item.defaults)
    return Function(item.node, defaults, list(opening.frames).index(item.frame))


def _free_names(node: Any) -> set[str]:
    """The names that a nested function may read of the frames around it."""
    body = node.body if isinstance(node.body, list) else [node.body]
    below = [inside for statement in body for inside in gast.walk(statement)]
    outer = {name for n in below if isinstance(n, gast.Nonlocal) for name in n.names}
    named = (n for n in gast.walk(node.args) if isinstance(n, gast.Name))
    own = {name.id for name in named if isinstance(name.ctx, gast.Param)}
    own |= assigned_names(body) - outer
    return set(read_places(body)) - own


_opened.register(FlatRef, _opened.dispatch(object))

_HANDED_OVER = (Value, Ref, Static, ObjectRef, InstanceRef, PartialOf, TupleOf, ListRef, DictRef,
                BoundMethod, LocalFunction)  # fmt: skip


def rebuilt(
    lowering: Lowering,
    structure: Structure,
    leaves: Sequence[Value],
    made: dict[int, FrontendValue] | None = None,
) -> Any:
    """The frontend value of a structure, of these leaves, in another lowering. made: gets the
    objects, lists and dicts in it, by number."""
    building = _Building(lowering, structure, leaves, {} if made is None else made)
    return building.build(structure.root)


class _Building:
    def __init__(
        self,
        lowering: Lowering,
        structure: Structure,
        leaves: Sequence[Value],
        made: dict[int, FrontendValue],
    ) -> None:
        self.lowering = lowering
        self.leaves = leaves
        self.made = made
        self.numbered = structure.numbered
        self.frames = [Frame(f.frame.source, f.frame.function, {}) for f in structure.frames]
        for frame, closed in zip(self.frames, structure.frames, strict=True):
            frame.outer = None if closed.outer is None else self.frames[closed.outer]
            frame.end = closed.frame.end
        for frame, closed in zip(self.frames, structure.frames, strict=True):
            for name, part in zip(closed.names.keys, closed.names.parts, strict=True):
                if not isinstance(part, Absent):
                    frame.names[name] = self.build(part)

    def build(self, part: Part) -> FrontendValue:
        return _BUILD[type(part)](self, part)

    def once(self, number: int) -> FrontendValue:
        """The object, list or dict of a number, made where it is met first."""
        if number not in self.made:
            part = self.numbered[number]
            if isinstance(part, Kept):
                self._kept(part)
            else:
                self.instance(part)
        return self.made[number]

    def leaf(self, part: Slot) -> FrontendValue:
        value = self.leaves[part.number]
        return self.lowering.wrap(value) if part.wrapped else value

    def container(self, part: Container) -> TupleOf:
        return TupleOf(tuple([self.build(below) for below in part.parts]), part.cls)

    def _kept(self, part: Kept) -> None:
        held = part.part
        if isinstance(held, Slot):
            value = self.leaves[held.number]
            storage = Storage(value.name, levels=part.levels)
            self.lowering.contents[storage] = value
            self.made[part.number] = ListRef(storage)
            return
        is_dict, storage = held.cls is dict, Storage(place=part.place, levels=part.levels)
        self.made[part.number] = (DictRef if is_dict else ListRef)(storage)
        items = [self.build(below) for below in held.parts]
        contents = dict(zip(held.keys, items, strict=True)) if is_dict else tuple(items)
        self.lowering.contents[storage] = contents

    def instance(self, part: Instance) -> None:
        attributes = part.attributes
        made = self.made[part.number] = new_instance(self.lowering, attributes.cls, {})
        for name, below in zip(attributes.keys, attributes.parts, strict=True):
            set_attribute(self.lowering, made, name, self.build(below))

    def partial(self, part: Partial) -> PartialOf:
        given, named = self.container(part.arguments), self.container(part.keywords)
        keywords = dict(zip(part.names, named.items, strict=True))
        return PartialOf(self.build(part.function), given.items, keywords)

    def function(self, part: Function) -> LocalFunction:
        names = zip(part.defaults.keys, map(self.build, part.defaults.parts), strict=True)
        return LocalFunction(part.node, self.frames[part.frame], dict(names))


_BUILD: dict[type, Callable[[_Building, Any], FrontendValue]] = {
    Slot: _Building.leaf,
    Known: lambda building, part: part.item,
    Outside: lambda building, part: part.item,
    Container: _Building.container,
    **{cls: lambda building, part: building.once(part.number) for cls in (Kept, Instance, Again)},
    Absent: lambda building, part: Unbound.on_one_path(),
    Method: lambda building, part: BoundMethod(
        building.build(part.receiver), part.name, part.function
    ),
    Partial: _Building.partial,
    Function: _Building.function,
}
