"""One name or storage that a loop carries, and the small helpers around it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gradscribe.frontend.values.values import ALL, Choice, FrontendValue, Kind, Static, Storage
from gradscribe.ir.core import Value
from gradscribe.ir.types import Type

Path = tuple[Any, ...]


@dataclass
class Part:
    """What is known of the memory that one part of a carried value refers to (see `Storage`)."""

    overlaps: set[Storage] = field(default_factory=set)
    tokens: set[int] = field(default_factory=set)
    holds: set[Storage] = field(default_factory=set)
    levels: int = ALL
    read_only: bool = False
    kept: bool = False

    def widen(self, other: Part) -> bool:
        """Take in what else it may be; whether that was known."""
        wide = self.joined(other)
        wide.tokens = self.tokens  # they are shared with those of other entries
        known = self == wide
        self.overlaps, self.holds, self.levels = wide.overlaps, wide.holds, wide.levels
        self.read_only, self.kept = wide.read_only, wide.kept
        return known

    def joined(self, other: Part) -> Part:
        """What is known of memory that may be either."""
        return Part(
            self.overlaps | other.overlaps,
            self.tokens | other.tokens,
            self.holds | other.holds,
            min(self.levels, other.levels),
            self.read_only or other.read_only,
            self.kept or other.kept,
        )


@dataclass
class Assumed:
    """What is assumed of the leaves that an iteration begins with, as it is true of the first
    iteration's.

    holds: the leaves of which it is. refuted: those of which an iteration has shown that it is not.
    """

    holds: set[int] = field(default_factory=set)
    refuted: set[int] = field(default_factory=set)

    def assume(self, number: int) -> bool:
        """Whether it may be, of a leaf of which it is true in the first iteration."""
        if number not in self.refuted:
            self.holds.add(number)
        return number not in self.refuted

    def settle(self, is_true: Callable[[int], bool]) -> bool:
        """Whether it is true of what an iteration ends with; it may be so if it is of other
        leaves."""
        refuted, asked = set[int](), set[int]()
        while new := self.holds - asked:
            asked |= new
            refuted |= {number for number in new if not is_true(number)}
        self.refuted |= refuted
        self.holds -= refuted
        return not refuted


@dataclass(eq=False)
class Entry:
    """One carried name or storage. mode: how it enters the body.

    parts: what each part refers to. contiguous: the leaves that lie in C order. without_integers:
    the arrays that have the floating dtype which their type says (see `number_classes`).

    leaves: it is taken apart; types are those of the leaves. list: a list of known structure that
    becomes one of unknown length. object: one object, as long as no iteration binds another. late:
    it has no value on entry, or one of another kind, and has to be assigned in each iteration
    before it is read. probe: the same, where an iteration reads it; the paths that read it are left
    out, to find out what the others make of it. either: it is of one kind or of another (`choice`);
    found, found_types: its kind at the end of an iteration, and the types of its leaves.

    survives: a path through the body leaves a late name what the iteration before has made of it.
    survivor: such a name, before it is given an undefined start.
    is_tried: whether a `try` handles that it has no value.
    expected: the types that held in an earlier attempt (see `attempts`).
    """

    key: Any
    mode: str = "leaves"
    types: list[Type] | None = None
    parts: dict[Path, Part] = field(default_factory=dict)
    reason: str = ""
    count: int = 0
    contiguous: Assumed = field(default_factory=Assumed)
    without_integers: Assumed = field(default_factory=Assumed)
    choice: Kind | Choice | None = None
    found: Kind | Choice | None = None
    found_types: list[Type] = field(default_factory=list)
    survives: bool = False
    is_tried: bool = False
    expected: list[Type] = field(default_factory=list)

    def part(self, path: Path) -> Part:
        """The part at a path through the tuples, lists and objects of the value."""
        return self.parts.setdefault(path, Part())

    def memory(self, path: Path) -> Part:
        """The same, of a value that a region begins with; a list of unknown length is one part of
        all that it ever was."""
        return self.below(()) if self.mode == "list" else self.part(path)

    def below(self, path: Path) -> Part:
        """The part at a path, as one with all that is below it."""
        found = [part for at, part in self.parts.items() if at[: len(path)] == path]
        return functools.reduce(Part.joined, found, Part())


def flag_of(item: FrontendValue | None) -> bool | Value:
    """A flag as True, False or an IR value."""
    if isinstance(item, Value):
        return item
    return bool(item.value) if isinstance(item, Static) else True


def leaf_name(key: Any) -> str:
    name = key.name if isinstance(key, Storage) else key
    return name if isinstance(name, str) and name.isidentifier() else ""
