"""How two values are merged after a branch: plans, which are made before the `if` operation, and of
which the merged values are built after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from gradscribe.frontend.joins.merged_memory import Memory
from gradscribe.frontend.kinds.trees import Shape
from gradscribe.frontend.state.knowledge import State
from gradscribe.frontend.values.values import FrontendValue, Items, Storage
from gradscribe.ir.core import Operation, Value

_Made = TypeVar("_Made")

Plan: TypeAlias = "Leaf | Same | Composite[FrontendValue] | Alternatives | Assembled"
"""How to merge two values."""

MemoryPlan: TypeAlias = "Leaf | Composite[Items]"
"""How to merge what a piece of memory holds."""


@dataclass(frozen=True, eq=False, slots=True)
class Sides:
    """The two sides of a branch: their blocks, and the states that they leave behind.

    condition: the flag that tells which of the two was taken, if there is one. before: the state
    before the branch. second_raises: nothing comes after the second side.
    """

    condition: Value | None
    before: State
    blocks: tuple[list[Operation], list[Operation]]
    states: tuple[State, State]
    second_raises: bool = False


@dataclass(frozen=True, slots=True)
class Leaf:
    """A pair of leaves to merge, by number. memory: what it may stand for; holds: what else may be
    in it, where it is a list."""

    number: int
    memory: Memory
    holds: frozenset[Storage] = frozenset()


@dataclass(frozen=True, slots=True)
class Same:
    """What is the same on both paths."""

    item: FrontendValue


@dataclass(frozen=True, slots=True)
class Composite(Generic[_Made]):
    """What memory holds, or a function with its defaults. make: makes it of its parts."""

    make: Callable[[tuple[FrontendValue, ...]], _Made]
    parts: tuple[Plan, ...]


@dataclass(frozen=True, slots=True)
class Alternatives:
    """A value of two kinds: plans for its flag and for both of them."""

    flag: Plan
    first: Plan
    second: Plan


@dataclass(frozen=True, slots=True)
class Assembled:
    """A value of this shape, made anew. memory: what a container or object may stand for; cells:
    the same of the attributes of an object. holds: what may be in it."""

    shape: Shape
    parts: tuple[Plan, ...]
    memory: Memory
    cells: dict[str, Memory]
    holds: frozenset[Storage]
