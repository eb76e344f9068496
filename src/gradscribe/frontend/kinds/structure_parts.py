"""The parts of structures: what two values have in common that differ in their numbers and arrays
alone (see `structures`)."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.values.values import ObjectRef, Static
from gradscribe.ir.probing import module_of_class

Part: TypeAlias = (
    "Slot | Absent | Known | Outside | Kept | Instance | Again | Container | Method | Partial"
    " | Function"
)
"""What a value is, or a part of one."""


@dataclass(frozen=True)
class Slot:
    """The IR value of this number. wrapped: the contents of an array or list."""

    number: int
    wrapped: bool


@dataclass(frozen=True)
class Absent:
    """A name that has no value that could be handed over."""


@dataclass(frozen=True)
class Known:
    item: Static


@dataclass(frozen=True)
class Outside:
    """An object outside the program, found at a place that is told by identity."""

    place: tuple[Any, ...]
    item: ObjectRef = field(compare=False)


@dataclass(frozen=True)
class Kept:
    """A list or dict, of this number: its items, or the IR value that a list is. place, levels: as
    in `Storage`."""

    number: int
    part: Slot | Container
    place: tuple[str, int, int] | None
    levels: int


@dataclass(frozen=True)
class Instance:
    """An object whose attributes are known, of this number; they may lead to it again."""

    number: int
    attributes: Container


@dataclass(frozen=True)
class Again:
    """The object, list or dict of this number."""

    number: int


@dataclass(frozen=True)
class Container:
    """cls: of a tuple or object; list or dict for those. keys: of a dict, or the attributes of an
    object, otherwise none."""

    cls: type
    parts: tuple[Part, ...]
    keys: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Method:
    receiver: Part
    name: str
    function: Any


@dataclass(frozen=True)
class Partial:
    function: Part
    arguments: Container
    keywords: Container
    names: tuple[str, ...]


@dataclass(frozen=True)
class Function:
    """A nested function: its tree, defaults, and the number of the frame that it closes over."""

    node: Any
    defaults: Container
    frame: int


@dataclass(frozen=True)
class FrameNames:
    """A frame that functions close over: what they read of it, and the frame around it."""

    node: Any
    names: Container
    outer: int | None
    frame: Frame = field(compare=False)


@dataclass(frozen=True)
class Structure:
    """Hashable; equal for values that differ in nothing but IR values. numbered: its objects, lists
    and dicts, by number."""

    root: Any
    frames: tuple[FrameNames, ...]
    numbered: dict[int, Kept | Instance] = field(compare=False)

    def without(self, numbers: frozenset[int]) -> Any:
        """What is left of it to compare, but for what the lists and dicts of these numbers hold."""
        return _without((self.root, self.frames), numbers)


def _without(part: Any, numbers: frozenset[int]) -> Any:
    if isinstance(part, tuple):
        return tuple([_without(below, numbers) for below in part])
    if isinstance(part, Slot):
        return part.wrapped
    if isinstance(part, Kept) and part.number in numbers:
        return part.number
    if module_of_class(type(part)) != __name__:
        return part
    compared = (field.name for field in fields(part) if field.compare)
    return (type(part), *(_without(getattr(part, name), numbers) for name in compared))
