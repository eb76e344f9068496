"""What a `for` runs over.

An iteration takes its items from one thing (a range, an array, a list, known items), or from other
iterations: `zip`, `enumerate`, `map`. What its items are where a function is lowered, and how many,
is said in `containers.iteration_items`; how a loop in the IR takes them, in `loop_columns`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    ListRef,
    Ref,
    Static,
    ViewOf,
)
from gradscribe.frontend.values.values import Iteration as Iteration  # with its subclasses
from gradscribe.frontend.values.values import Leaf as Leaf

Function: TypeAlias = "Callable[[Any], FrontendValue]"
"""Makes an item: of a number, or of what another iteration gives."""

_ONE = Static(1)


@dataclass(frozen=True, eq=False, slots=True)
class Range(Leaf):
    """`range(start, stop, step)`, which is a value that programs have, too."""

    start: FrontendValue
    stop: FrontendValue
    step: FrontendValue = _ONE

    @staticmethod
    def of(numbers: range) -> Range:
        return Range(Static(numbers.start), Static(numbers.stop), Static(numbers.step))

    @property
    def parts(self) -> tuple[FrontendValue, FrontendValue, FrontendValue]:
        return self.start, self.stop, self.step

    @property
    def known(self) -> range | None:
        """Its numbers in order, where they are known."""
        ends = [part.value for part in self.parts if isinstance(part, Static)]
        if len(ends) < len(self.parts):
            return None
        return range(*ends)[::-1] if self.reversed else range(*ends)

    @property
    def is_endless(self) -> bool:
        return self.stop == Static(sys.maxsize)


ALL_NUMBERS = Range.of(range(sys.maxsize))


@dataclass(frozen=True, eq=False, slots=True)
class ItemsOf(Leaf):
    """The rows of an array, or the items of a list whose length only the run tells."""

    owner: Ref | ListRef

    @property
    def parts(self) -> tuple[Ref | ListRef]:
        return (self.owner,)


@dataclass(frozen=True, eq=False, slots=True)
class ItemsByIndex(Leaf):
    """`owner[i]` for each of `indices`. to_end: the items of a list that are left, up to its end as
    that is when they are taken."""

    owner: FrontendValue
    indices: Range
    to_end: bool = False

    @property
    def computes(self) -> bool:
        return not isinstance(self.owner, (Ref, ListRef))

    @property
    def parts(self) -> tuple[Range, FrontendValue]:
        return self.indices, self.owner


@dataclass(frozen=True, eq=False, slots=True)
class KnownItems(Leaf):
    """Items that are known one by one. owner: the list or dict that holds them, or the view of one;
    skipped: how many of its items were taken before."""

    items: tuple[FrontendValue, ...]
    owner: ListRef | DictRef | ViewOf | None = None
    skipped: int = 0

    @property
    def parts(self) -> tuple[FrontendValue, ...]:
        return self.items


@dataclass(frozen=True, eq=False, slots=True)
class ItemsByNext(Leaf):
    """What `next` gives of an object of the user's class, item by item, until it ends. Who takes
    the items twice gets what is left of them the second time, as in Python."""

    owner: FrontendValue
    computes = True

    @property
    def parts(self) -> tuple[FrontendValue]:
        return (self.owner,)


@dataclass(frozen=True, eq=False, slots=True)
class Zip(Iteration):
    """A tuple of the items of several iterations."""

    inner: tuple[Iteration, ...]

    def with_inner(self, inner: Sequence[Iteration]) -> Zip:
        return Zip(tuple(inner))


@dataclass(frozen=True, eq=False, slots=True)
class Derived(Iteration):
    """Makes an item of each of another iteration."""

    over: Iteration

    @property
    def inner(self) -> tuple[Iteration, ...]:
        return (self.over,)

    def with_inner(self, inner: Sequence[Iteration]) -> Iteration:
        return replace(self, over=inner[0])


@dataclass(frozen=True, eq=False, slots=True)
class Enumerated(Derived):
    """Pairs of a number, from `start` on, and an item."""

    start: FrontendValue

    @property
    def parts(self) -> tuple[Iteration, FrontendValue]:
        return self.over, self.start


@dataclass(frozen=True, eq=False, slots=True)
class Mapped(Derived):
    """What a function of frontend values makes of each item, when that is taken."""

    function: Function
    computes = True

    @staticmethod
    def of(over: Iteration, function: Function) -> Derived:
        """The same; without end where the other iteration has none."""
        if not isinstance(over, Endless):
            return Mapped(over, function)
        return Endless(Mapped(over.over, function), lambda number: function(over.item(number)))


@dataclass(frozen=True, eq=False, slots=True)
class Endless(Derived):
    """Items that come to no end. over: what a `for` runs over; item: gives the one of a number."""

    item: Function
    computes = True

    @staticmethod
    def of(item: Function) -> Endless:
        """One whose items are all made of their number."""
        return Endless(Mapped(ALL_NUMBERS, item), item)
