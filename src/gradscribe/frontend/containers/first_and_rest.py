"""Iterations made anew: the first item apart from the rest, rows of arrays taken by index."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from typing import Any

from gradscribe.frontend.containers import lengths
from gradscribe.frontend.containers.subscripts import read_item
from gradscribe.frontend.prelude import prelude
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FlatRef, Iteration, ListRef, Ref, Static, TupleOf
from gradscribe.ir.affine import Affine
from gradscribe.ir.core import SliceOf, Value
from gradscribe.ir.known import all_known
from gradscribe.ir.types import Array, Scalar, Sequence


def trips(lowering: Lowering, iteration: Iteration) -> Affine | None:
    """The number of trips, as far as it can be said in terms of lengths and integers."""
    if iteration.kind in ("zip", "enumerate"):
        parts = iteration.parts if iteration.kind == "zip" else iteration.parts[:1]
        counts = all_known([trips(lowering, part) for part in parts])
        facts = lowering.builder.facts
        if counts is None or not all(facts.equal(counts[0], c) for c in counts[1:]):
            return None
        return counts[0]
    if iteration.kind == "range":
        start, stop, step = (lowering.value(part).type for part in iteration.parts)
        assert isinstance(start, Scalar) and isinstance(stop, Scalar) and isinstance(step, Scalar)
        if start.value is None or stop.value is None or step.value != Affine.of(1):
            return None
        return stop.value - start.value
    if iteration.kind == "static":
        return Affine.of(len(iteration.parts))
    if iteration.kind == "endless":
        return None
    if iteration.kind in ("items", "map"):
        return trips(lowering, iteration.parts[0])
    type_ = lowering.value(iteration.parts[0]).type
    if isinstance(type_, Array):
        return type_.dims[0]
    return type_.length if isinstance(type_, Sequence) else None


def has_trips(lowering: Lowering, node: Any, iteration: Iteration) -> Any:
    """Whether there is a first trip: True, a flag, or None if that is not easily told."""
    count = trips(lowering, iteration)
    if count is not None and lowering.builder.facts.at_least(count, 1):
        return True
    if iteration.kind in ("enumerate", "items", "map"):
        return has_trips(lowering, node, iteration.parts[0])
    if iteration.kind == "range":
        start, stop, step = iteration.parts
        is_simple = isinstance(step, Static) and step.value == 1
        return lowering.operate(node, operator.lt, start, stop) if is_simple else None
    if iteration.kind in ("array", "sequence"):
        count = lengths.length(lowering, iteration.parts[0])
        return lowering.operate(node, operator.lt, Static(0), count)
    return None


def divide(lowering: Lowering, node: Any, iteration: Iteration) -> tuple[Any, Iteration]:
    """The first item, and an iteration over the others. There is at least one."""
    if iteration.kind == "zip":
        divided = [divide(lowering, node, part) for part in iteration.parts]
        firsts, rests = zip(*divided, strict=True)
        return TupleOf(firsts), Iteration("zip", rests)
    if iteration.kind == "enumerate":
        first, rest = divide(lowering, node, iteration.parts[0])
        start = iteration.parts[1]
        after = lowering.operate(node, operator.add, start, Static(1))
        return TupleOf((start, first)), Iteration("enumerate", (rest, after))
    if iteration.kind == "range":
        start, stop, step = iteration.parts
        after = lowering.operate(node, operator.add, start, step)
        return start, Iteration("range", (after, stop, step))
    if iteration.kind == "map":
        first, rest = divide(lowering, node, iteration.parts[0])
        return iteration.parts[1](first), Iteration("map", (rest, iteration.parts[1]))
    if iteration.kind == "endless":
        item, over = iteration.parts

        def later(number: Any) -> Any:
            return item(lowering.operate(node, operator.add, number, Static(1)))

        return item(Static(0)), Iteration("endless", (later, divide(lowering, node, over)[1]))
    if iteration.kind == "items":
        place, rest = divide(lowering, node, iteration.parts[0])
        owner = iteration.parts[1]
        item = read_item(lowering, node, owner, place)
        if iteration.renew is not None:
            return item, _items_from(lowering, rest.parts[0], owner)
        return item, Iteration("items", (rest, owner))
    if iteration.kind == "static":
        return iteration.parts[0], _known_items_from(lowering, node, iteration)
    owner = iteration.parts[0]
    first = read_item(lowering, node, owner, Static(0))
    if iteration.kind == "array" and not isinstance(owner, FlatRef):
        return first, Iteration(
            "array", (read_item(lowering, node, owner, slice(Static(1), None, None)),)
        )
    return first, _items_from(lowering, Static(1), owner)


def _items_from(lowering: Lowering, start: Any, owner: Ref | ListRef) -> Iteration:
    """The items of a list from a place on: those that it has when they are taken."""
    places = Iteration("range", (start, lengths.length(lowering, owner), Static(1)))
    renew = functools.partial(_items_from, lowering, start, owner)
    return Iteration("items", (places, owner), renew=renew)


def _known_items_from(lowering: Lowering, node: Any, former: Iteration) -> Iteration:
    """The same of known items after the first: of a list or dict, what that holds then."""
    skipped, owner = former.skipped + 1, former.owner
    if owner is None:
        return Iteration("static", former.parts[1:])

    def renew() -> Iteration:
        items = lowering.unpacked(node, owner)
        if not isinstance(owner, ListRef) and len(items) != former.skipped + len(former.parts):
            lowering.raises(node, RuntimeError("dictionary changed size during iteration"))
        return Iteration("static", items[skipped:], owner=owner, skipped=skipped, renew=renew)

    return renew()


def arrays(iteration: Iteration) -> Iterator[Ref | ListRef]:
    """The arrays over whose rows, and the lists over whose items, an iteration runs."""
    if iteration.kind in ("array", "sequence"):
        yield iteration.parts[0]
    for part in iteration.parts:
        if isinstance(part, Iteration) and iteration.kind != "items":
            yield from arrays(part)


def _slice_by_index(lowering: Lowering, node: Any, owner: ListRef, index: SliceOf) -> Iteration:
    """The items of a slice of a list as the items of that list which they are."""
    parts = [p if isinstance(p, Value) else Static(p) for p in (index.start, index.stop)]
    count = lengths.length(lowering, owner)
    start, stop = lowering.inline(node, prelude.bounds_of_slice, (*parts, count)).items
    lowering.loops.sliced.append(owner.storage)
    return Iteration("items", (Iteration("range", (start, stop, Static(1))), owner))


def by_index(
    lowering: Lowering, node: Any, iteration: Iteration, nested: bool = False
) -> Iteration:
    """The same iteration, with the rows of arrays, and items of lists, taken by index."""
    if iteration.kind in ("zip", "enumerate", "map"):
        parts = tuple(
            by_index(lowering, node, part, True) if isinstance(part, Iteration) else part
            for part in iteration.parts
        )
        return Iteration(iteration.kind, parts, iteration.reversed)
    if iteration.kind not in ("array", "sequence"):
        return iteration
    owner, is_reversed = iteration.parts[0], iteration.reversed
    sliced = owner.storage.part_of if isinstance(owner, ListRef) else None
    if sliced is not None and sliced[1].step in (None, 1) and not is_reversed:
        lowering.loops.iterated.remove(owner)
        return _slice_by_index(lowering, node, *sliced)
    if is_reversed and nested:
        owner = read_item(lowering, node, owner, slice(None, None, Static(-1)))
        is_reversed = False
    rows = Iteration("range", (Static(0), lengths.length(lowering, owner), Static(1)))
    return Iteration("items", (rows, owner), is_reversed)
