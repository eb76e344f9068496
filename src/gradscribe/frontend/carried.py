"""What a loop carries from trip to trip, and the fixed point of its types.

Carried are the names that the body assigns and the storages that it changes. Each is taken
apart into leaves; a leaf becomes an initial value, a body parameter, a yield and a result.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.carried_entry import Entry, flag_of, leaf_name
from gradscribe.frontend.lowering import (
    NOT_BROKEN,
    NOT_RETURNED,
    PLAIN_NUMBERS,
    RETURN_VALUE,
    Lowering,
)
from gradscribe.frontend.values import (
    DictRef,
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
    Array,
    JoinError,
    Never,
    Scalar,
    Sequence,
    Tuple,
    Type,
    join,
    map_lengths,
)
from gradscribe.primitives.control import LIST
from gradscribe.primitives.registry import PRIMITIVES

_MISSING = Unbound("")


class FirstTripError(Exception):
    """A name holds a number before the first trip of a counted loop and an array after it."""


class Carried:
    """The carried values of one loop. `entry` is the state before the loop.

    keep_broken: whether it matters after the loop if it was left by `break`. counted: whether
    its first trip can be taken apart from the rest (a `for`).
    """

    def __init__(
        self, lowering: Lowering, names: list[str], *, keep_broken: bool, counted: bool
    ) -> None:
        self.counted = counted
        self.lowering = lowering
        self.entry = lowering.fork()
        self.keep_broken = keep_broken
        self.entries: list[Entry] = [Entry(name) for name in names]
        self._family: object = object()
        self.broken: Any = True
        self.returned: Any = True
        self._widened: set[Any] = set()
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
            leaves = None if entry.mode == "late" else self._leaves(start, entry)
            if leaves is None and entry.mode != "late":
                entry.mode, entry.types = "late", None
            if leaves is None:
                inits += self._late_inits(entry)
                continue
            if entry.types is None:
                entry.types = [self._widen(leaf.type, leaf.type) for leaf in leaves]
            entry.count = len(leaves)
            inits += leaves
        return inits

    def _late_inits(self, entry: Entry) -> list[Value]:
        if entry.key in (NOT_RETURNED, NOT_BROKEN):
            return [self.lowering.constant(True)]
        return [self.lowering.undefined(t) for t in entry.types or ()]

    def _start(self, key: Any) -> Any:
        if isinstance(key, Storage):
            return self.entry.contents[key]
        return self.entry.names.get(key, _MISSING)

    def _leaves(self, item: Any, entry: Entry) -> list[Value] | None:
        """The IR values that a frontend value consists of; None if it has none."""
        lowering = self.lowering
        if isinstance(item, Value):
            return [item]
        if isinstance(item, Static):
            return [lowering.value(item)] if isinstance(item.value, PLAIN_NUMBERS) else None
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

    def _all_leaves(self, items: tuple[Any, ...], entry: Entry) -> list[Value] | None:
        leaves: list[Value] = []
        for item in items:
            below = self._leaves(item, entry)
            if below is None:
                return None
            leaves += below
        return leaves

    # -- the body ------------------------------------------------------------------------------

    def bind(self) -> list[Value]:
        """Parameters for a region, bound to the names and storages in the current state."""
        self._family = object()
        parameters: list[Value] = []
        for entry in self.entries:
            name = entry.key.name if isinstance(entry.key, Storage) else entry.key
            types = [self.fresh(t) for t in entry.types or ()]
            values = [self.lowering.builder.named(t, leaf_name(name)) for t in types]
            parameters += values
            if entry.mode == "late":
                self._bind_late(entry)
                continue
            self._rebind(entry, iter(values))
        return parameters

    def fresh(self, type_: Type) -> Type:
        """The type with a new symbol for each length that differs from trip to trip: the value
        before a trip, the one after it and the last one are not equally long."""

        def renew(length: Affine) -> Affine:
            return Affine.of(Symbol("length")) if length in self._widened else length

        return map_lengths(type_, renew)

    def _bind_late(self, entry: Entry) -> None:
        names = self.lowering.frame.names
        if entry.key in (NOT_RETURNED, NOT_BROKEN):
            names[entry.key] = Static(True)
        elif entry.key != RETURN_VALUE:
            reason = f"`{entry.key}` has no value before the first trip"
            names[entry.key] = Unbound(entry.reason or reason)

    def _rebind(
        self, entry: Entry, values: Any, overlaps: frozenset[Storage] = frozenset()
    ) -> None:
        start = self._start(entry.key)
        shared = frozenset(entry.overlaps) | overlaps
        if isinstance(entry.key, Storage):
            self.lowering.contents[entry.key] = self._rebuilt(start, entry, values, shared)
            return
        if isinstance(start, (Ref, ListRef)):
            shared |= {start.storage} | start.storage.overlaps
        self.lowering.frame.names[entry.key] = self._rebuilt(start, entry, values, shared)

    def _rebuilt(self, like: Any, entry: Entry, values: Any, overlaps: frozenset[Storage]) -> Any:
        """A value of the structure of `like`, its leaves taken from values."""
        lowering = self.lowering
        again: Callable[[Any], Any] = lambda i: self._rebuilt(i, entry, values, overlaps)  # noqa: E731
        if isinstance(like, TupleOf):
            return TupleOf(tuple(map(again, like.items)), like.cls)
        if isinstance(like, (ListRef, DictRef)):
            tokens = frozenset(entry.tokens)
            holds = like.storage.holds
            storage = Storage(leaf_name(entry.key), overlaps, self._family, tokens, holds)
            below = lowering.contents.get(like.storage)
            if below is None:
                below = self.end_state.contents[like.storage]
            lowering.contents[storage] = again(below)
            return type(like)(storage)
        if isinstance(like, dict):
            return {key: again(below) for key, below in like.items()}
        if isinstance(like, tuple) and entry.mode != "list":
            return tuple(map(again, like))
        value = next(values)
        inside = isinstance(like, tuple) or (
            isinstance(entry.key, Storage) and isinstance(like, Value)
        )
        if inside or isinstance(like, Value):
            return value
        return lowering.wrap(value, overlaps, self._family, frozenset(entry.tokens))

    # -- after the body ------------------------------------------------------------------------

    def settle(self, operations: list[Operation]) -> bool:
        """Compare the state at the end of the body with what was assumed at its beginning."""
        lowering = self.lowering
        names = lowering.frame.names
        self.broken = flag_of(names.get(NOT_BROKEN))
        self.returned = flag_of(names.get(NOT_RETURNED))
        tried = list(self.entries)
        settled = self._add_flags()
        carried = {entry.key for entry in self.entries}
        for storage, contents in self.entry.contents.items():
            if storage not in carried and lowering.contents[storage] is not contents:
                self.entries.append(Entry(storage))
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
        if isinstance(key, Storage):
            return self.lowering.contents[key]
        return self.lowering.frame.names.get(key, _MISSING)

    def _settle_entry(self, entry: Entry) -> bool:
        end, start = self._end(entry.key), self._start(entry.key)
        if self._restructure(entry, start, end):
            return False
        leaves = None if isinstance(end, Unbound) else self._leaves(end, entry)
        self.ends[entry.key] = leaves
        if entry.mode == "late":
            types = [self._widen(leaf.type, leaf.type) for leaf in leaves or ()]
            if entry.types is None or len(entry.types) != len(types):
                settled = entry.types == types or not types
                entry.types = types
                return settled
            return self._join(entry, leaves or [])
        if leaves is None or len(leaves) != entry.count:
            entry.mode, entry.types = "late", None
            return False
        return self._join(entry, leaves)

    def _restructure(self, entry: Entry, start: Any, end: Any) -> bool:
        """A list whose number of items changes from trip to trip becomes one of unknown length."""
        if isinstance(start, ListRef) and isinstance(end, ListRef):
            start = self.entry.contents[start.storage]
            end = self.lowering.contents[end.storage]
        known = isinstance(start, tuple) and entry.mode == "leaves"
        same_length = isinstance(end, tuple) and len(end) == len(start)
        if known and not same_length and isinstance(end, (tuple, Value)):
            entry.mode, entry.types = "list", None
            for items in (start, end):
                if isinstance(entry.key, Storage) and isinstance(items, tuple):
                    self.lowering.hold(entry.key, items)
            return True
        return False

    def _join(self, entry: Entry, leaves: list[Value]) -> bool:
        settled = True
        assert entry.types is not None
        for position, leaf in enumerate(leaves):
            assumed = entry.types[position]
            if self._generalizes(assumed, leaf.type):
                continue
            try:
                entry.types[position] = self._widen(join(assumed, leaf.type), assumed)
            except JoinError as error:
                if entry.mode == "late":
                    raise UnsupportedError(
                        f"`{leaf_name(entry.key)}` has {error}", "", self.lowering.builder.location
                    ) from None
                if self.counted and isinstance(assumed, Scalar) and isinstance(leaf.type, Array):
                    raise FirstTripError(f"`{leaf_name(entry.key)}` is {error}") from None
                entry.mode, entry.types = "late", None
                entry.reason = (
                    f"`{leaf_name(entry.key)}` is of one kind before the loop and of another "
                    f"after a trip: {error}"
                )
                return False
            settled = False
        return settled

    def _widen(self, type_: Type, assumed: Type) -> Type:
        """The type of a parameter: without what is true of one trip only."""
        if isinstance(type_, Scalar):
            return Scalar(type_.dtype, type_.weak)
        if isinstance(type_, Sequence):
            item = assumed.item if isinstance(assumed, Sequence) else type_.item
            return Sequence(self._widen(type_.item, item))
        if isinstance(type_, Tuple):
            below = assumed.items if isinstance(assumed, Tuple) else type_.items
            return Tuple(tuple(map(self._widen, type_.items, below)))
        if isinstance(type_, Array) and isinstance(assumed, Array):
            self._widened |= {d for d, a in zip(type_.dims, assumed.dims, strict=True) if d != a}
        return type_

    def _generalizes(self, assumed: Type, found: Type) -> bool:
        """Whether a parameter of type `assumed` may take a value of type `found`."""
        if isinstance(assumed, Scalar) and isinstance(found, Scalar):
            return join(assumed, Scalar(found.dtype, found.weak)) == assumed
        if isinstance(assumed, Sequence) and isinstance(found, Sequence):
            return self._generalizes(assumed.item, found.item)
        if isinstance(assumed, Tuple) and isinstance(found, Tuple):
            return all(map(self._generalizes, assumed.items, found.items))
        if isinstance(assumed, Array) and isinstance(found, Array):
            facts = self.lowering.builder.facts
            return (assumed.dtype, assumed.rank) == (found.dtype, found.rank) and all(
                a in self._widened or facts.equal(a, b)
                for a, b in zip(assumed.dims, found.dims, strict=True)
            )
        return assumed == found

    def _settle_overlaps(self) -> bool:
        """What a name ends a trip with, it begins the next one with: the same for overlaps."""
        settled = not self._share_tokens(self._end)
        known = set(self.entry.contents)
        for entry in self.entries:
            if isinstance(entry.key, Storage):
                continue
            for storage in self.lowering.storages(self._end(entry.key)):
                holders = {other for other in known if may_hold(other, storage)}
                shared = (({storage} | storage.overlaps) & known | holders) - entry.overlaps
                if shared:
                    entry.overlaps |= shared
                    settled = False
        return settled

    def _share_tokens(self, item_of: Callable[[Any], Any]) -> bool:
        """Give entries whose memory may overlap a common token; whether any was new."""
        found = [
            (entry, storage)
            for entry in self.entries
            if not isinstance(entry.key, Storage)
            for storage in self.lowering.storages(item_of(entry.key))
        ]
        new = False
        for position, (one, a) in enumerate(found):
            for other, b in found[position + 1 :]:
                if may_overlap(a, b) and not (one.tokens & other.tokens):
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

    def leave(self, results: list[Value], exit_flags: list[Any]) -> Any:
        """Bind the results in the state after the loop; the flag "was not left by break"."""
        lowering = self.lowering
        self._family = object()
        taken = iter(results)
        for entry in self.entries:
            values = iter([next(taken) for _ in entry.types or ()])
            if entry.mode != "late":
                self._rebind(entry, values)
            elif entry.types:
                item = self.end_state.names[entry.key]
                rebuilt = self._rebuilt(item, entry, values, frozenset(entry.overlaps))
                lowering.frame.names[entry.key] = rebuilt
            else:
                lowering.frame.names[entry.key] = Unbound(
                    f"`{leaf_name(entry.key)}` is set in a loop"
                )
        return lowering.frame.names.pop(NOT_BROKEN, Static(self.broken is True))
