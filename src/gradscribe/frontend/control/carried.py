"""What a loop carries from trip to trip, and the fixed point of its types.

Carried are the names that the body assigns and the storages that it changes. Each is taken
apart into leaves; a leaf becomes an initial value, a body parameter, a yield and a result.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from collections.abc import Sequence as SequenceOf
from dataclasses import replace
from typing import Any

from gradscribe.errors import UnsupportedError
from gradscribe.frontend import contiguity as layout
from gradscribe.frontend import kinds
from gradscribe.frontend.control.carried_entry import Entry, Part, Path, flag_of, leaf_name
from gradscribe.frontend.control.carried_parts import held, is_carried, is_memory, reached
from gradscribe.frontend.control.carried_types import CarriedTypes
from gradscribe.frontend.data import places
from gradscribe.frontend.kinds import Choice, Kind, kind_of
from gradscribe.frontend.lowering import (
    NOT_BROKEN,
    NOT_RETURNED,
    PLAIN_NUMBERS,
    RETURN_VALUE,
    Lowering,
)
from gradscribe.frontend.memory import is_read_only, storages
from gradscribe.frontend.values import (
    Cell,
    DictRef,
    Either,
    InstanceRef,
    ListRef,
    Ref,
    Static,
    Storage,
    TupleOf,
    Unbound,
    may_hold,
    may_overlap,
)
from gradscribe.ir.core import Operation, Value
from gradscribe.ir.lengths import Affine, Symbol
from gradscribe.ir.types import (
    BOOL,
    JoinError,
    Never,
    Scalar,
    Sequence,
    Type,
    is_integer,
    join,
    map_lengths,
)
from gradscribe.primitives.control import LIST
from gradscribe.primitives.registry import PRIMITIVES

_WITHOUT_START = ("late", "probe", "object")
_MAX_KINDS = 4
"""How many kinds a carried name may have: enough for programs, few enough to split on."""


class FirstTripError(Exception):
    """A name is of one kind before the first trip of a loop and of another after it."""


class LateReadError(Exception):
    """A trip reads a name that has no value, or one of another kind, before the first trip."""

    def __init__(self, carried: Carried, entry: Entry) -> None:
        self.carried = carried
        self.entry = entry


class Carried:
    """The carried values of one loop. `entry` is the state before the loop.

    in_place: the names that the body binds by `name op= value` alone: arrays stay what they are.
    live: the names that are read after a trip, in the next one or after the loop, before they are
    bound anew; None if that is not known. keep_broken: whether it matters after the loop if it
    was left by `break`. may_peel: whether its first trip can be taken apart from the rest.
    """

    def __init__(
        self,
        lowering: Lowering,
        names: list[str],
        *,
        in_place: set[str],
        live: frozenset[str] | None,
        keep_broken: bool,
        may_peel: Callable[[], bool],
        trip: Symbol,
    ) -> None:
        self._in_place = in_place
        self._live = live
        self.may_peel = may_peel
        self.lowering = lowering
        self.entry = lowering.fork()
        self.keep_broken = keep_broken
        self.entries: list[Entry] = [Entry(name) for name in names]
        self._family: object = object()
        self.broken: Any = True
        self.returned: Any = True
        self.trip = trip
        self.lengths = CarriedTypes(lowering.builder.facts, trip)
        self._parameters: dict[Any, list[Value]] = {}
        self._uncounted: set[tuple[Any, int]] = set()
        self._inits: dict[Any, list[Value]] = {}
        self._tokens: list[int] = []
        self.ends: dict[Any, list[Value] | None] = {}
        self.end_state = self.entry

    # -- before the body -----------------------------------------------------------------------

    def enter(self) -> list[Value]:
        """The initial values, emitted before the loop."""
        inits: list[Value] = []
        self._share_tokens(self._start)
        for entry in self.entries:
            start = self._start(entry.key)
            if entry.mode == "leaves":
                self._choose_mode(entry, start)
            if entry.mode == "either":
                inits += self._either_inits(entry, start)
                continue
            leaves = None if entry.mode in _WITHOUT_START else self._leaves(start, entry)
            if leaves is None and entry.mode not in _WITHOUT_START:
                entry.mode, entry.types = "late", None
            if leaves is None:
                inits += self._late_inits(entry)
                continue
            if entry.types is None:
                entry.types = [self.lengths.first(leaf.type) for leaf in leaves]
            entry.count = len(leaves)
            self._inits[entry.key] = leaves
            inits += leaves
        return inits

    def _choose_mode(self, entry: Entry, start: Any) -> None:
        kind = kind_of(self.lowering, start, self.entry.contents)
        if isinstance(kind, Choice) and not is_memory(entry.key):
            entry.mode, entry.choice, entry.types = "either", kind, None
        is_static = isinstance(kind, Kind) and kind.name == "static" and isinstance(start, Static)
        if is_static or (isinstance(start, Ref) and entry.key in self._in_place):
            entry.mode, entry.types = "object", []

    def _either_inits(self, entry: Entry, start: Any) -> list[Value]:
        assert entry.choice is not None
        leaves = kinds.leaves(self.lowering, start, entry.choice)
        if leaves is None and entry.key == RETURN_VALUE:
            leaves = [None] * len(entry.types or ())  # nothing is returned before the first trip
        assert leaves is not None
        types = entry.types or [Never()] * len(leaves)
        entry.types = [
            self.lengths.first(leaf.type) if leaf and isinstance(type_, Never) else type_
            for leaf, type_ in zip(leaves, types, strict=True)
        ]
        entry.count = len(leaves)
        inits = self._inits[entry.key] = self._completed(leaves, entry)
        return inits

    def _completed(self, leaves: list[Value | None], entry: Entry) -> list[Value]:
        """The leaves, those that are absent being undefined."""
        pairs = zip(leaves, entry.types or (), strict=True)
        return [leaf or self.lowering.undefined(type_) for leaf, type_ in pairs]

    def _late_inits(self, entry: Entry) -> list[Value]:
        if entry.key in (NOT_RETURNED, NOT_BROKEN):
            return [self.lowering.constant(True)]
        return [self.lowering.undefined(t) for t in entry.types or ()]

    def _start(self, key: Any) -> Any:
        return held(self.entry.names, self.entry.contents, key)

    def _leaves(self, item: Any, entry: Entry) -> list[Value] | None:
        """The IR values that a frontend value consists of; None if it has none."""
        lowering = self.lowering
        if isinstance(item, Value):
            return [item]
        if isinstance(item, Static):
            return [lowering.value(item)] if isinstance(item.value, PLAIN_NUMBERS) else None
        if isinstance(item, InstanceRef):
            cells = lowering.cells(item)
            return self._all_leaves([lowering.contents[cell] for cell in cells], entry)
        if isinstance(item, Ref):
            return [lowering.load(item)]
        if isinstance(item, ListRef):
            item = lowering.contents[item.storage]
            return self._leaves(item, entry)
        if isinstance(item, DictRef):
            return self._leaves(lowering.contents[item.storage], entry)
        if isinstance(item, TupleOf):
            return self._all_leaves(item.items, entry)
        if isinstance(item, dict):
            return self._all_leaves(tuple(item.values()), entry)
        if isinstance(item, tuple):
            if entry.mode == "list":
                values = tuple(map(lowering.value, item))
                return [lowering.emit(LIST, {"items": values, "item": Never()})]
            return self._all_leaves(item, entry)
        return None

    def _all_leaves(self, items: SequenceOf[Any], entry: Entry) -> list[Value] | None:
        leaves: list[Value] = []
        for item in items:
            if not is_carried(item):
                continue
            below = self._leaves(item, entry)
            if below is None:
                return None
            leaves += below
        return leaves

    def restart(self) -> None:
        """Prepare the state before the loop for lowering it once more."""
        self._start_survivors()
        lists = [entry for entry in self.entries if entry.mode == "list" and is_memory(entry.key)]
        for entry in lists:
            places.open_list(self.lowering, entry.key)
            entry.mode, entry.types, entry.parts = "leaves", None, {}
        if lists:
            self.entry = self.lowering.fork()
            self.entries = [
                entry
                for entry in self.entries
                if not (is_memory(entry.key) and places.is_settled(self.entry, entry.key))
            ]

    def _start_survivors(self) -> None:
        """Give the names that survive a trip, and have no value before the first one, a start:
        undefined, of the types that a trip gives them."""
        survivors = [entry for entry in self.entries if entry.mode == "survivor"]
        for entry in survivors:
            like = self.end_state.names[entry.key]
            types = [map_lengths(t, self._unknown) for t in entry.types or ()]
            values = iter(list(map(self.lowering.undefined, types)))
            start = self._rebuilt(like, entry, values)
            self.lowering.frame.names[entry.key] = start
            entry.mode, entry.types = "leaves", None
        if survivors:
            self.entry = self.lowering.fork()

    def _start_undefined(self, entry: Entry, types: list[Type]) -> None:
        if any(isinstance(type_, Sequence) for type_ in types):
            self._refuse(entry)
        start = self._start(entry.key)
        if isinstance(start, Unbound) and start.mixed:
            self._refuse(entry)
        if isinstance(start, Unbound) and start.loop is not None:
            start.loop[1].survives = True  # where no trip of this loop binds it
        entry.mode, entry.types = "survivor", types

    def _survives(self, entry: Entry) -> bool:
        return entry.survives and (self._live is None or entry.key in self._live)

    def _unknown(self, length: Affine) -> Affine:
        return length if self.lengths.is_outer(length) else Affine.of(Symbol("length"))

    # -- the body ------------------------------------------------------------------------------

    def bind(self, trip: Affine | None = None) -> list[Value]:
        """Parameters for a region, bound to the names and storages in the current state. trip: its
        number, where the region is not the body."""
        self._family = object()
        parameters: list[Value] = []
        types = iter(self.lengths.bound([type_ for type_, _ in self.types()], trip))
        for entry in self.entries:
            name = entry.key.name if isinstance(entry.key, Storage) else entry.key
            own = [next(types) for _ in entry.types or ()]
            values = [self.lowering.builder.named(t, leaf_name(name)) for t in own]
            self._parameters[entry.key] = values
            for number, value in enumerate(values):
                initial = self._inits.get(entry.key, values)[number]
                self.lowering.carried[value] = entry, number, initial
            parameters += values
            if entry.mode in ("late", "probe"):
                self._bind_late(entry)
            elif entry.mode != "object":
                self._rebind(entry, iter(values))
        return parameters

    def _bind_late(self, entry: Entry) -> None:
        names = self.lowering.frame.names
        if entry.key in (NOT_RETURNED, NOT_BROKEN):
            names[entry.key] = Static(True)
        elif entry.key != RETURN_VALUE:
            reason = f"`{leaf_name(entry.key)}` has no value before the first trip"
            unbound = Unbound(entry.reason or reason, (self, entry), raises=not entry.reason)
            self._bind_item(entry.key, unbound)

    def _bind_item(self, key: Any, item: Any) -> None:
        """Bind a name, or the attribute of an object."""
        if isinstance(key, Cell):
            self.lowering.contents[key] = {key.name: item}
        elif isinstance(key, Storage):
            raise UnsupportedError(
                "the items of a list or dict become of another kind or number in a loop",
                "make them all before the loop",
                self.lowering.builder.location,
            )
        else:
            self.lowering.frame.names[key] = item

    def _rebind(self, entry: Entry, values: Any) -> None:
        start = self._start(entry.key)
        if entry.mode == "either":
            self._rebind_either(entry, start, values)
        elif is_memory(entry.key):
            self.lowering.contents[entry.key] = self._rebuilt(start, entry, values)
        else:
            self._bind_item(entry.key, self._rebuilt(start, entry, values))

    def _rebind_either(self, entry: Entry, start: Any, values: Any) -> None:
        lowering = self.lowering
        assert entry.choice is not None
        memory = entry.memory(())
        tokens, overlaps = frozenset(memory.tokens), frozenset(memory.overlaps)
        for storage in storages(lowering, start):
            overlaps |= {storage} | storage.overlaps
        lowering.has_alternatives = True
        either = kinds.rebuilt(
            entry.choice,
            values,
            lambda value: lowering.wrap(value, overlaps, self._family, tokens),
            f"`{leaf_name(entry.key)}` has no value before the first trip",
        )
        self._bind_item(entry.key, either)

    def demand(self, entry: Entry) -> None:
        """A trip reads a name that it is bound to late: from now on, carry its first value, too."""
        start = self._start(entry.key)
        if isinstance(start, Unbound) and start.loop is not None:
            outer, outer_entry = start.loop
            raise LateReadError(outer, outer_entry)
        if not _is_name(entry.key):
            self._refuse(entry)
        simple = entry.found is None or isinstance(entry.found, Kind)
        if simple and self.may_peel():
            raise FirstTripError
        if entry.found is None:
            entry.mode, entry.types = "probe", None
        else:
            self._carry_both(entry)

    def refuse_probed(self) -> None:
        """Refuse the names that are read on every path before they have a value."""
        for entry in self.entries:
            if entry.mode == "probe":
                self._refuse(entry)

    def _refuse(self, entry: Entry) -> None:
        reason = entry.reason or f"`{leaf_name(entry.key)}` has no value before the first trip"
        advice = "give the name a value of one kind before the loop"
        raise UnsupportedError(reason, advice, self.lowering.builder.location)

    def _carry_both(self, entry: Entry) -> None:
        is_unbound = isinstance(self._start(entry.key), Unbound)
        if is_unbound and isinstance(entry.found, Kind) and entry.found_types:
            self._start_undefined(entry, entry.found_types)
        else:
            self._carry_kinds(entry)

    def _carry_kinds(self, entry: Entry) -> None:
        """Carry a flag that tells what a name is: as before the first trip, or as after one."""
        start = kind_of(self.lowering, self._start(entry.key), self.entry.contents)
        if start is None or entry.found is None:
            self._refuse(entry)
        assert start is not None and entry.found is not None
        entry.mode, entry.choice, entry.types = "either", Choice(entry.found, start), None
        entry.types = [BOOL, *entry.found_types, *[Never()] * kinds.leaf_count(start)]
        if isinstance(entry.found, Choice) and kinds.covers(entry.found, start):
            entry.choice, entry.types = entry.found, entry.found_types

    def _note_end(self, entry: Entry, end: Any) -> None:
        """Remember what a trip leaves a name with, in case the next one needs to know."""
        if isinstance(end, Unbound):
            return
        kind = kind_of(self.lowering, end, self.lowering.contents)
        leaves = None if kind is None else kinds.leaves(self.lowering, end, kind)
        if leaves is not None:
            entry.found = kind
            entry.found_types = [
                self.lengths.first(leaf.type) if leaf else Never() for leaf in leaves
            ]

    def _rebuilt(self, like: Any, entry: Entry, values: Any, path: Path = ()) -> Any:
        """A value of the structure of `like`, its leaves taken from values. path: where it is in
        what is carried."""
        again: Callable[[Any, Any], Any] = lambda key, item: self._rebuilt(  # noqa: E731
            item, entry, values, (*path, key)
        )
        if isinstance(like, TupleOf):
            return TupleOf(tuple(itertools.starmap(again, enumerate(like.items))), like.cls)
        if isinstance(like, InstanceRef):
            return self._rebuilt_object(like, entry, values, path)
        if not is_carried(like):
            return like
        if isinstance(like, (ListRef, DictRef)):
            return self._rebuilt_container(like, entry, values, path)
        if isinstance(like, dict):
            return {key: again(key, below) for key, below in like.items()}
        if isinstance(like, tuple) and entry.mode != "list":
            return tuple(itertools.starmap(again, enumerate(like)))
        value = next(values)
        if isinstance(like, (tuple, Value)):
            return value
        found = self.lowering.wrap(value, *self._memory(like, entry, path))
        if isinstance(found, (Ref, ListRef)):
            read_only = is_read_only(like) or entry.memory(path).read_only
            found.storage.read_only = read_only
        return found

    def _memory(self, like: Any, entry: Entry, path: Path) -> tuple[Any, Any, Any]:
        """The overlaps, family and tokens of what may be `like`, or what a trip leaves here."""
        part = entry.memory(path)
        storage = getattr(like, "storage", None)
        own = frozenset() if storage is None else {storage} | storage.overlaps
        return own | part.overlaps, self._family, frozenset(part.tokens)

    def _rebuilt_container(
        self, like: ListRef | DictRef, entry: Entry, values: Any, path: Path
    ) -> ListRef | DictRef:
        lowering, part, old = self.lowering, entry.memory(path), like.storage
        storage = Storage(leaf_name(entry.key), *self._memory(like, entry, path))
        storage.holds = old.holds | part.holds
        storage.levels = min(old.levels, part.levels)
        storage.read_only = old.read_only or part.read_only
        below = lowering.contents.get(old)
        if below is None:
            below = self.end_state.contents[old]
        lowering.contents[storage] = self._rebuilt(below, entry, values, path)
        return type(like)(storage)

    def _rebuilt_object(
        self, like: InstanceRef, entry: Entry, values: Any, path: Path
    ) -> InstanceRef:
        """An object with the attributes of `like`, which it may be."""
        lowering = self.lowering

        def cell(name: str, of: InstanceRef | DictRef, path: Path) -> Cell:
            return Cell(name, *self._memory(of, entry, path))

        owner = InstanceRef(like.cls, cell("", like, path), {})
        lowering.contents[owner.storage] = {}
        for name, old in like.cells.items():
            held = lowering.contents.get(old) or self.end_state.contents.get(old)
            if held is not None:
                below = (*path, name)
                own = owner.cells[name] = cell(name, DictRef(old), below)
                lowering.contents[own] = self._rebuilt(held, entry, values, below)
        return owner

    # -- after the body ------------------------------------------------------------------------

    def settle(self, operations: list[Operation]) -> bool:
        """Compare the state at the end of the body with what was assumed at its beginning."""
        lowering = self.lowering
        lowering.complete(self.entry)
        names = lowering.frame.names
        self.broken = flag_of(names.get(NOT_BROKEN))
        self.returned = flag_of(names.get(NOT_RETURNED))
        tried = list(self.entries)
        settled = self._add_flags()
        carried = {entry.key for entry in self.entries}
        for storage, contents in self.entry.contents.items():
            if places.is_settled(self.entry, storage) and places.is_settled(lowering, storage):
                continue
            end = lowering.contents[storage]
            if storage not in carried and end is not contents:
                is_opened = isinstance(contents, tuple) and isinstance(end, Value)
                self.entries.append(Entry(storage, "list" if is_opened else "leaves"))
                settled = False
        self.ends = {}
        with lowering.inside(operations):
            for entry in tried:
                settled = self._settle_entry(entry) and settled
        self.end_state = lowering.fork()
        return self._settle_overlaps() and settled

    def _add_flags(self) -> bool:
        present = {entry.key for entry in self.entries}
        wanted = []
        if self.returned is not True:
            wanted += [NOT_RETURNED, RETURN_VALUE]
        if self.keep_broken and self.broken is not True:
            wanted.append(NOT_BROKEN)
        missing = [key for key in wanted if key not in present]
        for key in missing:
            entry = Entry(key, "late")
            if key != RETURN_VALUE:
                entry.types = [Scalar("bool")]
            self.entries.append(entry)
        return not missing

    def _end(self, key: Any) -> Any:
        return held(self.lowering.frame.names, self.lowering.contents, key)

    def _settle_entry(self, entry: Entry) -> bool:
        end, start = self._end(entry.key), self._start(entry.key)
        if entry.mode in ("object", "probe"):
            return self._settle_object(entry, start, end)
        if entry.mode == "either":
            return self._settle_either(entry, end)
        if self._restructure(entry, start, end):
            return False
        is_unbound = isinstance(end, Unbound) or not self._is_like(end, start, entry)
        leaves = None if is_unbound else self._leaves(end, entry)
        self.ends[entry.key] = leaves
        if entry.mode == "late" and self._survives(entry):
            self._note_end(entry, end)
            if entry.found is not None and not self.keep_broken:
                self._carry_kinds(entry)
            elif leaves:
                types = [self.lengths.first(leaf.type) for leaf in leaves]
                self._start_undefined(entry, types)
            else:
                self.demand(entry)
            return False
        if entry.mode == "late" and entry.key == RETURN_VALUE and isinstance(end, Either):
            self._note_end(entry, end)
            if isinstance(entry.found, Choice):
                entry.mode, entry.choice, entry.types = "either", entry.found, entry.found_types
                return False
        if entry.mode == "late":
            types = [self.lengths.first(leaf.type) for leaf in leaves or ()]
            if entry.types and not types:
                return True  # this trip ends without the name, as one that raises does
            if entry.types is None or len(entry.types) != len(types):
                settled = entry.types == types or not types
                entry.types = types
                return settled
            return self._join(entry, leaves or [])
        if leaves is None or len(leaves) != entry.count:
            self._note_end(entry, end)
            entry.mode, entry.types = "late", None
            return False
        return self._join(entry, leaves) and layout.settle(self.lowering, entry, leaves)

    def _settle_object(self, entry: Entry, start: Any, end: Any) -> bool:
        """A name that was bound to one object, or left out, for finding out what a trip makes."""
        self.ends[entry.key] = []
        if isinstance(start, Static) and start == end:
            return entry.mode == "object"
        if isinstance(start, Ref):
            if isinstance(end, Ref) and (start.storage, start.path) == (end.storage, end.path):
                return True
            self._in_place.discard(entry.key)
            entry.mode, entry.types = "leaves", None
            return False
        self._note_end(entry, end)
        if entry.mode == "object":
            entry.mode, entry.types = "late", None
        elif entry.found is None:
            self._refuse(entry)
        else:
            self._carry_both(entry)
        return False

    def _settle_either(self, entry: Entry, end: Any) -> bool:
        assert entry.choice is not None
        kind = kind_of(self.lowering, end, self.lowering.contents)
        leaves = None if kind is None else kinds.leaves(self.lowering, end, entry.choice)
        if leaves is None:
            if kind is None or len(list(kinds.alternatives(entry.choice))) > _MAX_KINDS:
                self._refuse(entry)
            self._note_end(entry, end)
            old = entry.types or []
            entry.choice = Choice(kind, entry.choice)  # type: ignore[arg-type]
            entry.types = [BOOL, *entry.found_types, *old]
            return False
        settled = True
        types = entry.types or []
        for position, leaf in enumerate(leaves):
            if leaf is not None and isinstance(types[position], Never):
                types[position] = self.lengths.first(leaf.type)
                settled = False
        present = [(position, leaf) for position, leaf in enumerate(leaves) if leaf is not None]
        if not self._join_leaves(entry, present):
            settled = False
        if settled:
            ends = self.ends[entry.key] = self._completed(leaves, entry)
            settled = layout.settle(self.lowering, entry, ends)
        return settled

    def _is_like(self, end: Any, start: Any, entry: Entry) -> bool:
        """Whether two values have the same static parts at the same places. What is set late has
        only the one at the end."""
        if entry.mode == "late":
            return True
        if isinstance(end, InstanceRef) and isinstance(start, InstanceRef):
            after, before = (
                {k: v for c in o.cells.values() for k, v in contents.get(c, {}).items()}
                for o, contents in ((end, self.lowering.contents), (start, self.entry.contents))
            )
            return end.cls is start.cls and self._is_like(after, before, entry)
        if isinstance(end, dict) and isinstance(start, dict):
            return end.keys() == start.keys() and all(
                self._is_like(end[key], start[key], entry) for key in end
            )
        if isinstance(end, TupleOf) and isinstance(start, TupleOf):
            end, start = end.items, start.items
        if isinstance(end, tuple) and isinstance(start, tuple) and len(end) == len(start):
            return all(self._is_like(e, s, entry) for e, s in zip(end, start, strict=True))
        if is_carried(end) and is_carried(start):
            return True
        return end is start or (isinstance(end, Static) and end == start)

    def _restructure(self, entry: Entry, start: Any, end: Any) -> bool:
        """A list whose number of items changes from trip to trip becomes one of unknown length."""
        if isinstance(start, ListRef) and isinstance(end, ListRef):
            start = self.entry.contents[start.storage]
            end = self.lowering.contents[end.storage]
        known = isinstance(start, tuple) and entry.mode == "leaves"
        same_length = isinstance(end, tuple) and len(end) == len(start)
        if known and not same_length and isinstance(end, (tuple, Value)):
            entry.mode, entry.types = "list", None
            return True
        return False

    def _join(self, entry: Entry, leaves: list[Value]) -> bool:
        return self._join_leaves(entry, list(enumerate(leaves)))

    def _join_leaves(self, entry: Entry, leaves: list[tuple[int, Value]]) -> bool:
        settled = True
        assert entry.types is not None
        for position, leaf in leaves:
            assumed = entry.types[position]
            if self._is_counted(entry, position, leaf):
                settled = False
                continue
            if self.lengths.generalizes(assumed, leaf.type):
                continue
            try:
                joined = join(assumed, leaf.type)
                entry.types[position] = self.lengths.widened(joined, assumed, leaf.type)
            except JoinError as error:
                if entry.mode == "late":
                    raise UnsupportedError(
                        f"`{leaf_name(entry.key)}` has {error}", "", self.lowering.builder.location
                    ) from None
                entry.reason = (
                    f"`{leaf_name(entry.key)}` is of one kind before the loop and of another "
                    f"after a trip: {error}"
                )
                if entry.mode == "either":
                    self._refuse(entry)
                self._note_end(entry, self._end(entry.key))
                entry.mode, entry.types = "late", None
                return False
            settled = False
        return settled

    def _is_counted(self, entry: Entry, position: int, leaf: Value) -> bool:
        """Whether an integer turned out to change by the same number in each trip, where a length
        depends on it: from now on, that is assumed."""
        key, facts = (entry.key, position), self.lowering.builder.facts
        assumed, found = (entry.types or [])[position], leaf.type
        if not is_integer(assumed) or not is_integer(found) or key in self._uncounted:
            return False
        if assumed.value is not None:
            if not self.lengths.generalizes(assumed, found):
                self._uncounted.add(key)
            return False
        if entry.mode != "leaves":
            return False
        before = self._parameters[entry.key][position].type
        start = self._inits.get(entry.key, [leaf])[position].type
        if not is_integer(before) or not is_integer(start):
            return False
        if before.value is None or start.value is None or found.value is None:
            return False
        if facts.unanswered.isdisjoint(before.value.symbols()):
            return False
        step = facts.normalize(found.value - before.value).known
        if step is None:
            return False
        assert entry.types is not None
        entry.types[position] = replace(assumed, value=self.lengths.counted(start.value, step))
        return True

    def _settle_overlaps(self) -> bool:
        """What a name ends a trip with, it begins the next one with: the same for overlaps."""
        settled = not self._share_tokens(self._end)
        known = set(self.entry.contents)
        for entry in self.entries:
            for path, item in reached(self.lowering, entry.key, self._end(entry.key)):
                storage = item.storage
                holders = {other for other in known if may_hold(other, storage)}
                overlaps = ({storage} | storage.overlaps) & known | holders
                holds, read_only = {*storage.holds} & known, is_read_only(item)
                found = Part(overlaps, set(), holds, storage.levels, read_only)
                settled = entry.part(path).widen(found) and settled
        return settled

    def _share_tokens(self, item_of: Callable[[Any], Any]) -> bool:
        """Give entries whose memory may overlap a common token; whether any was new."""
        found = [
            (entry.part(path), item.storage)
            for entry in self.entries
            for path, item in reached(self.lowering, entry.key, item_of(entry.key))
        ]
        new = False
        for position, (one, a) in enumerate(found):
            for other, b in found[position + 1 :]:
                if not (one.tokens & other.tokens) and _may_share(a, b):
                    token = len(self._tokens)
                    self._tokens.append(token)
                    one.tokens.add(token)
                    other.tokens.add(token)
                    new = True
        return new

    # -- the operation ---------------------------------------------------------------------------

    def types(self) -> list[tuple[Type, str]]:
        """The type and name of each leaf."""
        return [(t, leaf_name(entry.key)) for entry in self.entries for t in entry.types or ()]

    def exit_flags(self) -> list[Any]:
        """The flags at the end of the body that may be cleared, for `again`."""
        return [flag for flag in (self.broken, self.returned) if flag is not True]

    def yields(self, operations: list[Operation]) -> tuple[list[Value], Value | None]:
        """The next carried values, and `again` if the loop can be left early."""
        lowering = self.lowering
        values: list[Value] = []
        with lowering.inside(operations):
            for entry in self.entries:
                leaves = self.ends[entry.key]
                if leaves is None or len(leaves) != len(entry.types or ()):
                    leaves = [lowering.undefined(t) for t in entry.types or ()]
                values += leaves
            flags = [
                lowering.constant(flag) if isinstance(flag, bool) else flag
                for flag in self.exit_flags()
            ]
            if not flags:
                return values, None
            again = flags[0]
            for other in flags[1:]:
                tree = {"x": again, "y": other}
                again = lowering.emit(PRIMITIVES[operator.and_], tree, operator.and_)
        return values, again

    def leave(self, results: list[Value]) -> Any:
        """Bind the results in the state after the loop; the flag "was not left by break"."""
        lowering = self.lowering
        self._family = object()
        taken = iter(results)
        for entry in self.entries:
            values = iter([next(taken) for _ in entry.types or ()])
            if entry.mode == "object":
                continue
            start = self._start(entry.key)
            if isinstance(start, Unbound) and start.loop is not None:
                start.loop[1].survives = True  # if there is no trip
            if entry.mode != "late":
                self._rebind(entry, values)
            elif entry.types:
                end = held(self.end_state.names, self.end_state.contents, entry.key)
                rebuilt = self._rebuilt(end, entry, values)
                self._bind_item(entry.key, rebuilt)
            else:
                reason = f"`{leaf_name(entry.key)}` is set in a loop"
                self._bind_item(entry.key, Unbound(reason, mixed=True))
        places.renew(lowering, self.entry, (self.end_state,))
        return lowering.frame.names.pop(NOT_BROKEN, Static(self.broken is True))

    def read_items_again(self) -> None:
        """At the beginning of a region: what was read of a list that is carried."""
        after = () if self.end_state is self.entry else (self.end_state,)
        places.renew(self.lowering, self.entry, after)


def _may_share(a: Storage, b: Storage) -> bool:
    """Whether two storages may be the same memory, or one of them a list that holds the other."""
    return may_overlap(a, b) or may_hold(a, b) or may_hold(b, a)


def _is_name(key: Any) -> bool:
    return isinstance(key, Cell) or (isinstance(key, str) and key.isidentifier())
