"""Which of the arrays and lists that a branch leaves behind may be the same memory.

After `if c: a, b = b, a` each name may be either array, but they are never one and the same:
two merged values overlap only if they do on one of the paths.
"""

from __future__ import annotations

from dataclasses import dataclass

from gradscribe.frontend.memory.reach import is_kept, is_read_only
from gradscribe.frontend.state.knowledge import State
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.families import Family
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    InstanceRef,
    Items,
    ListRef,
    Ref,
    Storage,
    may_overlap,
)


@dataclass(frozen=True, eq=False, slots=True)
class Memory:
    """Of one merged value: the storages that it stands for on each path, and those of them from
    before the branch, which it may overlap afterwards. read_only: whether it cannot be stored to
    on one of the paths. kept: whether unread code may have kept it."""

    sides: tuple[frozenset[Storage], frozenset[Storage]]
    overlaps: frozenset[Storage]
    read_only: bool
    kept: bool


class Memories(Family):
    """The memories of all values that one branch merges."""

    def __init__(self, lowering: Lowering, before: State) -> None:
        self._lowering = lowering
        self._before = before
        self._held: set[Storage] | None = None
        self._found: list[Memory] = []
        self._tokens: dict[Memory, frozenset[int]] | None = None

    def of(self, a: FrontendValue | Items | None, b: FrontendValue | Items | None) -> Memory:
        """The memory of what is a on one path and b on the other."""
        sides = _storage_of(a), _storage_of(b)
        reached = frozenset(r for side in sides for s in side for r in s.reached)
        read_only = is_read_only(a) or is_read_only(b)
        kept = any(is_kept(self._lowering, Ref(s)) for side in sides for s in side)
        memory = Memory(sides, frozenset(s for s in reached if self._remains(s)), read_only, kept)
        if any(sides):
            self._found.append(memory)
        return memory

    def _remains(self, storage: Storage) -> bool:
        """Whether a storage is from before the branch, or held by a list that is."""
        if self._held is None:
            self._held = {held for s in self._before.contents for held in s.holds}
        return storage in self._before.contents or storage in self._held

    def storage(self, memory: Memory) -> tuple[frozenset[Storage], Memories, frozenset[int]]:
        """The overlaps, family and tokens of a storage of this memory."""
        if self._tokens is None:
            self._tokens = self._share_tokens()
        return memory.overlaps, self, self._tokens.get(memory, frozenset())

    def _share_tokens(self) -> dict[Memory, frozenset[int]]:
        """A common token for each two memories that may overlap on one of the paths."""
        tokens: dict[Memory, set[int]] = {memory: set() for memory in self._found}
        pairs = [(a, b) for n, a in enumerate(self._found) for b in self._found[:n]]
        for token, (a, b) in enumerate(pairs):
            if _overlap(a, b):
                tokens[a].add(token)
                tokens[b].add(token)
        return {memory: frozenset(found) for memory, found in tokens.items()}


def _storage_of(item: FrontendValue | Items | None) -> frozenset[Storage]:
    if isinstance(item, (Ref, ListRef, DictRef, InstanceRef)):
        return frozenset({item.storage}) | item.storage.holds
    return frozenset()


def _overlap(a: Memory, b: Memory) -> bool:
    """Whether two merged values may be the same memory on one of the paths."""
    return any(
        may_overlap(one, other)
        for side, others in zip(a.sides, b.sides, strict=True)
        for one in side
        for other in others
    )
