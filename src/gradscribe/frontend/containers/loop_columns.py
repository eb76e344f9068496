"""What a counted loop runs over, as the iterables of a `loop` operation, and how their items are
bound to the target."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import gast

from gradscribe.frontend.containers import lengths
from gradscribe.frontend.containers.subscripts import read_item
from gradscribe.frontend.kinds import ranges
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import Iteration, ListRef, Ref, Static, Storage, TupleOf
from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.core import IterableKind, LoopShape, Value
from gradscribe.ir.types import Array, Scalar, Sequence, Type, one_of


@dataclass(frozen=True, eq=False)
class Columns:
    """The iterables of a counted loop, and how their items are bound to the target."""

    kinds: tuple[IterableKind, ...]
    operands: tuple[Value, ...]
    items: tuple[tuple[Type, str, frozenset[Storage]], ...]
    bind: Callable[[Any], Any]
    iteration: Iteration
    trip: Symbol

    @property
    def reversed(self) -> bool:
        return self.iteration.reversed

    def rows(self, items: list[Value]) -> dict[Value, Value]:
        """The arrays that the items are rows of."""
        shape = LoopShape(self.kinds, 0)
        columns = zip(self.kinds, items, shape.iterable_slices(), strict=True)
        return {i: self.operands[where][0] for kind, i, where in columns if kind == "array"}


def columns_of(lowering: Lowering, node: Any, iteration: Iteration, target: Any) -> Columns:
    """The columns of an iteration, whose items a loop binds to this target."""
    trip = Symbol("i")
    kinds: list[IterableKind] = []
    operands: list[Value] = []
    items: list[tuple[Type, str, frozenset[Storage]]] = []

    def add(part: Iteration, name: Any) -> Callable[[Any], Any]:
        if part.kind == "zip":
            names = name.elts if isinstance(name, gast.Tuple) else []
            below = [add(p, names[i] if i < len(names) else None) for i, p in enumerate(part.parts)]
            return lambda values: TupleOf(tuple(take(values) for take in below))
        if part.kind == "enumerate":
            return add(_enumerated(lowering, node, part), name)
        if part.kind == "map":
            below_map = add(part.parts[0], None)
            return lambda values: part.parts[1](below_map(values))
        if part.kind == "items":
            index = add(part.parts[0], None)
            return lambda values: read_item(lowering, node, part.parts[1], index(values))
        kind, values, item = _simple(
            lowering, node, part, trip, nested=bool(kinds) or part is not iteration
        )
        kinds.append(kind)
        operands.extend(values)
        items.append((item[0], name.id if isinstance(name, gast.Name) else "", item[1]))
        return next

    bind = add(iteration, target)
    return Columns(tuple(kinds), tuple(operands), tuple(items), bind, iteration, trip)


def _enumerated(lowering: Lowering, node: Any, part: Iteration) -> Iteration:
    """`enumerate(xs, start)` as a zip with a range, at least as long as xs."""
    inner, start = part.parts
    first = inner
    while first.kind in ("zip", "enumerate", "map"):
        first = first.parts[0]
    count = _trips(lowering, node, first)

    from_zero = isinstance(start, Static) and start.value == 0
    stop = count if from_zero else lowering.operate(node, operator.add, start, count)
    return Iteration("zip", (Iteration("range", (start, stop, Static(1))), inner))


def _trips(lowering: Lowering, node: Any, part: Iteration) -> Any:
    if part.kind == "items":
        part = part.parts[0]
    if part.kind == "range":
        start, stop, step = part.parts
        if step != Static(1):
            return ranges.length(lowering, part)

        if isinstance(start, Static) and start.value == 0:
            return stop
        return lowering.operate(node, operator.sub, stop, start)
    return lengths.length(lowering, part.parts[0])


def _simple(
    lowering: Lowering, node: Any, part: Iteration, trip: Symbol, nested: bool
) -> tuple[IterableKind, list[Value], tuple[Type, frozenset[Storage]]]:
    """The kind, operands and item of one iterable."""
    none: frozenset[Storage] = frozenset()
    if part.kind == "range":
        if part.reversed and nested:
            part = ranges.backwards(lowering, part)
        values = [lowering.value(p) for p in part.parts]
        number = Symbol("i") if part.reversed else trip
        return "range", values, (_range_item(lowering, values, number), none)
    owner = part.parts[0]
    if part.kind == "array":
        if part.reversed and nested:
            owner = read_item(lowering, node, owner, slice(None, None, Static(-1)))
        value = lowering.value(owner)
        assert isinstance(value.type, Array)
        dims = value.type.dims[1:]
        lowering.builder.facts.bound(trip, value.type.dims[0] - Affine.of(trip) - 1)
        item: Type = (
            replace(value.type, dims=dims) if dims else Scalar(value.type.dtype, weak=False)
        )
        return "array", [value], (item, _shared(owner))
    if part.reversed and nested:
        owner = read_item(lowering, node, owner, slice(None, None, Static(-1)))
    value = lowering.value(owner)
    assert isinstance(value.type, Sequence)
    return "sequence", [value], (one_of(value.type.item), _shared(owner))


def _shared(owner: Any) -> frozenset[Storage]:
    return owner.storage.reached if isinstance(owner, (Ref, ListRef)) else frozenset()


def _range_item(lowering: Lowering, parts: list[Value], trip: Symbol) -> Type:
    """The type of a range's index: what follows for it from start, stop, step and the trip."""
    start, stop, step = (part.type for part in parts)
    assert isinstance(start, Scalar) and isinstance(stop, Scalar) and isinstance(step, Scalar)
    if start.value is None or step.value is None or not step.value.known:
        return Scalar("int64", True, Affine.of(Symbol("i", None)))
    value = start.value + Affine.of(trip) * step.value.known
    if stop.value is not None:
        rest = stop.value - value if step.value.known > 0 else value - stop.value
        lowering.builder.facts.bound(trip, rest - 1)
    return Scalar("int64", True, value)
