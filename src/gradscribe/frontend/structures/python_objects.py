"""Structures at run time: the Python objects that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.kinds import structure_parts as parts
from gradscribe.frontend.kinds.structure_parts import Structure


def python_object(structure: Structure, leaves: Sequence[Any]) -> Any:
    """The Python object of a structure, of these numbers and arrays. Functions that were made in
    compiled code can be kept in it, but not called."""
    return _object_of(structure.root, leaves, {})


def _object_of(part: parts.Part, leaves: Sequence[Any], made: dict[int, Any]) -> Any:
    """made: the objects, lists and dicts so far, by number."""
    make = _OBJECTS.get(type(part))
    return _not_called if make is None else make(part, leaves, made)


def _container(part: parts.Container, leaves: Sequence[Any], made: dict[int, Any]) -> Any:
    items = [_object_of(below, leaves, made) for below in part.parts]
    if part.cls is dict:
        return dict(zip(part.keys, items, strict=True))
    return part.cls(*items) if hasattr(part.cls, "_fields") else part.cls(items)


def _not_called(*arguments: Any, **keywords: Any) -> Any:
    raise UnsupportedError(
        "a function that compiled code has made is called here at run time",
        "define it in a module",
    )


def _kept(part: parts.Kept, leaves: Sequence[Any], made: dict[int, Any]) -> Any:
    made[part.number] = _object_of(part.part, leaves, made)
    return made[part.number]


def _instance(part: parts.Instance, leaves: Sequence[Any], made: dict[int, Any]) -> Any:
    attributes = part.attributes
    found: Any = object.__new__(attributes.cls)
    made[part.number] = found
    for name, below in zip(attributes.keys, attributes.parts, strict=True):
        object.__setattr__(found, name, _object_of(below, leaves, made))
    return found


_OBJECTS: dict[type, Callable[[Any, Sequence[Any], dict[int, Any]], Any]] = {
    parts.Slot: lambda part, leaves, made: leaves[part.number],
    parts.Known: lambda part, leaves, made: part.item.value,
    parts.Outside: lambda part, leaves, made: part.item.target,
    parts.Again: lambda part, leaves, made: made[part.number],
    parts.Absent: lambda part, leaves, made: None,
    parts.Instance: _instance,
    parts.Kept: _kept,
    parts.Container: _container,
}
