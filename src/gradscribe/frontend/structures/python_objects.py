"""Structures at run time: the Python objects that they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.kinds import structure_parts as parts
from gradscribe.frontend.kinds.structure_parts import Structure


def python_object(structure: Structure, leaves: Sequence[Any]) -> Any:
    """The Python object of a structure, of these numbers and arrays. Functions that were made in
    compiled code can be kept in it, but not called."""
    return _object_of(structure.root, leaves, {})


def _object_of(part: Any, leaves: Sequence[Any], made: dict[int, Any]) -> Any:
    """made: the objects, lists and dicts so far, by number."""
    if isinstance(part, parts.Slot):
        return leaves[part.number]
    if isinstance(part, parts.Known):
        return part.item.value
    if isinstance(part, parts.Outside):
        return part.item.target
    if isinstance(part, parts.Again):
        return made[part.number]
    if isinstance(part, parts.Instance):
        return _instance(part, leaves, made)
    if isinstance(part, parts.Kept):
        made[part.number] = _object_of(part.part, leaves, made)
        return made[part.number]
    if isinstance(part, parts.Absent):
        return None
    if not isinstance(part, parts.Container):
        return _not_called
    items = [_object_of(below, leaves, made) for below in part.parts]
    if part.cls is dict:
        return dict(zip(part.keys, items, strict=True))
    return part.cls(*items) if hasattr(part.cls, "_fields") else part.cls(items)


def _not_called(*arguments: Any, **keywords: Any) -> Any:
    raise UnsupportedError(
        "a function that compiled code has made is called here at run time",
        "define it in a module",
    )


def _instance(part: parts.Instance, leaves: Sequence[Any], made: dict[int, Any]) -> Any:
    attributes = part.attributes
    found: Any = object.__new__(attributes.cls)
    made[part.number] = found
    for name, below in zip(attributes.keys, attributes.parts, strict=True):
        object.__setattr__(found, name, _object_of(below, leaves, made))
    return found
