"""Merging the states that the two sides of a branch leave behind.

Every name and every storage that differs is merged: leaf by leaf, where the structures agree,
into one result of the `if` operation. A name of two kinds, or of none on one path, becomes an
`Either` with the condition as its flag. What cannot be merged becomes `Unbound` with the reason,
which is an error only if it is read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

from gradscribe.errors import UnsupportedError
from gradscribe.frontend import wording
from gradscribe.frontend.calls import texts
from gradscribe.frontend.control.bounds import MergedLengths
from gradscribe.frontend.control.merge_plans import (
    Alternatives,
    Container,
    Field,
    Leaf,
    Object,
    Same,
    Structure,
)
from gradscribe.frontend.control.merged_memory import Memories
from gradscribe.frontend.data import places
from gradscribe.frontend.data.keyed import refuse_other_keys
from gradscribe.frontend.frame import RETURN_VALUE
from gradscribe.frontend.kinds import ABSENT, Choice, aligned, kind_of
from gradscribe.frontend.lowering import Lowering
from gradscribe.frontend.lowering_state import State
from gradscribe.frontend.values import (
    PLAIN_NUMBERS,
    Cell,
    DictRef,
    Either,
    InstanceRef,
    ListRef,
    LocalFunction,
    Ref,
    Static,
    Storage,
    TupleOf,
    Unbound,
)
from gradscribe.ir.core import Operation, Value
from gradscribe.ir.types import JoinError, Opaque, Scalar, Type, join

_MAX_NESTED = 16
"""How deep alternatives may be nested in a merge before what reads them is refused."""


class Merge:
    """Joins two states. condition: the flag that tells which of them it is, if there is one. `run`
    gives the results and yields of the operation; `finish` makes the
    merged state the current one, after the operation was appended."""

    def __init__(
        self,
        lowering: Lowering,
        condition: Value | None,
        before: State,
        blocks: tuple[list[Operation], list[Operation]],
        states: tuple[State, State],
    ) -> None:
        self.lowering = lowering
        self.condition = condition
        self.before = before
        self.blocks = blocks
        self.states = states
        for state in (before, *states):
            lowering.complete(state)
        self.pairs: list[tuple[Any, Any, str]] = []
        self.values: dict[int, Value | tuple[Any, ...] | str] = {}
        self.names: dict[str, Any] = {}
        self.contents: dict[Storage, Any] = {}
        self.memories = Memories(before)
        self._nested = 0

    def run(self) -> tuple[list[Value], tuple[list[Value], list[Value]]]:
        first, second = self.states
        for name in {**first.names, **second.names}:
            missing = Unbound.on_one_path(name, raises=name.isidentifier())
            a, b = first.names.get(name, missing), second.names.get(name, missing)
            self.names[name] = self.plan(a, b, name)
        for storage in self.before.contents:
            a, b = first.contents[storage], second.contents[storage]
            if a is not b:
                self.contents[storage] = self.plan_contents(a, b, storage)
        return self._merge_leaves()

    def finish(self) -> None:
        self.lowering.restore(self.before)
        for storage, plan in self.contents.items():
            if self._is_divided(plan):
                self._refuse_other_items(storage)
            self.lowering.contents[storage] = self.build(plan, contents=True)
        names = self.lowering.frame.names
        for name, plan in self.names.items():
            names[name] = self.build(plan)
        places.renew(self.lowering, self.before, self.states)

    # -- plans -----------------------------------------------------------------------------

    def plan(self, a: Any, b: Any, name: str) -> Any:
        """How to merge two frontend values."""
        if a is b or (isinstance(a, Static) and isinstance(b, Static) and a == b):
            return Same(a)
        if isinstance(a, Ref) and isinstance(b, Ref) and _same_view(a, b):
            return Same(a)
        if isinstance(a, ListRef) and isinstance(b, ListRef) and a.storage is b.storage:
            return Same(a)
        for side, other in ((a, b), (b, a)):
            if isinstance(side, Unbound):
                return self._with_unbound(side, other, name, side is b)
        if isinstance(a, Either) or isinstance(b, Either):
            if self._nested >= _MAX_NESTED:
                return Same(_other_on_each_path(name))
            self._nested += 1
            planned = self._alternatives(a, b, name)
            self._nested -= 1
            return planned
        return self._structures(a, b, name)

    def _alternatives(self, a: Any, b: Any, name: str) -> Any:
        """Values of which one at least is of two kinds already."""
        for template in (a, b):
            if isinstance(template, Either):
                choice = self._kind(template, template is b)
                parts = [self._aligned(item, choice, number) for number, item in enumerate((a, b))]
                if None not in parts:
                    (flag, first, second), (other_flag, other_first, other_second) = parts
                    return Alternatives(
                        self.plan(flag, other_flag, ""),
                        self.plan(first, other_first, name),
                        self.plan(second, other_second, name),
                    )
        return self._choice(a, b, name)

    def _kind(self, item: Any, second: bool) -> Any:
        return kind_of(self.lowering, item, self.states[second].contents)

    def _aligned(self, item: Any, choice: Any, number: int) -> Any:
        if not isinstance(choice, Choice):
            return None
        with self.lowering.inside(self.blocks[number]):
            return aligned(self.lowering, item, choice, self.states[number].contents)

    def _choice(self, a: Any, b: Any, name: str) -> Any:
        """Values of different kinds: which of them it is, the condition tells."""
        kinds = self._kind(a, False), self._kind(b, True)
        if None in kinds or self.condition is None:
            return Same(_other_on_each_path(name))
        first, second = self.plan(a, ABSENT, name), self.plan(ABSENT, b, name)
        return Alternatives(Same(self.condition), first, second)

    def _structures(self, a: Any, b: Any, name: str) -> Any:
        if isinstance(a, TupleOf) and isinstance(b, TupleOf) and len(a.items) == len(b.items):
            parts = tuple(self.plan(x, y, "") for x, y in zip(a.items, b.items, strict=True))
            cls = a.cls
            return Structure(lambda items: TupleOf(items, cls), parts)
        if isinstance(a, ListRef) and isinstance(b, ListRef):
            one = self.states[0].contents[a.storage]
            two = self.states[1].contents[b.storage]
            contents = self.plan_contents(one, two, Storage(name))
            memory, holds = self.memories.of(a, b), a.storage.holds | b.storage.holds
            return Container(ListRef, contents, memory, holds)
        if isinstance(a, InstanceRef) and isinstance(b, InstanceRef) and a.cls is b.cls:
            return self._objects(a, b, name)
        if isinstance(a, DictRef) and isinstance(b, DictRef):
            one = self.states[0].contents[a.storage]
            two = self.states[1].contents[b.storage]
            place = a.storage.place or b.storage.place
            contents = self.plan_contents(one, two, Storage(name, place=place))
            return Container(DictRef, contents, self.memories.of(a, b), frozenset())
        are_texts = texts.is_text(a) and texts.is_text(b) and Value in (type(a), type(b))
        are_objects = _is_object(a) or _is_object(b)
        if are_texts or (_is_leaf(a) and _is_leaf(b) and not are_objects):
            return self._leaf(a, b, name)
        return self._choice(a, b, name)

    def _objects(self, a: InstanceRef, b: InstanceRef, name: str) -> Any:
        """An object made anew: it may be either of two."""
        fields = {}
        for field in {**a.cells, **b.cells}:
            items = []
            for side, state in ((a, self.states[0]), (b, self.states[1])):
                cell = side.cells.get(field)
                items.append(state.contents.get(cell, {}).get(field, Unbound("")))  # type: ignore[arg-type]
            cells = frozenset(s.cells[field] for s in (a, b) if field in s.cells)
            shared = frozenset(s for s in cells if s in self.before.contents)
            fields[field] = Field(self.plan(items[0], items[1], f"{name}_{field}"), shared)
        overlaps = frozenset(s for s in (a.storage, b.storage) if s in self.before.contents)
        return Object(a.cls, fields, overlaps)

    def plan_contents(self, a: Any, b: Any, storage: Storage) -> Any:
        """How to merge the contents of a storage: IR values, tuples of items or dicts."""
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            return Structure(tuple, tuple(self.plan(x, y, "") for x, y in zip(a, b, strict=True)))
        if isinstance(a, dict) and isinstance(b, dict):
            if list(a) != list(b) and not isinstance(storage, Cell):
                refuse_other_keys(self.lowering, storage)
            parts = tuple(self.plan(a[key], b[key], str(key)) for key in a)
            return Structure(lambda items: dict(zip(a, items, strict=True)), parts)
        return self._leaf(a, b, storage.name)

    def _with_unbound(self, missing: Unbound, other: Any, name: str, second: bool) -> Any:
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
        elif missing.raises and self.lowering.frame.is_read_later(name):
            a, b = (other, missing) if second else (missing, other)
            if self._kind(other, not second) is not None and self.condition is not None:
                is_either = isinstance(other, Either)
                return (self._alternatives if is_either else self._choice)(a, b, name)
        if isinstance(other, TupleOf):
            parts = tuple(self._with_unbound(missing, i, "", second) for i in other.items)
            return Structure(lambda items: TupleOf(items, other.cls), parts)
        if isinstance(other, Either):
            below = (other.flag, other.first, other.second)
            plans = [self._with_unbound(missing, i, name, second) for i in below]
            return Alternatives(*plans)
        if _is_leaf(other):
            return self._leaf(other, missing, name) if second else self._leaf(missing, other, name)
        return Same(Unbound.on_one_path(name, mixed=True))

    def _callable(self, item: Any, second: bool) -> Any:
        """What is known when the function is compiled, or a local function: what that closes over
        is looked up when it is called, as long as the function around it runs."""
        if isinstance(item, Static):
            return Same(item)
        if not isinstance(item, LocalFunction) or item.frame not in self.lowering.frames:
            return None
        defaults = item.defaults
        parts = tuple(self._with_unbound(ABSENT, d, n, second) for n, d in defaults.items())
        return Structure(
            lambda items: replace(item, defaults=dict(zip(defaults, items, strict=True))), parts
        )

    def _leaf(self, a: Any, b: Any, name: str) -> Leaf:
        shown = "result" if name == RETURN_VALUE else name if name.isidentifier() else ""
        self.pairs.append((a, b, shown))
        return Leaf(len(self.pairs) - 1, self.memories.of(a, b))

    # -- values ----------------------------------------------------------------------------

    def _merge_leaves(self) -> tuple[list[Value], tuple[list[Value], list[Value]]]:
        sides: list[list[Value | None]] = []
        for number in (0, 1):
            self.lowering.restore(self.states[number])
            with self.lowering.inside(self.blocks[number]):
                sides.append([self._side(pair[number]) for pair in self.pairs])
        results: list[Value] = []
        yields: tuple[list[Value], list[Value]] = ([], [])
        lengths = MergedLengths(self.lowering.builder)
        for number, (_, _, name) in enumerate(self.pairs):
            values = [side[number] for side in sides]
            try:
                type_ = _joined(values, lengths)
            except JoinError as error:
                self.values[number] = str(error)
                if self.condition is None:
                    continue
                alone = [
                    self._alone(value, side, results, yields) for side, value in enumerate(values)
                ]
                self.values[number] = tuple(alone)
                continue
            result = self.lowering.builder.named(type_, name or _common_name(values))
            self.values[number] = result
            results.append(result)
            for side, value, block in zip(yields, values, self.blocks, strict=True):
                if value is None:
                    with self.lowering.inside(block):
                        value = self.lowering.undefined(type_)
                side.append(value)
        return results, yields

    def _alone(
        self,
        value: Value | None,
        side: int,
        results: list[Value],
        yields: tuple[list[Value], list[Value]],
    ) -> Value:
        """The value of one side as a result of its own, undefined on the other side."""
        assert value is not None
        result = self.lowering.builder.named(_without_value(value.type), value.name)
        results.append(result)
        yields[side].append(value)
        with self.lowering.inside(self.blocks[not side]):
            yields[not side].append(self.lowering.undefined(result.type))
        return result

    def _side(self, item: Any) -> Value | None:
        if isinstance(item, Unbound):
            return None
        if isinstance(item, tuple):
            return self._list_value(item)
        return self.lowering.value(item)

    def _list_value(self, items: tuple[Any, ...]) -> Value:
        storage = Storage()
        self.lowering.contents[storage] = items
        return self.lowering.value(ListRef(storage))

    # -- building ----------------------------------------------------------------------------

    def _is_divided(self, plan: Any) -> bool:
        """Whether the two sides of a leaf have no type in common."""
        return isinstance(plan, Leaf) and not isinstance(self.values[plan.number], Value)

    def _refuse_other_items(self, storage: Storage) -> NoReturn:
        """A list that was there before holds items that have no type in common."""
        raise UnsupportedError(
            f"{wording.quoted(storage.name, 'a list')} holds items of other types on each path",
            "put items of one type into it on every path",
            self.lowering.builder.location,
        )

    def build(self, plan: Any, contents: bool = False) -> Any:
        if isinstance(plan, Same):
            return plan.item
        if isinstance(plan, Structure):
            return plan.make(tuple(map(self.build, plan.parts)))
        if isinstance(plan, Alternatives):
            flag, first, second = map(self.build, (plan.flag, plan.first, plan.second))
            if isinstance(flag, Static):
                return first if flag.value else second
            self.lowering.has_alternatives = True
            return Either(flag, first, second)
        if isinstance(plan, Container):
            if self._is_divided(plan.contents):
                return self.build(plan.contents)
            storage = Storage("", *self.memories.storage(plan.memory), plan.holds)
            storage.read_only = plan.memory.read_only
            self.lowering.contents[storage] = self.build(plan.contents, contents=True)
            return plan.make(storage)
        if isinstance(plan, Object):
            owner = InstanceRef(plan.cls, Storage("", plan.overlaps), {})
            self.lowering.contents[owner.storage] = {}
            for name, field in plan.fields.items():
                cell = owner.cells[name] = Cell(name, field.overlaps)
                self.lowering.contents[cell] = {name: self.build(field.plan)}
            return owner
        value = self.values[plan.number]
        memory = self.memories.storage(plan.memory)
        if isinstance(value, tuple):
            self.lowering.has_alternatives = True
            first, second = (self.lowering.wrap(v, *memory) for v in value)
            assert self.condition is not None
            return Either(self.condition, first, second)
        if isinstance(value, str):
            name = self.pairs[plan.number][2]
            return Unbound(f"{wording.quoted(name, 'the value')} is {value}", mixed=True)
        if contents:
            return value
        found = self.lowering.wrap(value, *memory)
        if isinstance(found, (Ref, ListRef)):
            found.storage.read_only = plan.memory.read_only
        return found


def _other_on_each_path(name: str) -> Unbound:
    return Unbound(f"`{name}` is something else on each path", mixed=True)


def _joined(values: list[Value | None], lengths: MergedLengths) -> Type:
    types = [value.type for value in values if value is not None]
    type_ = types[0]
    for other in types[1:]:
        type_ = lengths.merged(join(type_, other), type_, other)
    if isinstance(type_, Opaque) and not all(isinstance(t, Opaque) for t in types):
        raise JoinError("a number on one path and something else on the other")
    return type_


def _common_name(values: list[Value | None]) -> str:
    names = {value.name for value in values if value is not None}
    return names.pop() if len(names) == 1 else ""


def _same_view(a: Ref, b: Ref) -> bool:
    return a.storage is b.storage and a.path == b.path


def _without_value(type_: Type) -> Type:
    return replace(type_, value=None) if isinstance(type_, Scalar) else type_


def _is_object(item: Any) -> bool:
    """Whether this is one object that a program tests for, and does not compute with."""
    return isinstance(item, Static) and not isinstance(item.value, PLAIN_NUMBERS)


def _is_leaf(item: Any) -> bool:
    if isinstance(item, Static):
        return isinstance(item.value, (*PLAIN_NUMBERS, str)) or item.value is None
    return isinstance(item, (Value, Ref, ListRef))
