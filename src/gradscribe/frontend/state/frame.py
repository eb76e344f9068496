"""A function that is being lowered: its source, its names, and where in it lowering is."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import gast

from gradscribe.frontend.syntax.name_liveness import reads_of, stores_last
from gradscribe.frontend.syntax.source import Source
from gradscribe.frontend.values.values import FrontendValue
from gradscribe.ir.core import Location, Operation

NOT_RETURNED, NOT_BROKEN, NOT_CONTINUED = EXITS = ("not returned", "not broken", "not continued")
"""Names that no Python program can have: the exits of the current frame and loop, each a flag that
is true as long as the exit was not taken."""

RETURN_VALUE = "return value"
"""The name of what the function returns."""

RAISED = "has raised"
"""The name under which a path that ends in `raise` says so."""


@dataclass(frozen=True, eq=False, slots=True)
class Matched:
    """What a class pattern has read of an object; None where there is no such attribute. block:
    where. changes: whether reading it has changed something."""

    block: list[Operation]
    item: FrontendValue | None
    changes: bool


@dataclass(eq=False, slots=True)
class Frame:
    """One function that is being lowered: its source and its names.

    end: where the current statement ends (line, column). statement: it, if it is one without a
    body. loops: the first lines of the loops around it. called_at: for functions of this package,
    where the user's program calls them. outer: the frame that a nested function closes over.
    opened: the arguments (`Opened`), where the function is known to call itself. cls: the class
    that a method belongs to, if a function defines that. depth: how many regions there are around
    the current statement, or side of a branch; None in an expression. matched: what patterns of a
    `case` have read of objects.
    """

    source: Source
    function: FunctionType
    names: dict[str, FrontendValue]
    outer: Frame | None = None
    end: tuple[int, int] = (0, 0)
    statement: Any = None
    loops: list[int] = field(default_factory=list)
    called_at: Location | None = None
    opened: Any = None
    cls: type | None = None
    depth: int | None = None
    matched: dict[Any, Matched] = field(default_factory=dict)

    @property
    def is_of_package(self) -> bool:
        """Whether this is a function of gradscribe itself, such as a rule."""
        return (self.function.__module__ or "").startswith("gradscribe.")

    @property
    def is_rule(self) -> bool:
        """Whether this says what an operation means, in operations on what that is given."""
        return (self.function.__module__ or "").startswith("gradscribe.primitives.")

    @property
    def qualified_name(self) -> str:
        """What Python calls the function, in the names of what it defines."""
        if self.outer is None:
            return str(getattr(self.function.__code__, "co_qualname", self.function.__qualname__))
        around = (
            f"{self.outer.qualified_name}.<locals>" if self.cls is None else self.cls.__qualname__
        )
        return f"{around}.{getattr(self.source.node, 'name', '<lambda>')}"

    def is_only_grown(self, name: str) -> bool:
        """Whether a container from outside is read only to have items added."""
        frame: Frame | None = self
        while frame is not None:
            if name not in frame.source.only_grown or name in frame.names:
                return False
            frame = frame.outer
        return True

    def is_read_later(
        self, name: str, *, innermost: bool = True, by_functions: bool = True
    ) -> bool:
        """Whether the name is read after the current statement (or in a loop around it), before it
        is bound anew; or in the current one, unless its last act is the store.

        innermost: whether this is the frame that is being lowered, not one that calls it.
        by_functions: whether what functions in it read counts, whether or not they are called."""
        names = self.source.live if by_functions else self.source.live_itself
        live = names.get(self.statement)
        if live is not None:
            is_last = innermost and stores_last(self.statement)
            return name in live or (not is_last and name in _reads_of(self.statement))
        first = (self.loops[0], 0) if self.loops else self.end
        return any(place >= first for place in self.source.reads.get(name, ()))

    def is_asked_later(self, name: str) -> bool:
        """Whether the name is read later, or deleted, so that it matters whether it has a value."""
        deleted = self.source.live_or_deleted.get(self.statement, ())
        return name in deleted or self.is_read_later(name)

    def is_read_besides(self, name: str, node: Any) -> bool:
        """Whether the name is read after the current statement, or in it outside of an
        expression."""
        live = self.source.live.get(self.statement)
        if live is None:
            return self.is_read_later(name)
        return name in live or _reads(self.statement, name) > _reads(node, name)


_reads_of = functools.lru_cache(maxsize=256)(reads_of)
"""The same, of statements that are asked for often: for each name, at each store."""


def _reads(node: Any, name: str) -> int:
    return sum(isinstance(n, gast.Name) and n.id == name for n in gast.walk(node))
