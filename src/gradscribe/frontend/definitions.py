"""The recursive functions of one lowering: what is known of each so far (see `recursion`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gradscribe.ir.core import Callee, Function, Location
from gradscribe.ir.trees import Tree
from gradscribe.ir.types import Type

if TYPE_CHECKING:
    from gradscribe.frontend.interface import Path
    from gradscribe.frontend.lowering import Frame


class FoundOnStackError(Exception):
    """A frame's function was called again while the frame was being lowered."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame


class NotYetKnownError(Exception):
    """The result of a recursive call, while it is not known what the function returns."""

    def __init__(self, definition: Definition, location: Location | None) -> None:
        self.definition = definition
        self.location = location


class CapturedError(Exception):
    """A recursive function turned out to read a variable from outside."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition


@dataclass(frozen=True)
class Result:
    """What a recursive function returns, in terms of its own parameters. shares: it may share
    memory with the arguments."""

    tree: Tree
    types: tuple[Type, ...]
    shares: bool


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
    """The recursive functions of one lowering. nodes: the trees of those. names: all names that
    IR functions have."""

    nodes: set[Any] = field(default_factory=set)
    definitions: dict[Any, Definition] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def unused_name(self, name: str) -> str:
        number = 1
        while f"{name}_{number}" in self.names:
            number += 1
        self.names.add(f"{name}_{number}")
        return f"{name}_{number}"
