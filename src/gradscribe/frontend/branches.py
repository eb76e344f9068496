"""Branches: lowering both sides of a run-time condition and joining what they leave behind.

Both sides start from the same state. Afterwards every name and every storage that differs
is merged: leaf by leaf, where the structures agree, into one result of the `if` operation.
What cannot be merged (a number on one side, an array on the other) becomes `Unbound` with
the reason, which is an error only if it is read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gradscribe.frontend.definitions import NotYetKnownError
from gradscribe.frontend.lowering import PLAIN_NUMBERS, RETURN_VALUE, Lowering, State
from gradscribe.frontend.values import (
    DictRef,
    ListRef,
    Ref,
    Static,
    Storage,
    TupleOf,
    Unbound,
)
from gradscribe.ir.core import Block, Operation, Value
from gradscribe.ir.types import JoinError, Opaque, Type, join

RAISED = "raised"
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
    with lowering.builder.block() as first:
        _lower_side(lowering, then)
    after_first = lowering.fork()
    lowering.restore(before)
    empty = Block((), (), ())
    if RAISED in after_first.names:
        lowering.builder.emit_if(condition, Block((), tuple(first), ()), empty, (), location)
        otherwise()
        return
    with lowering.builder.block() as second:
        _lower_side(lowering, otherwise)
    after_second = lowering.fork()
    lowering.restore(before)
    if RAISED in after_second.names:
        lowering.builder.emit_if(condition, empty, Block((), tuple(second), ()), (), location)
        for operation in first:
            lowering.builder.append(operation)
        lowering.restore(after_first)
        return
    merge = Merge(lowering, before, (first, second), (after_first, after_second))
    results, yields = merge.run()
    blocks = [Block((), tuple(o), tuple(y)) for o, y in zip((first, second), yields, strict=True)]
    lowering.builder.emit_if(condition, blocks[0], blocks[1], results, location)
    merge.finish()


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


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A pair of leaves to merge, by number; overlaps: the storages it may stand for."""

    number: int
    overlaps: frozenset[Storage]


@dataclass(frozen=True, slots=True)
class _Same:
    item: Any


@dataclass(frozen=True, slots=True)
class _Structure:
    make: Callable[[tuple[Any, ...]], Any]
    parts: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Container:
    """A list or dict, made anew: it may be either of the two that were merged."""

    make: Callable[[Storage], Any]
    contents: Any
    overlaps: frozenset[Storage]
    holds: frozenset[Storage]


class Merge:
    """Joins two states. `run` gives the results and yields of the operation; `finish` makes the
    merged state the current one, after the operation was appended."""

    def __init__(
        self,
        lowering: Lowering,
        before: State,
        blocks: tuple[list[Operation], list[Operation]],
        states: tuple[State, State],
    ) -> None:
        self.lowering = lowering
        self.before = before
        self.blocks = blocks
        self.states = states
        for state in (before, *states):
            lowering.complete(state)
        self.pairs: list[tuple[Any, Any, str]] = []
        self.values: dict[int, Value | str] = {}
        self.names: dict[str, Any] = {}
        self.contents: dict[Storage, Any] = {}

    def run(self) -> tuple[list[Value], tuple[list[Value], list[Value]]]:
        first, second = self.states
        for name in {**first.names, **second.names}:
            missing = Unbound(f"`{name}` has no value on one path")
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
        return self._structures(a, b, name)

    def _structures(self, a: Any, b: Any, name: str) -> Any:
        if isinstance(a, TupleOf) and isinstance(b, TupleOf) and len(a.items) == len(b.items):
            parts = tuple(self.plan(x, y, "") for x, y in zip(a.items, b.items, strict=True))
            cls = a.cls
            return _Structure(lambda items: TupleOf(items, cls), parts)
        if isinstance(a, ListRef) and isinstance(b, ListRef):
            one = self.states[0].contents[a.storage]
            two = self.states[1].contents[b.storage]
            contents = self.plan_contents(one, two, Storage(name))
            return _Container(
                ListRef, contents, self._shared(a, b), a.storage.holds | b.storage.holds
            )
        if isinstance(a, DictRef) and isinstance(b, DictRef):
            one = self.states[0].contents[a.storage]
            two = self.states[1].contents[b.storage]
            contents = self.plan_contents(one, two, Storage(name))
            return _Container(DictRef, contents, self._shared(a, b), frozenset())
        if _is_leaf(a) and _is_leaf(b):
            return self._leaf(a, b, name)
        return _Same(Unbound(f"`{name}` is something else on each path"))

    def plan_contents(self, a: Any, b: Any, storage: Storage) -> Any:
        """How to merge the contents of a storage: IR values, tuples of items or dicts."""
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            return _Structure(tuple, tuple(self.plan(x, y, "") for x, y in zip(a, b, strict=True)))
        if isinstance(a, dict) and isinstance(b, dict):
            keys = list({**a, **b})
            missing = Unbound("the key is missing on one path")
            parts = tuple(self.plan(a.get(k, missing), b.get(k, missing), str(k)) for k in keys)
            return _Structure(lambda items: dict(zip(keys, items, strict=True)), parts)
        return self._leaf(a, b, storage.name)

    def _with_unbound(self, missing: Unbound, other: Any, name: str, second: bool) -> Any:
        if isinstance(other, Unbound):
            return _Same(other)
        if isinstance(other, TupleOf):
            parts = tuple(self._with_unbound(missing, i, "", second) for i in other.items)
            return _Structure(lambda items: TupleOf(items, other.cls), parts)
        if _is_leaf(other):
            return self._leaf(other, missing, name) if second else self._leaf(missing, other, name)
        return _Same(Unbound(f"`{name}` has no value on one path"))

    def _leaf(self, a: Any, b: Any, name: str) -> _Leaf:
        shown = "result" if name == RETURN_VALUE else name if name.isidentifier() else ""
        self.pairs.append((a, b, shown))
        return _Leaf(len(self.pairs) - 1, self._shared(a, b))

    def _shared(self, a: Any, b: Any) -> frozenset[Storage]:
        """The storages from before the branch that the merged value may be."""
        overlaps: set[Storage] = set()
        for side in (a, b):
            if isinstance(side, (Ref, ListRef, DictRef)):
                overlaps |= side.storage.reached
        return frozenset(s for s in overlaps if s in self.before.contents)

    # -- values ----------------------------------------------------------------------------

    def _merge_leaves(self) -> tuple[list[Value], tuple[list[Value], list[Value]]]:
        sides: list[list[Value | None]] = []
        for number in (0, 1):
            self.lowering.restore(self.states[number])
            with self.lowering.inside(self.blocks[number]):
                sides.append([self._side(pair[number]) for pair in self.pairs])
        results: list[Value] = []
        yields: tuple[list[Value], list[Value]] = ([], [])
        for number, (_, _, name) in enumerate(self.pairs):
            values = [side[number] for side in sides]
            try:
                type_ = _joined(values)
            except JoinError as error:
                self.values[number] = str(error)
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
        if isinstance(plan, _Container):
            storage = Storage("", plan.overlaps, holds=plan.holds)
            self.lowering.contents[storage] = self.build(plan.contents, contents=True)
            return plan.make(storage)
        value = self.values[plan.number]
        if isinstance(value, str):
            name = self.pairs[plan.number][2]
            return Unbound(f"`{name}` is {value}" if name else f"the value is {value}")
        return value if contents else self.lowering.wrap(value, plan.overlaps)


def _joined(values: list[Value | None]) -> Type:
    types = [value.type for value in values if value is not None]
    type_ = types[0]
    for other in types[1:]:
        type_ = join(type_, other)
    if isinstance(type_, Opaque) and len(types) == 2 and any(t != type_ for t in types):
        raise JoinError("a number on one path and something else on the other")
    return type_


def _common_name(values: list[Value | None]) -> str:
    names = {value.name for value in values if value is not None}
    return names.pop() if len(names) == 1 else ""


def _same_view(a: Ref, b: Ref) -> bool:
    return a.storage is b.storage and a.path == b.path


def _is_leaf(item: Any) -> bool:
    if isinstance(item, Static):
        return isinstance(item.value, (*PLAIN_NUMBERS, str)) or item.value is None
    return isinstance(item, (Value, Ref, ListRef))
