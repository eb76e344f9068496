"""The parts of frontend values: what there is of each class of value, once.

A value is a leaf (a number, an array, a known object, a list of unknown length) or it has parts:
`parts_of` takes it apart into a *shape*, which two values have in common or not, and the parts;
`assembled` puts a value of a shape together. What a value *leads to* is more: what a function
captures, what an iterator takes its items from. `reached` walks over all of that.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.syntax.function_texts import names_in
from gradscribe.frontend.values.iterations import Iteration
from gradscribe.frontend.values.values import (
    BoundMethod,
    Cell,
    DictRef,
    Either,
    FrontendValue,
    Held,
    InstanceRef,
    ListRef,
    LocalFunction,
    Manager,
    OneShot,
    PartialOf,
    Storage,
    Super,
    TupleOf,
    ViewOf,
)

Contents: TypeAlias = "Mapping[Storage, Held]"


@dataclass(frozen=True, slots=True)
class Shape:
    """What values of one structure have in common.

    form: the class of the frontend value: `TupleOf`, `PartialOf`, `ListRef`, `DictRef` or
    `InstanceRef`. cls: the class of the Python object. keys: the step to each part: a position, a
    key, the name of an attribute; of a partial, `FUNCTION` and what the arguments are given by.
    derived: the class of the object itself, where that is derived from tuple, list or dict.
    """

    form: type
    cls: type
    keys: tuple[Any, ...]
    derived: type | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """A value that was taken apart; items: one for each key of the shape."""

    shape: Shape
    items: tuple[FrontendValue, ...]

    def by_key(self) -> dict[Any, FrontendValue]:
        return dict(zip(self.shape.keys, self.items, strict=True))


FUNCTION = -1
"""The step from a partial to its function."""


def parts_of(item: object, contents: Contents) -> Parts | None:
    """The parts of a value in a state with these contents; None of a leaf."""
    take_apart = _TAKE_APART.get(type(item))
    return None if take_apart is None else take_apart(item, contents)


def _of_tuple(item: TupleOf, contents: Contents) -> Parts:
    return Parts(Shape(TupleOf, item.cls, tuple(range(len(item.items))), item.derived), item.items)


def _of_partial(item: PartialOf, contents: Contents) -> Parts:
    keys = (FUNCTION, *range(len(item.arguments)), *item.keywords)
    return Parts(Shape(PartialOf, functools.partial, keys), item.parts)


def _of_list(item: ListRef, contents: Contents) -> Parts | None:
    held = contents[item.storage]
    if not isinstance(held, tuple):
        return None
    return Parts(Shape(ListRef, list, tuple(range(len(held))), item.storage.derived), held)


def _of_dict(item: DictRef, contents: Contents) -> Parts | None:
    held = contents[item.storage]
    if not isinstance(held, dict):
        return None
    return Parts(Shape(DictRef, dict, tuple(held), item.storage.derived), tuple(held.values()))


def _of_object(item: InstanceRef, contents: Contents) -> Parts:
    attributes = ((name, contents.get(cell)) for name, cell in item.cells.items())
    held = {name: cell[name] for name, cell in attributes if isinstance(cell, dict)}
    return Parts(Shape(InstanceRef, item.cls, tuple(held)), tuple(held.values()))


_TAKE_APART: dict[type, Callable[[Any, Contents], Parts | None]] = {
    TupleOf: _of_tuple,
    ViewOf: _of_tuple,
    PartialOf: _of_partial,
    ListRef: _of_list,
    DictRef: _of_dict,
    InstanceRef: _of_object,
}


def assembled(
    shape: Shape,
    items: tuple[FrontendValue, ...],
    contents: dict[Storage, Held],
    storage: Callable[[type[Storage], str], Any],
) -> FrontendValue:
    """A value of this shape with these parts, which are entered in the contents.

    storage: makes the storage of a container or object, and (a `Cell`, by name) of an attribute.
    """
    if shape.form is TupleOf:
        return TupleOf(items, shape.cls, derived=shape.derived)
    parts = dict(zip(shape.keys, items, strict=True))
    if shape.form is PartialOf:
        function = parts.pop(FUNCTION)
        given = tuple(part for key, part in parts.items() if isinstance(key, int))
        return PartialOf(function, given, {k: p for k, p in parts.items() if isinstance(k, str)})
    own = storage(Storage, "")
    if shape.form is InstanceRef:
        contents[own] = {}
        cells = {name: storage(Cell, name) for name in shape.keys}
        contents.update((cells[name], {name: part}) for name, part in parts.items())
        return InstanceRef(shape.cls, own, cells)
    own.derived = shape.derived
    is_dict = shape.form is DictRef
    contents[own] = parts if is_dict else items
    return DictRef(own) if is_dict else ListRef(own)


def step_to(shape: Shape, key: Any) -> tuple[Any, ...]:
    """The path from a value of this shape to a part, among all that it reaches: an attribute is a
    part in a storage of its own; a partial with all that it is given is one."""
    if shape.form is PartialOf:
        return ()
    return (key, key) if shape.form is InstanceRef else (key,)


def leads_to(lowering: Lowering, item: FrontendValue) -> Iterable[FrontendValue]:
    """What a value leads to at once: its parts, of an object its attributes as the dicts that they
    are in; what a function captures, a method is bound to, an iterator is made of, a view shows."""
    if isinstance(item, InstanceRef):
        return map(DictRef, lowering.cells(item))
    if isinstance(item, Iteration):
        return item.parts
    if isinstance(item, ViewOf):
        return (item.owner, *item.items)
    parts = parts_of(item, lowering.contents)
    if parts is not None:
        return parts.items
    links = _LINKS.get(type(item))
    return () if links is None else links(item)


_LINKS: dict[type, Callable[[Any], Iterable[FrontendValue]]] = {
    Either: lambda item: (item.first, item.second),
    BoundMethod: lambda item: (item.receiver,),
    Super: lambda item: (item.receiver,),
    OneShot: lambda item: item.holds,
    Manager: lambda item: (*item.arguments, *item.keywords.values()),
    LocalFunction: lambda item: (
        *(held for _, _, held in captured(item)),
        *item.defaults.values(),
    ),
}


def captured(function: LocalFunction) -> Iterator[tuple[Frame, str, FrontendValue]]:
    """The variables around a function that it may read: their frames, names and values."""
    names, frame = set(names_in(function.node)), function.frame
    while frame is not None:
        yield from ((frame, name, frame.names[name]) for name in names & frame.names.keys())
        names -= frame.names.keys()
        frame = frame.outer


def reached(lowering: Lowering, *items: FrontendValue) -> Iterator[FrontendValue]:
    """These values, and all that they lead to, containers and functions once each."""
    pending, seen = list(items), set[Any]()
    while pending:
        item = pending.pop()
        if isinstance(item, (ListRef, DictRef, InstanceRef, LocalFunction)):
            key = item if isinstance(item, LocalFunction) else item.storage
            if key in seen:
                continue
            seen.add(key)
        yield item
        pending += leads_to(lowering, item)
