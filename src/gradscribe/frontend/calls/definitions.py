"""The recursive functions of one lowering: what is known of each so far (see `recursion`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gradscribe.errors import UnsupportedError
from gradscribe.ir.core import Callee, Function, Location
from gradscribe.ir.trees import Tree
from gradscribe.ir.types import Type

if TYPE_CHECKING:
    from gradscribe.frontend.frame import Frame
    from gradscribe.frontend.interface import Path


class AlwaysRaisesError(UnsupportedError):
    """Python itself would raise here: an exception of class `cls`, which is the (frontend) value.

    It is refused, unless a `try` handles it.
    """

    def __init__(self, what: str, advice: str, location: Any, cls: type, value: Any) -> None:
        super().__init__(what, advice, location)
        self.cls = cls
        self.value = value


class EverOtherTypesError(UnsupportedError):
    """A function calls itself with ever other types of arguments. To lower what is around it in
    another way would but find the same again, at each level of the recursion."""

    def __init__(self, name: str, location: Location | None) -> None:
        super().__init__(
            f"`{name}` calls itself with ever other types of arguments",
            "pass what grows as a list of numbers or as an array, or write a loop",
            location,
        )


class FoundOnStackError(Exception):
    """A frame's function was called again while the frame was being lowered."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame


class NotYetKnownError(Exception):
    """What is read is not known yet: the result of a recursive call (of `definition`), or a name
    that a loop carries."""

    def __init__(self, definition: Definition | None, location: Location | None) -> None:
        self.definition = definition
        self.location = location


@dataclass(frozen=True)
class Result:
    """What a recursive function returns, in terms of its own parameters.

    shares: the leaves of the arguments that it may share memory with (None: with what comes from
    outside). stored: the leaves of the arguments that the function stores to; what they are then
    comes after the leaves of the tree.
    """

    tree: Tree
    types: tuple[Type, ...]
    shares: tuple[int | None, ...]
    stored: tuple[int, ...] = ()


@dataclass(eq=False)
class Definition:
    """A recursive function for one kind of arguments. captured: the variables from outside that
    it reads, by place; captured_types: of the leaves of those."""

    name: str
    callee: Callee = field(init=False)
    function: Function | None = None
    result: Result | None = None
    captured: dict[Any, tuple[Any, Path, str]] = field(default_factory=dict)
    captured_types: tuple[Type, ...] = ()

    def __post_init__(self) -> None:
        self.callee = Callee(self.name, self._made)

    def _made(self) -> Function:
        assert self.function is not None, f"{self.name} is not lowered yet"
        return self.function


@dataclass(eq=False)
class Recursion:
    """The recursive functions of one lowering.

    nodes: the trees of those. suspects: the trees of functions that call themselves, perhaps with
    other structures only (the parts of a tree): those calls are inlined. tried: what was found of
    each in a pass over a function that calls it, where the next pass starts. names: all names
    that IR functions have.
    """

    nodes: set[Any] = field(default_factory=set)
    suspects: set[Any] = field(default_factory=set)
    definitions: dict[Any, Definition] = field(default_factory=dict)
    tried: dict[Any, Definition] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def unused_name(self, name: str) -> str:
        number = 1
        while f"{name}_{number}" in self.names:
            number += 1
        self.names.add(f"{name}_{number}")
        return f"{name}_{number}"
