"""Carried values put together again from IR values: the parameters of a body, or the results."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from gradscribe.frontend.kinds.trees import Shape, assembled, step_to
from gradscribe.frontend.memory.carried_parts import is_carried, parts_of
from gradscribe.frontend.memory.reach import is_kept, is_read_only
from gradscribe.frontend.state.carried_entry import Entry, Part, Path, leaf_name
from gradscribe.frontend.state.knowledge import State
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.families import Family
from gradscribe.frontend.values.values import (
    Cell,
    DictRef,
    FrontendValue,
    Held,
    InstanceRef,
    ListRef,
    Ref,
    Reference,
    Storage,
)
from gradscribe.ir.core import Value


@dataclass(frozen=True, eq=False)
class Rebuilding(Family):
    """All that one region begins with, or that follows a loop. after: the state at the end of an
    iteration."""

    of_loop: ClassVar[bool] = True
    lowering: Lowering
    after: State

    def held(self, like: Held, entry: Entry, values: Iterator[Value]) -> Held:
        """What memory holds, of the structure of `like`; its leaves are taken from values."""
        if isinstance(like, dict):
            return {key: self.value(part, entry, values, (key,)) for key, part in like.items()}
        if isinstance(like, tuple) and entry.mode != "list":
            return tuple(self.value(part, entry, values, (n,)) for n, part in enumerate(like))
        return next(values)

    def value(
        self, like: FrontendValue, entry: Entry, values: Iterator[Value], path: Path = ()
    ) -> FrontendValue:
        """The same of a value. path: where it is in what is carried."""
        likes = [like] if isinstance(like, (Ref, ListRef, DictRef, InstanceRef)) else []
        contents = ChainMap(self.lowering.contents, self.after.contents)
        parts = parts_of(like, contents)
        is_opened = entry.mode == "list" and parts is not None and parts.shape.form is ListRef
        if parts is not None and not is_opened:
            items = [
                self.value(part, entry, values, (*path, *step_to(parts.shape, key)))
                for key, part in parts.by_key().items()
            ]
            cells = like.cells if isinstance(like, InstanceRef) else {}

            def storage(make: type[Storage], name: str) -> Storage:
                if make is Cell:
                    return self.storage(make, entry, (*path, name), [DictRef(cells[name])])
                return self.storage(make, entry, path, likes)

            return assembled(parts.shape, tuple(items), self.lowering.contents, storage)
        if not is_carried(like):
            return like
        value = next(values)
        if isinstance(like, Value):
            return value
        if isinstance(like, (ListRef, DictRef)):
            own = self.storage(Storage, entry, path, likes)
            self.lowering.contents[own] = value
            return type(like)(own)
        part = entry.memory(path)
        found = self.lowering.wrap(value, *self.memory(part, likes))
        if isinstance(found, (Ref, ListRef)):
            found.storage.read_only = is_read_only(like) or part.read_only
            found.storage.kept = part.kept or is_kept(self.lowering, like)
        return found

    def storage(
        self, make: type[Storage], entry: Entry, path: Path, likes: Sequence[Reference]
    ) -> Storage:
        """The storage of a container, object or attribute that may be one of these, or what an
        iteration leaves at this path."""
        part, storages = entry.memory(path), [item.storage for item in likes]
        name = path[-1] if make is Cell else leaf_name(entry.key)
        storage = make(name, *self.memory(part, likes))
        storage.holds = frozenset(part.holds).union(*(s.holds for s in storages))
        storage.levels = min([part.levels, *(s.levels for s in storages)])
        storage.read_only = part.read_only or any(s.read_only for s in storages)
        storage.kept = part.kept or any(s.kept for s in storages)
        return storage

    def memory(
        self, part: Part, likes: Iterable[Reference]
    ) -> tuple[frozenset[Storage], Rebuilding, frozenset[int]]:
        """The overlaps, family and tokens of what may be one of these."""
        own = {one for item in likes for one in (item.storage, *item.storage.overlaps)}
        return frozenset(own | part.overlaps), self, frozenset(part.tokens)


@dataclass(frozen=True, eq=False)
class Alternatives:
    """The parts of a value of two kinds (see `kinds.rebuilt`). starts: what there is at each path
    before the loop."""

    rebuilding: Rebuilding
    entry: Entry
    starts: Mapping[Path, Sequence[Reference]]

    def wrap(self, value: Value, path: Path) -> FrontendValue:
        """A number, array or list of unknown length; that is one part with all that it holds."""
        below = self.entry.below(path)
        starts = [i for at, items in self.starts.items() if at[: len(path)] == path for i in items]
        item = self.rebuilding.lowering.wrap(value, *self.rebuilding.memory(below, starts))
        if isinstance(item, Ref):
            item.storage.read_only, item.storage.kept = below.read_only, below.kept
        return item

    def assembled(
        self, shape: Shape, items: tuple[FrontendValue, ...], path: Path
    ) -> FrontendValue:
        """A tuple, dict, list, object or partial that has these parts."""

        def storage(make: type[Storage], name: str) -> Storage:
            at = (*path, name) if make is Cell else path
            return self.rebuilding.storage(make, self.entry, at, self.starts.get(at, ()))

        return assembled(shape, items, self.rebuilding.lowering.contents, storage)
