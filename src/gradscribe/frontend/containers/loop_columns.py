"""What a counted loop runs over, as the iterables of a `loop` operation, and how their items are
bound to the target."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import gast

from gradscribe.frontend.containers import iteration_items
from gradscribe.frontend.containers.subscripts import read_item
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.iterations import (
    Enumerated,
    ItemsByIndex,
    ItemsOf,
    Iteration,
    Leaf,
    Mapped,
    Range,
    Zip,
)
from gradscribe.frontend.values.values import FrontendValue, Static, Storage, TupleOf
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
    counter: Symbol
    reversed: bool

    def rows(self, items: list[Value]) -> dict[Value, Value]:
        """The arrays that the items are rows of."""
        shape = LoopShape(self.kinds, 0)
        columns = zip(self.kinds, items, shape.iterable_slices(), strict=True)
        return {i: self.operands[where][0] for kind, i, where in columns if kind == "array"}


def columns_of(lowering: Lowering, node: Any, iteration: Iteration, target: Any) -> Columns:
    """The columns of an iteration, whose items a loop binds to this target."""
    counter = Symbol("i")
    kinds: list[IterableKind] = []
    operands: list[Value] = []
    items: list[tuple[Type, str, frozenset[Storage]]] = []

    def add(part: Iteration, name: Any) -> Callable[[Any], Any]:
        if part is not iteration:
            part = iteration_items.forwards(lowering, node, part)
        match part:
            case Zip(inner):
                names = name.elts if isinstance(name, gast.Tuple) else []
                below = [add(p, names[i] if i < len(names) else None) for i, p in enumerate(inner)]
                return lambda values: TupleOf(tuple(take(values) for take in below))
            case Enumerated():
                return add(_numbered(lowering, node, part), name)
            case Mapped(over, function):
                item = add(over, None)
                return lambda values: function(item(values))
            case ItemsByIndex(owner, indices):
                index = add(indices, None)
                return lambda values: read_item(lowering, node, owner, index(values))
        kind, given, type_, shared = _simple(lowering, part, counter)
        kinds.append(kind)
        operands.extend(given)
        items.append((type_, name.id if isinstance(name, gast.Name) else "", shared))
        return next

    bind = add(iteration, target)
    is_reversed = isinstance(iteration, Leaf) and iteration.reversed
    return Columns(
        tuple(kinds), tuple(operands), tuple(items), bind, iteration, counter, is_reversed
    )


def _numbered(lowering: Lowering, node: Any, part: Enumerated) -> Zip:
    """`enumerate(xs, start)` as a zip with a range, at least as long as xs."""
    start, count = part.start, _count(lowering, node, next(part.leaves))
    from_zero = isinstance(start, Static) and start.value == 0
    stop = count if from_zero else lowering.operate(node, operator.add, start, count)
    return Zip((Range(start, stop), part.over))


def _count(lowering: Lowering, node: Any, leaf: Iteration) -> FrontendValue:
    """How many items there are; of a range that ends before it starts, a negative number."""
    if isinstance(leaf, ItemsByIndex):
        leaf = leaf.indices
    if isinstance(leaf, Range) and leaf.step == Static(1):
        if isinstance(leaf.start, Static) and leaf.start.value == 0:
            return leaf.stop
        return lowering.operate(node, operator.sub, leaf.stop, leaf.start)
    found = iteration_items.count(lowering, leaf)
    assert found is not None  # of what has columns
    return found


def _simple(
    lowering: Lowering, part: Iteration, counter: Symbol
) -> tuple[IterableKind, list[Value], Type, frozenset[Storage]]:
    """The kind and operands of one iterable, the type of its items, and what they share."""
    if isinstance(part, Range):
        ends = [lowering.value(p) for p in part.parts]
        number = Symbol("i") if part.reversed else counter
        return "range", ends, _range_item(lowering, ends, number), frozenset()
    assert isinstance(part, ItemsOf)
    value, shared = lowering.value(part.owner), part.owner.storage.reached
    if isinstance(value.type, Sequence):
        return "sequence", [value], one_of(value.type.item), shared
    assert isinstance(value.type, Array)
    dims = value.type.dims[1:]
    lowering.builder.facts.bound(counter, value.type.dims[0] - Affine.of(counter) - 1)
    item = replace(value.type, dims=dims) if dims else Scalar(value.type.dtype, weak=False)
    return "array", [value], item, shared


def _range_item(lowering: Lowering, parts: list[Value], counter: Symbol) -> Type:
    """The type of a range's index: what follows for it from start, stop, step and the iteration."""
    start, stop, step = (part.type for part in parts)
    assert isinstance(start, Scalar) and isinstance(stop, Scalar) and isinstance(step, Scalar)
    if start.value is None or step.value is None or not step.value.known:
        return Scalar("int64", True, Affine.of(Symbol("i", None)))
    value = start.value + Affine.of(counter) * step.value.known
    if stop.value is not None:
        rest = stop.value - value if step.value.known > 0 else value - stop.value
        lowering.builder.facts.bound(counter, rest - 1)
    return Scalar("int64", True, value)
