"""What a loop carries from iteration to iteration, and the fixed point of its types.

Carried are the names that the body assigns and the storages that it changes. Each is taken
apart into leaves; a leaf becomes an initial value, a body parameter, a yield and a result.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.joins.carried_fixed_point import FixedPoint
from gradscribe.frontend.joins.carried_leaves import leaves_of
from gradscribe.frontend.joins.carried_rebuilding import Alternatives, Rebuilding
from gradscribe.frontend.joins.carried_types import widest
from gradscribe.frontend.joins.told_apart import WHICH
from gradscribe.frontend.kinds import kinds
from gradscribe.frontend.kinds.kinds import kind_of
from gradscribe.frontend.memory import aliasing, kept_memory, places
from gradscribe.frontend.memory.carried_parts import is_memory, reached
from gradscribe.frontend.state.carried_entry import Entry, Path, flag_of, leaf_name
from gradscribe.frontend.state.frame import NOT_BROKEN, NOT_RETURNED, RETURN_VALUE
from gradscribe.frontend.values.values import (
    Cell,
    Choice,
    FrontendValue,
    Kind,
    Ref,
    Reference,
    Static,
    Storage,
    Unbound,
    may_overlap,
)
from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.core import Operation, Value
from gradscribe.ir.types import Never, Scalar, Type, map_lengths
from gradscribe.primitives.registry import PRIMITIVES

_WITHOUT_START = ("late", "probe", "object")


class Carried(FixedPoint):
    """What a loop carries: entered before it, bound in its body, and left after it."""

    # -- before the body -----------------------------------------------------------------------

    def enter(self) -> list[Value]:
        """The initial values, emitted before the loop."""
        inits: list[Value] = []
        self.handles.enter(self._keys(), self.entry)
        self._carry_handles()
        self._carry_apart()
        kept_memory.renew_carried(self.lowering, self._memory())
        self.overlaps.share(self.entries, self._start)
        for entry in self.entries:
            start = self._start(entry.key)
            if entry.mode == "leaves" and not is_memory(entry.key):
                self._choose_mode(entry)
            if entry.mode == "either":
                inits += self._either_inits(entry)
                continue
            leaves = (
                None if entry.mode in _WITHOUT_START else leaves_of(self.lowering, start, entry)
            )
            if leaves is None and entry.mode not in _WITHOUT_START:
                entry.mode, entry.types = "late", None
            if leaves is None:
                if entry.mode == "late" and entry.types is None and entry.expected:
                    entry.types = list(entry.expected)
                self._inits.pop(entry.key, None)
                inits += self._late_inits(entry)
                continue
            if entry.types is None or len(entry.types) != len(leaves):  # of a list that was opened
                first = [self.lengths.first(leaf.type) for leaf in leaves]
                entry.types = widest(first, entry.expected)
            entry.count = len(leaves)
            self._inits[entry.key] = leaves
            inits += leaves
        return inits

    def _keys(self) -> list[Any]:
        others = {*self.handles.names, WHICH}
        return [entry.key for entry in self.entries if entry.key not in others]

    def _memory(self) -> set[Storage]:
        return {entry.key for entry in self.entries if is_memory(entry.key)}

    def _carry_handles(self) -> bool:
        """Carry the names that hold handles; whether they were carried."""
        names = self.handles.names
        carried = {entry.key for entry in self.entries}
        self.entries += [Entry(name) for name in names if name not in carried]
        return carried.issuperset(names)

    def _carry_apart(self) -> None:
        """Carry the names that are told apart as one tuple."""
        before, made = self._grouped, len(self.lowering.builder.operations)
        self.apart.enter(self._keys(), self.entry)
        self.joined = self.lowering.builder.operations[made:]
        self._grouped = self.apart.keys
        same = [e for e in self.entries if e.key == WHICH and e.choice == self.apart.choice]
        left = [key for key in before if key not in self._grouped]
        self.entries = [e for e in self.entries if e.key not in (WHICH, *self._grouped)]
        self.entries += map(Entry, left)
        if self._grouped:
            types = list(map(self.lengths.first, self.apart.types))
            self.entries += same or [Entry(WHICH, "either", types, choice=self.apart.choice)]

    def _choose_mode(self, entry: Entry) -> None:
        start = self._bound(self.entry, entry.key)
        kind = kind_of(self.lowering, start, self.entry.contents)
        if isinstance(kind, Choice):
            entry.mode, entry.choice, entry.types = "either", kind, None
        is_static = isinstance(kind, Kind) and kind.name == "static" and isinstance(start, Static)
        if is_static or (isinstance(start, Ref) and entry.key in self._in_place):
            entry.mode, entry.types = "object", []

    def _either_inits(self, entry: Entry) -> list[Value]:
        assert entry.choice is not None
        leaves = kinds.leaves(self.lowering, self._bound(self.entry, entry.key), entry.choice)
        if leaves is None and entry.key == RETURN_VALUE:
            leaves = [None] * len(
                entry.types or ()
            )  # nothing is returned before the first iteration
        if leaves is None:
            self._refuse(entry)
        assert leaves is not None
        types = entry.types or [Never()] * len(leaves)
        entry.types = [
            self.lengths.first(leaf.type) if leaf and isinstance(type_, Never) else type_
            for leaf, type_ in zip(leaves, types, strict=True)
        ]
        entry.count = len(leaves)
        inits = self._inits[entry.key] = self._completed(leaves, entry)
        return inits

    def _late_inits(self, entry: Entry) -> list[Value]:
        if entry.key in (NOT_RETURNED, NOT_BROKEN):
            return [self.lowering.constant(True)]
        return [self.lowering.undefined(t) for t in entry.types or ()]

    def restart(self) -> None:
        """Prepare the state before the loop for lowering it once more."""
        self._start_survivors()
        self._start_texts()
        lists = [entry for entry in self.entries if entry.mode == "list" and is_memory(entry.key)]
        for entry in lists:
            places.open_list(self.lowering, entry.key)
            self.opened.append(entry.key)
            entry.mode, entry.types, entry.parts = "leaves", None, {}
        if lists:
            self.entry = self.lowering.fork()
            self.entries = [
                entry
                for entry in self.entries
                if not (is_memory(entry.key) and places.is_settled(self.entry, entry.key))
            ]

    def _start_survivors(self) -> None:
        """Give the names that survive an iteration, and have no value before the first one, a
        start: undefined, of the types that an iteration gives them."""
        survivors = [entry for entry in self.entries if entry.mode == "survivor"]
        self._rebuilding = Rebuilding(self.lowering, self.end_state)
        for entry in survivors:
            like = self.end_state.names[entry.key]
            types = [map_lengths(t, self._unknown) for t in entry.types or ()]
            values = iter(list(map(self.lowering.undefined, types)))
            start = self._rebuilding.value(like, entry, values)
            self.lowering.frame.names[entry.key] = start
            entry.mode, entry.types = "leaves", None
        if survivors:
            self.entry = self.lowering.fork()

    def _start_texts(self) -> None:
        """Let the strings that each iteration makes anew be run-time values from the start."""
        started = [entry for entry in self.entries if entry.mode == "text"]
        names = self.lowering.frame.names
        for entry in started:
            names[entry.key] = self.lowering.value(names[entry.key])
            entry.mode, entry.types = "leaves", None
        if started:
            self.entry = self.lowering.fork()

    def _unknown(self, length: Affine) -> Affine:
        return length if self.lengths.is_outer(length) else Affine.of(Symbol("length"))

    # -- the body ------------------------------------------------------------------------------

    def bind(self, iteration: Affine | None = None) -> list[Value]:
        """Parameters for a region, bound to the names and storages in the current state. iteration:
        its number, where the region is not the body."""
        self._rebuilding = Rebuilding(self.lowering, self.end_state)
        parameters: list[Value] = []
        types = iter(self.lengths.bound([type_ for type_, _ in self.types()], iteration))
        for entry in self.entries:
            name = entry.key.name if isinstance(entry.key, Storage) else entry.key
            own = [next(types) for _ in entry.types or ()]
            values = [self.lowering.builder.named(t, leaf_name(name)) for t in own]
            self._parameters[entry.key] = values
            for number, value in enumerate(values):
                initial = self._inits.get(entry.key, values)[number]
                self.lowering.loops.carried[value] = entry, number, initial
            parameters += values
            if entry.mode in ("late", "probe"):
                self._bind_late(entry)
            elif entry.mode != "object":
                self._rebind(entry, iter(values))
        self.apart.take()
        kept_memory.begin_iteration(self.lowering, self._memory())
        return parameters

    def take_handles(self) -> None:
        """In the beginning of the body."""
        self.handles.take()

    def _bind_late(self, entry: Entry) -> None:
        names = self.lowering.frame.names
        if entry.key in (NOT_RETURNED, NOT_BROKEN):
            names[entry.key] = Static(True)
        elif entry.key != RETURN_VALUE:
            reason = f"`{leaf_name(entry.key)}` has no value before the first iteration"
            unbound = Unbound(entry.reason or reason, (self, entry), raises=not entry.reason)
            self._bind_item(entry.key, unbound)

    def _bind_item(self, key: Any, item: FrontendValue) -> None:
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

    def _rebind(self, entry: Entry, values: Iterator[Value]) -> None:
        if is_memory(entry.key):
            held = self.entry.contents[entry.key]
            self.lowering.contents[entry.key] = self._rebuilding.held(held, entry, values)
        elif entry.mode == "either":
            self._rebind_either(entry, values)
        else:
            start = self._bound(self.entry, entry.key)
            self._bind_item(entry.key, self._rebuilding.value(start, entry, values))

    def _rebind_either(self, entry: Entry, values: Iterator[Value]) -> None:
        assert entry.choice is not None
        self.lowering.variants.exist = True
        starts: dict[Path, list[Reference]] = {}
        start = self._bound(self.entry, entry.key)
        for path, item in reached(self.lowering, entry.key, start):
            starts.setdefault(path, []).append(item)
        either = kinds.rebuilt(
            entry.choice,
            values,
            Alternatives(self._rebuilding, entry, starts),
            f"`{leaf_name(entry.key)}` has no value before the first iteration",
        )
        self._bind_item(entry.key, either)

    # -- after the body ------------------------------------------------------------------------

    def settle(self, operations: list[Operation]) -> bool:
        """Compare the state at the end of the body with what was assumed at its beginning."""
        lowering = self.lowering
        lowering.complete(self.entry)
        with lowering.inside(operations):
            foreseen = self.handles.end(self._keys())
            is_known = self.apart.end(self._keys())
            kept_memory.renew_carried(lowering, self._memory())
        names = lowering.frame.names
        self.broken = flag_of(names.get(NOT_BROKEN))
        self.returned = flag_of(names.get(NOT_RETURNED))
        tried = [entry for entry in self.entries if entry.key != WHICH or is_known]
        settled = self._add_flags() and foreseen and is_known
        carried = {entry.key for entry in self.entries} | set(self._grouped)
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
        known = set(self.entry.contents)
        return self.overlaps.settle(self.entries, known, self._end) and settled

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

    # -- the operation ---------------------------------------------------------------------------

    def types(self) -> list[tuple[Type, str]]:
        """The type and name of each leaf."""
        return [(t, leaf_name(entry.key)) for entry in self.entries for t in entry.types or ()]

    def exit_flags(self) -> list[bool | Value]:
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

    def leave(self, results: list[Value]) -> FrontendValue:
        """Bind the results in the state after the loop; the flag "was not left by break"."""
        lowering = self.lowering
        self._rebuilding = Rebuilding(self.lowering, self.end_state)
        taken = iter(results)
        for entry in self.entries:
            values = iter([next(taken) for _ in entry.types or ()])
            if entry.mode == "object":
                continue
            start = self._bound(self.entry, entry.key)
            if isinstance(start, Unbound) and start.loop is not None:
                start.loop[1].survives = True  # if there is no iteration
            if entry.mode != "late":
                self._rebind(entry, values)
            elif entry.types:
                rebuilt = self._rebuilding.value(self._final(entry), entry, values)
                self._bind_item(entry.key, rebuilt)
            elif isinstance(end := self._final(entry), Static):
                self._bind_item(entry.key, end)
            elif self._is_never_bound(entry, end):
                self._bind_item(entry.key, start)
            else:
                reason = f"`{leaf_name(entry.key)}` is set in a loop"
                self._bind_item(entry.key, Unbound(reason, mixed=True))
        places.renew(lowering, self.entry, (self.end_state,))
        self.apart.take()
        kept_memory.begin_iteration(lowering, self._memory())
        self.handles.take()
        return lowering.frame.names.pop(NOT_BROKEN, Static(self.broken is True))

    def _final(self, entry: Entry) -> FrontendValue:
        """What the body leaves a name or attribute with."""
        return self._bound(self.end_state, entry.key)

    def replaced(self, live: frozenset[str] | None) -> dict[str, FrontendValue]:
        """The names that each iteration binds to something of another kind than before the loop,
        with what they are then: of those that are read after the loop."""
        return {
            entry.key: start
            for entry in self.entries
            if entry.mode == "late" and isinstance(entry.key, str) and entry.key in (live or ())
            if not isinstance(start := self._bound(self.entry, entry.key), Unbound)
        }

    def stored_first(self) -> dict[Cell, FrontendValue]:
        """The attributes that an object has from an iteration, and does not have before the
        loop."""
        return {
            entry.key: Unbound("")
            for entry in self.entries
            if entry.mode == "late" and entry.types and isinstance(entry.key, Cell)
            if isinstance(self._start(entry.key), Unbound)
        }

    def told_apart(self, live: frozenset[str] | None) -> dict[str, FrontendValue]:
        """The names that each iteration binds to other arrays than before the loop, with those: of
        those that are read after it."""
        if not aliasing.tells_apart(self.lowering):
            return {}
        return {
            entry.key: start
            for entry in self.entries
            if entry.mode == "leaves" and isinstance(entry.key, str) and entry.key in (live or ())
            if isinstance(start := self._start(entry.key), Ref)
            and isinstance(self._final(entry), Ref)
            and not any(may_overlap(start.storage, s) for s in entry.memory(()).overlaps)
        }

    def after_iterations(self, name: str) -> None:
        """Let a name be an array that an iteration has left: not the one from before the loop."""
        array = self.lowering.frame.names[name]
        entry = next(entry for entry in self.entries if entry.key == name)
        if isinstance(array, Ref) and entry.mode == "leaves":
            array.storage.overlaps = frozenset(entry.memory(()).overlaps)

    def read_items_again(self) -> None:
        """At the beginning of a region: what was read of a list that is carried."""
        after = () if self.end_state is self.entry else (self.end_state,)
        places.renew(self.lowering, self.entry, after)
