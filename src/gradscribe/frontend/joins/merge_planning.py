"""Planning how the values that two paths leave behind are merged.

Values whose structures agree are merged leaf by leaf; values of two kinds become alternatives, of
which the condition tells one. What cannot be merged becomes `Unbound` with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, TypeGuard

from gradscribe.frontend.joins.merge_plans import (
    Alternatives,
    Assembled,
    Composite,
    Leaf,
    MemoryPlan,
    Plan,
    Same,
    Sides,
)
from gradscribe.frontend.joins.merged_memory import Memories
from gradscribe.frontend.kinds.kinds import ABSENT, aligned, kind_of
from gradscribe.frontend.kinds.trees import Parts, Shape, parts_of
from gradscribe.frontend.memory import aliasing
from gradscribe.frontend.memory.reach import hold
from gradscribe.frontend.state.frame import RETURN_VALUE
from gradscribe.frontend.state.knowledge import State
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.keyed import refuse_other_keys
from gradscribe.frontend.values import texts
from gradscribe.frontend.values.values import (
    PLAIN_NUMBERS,
    Cell,
    Choice,
    DictRef,
    Either,
    FlatRef,
    FrontendValue,
    Held,
    InstanceRef,
    Items,
    Kind,
    ListRef,
    LocalFunction,
    PartialOf,
    Ref,
    Reference,
    Static,
    Storage,
    TupleOf,
    Unbound,
    possibilities,
)
from gradscribe.ir.core import SliceOf, Value

_MAX_NESTED, _MAX_APART = 16, 64
"""How deep alternatives may be nested in a merge before what reads them is refused; and of how many
arrays or containers a name may be one, for them to be kept in the order that the paths give."""

_CONTAINERS = (ListRef, DictRef, InstanceRef)


class Planner:
    """Plans for the merged values of two states.

    pairs: the leaves to merge, as they are on each path, with the name shown. memories: what the
    merged values may share.
    """

    def __init__(self, lowering: Lowering, sides: Sides) -> None:
        self._lowering = lowering
        self._condition = sides.condition
        self._before = sides.before
        self._blocks = sides.blocks
        self._states = sides.states
        self.pairs: list[tuple[FrontendValue | Items, FrontendValue | Items, str]] = []
        self.memories = Memories(lowering, sides.before)
        self._nested = 0
        self._flags: dict[Value, Plan] = {}
        self._told: Plan | None = None

    def plan(self, a: FrontendValue, b: FrontendValue, name: str) -> Plan:
        """How to merge two frontend values."""
        if a is b or (isinstance(a, Static) and isinstance(b, Static) and a == b):
            return Same(a)
        if isinstance(a, Ref) and isinstance(b, Ref) and _same_view(a, b):
            return Same(a)
        if isinstance(a, FlatRef) or isinstance(b, FlatRef):
            return Same(_other_on_each_path(name))
        if isinstance(a, _CONTAINERS) and isinstance(b, _CONTAINERS) and a.storage is b.storage:
            return Same(a)
        for side, other in ((a, b), (b, a)):
            if isinstance(side, Unbound):
                return self._with_unbound(side, other, name, side is b)
        a, b = self._resolved(a, 0), self._resolved(b, 1)
        if isinstance(a, Either) or isinstance(b, Either):
            if self._nested >= _MAX_NESTED:
                return Same(_other_on_each_path(name))
            self._nested += 1
            planned = self._alternatives(a, b, name)
            self._nested -= 1
            return planned
        return self._structures(a, b, name)

    def _alternatives(self, a: FrontendValue, b: FrontendValue, name: str) -> Plan:
        """Values of which one at least is of two kinds already."""
        if self._are_told_apart(a, b):
            return self._choice(a, b, name)
        for template in (a, b):
            if isinstance(template, Either):
                choice = self._kind(template, template is b)
                one, two = self._aligned(a, choice, 0), self._aligned(b, choice, 1)
                if one is not None and two is not None:
                    shown = zip(one, two, ("", name, name), strict=True)
                    return Alternatives(*(self.plan(*each) for each in shown))
        return self._choice(a, b, name)

    def _resolved(self, item: FrontendValue, side: int) -> FrontendValue:
        """Which array or container a value is on its side, if the condition tells."""
        while isinstance(item, Either) and _have_memory(*possibilities(item)):
            known = self._states[side].assumed.get(self._lowering.numbering.of(item.flag))
            if known is None:
                break
            item = item.first if known else item.second
        return item

    def _are_told_apart(self, a: FrontendValue, b: FrontendValue) -> bool:
        """Whether these are arrays or containers, one from before the branch among them, each
        side's in the order in which its own flags tell them."""
        leaves = [*possibilities(a), *possibilities(b)]
        return (
            self._condition is not None
            and len(leaves) <= _MAX_APART
            and _have_memory(*leaves)
            and any(map(self._is_told_apart, leaves))
        )

    def _kind(self, item: FrontendValue, second: bool) -> Kind | Choice | None:
        return kind_of(self._lowering, item, self._states[second].contents)

    def _aligned(
        self, item: FrontendValue, choice: Kind | Choice | None, number: int
    ) -> tuple[FrontendValue, FrontendValue, FrontendValue] | None:
        if not isinstance(choice, Choice):
            return None
        with self._lowering.inside(self._blocks[number]):
            return aligned(self._lowering, item, choice, self._states[number].contents)

    def _choice(self, a: FrontendValue, b: FrontendValue, name: str) -> Plan:
        """Values of different kinds: which of them it is, the condition tells."""
        is_known = self._has_kind(a, False) and self._has_kind(b, True)
        if not is_known or self._condition is None:
            return Same(_other_on_each_path(name))
        return self._apart(Same(self._condition), a, b, name)

    def _apart(self, flag: Plan, a: FrontendValue, b: FrontendValue, name: str) -> Plan:
        return Alternatives(flag, self.plan(a, ABSENT, name), self.plan(ABSENT, b, name))

    def _outcome(self) -> Plan:
        """A flag that tells which path was taken, where no condition does: whether what was tried
        has ended without an exception."""
        if self._told is None:
            self._told = self._leaf(Static(True), Static(False), "")
        return self._told

    def _structures(self, a: FrontendValue, b: FrontendValue, name: str) -> Plan:
        if _have_memory(a, b) and (self._is_told_apart(a) or self._is_told_apart(b)):
            return self._choice(a, b, name)
        planned = self._alike(a, b, name)
        if planned is not None:
            return planned
        if isinstance(a, ListRef) and isinstance(b, ListRef):
            one, two = (self._opened(item, side) for side, item in enumerate((a, b)))
            return self._leaf(one, two, name, (a, b))
        are_texts = texts.is_text(a) and texts.is_text(b) and Value in (type(a), type(b))
        are_objects = _is_object(a) or _is_object(b)
        if are_texts or (_is_leaf(a) and _is_leaf(b) and not are_objects):
            return self._leaf(a, b, name)
        return self._choice(a, b, name)

    def _alike(self, a: FrontendValue, b: FrontendValue, name: str) -> Assembled | None:
        """How to merge values of one structure; None of others. An attribute may be there on one
        path only."""
        one, two = self._parts(a, 0), self._parts(b, 1)
        if one is None or two is None or one.shape.form is PartialOf:
            return None
        shape, other = one.shape, two.shape
        dicts = [item.storage for item in (a, b) if isinstance(item, DictRef)]
        if len(dicts) == 2 and shape.keys != other.keys:
            place = dicts[0].place or dicts[1].place
            refuse_other_keys(self._lowering, Storage(name, place=place))
        if shape.form is InstanceRef:
            other = replace(other, keys=shape.keys)
        if shape != other:
            return None
        items, others = one.by_key(), two.by_key()
        shape = replace(shape, keys=tuple(items | others))
        parts = [
            self.plan(
                items.get(key, Unbound("")), others.get(key, Unbound("")), _name(name, shape, key)
            )
            for key in shape.keys
        ]
        return self._structure(shape, parts, a, b)

    def _structure(
        self, shape: Shape, parts: Iterable[Plan], a: FrontendValue, b: FrontendValue
    ) -> Assembled:
        """What has these parts, and is a on one path and b on the other."""
        both = (a, b)
        cells = {
            key: self.memories.of(_cell(a, key), _cell(b, key))
            for key in (shape.keys if shape.form is InstanceRef else ())
        }
        holds = [item.storage.holds for item in both if isinstance(item, _CONTAINERS)]
        memory = self.memories.of(a, b)
        return Assembled(shape, tuple(parts), memory, cells, frozenset().union(*holds))

    def _parts(self, item: FrontendValue, side: int) -> Parts | None:
        return parts_of(item, self._states[side].contents)

    def _opened(self, item: ListRef, side: int) -> Held:
        """What is in a list of which the items are not known one by one after the branch."""
        state = self._states[side]
        contents: Held = state.contents[item.storage]
        self._hold(item.storage, contents, state)
        return contents

    def _has_kind(self, item: FrontendValue, second: bool) -> bool:
        """Whether this may be one of two alternatives."""
        if isinstance(item, Either):
            return self._has_kind(item.first, second) and self._has_kind(item.second, second)
        if _has_memory(item) and aliasing.tells_apart(self._lowering):
            return True
        return self._kind(item, second) is not None

    def _is_told_apart(self, item: FrontendValue) -> bool:
        """Whether this is an array or a container from before the branch, and stays that very one
        after it."""
        return (
            _has_memory(item)
            and aliasing.tells_apart(self._lowering)
            and item.storage in self._before.contents
            and all(
                self._is_outside(value)
                for _, arguments, _ in getattr(item, "path", ())
                for value in values_in(arguments)
            )
        )

    def _is_outside(self, value: Value) -> bool:
        """Whether a value is made before the branch."""
        builder = self._lowering.builder
        return builder.definition(value) is None or builder.is_made(value)

    def plan_contents(self, a: Held, b: Held, storage: Storage) -> MemoryPlan:
        """How to merge the contents of a storage: IR values, tuples of items or dicts."""
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            return Composite(tuple, tuple(self.plan(x, y, "") for x, y in zip(a, b, strict=True)))
        if isinstance(a, dict) and isinstance(b, dict):
            if list(a) != list(b) and not isinstance(storage, Cell):
                refuse_other_keys(self._lowering, storage)
            parts = tuple(self.plan(a[key], b[key], str(key)) for key in a)
            return Composite(partial(_dict_with, tuple(a)), parts)
        for contents, state in zip((a, b), self._states, strict=True):
            self._hold(storage, contents, state)
        return self._leaf(a, b, storage.name)

    def _hold(self, owner: Storage, items: Held, state: State) -> None:
        """Note what a list holds of which the items are not known one by one after the branch."""
        if not isinstance(items, tuple):
            return
        present, self._lowering.contents = self._lowering.contents, state.contents
        hold(self._lowering, owner, items, before=True)
        self._lowering.contents = present

    def _with_unbound(
        self, missing: Unbound, other: FrontendValue, name: str, second: bool
    ) -> Plan:
        if missing.mixed:
            return Same(missing)
        if isinstance(other, Unbound):
            keeps = missing.loop is not None and not other.mixed
            return Same(missing if keeps or other is ABSENT else other)
        if missing is ABSENT:
            planned = self._callable(other, second)
            if planned is not None:
                return planned
        if missing.loop is not None:
            missing.loop[1].survives = True
        elif not missing.reason or (missing.raises and self._lowering.frame.is_asked_later(name)):
            a, b = (other, missing) if second else (missing, other)
            has_kind = self._kind(other, not second) is not None
            if has_kind and self._condition is None and missing.raises:
                return self._apart(self._outcome(), a, b, name)
            if has_kind and self._condition is not None:
                is_either = isinstance(other, Either)
                return (self._alternatives if is_either else self._choice)(a, b, name)
        planned = self._alone(missing, other, name, second)
        if planned is not None:
            return planned
        if isinstance(other, Either):
            shown = "" if _have_memory(*possibilities(other)) else name
            flag = self._flag(other.flag, missing, shown, second)
            below = (other.first, other.second)  # what is known stays known: there is no flag else
            return Alternatives(flag, *(self._with_unbound(ABSENT, i, name, second) for i in below))
        if _is_leaf(other):
            return self._leaf(other, missing, name) if second else self._leaf(missing, other, name)
        return Same(Unbound.on_one_path(name, mixed=True))

    def _flag(self, flag: Value, missing: Unbound, name: str, second: bool) -> Plan:
        """A flag of one side; one that is made there is one value after the branch, whatever it
        tells apart."""
        if self._is_outside(flag):
            return Same(flag)
        if flag not in self._flags:
            self._flags[flag] = self._with_unbound(missing, flag, name, second)
        return self._flags[flag]

    def _alone(
        self, missing: Unbound, item: FrontendValue, name: str, second: bool
    ) -> Assembled | None:
        """A value of known structure that one path has made, where it is told apart from what the
        other has; None of a list that can be a leaf."""
        parts = self._parts(item, not second)
        is_new = missing is ABSENT or missing.loop is not None
        if parts is None or (isinstance(item, _CONTAINERS) and not is_new):
            return None
        kind = self._kind(item, not second) if isinstance(item, ListRef) else None
        if isinstance(kind, Kind) and kind.name == "list":
            return None
        below = missing if isinstance(item, TupleOf) else ABSENT
        planned = [
            self._with_unbound(below, part, _name(name, parts.shape, key), second)
            for key, part in parts.by_key().items()
        ]
        return self._structure(
            parts.shape, planned, *((item, ABSENT) if second else (ABSENT, item))
        )

    def _callable(self, item: FrontendValue, second: bool) -> Plan | None:
        """What is known when the function is compiled, or a local function: what that closes over
        is looked up when it is called, as long as the function around it runs."""
        if isinstance(item, Static) or self._is_told_apart(item):
            return Same(item)
        if not isinstance(item, LocalFunction) or item.frame not in self._lowering.frames:
            return None
        defaults = item.defaults
        parts = tuple(self._with_unbound(ABSENT, d, n, second) for n, d in defaults.items())
        return Composite(
            lambda items: replace(item, defaults=dict(zip(defaults, items, strict=True))), parts
        )

    def _leaf(
        self,
        a: FrontendValue | Items,
        b: FrontendValue | Items,
        name: str,
        lists: tuple[ListRef, ...] = (),
    ) -> Leaf:
        """lists: those that a and b are the contents of, where a list is made anew of these."""
        for item, state in zip((a, b), self._states, strict=True):
            if isinstance(item, ListRef):
                self._hold(item.storage, state.contents[item.storage], state)
        shown = "result" if name == RETURN_VALUE else name if name.isidentifier() else ""
        self.pairs.append((a, b, shown))
        holds = frozenset[Storage]().union(*(item.storage.holds for item in lists))
        return Leaf(len(self.pairs) - 1, self.memories.of(*(lists or (a, b))), holds)


def _name(owner: str, shape: Shape, key: Any) -> str:
    """What the part of a value is called after the branch."""
    if shape.form is InstanceRef:
        return f"{owner}_{key}"
    return str(key) if shape.form is DictRef else ""


def _cell(item: FrontendValue, name: str) -> DictRef | None:
    """An attribute of an object, as what has a storage."""
    cell = item.cells.get(name) if isinstance(item, InstanceRef) else None
    return None if cell is None else DictRef(cell)


def _other_on_each_path(name: str) -> Unbound:
    return Unbound(f"`{name}` is something else on each path", mixed=True)


def _dict_with(keys: tuple[Any, ...], items: tuple[FrontendValue, ...]) -> dict[Any, FrontendValue]:
    return dict(zip(keys, items, strict=True))


def _have_memory(*items: FrontendValue) -> bool:
    """Whether these are arrays or containers."""
    return all(map(_has_memory, items))


def _has_memory(item: FrontendValue) -> TypeGuard[Reference]:
    return isinstance(item, (Ref, *_CONTAINERS))


def values_in(item: Any) -> Iterator[Value]:
    """The IR values in the arguments of a view."""
    if isinstance(item, Value):
        yield item
    elif isinstance(item, SliceOf):
        yield from values_in((item.start, item.stop, item.step))
    elif isinstance(item, (tuple, list, dict)):
        for below in item.values() if isinstance(item, dict) else item:
            yield from values_in(below)


def _same_view(a: Ref, b: Ref) -> bool:
    return a.storage is b.storage and a.path == b.path


def _is_object(item: FrontendValue) -> bool:
    """Whether this is one object that a program tests for, and does not compute with."""
    return isinstance(item, Static) and not isinstance(item.value, PLAIN_NUMBERS)


def _is_leaf(item: FrontendValue) -> bool:
    if isinstance(item, Static):
        return isinstance(item.value, (*PLAIN_NUMBERS, str)) or item.value is None
    return isinstance(item, (Value, Ref, ListRef))
