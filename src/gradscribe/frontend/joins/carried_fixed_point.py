"""The fixed point of what a loop carries: what an iteration ends with, compared with what was
assumed.

Each attempt at a loop assumes a mode and types for every entry. What the iteration makes of it
confirms them, or widens the types, or shows that the entry has to be carried in another mode (see
`Entry`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.joins.carried_leaves import is_like, leaves_of
from gradscribe.frontend.joins.carried_overlaps import Overlaps
from gradscribe.frontend.joins.carried_rebuilding import Rebuilding
from gradscribe.frontend.joins.carried_types import CarriedTypes
from gradscribe.frontend.joins.joined_memory import Handles
from gradscribe.frontend.joins.told_apart import ToldApart
from gradscribe.frontend.kinds import kinds
from gradscribe.frontend.kinds.kinds import kind_of
from gradscribe.frontend.kinds.number_classes import may_hold_integers
from gradscribe.frontend.memory.carried_parts import bound, held
from gradscribe.frontend.memory.contiguity import is_contiguous
from gradscribe.frontend.memory.scope import read_late
from gradscribe.frontend.state.carried_entry import Entry, leaf_name
from gradscribe.frontend.state.frame import RETURN_VALUE
from gradscribe.frontend.state.knowledge import State
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values import texts
from gradscribe.frontend.values.values import (
    Cell,
    Choice,
    Either,
    FrontendValue,
    Items,
    Kind,
    ListRef,
    Ref,
    Static,
    Storage,
    Unbound,
    possibilities,
)
from gradscribe.ir.affine import Symbol
from gradscribe.ir.core import Operation, Value
from gradscribe.ir.types import BOOL, JoinError, Never, Sequence, Type, is_integer, join

_MAX_KINDS = 4
"""How many kinds a carried name may have: enough for programs, few enough to split on."""


class FirstIterationError(Exception):
    """A name is of one kind before the first iteration of a loop and of another after it."""


class FixedPoint:
    """The entries of one loop. `entry` is the state before the loop. joined: the operations that
    make what it holds of several arrays, which each attempt to lower the loop refers to.

    in_place: the names that the body binds by `name op= value` alone: arrays stay what they are.
    live: the names that are read after an iteration, in the next one or after the loop, before they
    are bound anew; None if that is not known. keep_broken: whether it matters after the loop if it
    was left by `break`. bound_by_else: the names that its `else` clause binds. may_peel: whether
    its first iteration can be taken apart from the rest.
    """

    def __init__(
        self,
        lowering: Lowering,
        names: list[str],
        *,
        in_place: set[str],
        live: frozenset[str] | None,
        keep_broken: bool,
        bound_by_else: set[str],
        may_peel: Callable[[], bool],
        counter: Symbol,
    ) -> None:
        self._in_place = in_place
        self._live = live
        self._bound_by_else = bound_by_else
        self.may_peel = may_peel
        self.lowering = lowering
        self.entry = lowering.fork()
        self.keep_broken = keep_broken
        self.entries: list[Entry] = [Entry(name) for name in names]
        self.broken: bool | Value = True
        self.returned: bool | Value = True
        self.counter = counter
        self.lengths = CarriedTypes(lowering.builder.facts, counter)
        self._parameters: dict[Any, list[Value]] = {}
        self._uncounted: set[tuple[Any, int]] = set()
        self._inits: dict[Any, list[Value]] = {}
        self.overlaps = Overlaps(lowering)
        self.handles = Handles(lowering)
        self.apart = ToldApart(lowering, self.entry, live)
        self._grouped: list[Any] = []
        self.joined: list[Operation] = []
        self.ends: dict[Any, list[Value] | None] = {}
        self.end_state = self.entry
        self.opened: list[Storage] = []
        self._rebuilding = Rebuilding(lowering, self.entry)

    def _start(self, key: Any) -> FrontendValue | Items:
        return held(self.entry.names, self.entry.contents, key)

    def _bound(self, state: State, key: str | Cell) -> FrontendValue:
        """What a name or attribute is bound to in a state."""
        return bound(state.names, state.contents, key)

    def _start_undefined(self, entry: Entry, types: list[Type]) -> None:
        if any(isinstance(type_, Sequence) for type_ in types):
            self._refuse(entry)
        start = self._start(entry.key)
        if isinstance(start, Unbound) and start.mixed:
            self._refuse(entry)
        if isinstance(start, Unbound) and start.loop is not None:
            start.loop[1].survives = True  # where no iteration of this loop binds it
        entry.mode, entry.types = "survivor", types

    def _survives(self, entry: Entry) -> bool:
        return entry.survives and self._is_live(entry)

    def _is_live(self, entry: Entry) -> bool:
        return self._live is None or isinstance(entry.key, Cell) or entry.key in self._live

    def demand(self, entry: Entry) -> None:
        """An iteration reads a name that it is bound to late: from now on, carry its first value,
        too."""
        start = self._start(entry.key)
        if isinstance(start, Unbound) and start.loop is not None:
            read_late(self.lowering, start)
        if not _is_name(entry.key):
            self._refuse(entry)
        simple = entry.found is None or isinstance(entry.found, Kind)
        if simple and self.may_peel():
            raise FirstIterationError
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
        reason = entry.reason or f"`{leaf_name(entry.key)}` has no value before the first iteration"
        advice = "give the name a value of one kind before the loop"
        raise UnsupportedError(reason, advice, self.lowering.builder.location)

    def _carry_both(self, entry: Entry) -> None:
        is_unbound = isinstance(self._start(entry.key), Unbound)
        is_simple = isinstance(entry.found, Kind) and not kinds.holds_containers(entry.found)
        if is_unbound and is_simple and entry.found_types and not entry.is_tried:
            self._start_undefined(entry, entry.found_types)
        else:
            self._carry_kinds(entry)

    def _carry_kinds(self, entry: Entry) -> None:
        """Carry a flag that tells what a name is: as before the first iteration, or as after
        one."""
        start = self._bound(self.entry, entry.key)
        kind = kind_of(self.lowering, start, self.entry.contents)
        if kind is None or entry.found is None:
            self._refuse(entry)
        assert kind is not None and entry.found is not None
        entry.mode, entry.choice, entry.types = "either", kinds.either(entry.found, kind), None
        first = len(entry.found_types) - kinds.leaf_count(kinds.last(entry.found))
        before, others = entry.found_types[:first], entry.found_types[first:]
        entry.types = [*before, BOOL, *others, *[Never()] * kinds.leaf_count(kind)]
        if isinstance(entry.found, Choice) and kinds.covers(entry.found, kind):
            entry.choice, entry.types = entry.found, entry.found_types

    def _note_end(self, entry: Entry, end: FrontendValue | Items) -> None:
        """Remember what an iteration leaves a name with, in case the next one needs to know."""
        if isinstance(end, (Unbound, tuple, dict)):
            return
        kind = self._kind(end)
        leaves = None if kind is None else kinds.leaves(self.lowering, end, kind)
        if leaves is not None:
            entry.found = kind
            entry.found_types = [
                self.lengths.first(leaf.type) if leaf else Never() for leaf in leaves
            ]

    def _kind(self, item: FrontendValue) -> Kind | Choice | None:
        return kind_of(self.lowering, item, self.lowering.contents)

    def _end(self, key: Any) -> FrontendValue | Items:
        return held(self.lowering.frame.names, self.lowering.contents, key)

    def _settle_entry(self, entry: Entry) -> bool:
        end, start = self._end(entry.key), self._start(entry.key)
        if entry.mode in ("object", "probe"):
            return self._settle_object(entry, start, end)
        if entry.mode == "either":
            return self._settle_either(entry)
        if self._restructure(entry, start, end):
            return False
        is_unbound = isinstance(end, Unbound) or not is_like(
            self.lowering, self.entry, end, start, entry
        )
        leaves = None if is_unbound else leaves_of(self.lowering, end, entry)
        self.ends[entry.key] = leaves
        if entry.mode == "late":
            return self._settle_late(entry, end, leaves)
        if leaves is None or len(leaves) != entry.count:
            self._note_end(entry, end)
            entry.mode, entry.types = "late", None
            return False
        return self._join(entry, leaves) and self._assumed_rightly(entry, leaves)

    def _settle_late(
        self, entry: Entry, end: FrontendValue | Items, leaves: list[Value] | None
    ) -> bool:
        """A name that an iteration binds before it reads it, if it does."""
        if self._survives(entry) and not self._is_never_bound(entry, end):
            self._note_end(entry, end)
            is_unbound = isinstance(self._start(entry.key), Unbound)
            if entry.found is not None and not (is_unbound and entry.key in self._bound_by_else):
                self._carry_kinds(entry)
            elif leaves and is_unbound:
                types = [self.lengths.first(leaf.type) for leaf in leaves]
                self._start_undefined(entry, types)
            else:
                self.demand(entry)
            return False
        if isinstance(end, Either) and self._carries_late_kinds(entry, end):
            return False
        types = [self.lengths.first(leaf.type) for leaf in leaves or ()]
        if entry.types and isinstance(end, Unbound):
            return True  # this iteration ends without the name, as one that raises does
        if entry.types is None or len(entry.types) != len(types):
            settled = entry.types == types or not (entry.types or types)
            entry.types = types
            return settled
        return self._join(entry, leaves or [])

    def _carries_late_kinds(self, entry: Entry, end: Either) -> bool:
        """Whether what an iteration leaves of several kinds, where that is read later, is carried
        with what was there before the loop."""
        self._note_end(entry, end)
        if not isinstance(entry.found, Choice):
            return False
        if entry.key == RETURN_VALUE:
            entry.mode, entry.choice, entry.types = "either", entry.found, entry.found_types
            return True
        start = self._bound(self.entry, entry.key)
        has_start = kind_of(self.lowering, start, self.entry.contents) is not None
        if has_start and self._is_live(entry):
            self._carry_kinds(entry)
            return True
        return False

    def _is_never_bound(self, entry: Entry, end: FrontendValue | Items) -> bool:
        """Whether a name has no value before the loop, nor after an iteration: a loop in the body
        that would bind it makes no iteration."""
        start = self._start(entry.key)
        return all(isinstance(item, Unbound) and not item.mixed for item in (start, end))

    def _settle_object(
        self, entry: Entry, start: FrontendValue | Items, end: FrontendValue | Items
    ) -> bool:
        """A name that was bound to one object, or left out, for finding out what an iteration
        makes."""
        self.ends[entry.key] = []
        if isinstance(start, Static) and start == end:
            return entry.mode == "object"
        becomes_text = isinstance(end, Value) and texts.is_text(start) and texts.is_text(end)
        if becomes_text and _is_name(entry.key):
            entry.mode, entry.types = "text", None
            return False
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

    def _settle_either(self, entry: Entry) -> bool:
        assert entry.choice is not None
        end = bound(self.lowering.frame.names, self.lowering.contents, entry.key)
        kind = self._kind(end)
        leaves = None if kind is None else kinds.leaves(self.lowering, end, entry.choice)
        if leaves is None:
            is_mixed = isinstance(end, Unbound) and end.mixed
            is_too_many = len(list(kinds.alternatives(entry.choice))) > _MAX_KINDS
            if kind is None or is_mixed or is_too_many:
                self._refuse(entry)
            self._note_end(entry, self._new_alternative(entry, end) or end)
            old = entry.types or []
            entry.choice = Choice(entry.found, entry.choice)  # type: ignore[arg-type]
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
            settled = self._assumed_rightly(entry, ends)
        return settled

    def _new_alternative(self, entry: Entry, end: FrontendValue) -> FrontendValue | None:
        """The one alternative of what an iteration ends with that was not known before, if it is
        one."""
        assert entry.choice is not None
        known = set(kinds.alternatives(entry.choice))
        new = {kind: i for i in possibilities(end) if (kind := self._kind(i)) not in known}
        item = next(iter(new.values()), None)
        return item if len(new) == 1 and not isinstance(item, Unbound) else None

    def _assumed_rightly(self, entry: Entry, ends: list[Value]) -> bool:
        """Whether what an iteration ends with is as was assumed of what it began with."""
        in_order = entry.contiguous.settle(lambda n: is_contiguous(self.lowering, ends[n]))
        of_floats = entry.without_integers.settle(
            lambda n: not may_hold_integers(self.lowering, ends[n])
        )
        return in_order and of_floats

    def _restructure(
        self, entry: Entry, start: FrontendValue | Items, end: FrontendValue | Items
    ) -> bool:
        """A list whose number of items changes from iteration to iteration becomes one of unknown
        length."""
        if isinstance(start, ListRef) and isinstance(end, ListRef):
            start = self.entry.contents[start.storage]
            end = self.lowering.contents[end.storage]
        lists = [one for one in (start, end) if isinstance(one, (tuple, Value))]
        lengths = {len(one) if isinstance(one, tuple) else None for one in lists}
        if len(lengths) < 2 or entry.mode != "leaves":
            return False
        entry.mode, entry.types = "list", None
        return True

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
                name = leaf_name(entry.key)
                entry.reason = f"`{name}` does not stay of one kind in the loop: {error}"
                if entry.mode in ("either", "late"):
                    self._refuse(entry)
                self._note_end(entry, self._end(entry.key))
                entry.mode, entry.types = "late", None
                return False
            settled = False
        return settled

    def _is_counted(self, entry: Entry, position: int, leaf: Value) -> bool:
        """Whether an integer turned out to change by the same number in each iteration, where a
        length depends on it: from now on, that is assumed."""
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

    def _completed(self, leaves: list[Value | None], entry: Entry) -> list[Value]:
        """The leaves, those that are absent being undefined."""
        pairs = zip(leaves, entry.types or (), strict=True)
        return [leaf or self.lowering.undefined(type_) for leaf, type_ in pairs]


def _is_name(key: Any) -> bool:
    return isinstance(key, Cell) or (isinstance(key, str) and key.isidentifier())
