"""Branches: lowering both sides of a run-time condition and joining what they leave behind.

Both sides start from the same state. Afterwards every name and every storage that differs
is merged: leaf by leaf, where the structures agree, into one result of the `if` operation.
What cannot be merged (a number on one side, an array on the other) becomes `Unbound` with
the reason, which is an error only if it is read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from gradscribe.frontend.calls.definitions import NotYetKnownError
from gradscribe.frontend.control.bounds import MergedLengths, bounds_of
from gradscribe.frontend.control.merged_memory import Memories, Memory
from gradscribe.frontend.data import places
from gradscribe.frontend.data.keyed import refuse_other_keys
from gradscribe.frontend.kinds import ABSENT, Choice, aligned, kind_of
from gradscribe.frontend.lowering import PLAIN_NUMBERS, RETURN_VALUE, Lowering, State
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
)
from gradscribe.ir.core import Block, Operation, Value
from gradscribe.ir.types import JoinError, Opaque, Scalar, Type, join
from gradscribe.primitives.control import EFFECT, RAISE
from gradscribe.primitives.registry import PRIMITIVES

RAISED = "has raised"
"""The name under which a path that ends in `raise` says so."""


def conditional(
    lowering: Lowering,
    node: Any,
    condition: Value,
    then: Callable[[], Any],
    otherwise: Callable[[], Any],
) -> Any:
    """The value of an expression that evaluates one of two expressions."""
    key = "value of the expression"
    names = lowering.frame.names

    def side(evaluate: Callable[[], Any]) -> Callable[[], None]:
        def run() -> None:
            lowering.frame.names[key] = evaluate()

        return run

    branch(lowering, condition, side(then), side(otherwise))
    result = lowering.frame.names.pop(key)
    names.pop(key, None)
    if isinstance(result, Unbound):
        lowering.unsupported(node, f"this expression has no single type: {result.reason}")
    return result


def branch(
    lowering: Lowering,
    condition: Value,
    then: Callable[[], None],
    otherwise: Callable[[], None],
) -> None:
    """Lower both sides and leave the merged state. A side that raises takes no part."""
    location = lowering.builder.location
    before = lowering.fork()
    key = lowering.numbering.of(condition)
    facts, builder = lowering.builder.facts, lowering.builder
    with facts.scope(bounds_of(builder.definition, condition, True)), builder.block() as first:
        lowering.assumed = {**before.assumed, key: True}
        _lower_side(lowering, then)
    after_first = lowering.fork()
    lowering.restore(before)
    lowering.assumed = {**before.assumed, key: False}
    empty = Block((), (), ())
    if RAISED in after_first.names:
        lowering.builder.emit_if(condition, Block((), tuple(first), ()), empty, (), location)
        otherwise()
        return
    with facts.scope(bounds_of(builder.definition, condition, False)), builder.block() as second:
        _lower_side(lowering, otherwise)
    after_second = lowering.fork()
    lowering.restore(before)
    if RAISED in after_second.names:
        lowering.builder.emit_if(condition, empty, Block((), tuple(second), ()), (), location)
        for operation in first:
            lowering.builder.append(operation)
        lowering.restore(after_first)
        return
    flag = condition
    if not _is_flag(condition):
        flag = lowering.emit(PRIMITIVES[bool], {"x": condition}, bool)
    merge = Merge(lowering, flag, before, (first, second), (after_first, after_second))
    results, yields = merge.run()
    blocks = [Block((), tuple(o), tuple(y)) for o, y in zip((first, second), yields, strict=True)]
    lowering.builder.emit_if(condition, blocks[0], blocks[1], results, location)
    merge.finish()


def attempt(
    lowering: Lowering,
    node: Any,
    condition: Value,
    then: Callable[[], None],
    otherwise: Callable[[], None],
) -> None:
    """Lower a `try` and what handles its exceptions as the sides of a branch; what is tried stays
    in its side, also if the other one always raises."""
    location, before = lowering.builder.location, lowering.fork()
    facts, builder = lowering.builder.facts, lowering.builder
    with facts.scope(), builder.block() as first:
        _lower_side(lowering, then)
    after_first = lowering.fork()
    lowering.restore(before)
    with facts.scope(), builder.block() as second:
        _lower_side(lowering, otherwise)
    after_second = lowering.fork()
    lowering.restore(before)
    if RAISED in after_first.names:
        lowering.unsupported(node, "a `try` that always raises is not supported")
    if after_second.names.pop(RAISED, None) is not None:
        _take_no_part(after_first, after_second)
    merge = Merge(lowering, None, before, (first, second), (after_first, after_second))
    results, yields = merge.run()
    second.sort(key=lambda operation: operation.primitive is RAISE)
    blocks = [Block((), tuple(o), tuple(y)) for o, y in zip((first, second), yields, strict=True)]
    lowering.builder.emit_if(condition, blocks[0], blocks[1], results, location)
    merge.finish()


def _take_no_part(first: State, second: State) -> None:
    """Let a state that nothing comes after have no values where it differs from the other."""
    nothing = Unbound("this path raises")
    for name, item in first.names.items():
        if second.names.get(name) is not item:
            second.names[name] = nothing
    for storage, contents in first.contents.items():
        if second.contents.get(storage, contents) is not contents:
            is_items = isinstance(contents, tuple)
            second.contents[storage] = (nothing,) * len(contents) if is_items else nothing


def _lower_side(lowering: Lowering, side: Callable[[], None]) -> None:
    """Lower a side. One that needs what a recursive call gives, when that is not known yet, takes
    no part, as one that raises."""
    frame = lowering.frame
    depth = len(frame.loops)
    try:
        side()
    except NotYetKnownError:
        del frame.loops[depth:]
        frame.names[RAISED] = Static(True)


def raise_here(lowering: Lowering, cls: type, *args: Any) -> None:
    """Raise at run time, where this path is taken."""
    exception = lowering.emit(EFFECT, {"args": args, "keywords": {}}, cls)
    lowering.emit(RAISE, {"exception": exception, "cause": None})
    lowering.frame.names[RAISED] = Static(True)


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A pair of leaves to merge, by number; memory: what it may stand for."""

    number: int
    memory: Memory


@dataclass(frozen=True, slots=True)
class _Same:
    item: Any


@dataclass(frozen=True, slots=True)
class _Structure:
    make: Callable[[tuple[Any, ...]], Any]
    parts: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Alternatives:
    """A value of two kinds: plans for its flag and for both of them."""

    flag: Any
    first: Any
    second: Any


@dataclass(frozen=True, slots=True)
class _Container:
    """A list or dict, made anew: it may be either of the two that were merged."""

    make: Callable[[Storage], Any]
    contents: Any
    memory: Memory
    holds: frozenset[Storage]


@dataclass(frozen=True, slots=True)
class _Field:
    plan: Any
    overlaps: frozenset[Storage]


@dataclass(frozen=True, slots=True)
class _Object:
    """An object of known fields, made anew as a container is."""

    cls: type
    fields: dict[str, _Field]
    overlaps: frozenset[Storage]


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
            missing = Unbound(f"`{name}` has no value on one path", raises=name.isidentifier())
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
            self.lowering.contents[storage] = self.build(plan, contents=True)
        names = self.lowering.frame.names
        for name, plan in self.names.items():
            names[name] = self.build(plan)
        places.renew(self.lowering, self.before, self.states)

    # -- plans -----------------------------------------------------------------------------

    def plan(self, a: Any, b: Any, name: str) -> Any:
        """How to merge two frontend values."""
        if a is b or (isinstance(a, Static) and isinstance(b, Static) and a == b):
            return _Same(a)
        if isinstance(a, Ref) and isinstance(b, Ref) and _same_view(a, b):
            return _Same(a)
        if isinstance(a, ListRef) and isinstance(b, ListRef) and a.storage is b.storage:
            return _Same(a)
        for side, other in ((a, b), (b, a)):
            if isinstance(side, Unbound):
                return self._with_unbound(side, other, name, side is b)
        if isinstance(a, Either) or isinstance(b, Either):
            if self._nested >= _MAX_NESTED:
                return _Same(Unbound(f"`{name}` is of too many kinds", mixed=True))
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
                    return _Alternatives(
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
            return _Same(Unbound(f"`{name}` is something else on each path", mixed=True))
        first, second = self.plan(a, ABSENT, name), self.plan(ABSENT, b, name)
        return _Alternatives(_Same(self.condition), first, second)

    def _structures(self, a: Any, b: Any, name: str) -> Any:
        if isinstance(a, TupleOf) and isinstance(b, TupleOf) and len(a.items) == len(b.items):
            parts = tuple(self.plan(x, y, "") for x, y in zip(a.items, b.items, strict=True))
            cls = a.cls
            return _Structure(lambda items: TupleOf(items, cls), parts)
        if isinstance(a, ListRef) and isinstance(b, ListRef):
            one = self.states[0].contents[a.storage]
            two = self.states[1].contents[b.storage]
            contents = self.plan_contents(one, two, Storage(name))
            memory, holds = self.memories.of(a, b), a.storage.holds | b.storage.holds
            return _Container(ListRef, contents, memory, holds)
        if isinstance(a, InstanceRef) and isinstance(b, InstanceRef) and a.cls is b.cls:
            return self._objects(a, b, name)
        if isinstance(a, DictRef) and isinstance(b, DictRef):
            one = self.states[0].contents[a.storage]
            two = self.states[1].contents[b.storage]
            place = a.storage.place or b.storage.place
            contents = self.plan_contents(one, two, Storage(name, place=place))
            return _Container(DictRef, contents, self.memories.of(a, b), frozenset())
        if _is_leaf(a) and _is_leaf(b) and not _is_object(a) and not _is_object(b):
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
            fields[field] = _Field(self.plan(items[0], items[1], f"{name}_{field}"), shared)
        overlaps = frozenset(s for s in (a.storage, b.storage) if s in self.before.contents)
        return _Object(a.cls, fields, overlaps)

    def plan_contents(self, a: Any, b: Any, storage: Storage) -> Any:
        """How to merge the contents of a storage: IR values, tuples of items or dicts."""
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            return _Structure(tuple, tuple(self.plan(x, y, "") for x, y in zip(a, b, strict=True)))
        if isinstance(a, dict) and isinstance(b, dict):
            if list(a) != list(b) and not isinstance(storage, Cell):
                refuse_other_keys(self.lowering, storage)
            parts = tuple(self.plan(a[key], b[key], str(key)) for key in a)
            return _Structure(lambda items: dict(zip(a, items, strict=True)), parts)
        return self._leaf(a, b, storage.name)

    def _with_unbound(self, missing: Unbound, other: Any, name: str, second: bool) -> Any:
        if missing.mixed:
            return _Same(missing)
        if isinstance(other, Unbound):
            keeps = missing.loop is not None and not other.mixed
            return _Same(missing if keeps or other is ABSENT else other)
        if missing is ABSENT and isinstance(other, Static):
            return _Same(other)
        if missing.loop is not None:
            missing.loop[1].survives = True
        elif missing.raises and self.lowering.frame.is_read_later(name):
            a, b = (other, missing) if second else (missing, other)
            if self._kind(other, not second) is not None and self.condition is not None:
                is_either = isinstance(other, Either)
                return (self._alternatives if is_either else self._choice)(a, b, name)
        if isinstance(other, TupleOf):
            parts = tuple(self._with_unbound(missing, i, "", second) for i in other.items)
            return _Structure(lambda items: TupleOf(items, other.cls), parts)
        if isinstance(other, Either):
            below = (other.flag, other.first, other.second)
            plans = [self._with_unbound(missing, i, name, second) for i in below]
            return _Alternatives(*plans)
        if _is_leaf(other):
            return self._leaf(other, missing, name) if second else self._leaf(missing, other, name)
        return _Same(Unbound(f"`{name}` has no value on one path", mixed=True))

    def _leaf(self, a: Any, b: Any, name: str) -> _Leaf:
        shown = "result" if name == RETURN_VALUE else name if name.isidentifier() else ""
        self.pairs.append((a, b, shown))
        return _Leaf(len(self.pairs) - 1, self.memories.of(a, b))

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

    def build(self, plan: Any, contents: bool = False) -> Any:
        if isinstance(plan, _Same):
            return plan.item
        if isinstance(plan, _Structure):
            return plan.make(tuple(map(self.build, plan.parts)))
        if isinstance(plan, _Alternatives):
            flag, first, second = map(self.build, (plan.flag, plan.first, plan.second))
            if isinstance(flag, Static):
                return first if flag.value else second
            self.lowering.has_alternatives = True
            return Either(flag, first, second)
        if isinstance(plan, _Container):
            storage = Storage("", *self.memories.storage(plan.memory), plan.holds)
            storage.read_only = plan.memory.read_only
            self.lowering.contents[storage] = self.build(plan.contents, contents=True)
            return plan.make(storage)
        if isinstance(plan, _Object):
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
            return Unbound(f"`{name}` is {value}" if name else f"the value is {value}", mixed=True)
        if contents:
            return value
        found = self.lowering.wrap(value, *memory)
        if isinstance(found, (Ref, ListRef)):
            found.storage.read_only = plan.memory.read_only
        return found


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


def _is_flag(condition: Value) -> bool:
    """Whether a condition is a plain truth value, which may tell kinds apart later."""
    return isinstance(condition.type, Scalar) and condition.type.dtype == "bool"


def _without_value(type_: Type) -> Type:
    return replace(type_, value=None) if isinstance(type_, Scalar) else type_


def _is_object(item: Any) -> bool:
    """Whether this is one object that a program tests for, and does not compute with."""
    return isinstance(item, Static) and not isinstance(item.value, PLAIN_NUMBERS)


def _is_leaf(item: Any) -> bool:
    if isinstance(item, Static):
        return isinstance(item.value, (*PLAIN_NUMBERS, str)) or item.value is None
    return isinstance(item, (Value, Ref, ListRef))
