"""Merging the states that the two sides of a branch leave behind.

Every name and every storage that differs is merged: leaf by leaf, where the structures agree (see
`merge_planning`), into one result of the `if` operation. A name of two kinds, or of none on one
path, becomes an `Either` with the condition as its flag. What cannot be merged becomes `Unbound`
with the reason, which is an error only if it is read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, NoReturn, TypeVar

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.joins import joined_memory
from gradscribe.frontend.joins.merge_planning import Planner
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
from gradscribe.frontend.joins.merged_lengths import MergedLengths
from gradscribe.frontend.kinds.trees import assembled
from gradscribe.frontend.memory import kept_memory, places
from gradscribe.frontend.state import wording
from gradscribe.frontend.state.interruptions import SplitError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    Cell,
    DictRef,
    Either,
    FrontendValue,
    Items,
    ListRef,
    Ref,
    Static,
    Storage,
    Unbound,
)
from gradscribe.ir.core import Block, Value
from gradscribe.ir.types import JoinError, Opaque, Scalar, Type, join

_Made = TypeVar("_Made")


class Merge:
    """Joins two states.

    `run` gives the results and yields of the operation; `finish` makes the merged state the current
    one, after the operation was appended."""

    def __init__(self, lowering: Lowering, sides: Sides) -> None:
        self.lowering = lowering
        self.sides = sides
        self.condition = sides.condition
        self.before = sides.before
        self.blocks = sides.blocks
        self.states = sides.states
        for state in (self.before, *self.states):
            lowering.complete(state)
        self.planner = Planner(lowering, sides)
        self.values: dict[int, Value | tuple[Value, ...] | str] = {}
        self.names: dict[str, Plan] = {}
        self.contents: dict[Storage, MemoryPlan] = {}
        self.handed: list[joined_memory.HeldPart] = []

    def run(self) -> tuple[list[Value], tuple[list[Value], list[Value]]]:
        self.handed = joined_memory.show_sides(self.lowering, self.sides)
        first, second = self.states
        for name in {**first.names, **second.names}:
            missing = Unbound.on_one_path(name, raises=name.isidentifier())
            a, b = first.names.get(name, missing), second.names.get(name, missing)
            self.names[name] = self.planner.plan(a, b, name)
        for storage in self.before.contents:
            one, other = first.contents[storage], second.contents[storage]
            if one is not other:
                self.contents[storage] = self.planner.plan_contents(one, other, storage)
        return self._merge_leaves()

    def finish(self) -> None:
        self.lowering.restore(self.before)
        for storage, contents in self.contents.items():
            self.lowering.contents[storage] = self._build_contents(storage, contents)
        names = self.lowering.frame.names
        for name, plan in self.names.items():
            names[name] = self.build(plan)
        places.renew(self.lowering, self.before, self.states)
        kept_memory.merge(self.lowering, self.states)
        joined_memory.take(self.lowering, self.handed)

    # -- values ----------------------------------------------------------------------------

    def _merge_leaves(self) -> tuple[list[Value], tuple[list[Value], list[Value]]]:
        sides: list[list[Value | None]] = []
        for number in (0, 1):
            self.lowering.restore(self.states[number])
            with self.lowering.inside(self.blocks[number]):
                if number == 0 or not self.sides.second_raises:
                    self.lowering.leave(self.before)
                sides.append([self._side((a, b)[number]) for a, b, _ in self.planner.pairs])
        results: list[Value] = []
        yields: tuple[list[Value], list[Value]] = ([], [])
        lengths = MergedLengths(self.lowering.builder)
        for number, (_, _, name) in enumerate(self.planner.pairs):
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

    def _side(self, item: FrontendValue | Items) -> Value | None:
        if isinstance(item, Unbound):
            return None
        if not isinstance(item, (tuple, dict)):
            return self.lowering.value(item)
        storage = Storage()
        self.lowering.contents[storage] = item
        return self._value(ListRef(storage) if isinstance(item, tuple) else DictRef(storage))

    def _value(self, container: FrontendValue) -> Value:
        """A container as a run-time value; where its items are one array or another, by flags."""
        lowering = self.lowering
        try:
            return lowering.value(container)
        except SplitError as split:
            return self._chosen(container, split)

    def _chosen(self, container: FrontendValue, split: SplitError) -> Value:
        """A container as a run-time value, made on both paths that a flag tells apart."""
        lowering, assumed = self.lowering, self.lowering.assumed

        def side(outcome: bool) -> Block:
            lowering.assumed = {**assumed, lowering.numbering.of(split.flag): outcome}
            with lowering.builder.block() as operations:
                value = self._value(container)
            return Block((), tuple(operations), (value,))

        first, second = side(True), side(False)
        lowering.assumed = assumed
        values: list[Value | None] = [*first.yields, *second.yields]
        try:
            type_ = _joined(values, MergedLengths(lowering.builder))
        except JoinError:
            raise split from None
        result = lowering.builder.named(type_, _common_name(values))
        location = lowering.builder.location
        lowering.builder.emit_if(split.flag, first, second, (result,), location)
        return result

    # -- building ----------------------------------------------------------------------------

    @property
    def divides_values(self) -> bool:
        """Whether, after `run`, the two sides of some value have no type in common."""
        return not all(isinstance(value, Value) for value in self.values.values())

    def _refuse_other_items(self, storage: Storage) -> NoReturn:
        """A list that was there before holds items that have no type in common."""
        raise UnsupportedError(
            f"{wording.quoted(storage.name, 'a list')} holds items of other types on each path",
            "put items of one type into it on every path",
            self.lowering.builder.location,
        )

    def build(self, plan: Plan) -> FrontendValue:
        """The merged value of a plan."""
        return self._BUILDING[type(plan)](self, plan)

    def _build_contents(self, storage: Storage, plan: MemoryPlan) -> Value | Items:
        """The merged contents of a storage: of a leaf, the IR value itself."""
        if isinstance(plan, Composite):
            return self._composite(plan)
        value = self.values[plan.number]
        if not isinstance(value, Value):
            self._refuse_other_items(storage)
        return value

    def _same(self, plan: Same) -> FrontendValue:
        return plan.item

    def _composite(self, plan: Composite[_Made]) -> _Made:
        return plan.make(tuple(map(self.build, plan.parts)))

    def _alternatives(self, plan: Alternatives) -> FrontendValue:
        flag, first, second = map(self.build, (plan.flag, plan.first, plan.second))
        if isinstance(flag, Static):
            return first if flag.value else second
        self.lowering.variants.exist = True
        return Either(self.lowering.value(flag), first, second)

    def _structured(self, plan: Assembled) -> FrontendValue:
        memories = self.planner.memories

        def storage(make: type[Storage], name: str) -> Storage:
            if make is Cell:
                return Cell(name, *memories.storage(plan.cells[name]))
            own = Storage("", *memories.storage(plan.memory), plan.holds)
            own.read_only, own.kept = plan.memory.read_only, plan.memory.kept
            return own

        parts = tuple(map(self.build, plan.parts))
        return assembled(plan.shape, parts, self.lowering.contents, storage)

    def _leaf(self, plan: Leaf) -> FrontendValue:
        value, memory = self.values[plan.number], self.planner.memories.storage(plan.memory)
        if isinstance(value, tuple):
            self.lowering.variants.exist = True
            first, second = (self.lowering.wrap(v, *memory) for v in value)
            assert self.condition is not None
            return Either(self.condition, first, second)
        if isinstance(value, str):
            name = self.planner.pairs[plan.number][2]
            return Unbound(f"{wording.quoted(name, 'the value')} is {value}", mixed=True)
        found = self.lowering.wrap(value, *memory)
        if isinstance(found, (Ref, ListRef)):
            found.storage.read_only = plan.memory.read_only
            found.storage.kept = plan.memory.kept
            found.storage.holds |= plan.holds
        return found

    _BUILDING: ClassVar[dict[type, Callable[[Merge, Any], FrontendValue]]] = {
        Same: _same,
        Composite: _composite,
        Alternatives: _alternatives,
        Assembled: _structured,
        Leaf: _leaf,
    }


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


def _without_value(type_: Type) -> Type:
    return replace(type_, value=None) if isinstance(type_, Scalar) else type_
