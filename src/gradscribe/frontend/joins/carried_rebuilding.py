"""Carried values put together again from IR values: the parameters of a body, or the results."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradscribe.frontend.kinds.trees import Shape, assembled
from gradscribe.frontend.memory.carried_parts import is_carried
from gradscribe.frontend.memory.reach import is_kept, is_read_only
from gradscribe.frontend.state.carried_entry import Entry, Part, Path, leaf_name
from gradscribe.frontend.state.knowledge import State
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    Cell,
    DictRef,
    InstanceRef,
    ListRef,
    Ref,
    Storage,
    TupleOf,
)
from gradscribe.ir.core import Value


@dataclass(frozen=True, eq=False)
class Rebuilding:
    """All that one region begins with, or that follows a loop: a family of storages (see
    `Storage`). after: the state at the end of an iteration."""

    lowering: Lowering
    after: State

    def value(self, like: Any, entry: Entry, values: Any, path: Path = ()) -> Any:
        """A value of the structure of `like`, its leaves taken from values. path: where it is in
        what is carried."""

        def again(key: Any, item: Any) -> Any:
            return self.value(item, entry, values, (*path, key))

        if isinstance(like, TupleOf):
            return TupleOf(tuple(itertools.starmap(again, enumerate(like.items))), like.cls)
        if isinstance(like, InstanceRef):
            return self._object(like, entry, values, path)
        if not is_carried(like):
            return like
        if isinstance(like, (ListRef, DictRef)):
            return self._container(like, entry, values, path)
        if isinstance(like, dict):
            return {key: again(key, below) for key, below in like.items()}
        if isinstance(like, tuple) and entry.mode != "list":
            return tuple(itertools.starmap(again, enumerate(like)))
        value = next(values)
        if isinstance(like, (tuple, Value)):
            return value
        found = self.lowering.wrap(value, *self._memory(like, entry, path))
        if isinstance(found, (Ref, ListRef)):
            part = entry.memory(path)
            found.storage.read_only = is_read_only(like) or part.read_only
            found.storage.kept = part.kept or is_kept(self.lowering, like)
        return found

    def _memory(self, like: Any, entry: Entry, path: Path) -> tuple[Any, Any, Any]:
        """The overlaps, family and tokens of what may be `like`, or what an iteration leaves
        here."""
        part = entry.memory(path)
        storage = getattr(like, "storage", None)
        own = frozenset() if storage is None else {storage} | storage.overlaps
        return own | part.overlaps, self, frozenset(part.tokens)

    def _container(
        self, like: ListRef | DictRef, entry: Entry, values: Any, path: Path
    ) -> ListRef | DictRef:
        lowering, part, old = self.lowering, entry.memory(path), like.storage
        storage = Storage(leaf_name(entry.key), *self._memory(like, entry, path))
        storage.holds = old.holds | part.holds
        storage.levels = min(old.levels, part.levels)
        storage.read_only = old.read_only or part.read_only
        storage.kept = part.kept or old.kept
        below = lowering.contents.get(old)
        if below is None:
            below = self.after.contents[old]
        lowering.contents[storage] = self.value(below, entry, values, path)
        return type(like)(storage)

    def _object(self, like: InstanceRef, entry: Entry, values: Any, path: Path) -> InstanceRef:
        """An object with the attributes of `like`, which it may be."""
        lowering = self.lowering

        def cell(name: str, of: InstanceRef | DictRef, path: Path) -> Cell:
            return Cell(name, *self._memory(of, entry, path))

        owner = InstanceRef(like.cls, cell("", like, path), {})
        lowering.contents[owner.storage] = {}
        for name, old in like.cells.items():
            held = lowering.contents.get(old) or self.after.contents.get(old)
            if held is not None:
                below = (*path, name)
                own = owner.cells[name] = cell(name, DictRef(old), below)
                lowering.contents[own] = self.value(held, entry, values, below)
        return owner


@dataclass(frozen=True, eq=False)
class Alternatives:
    """The parts of a value of two kinds (see `kinds.rebuilt`). starts: what there is at each path
    before the loop."""

    rebuilding: Rebuilding
    entry: Entry
    starts: Mapping[Path, Sequence[Any]]

    def wrap(self, value: Value, path: Path) -> Any:
        """A number, array or list of unknown length; that is one part with all that it holds."""
        below = self.entry.below(path)
        starts = [i for at, items in self.starts.items() if at[: len(path)] == path for i in items]
        memory = self._memory(below, starts)
        item = self.rebuilding.lowering.wrap(value, *memory)
        if isinstance(item, Ref):
            item.storage.read_only, item.storage.kept = below.read_only, below.kept
        return item

    def assembled(self, shape: Shape, items: tuple[Any, ...], path: Path) -> Any:
        """A tuple, dict, list, object or partial that has these parts."""

        def storage(make: type[Storage], name: str) -> Storage:
            return self._storage(make, (*path, name) if make is Cell else path)

        return assembled(shape, items, self.rebuilding.lowering.contents, storage)

    def _storage(self, make: type[Storage], path: Path) -> Storage:
        part, starts = self.entry.part(path), self.starts.get(path, ())
        name = path[-1] if make is Cell else leaf_name(self.entry.key)
        storage = make(name, *self._memory(part, starts))
        storages = [item.storage for item in starts]
        storage.holds = frozenset(part.holds).union(*(s.holds for s in storages))
        storage.levels = min([part.levels, *(s.levels for s in storages)])
        storage.read_only = part.read_only or any(s.read_only for s in storages)
        storage.kept = part.kept or any(s.kept for s in storages)
        return storage

    def _memory(self, part: Part, starts: Iterable[Any]) -> tuple[Any, Any, Any]:
        own = {one for item in starts for one in (item.storage, *item.storage.overlaps)}
        return frozenset(own | part.overlaps), self.rebuilding, frozenset(part.tokens)
