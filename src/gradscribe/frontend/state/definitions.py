"""The recursive functions of one lowering: what is known of each so far (see `recursion`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.state.interruptions import StoredListError
from gradscribe.ir.core import Callee, Function, Location
from gradscribe.ir.trees import Tree
from gradscribe.ir.types import Type


@dataclass(frozen=True)
class Result:
    """What a recursive function returns, in terms of its own parameters.

    shares: the leaves of the arguments that it may share memory with (None: with what comes from
    outside). stored: the leaves of the arguments that the function stores to; what they are then
    comes after the leaves of the tree. types: of all of those. levels: of the lists among what is
    stored to, in how many levels they hold nothing twice and no memory of other arguments. keeps:
    whether it calls code that cannot be read, which may keep what it is given; gives: whether that
    may be an array of its caller's.
    """

    tree: Tree
    types: tuple[Type, ...]
    shares: tuple[int | None, ...]
    stored: tuple[int, ...] = ()
    levels: tuple[int, ...] = ()
    keeps: bool = False
    gives: bool = False


@dataclass(eq=False)
class Definition:
    """A recursive function for one kind of arguments. captured: the variables from outside that
    it reads, by place; captured_types: of the leaves of those. holds_none: whether a list in it may
    hold None."""

    name: str
    callee: Callee = field(init=False)
    function: Function | None = None
    result: Result | None = None
    captured: dict[Any, tuple[Any, AccessPath, str]] = field(default_factory=dict)
    captured_types: tuple[Type, ...] = ()
    holds_none: bool = False

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
    each in a pass over a function that calls it, where the next pass starts. less: what has to be
    forgotten of the lists that one is given (see `StoredListError`). names: all names that IR
    functions have.
    """

    nodes: set[Any] = field(default_factory=set)
    suspects: set[Any] = field(default_factory=set)
    definitions: dict[Any, Definition] = field(default_factory=dict)
    tried: dict[Any, Definition] = field(default_factory=dict)
    less: dict[Any, StoredListError] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def forget(self, found: StoredListError) -> None:
        """Lower a function for less than what was known."""
        self.less[found.key] = found
        definition = self.tried.pop(found.key, None)
        if definition is not None:
            self.names.discard(definition.name)

    def unused_name(self, name: str) -> str:
        number = 1
        while f"{name}_{number}" in self.names:
            number += 1
        self.names.add(f"{name}_{number}")
        return f"{name}_{number}"


class NotYetKnownError(Exception):
    """What is read is not known yet: the result of a recursive call (of `definition`), or a name
    that a loop carries."""

    def __init__(self, definition: Definition | None, location: Location | None) -> None:
        self.definition = definition
        self.location = location
