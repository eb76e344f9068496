"""The items of an iteration, where a function is lowered: each question once, for all classes.

How many they are, the first one and the others, a slice of them, all of them one by one, and the
same items taken by index.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from gradscribe.frontend.containers import known_integers, lengths
from gradscribe.frontend.containers.subscripts import read_item
from gradscribe.frontend.kinds import ranges
from gradscribe.frontend.prelude import prelude
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.iterations import (
    ALL_NUMBERS,
    Endless,
    Enumerated,
    ItemsByIndex,
    ItemsByNext,
    ItemsOf,
    Iteration,
    KnownItems,
    Mapped,
    Range,
    Zip,
)
from gradscribe.frontend.values.values import (
    FrontendValue,
    ListRef,
    Ref,
    Static,
    TupleOf,
    known_objects,
)
from gradscribe.ir.affine import Affine
from gradscribe.ir.core import SliceOf, Value
from gradscribe.ir.known import all_known
from gradscribe.ir.types import Array, Scalar, Sequence


def length(lowering: Lowering, iteration: Iteration) -> Affine | None:
    """How many items there are, as far as it can be said in terms of lengths and integers."""
    match iteration:
        case Zip(inner):
            counts = all_known([length(lowering, one) for one in inner])
            equal = lowering.builder.facts.equal
            if counts is None or not all(equal(counts[0], count) for count in counts[1:]):
                return None
            return counts[0]
        case Range():
            start, stop, step = (lowering.value(part).type for part in iteration.parts)
            assert isinstance(start, Scalar) and isinstance(stop, Scalar)
            assert isinstance(step, Scalar)
            if start.value is None or stop.value is None or step.value != Affine.of(1):
                return None
            return stop.value - start.value
        case KnownItems(items):
            return Affine.of(len(items))
        case Enumerated(over) | Mapped(over) | ItemsByIndex(_, over):
            return length(lowering, over)
        case ItemsOf(owner):
            type_ = lowering.value(owner).type
            if isinstance(type_, Array):
                return type_.dims[0]
            return type_.length if isinstance(type_, Sequence) else None
    return None


def count(lowering: Lowering, iteration: Iteration) -> FrontendValue | None:
    """How many items there are, as a value; None of an iteration that does not count them."""
    match iteration:
        case KnownItems(items):
            return Static(len(items))
        case Range():
            return ranges.length(lowering, iteration)
        case Enumerated(over) | Mapped(over):
            return count(lowering, over)
        case ItemsOf(owner):
            return lengths.length(lowering, owner)
    return None


def has_first(lowering: Lowering, node: Any, iteration: Iteration) -> bool | Value | None:
    """Whether there is an item: True, a flag, or None if that is not easily told."""
    known = length(lowering, iteration)
    if known is not None and lowering.builder.facts.at_least(known, 1):
        return True
    match iteration:
        case Enumerated(over) | Mapped(over) | ItemsByIndex(_, over):
            return has_first(lowering, node, over)
        case Range(start, stop, Static(value=1)):
            return lowering.truth(lowering.operate(node, operator.lt, start, stop))
        case ItemsOf(owner):
            items = lengths.length(lowering, owner)
            return lowering.truth(lowering.operate(node, operator.lt, Static(0), items))
    return None


def first_and_rest(
    lowering: Lowering, node: Any, iteration: Iteration
) -> tuple[FrontendValue, Iteration]:
    """The first item, and an iteration over the others. There is at least one."""
    iteration = forwards(lowering, node, iteration)
    match iteration:
        case Zip(inner):
            divided = [first_and_rest(lowering, node, one) for one in inner]
            firsts, rests = zip(*divided, strict=True)
            return TupleOf(firsts), Zip(rests)
        case Enumerated(over, start):
            first, rest = first_and_rest(lowering, node, over)
            after = lowering.operate(node, operator.add, start, Static(1))
            return TupleOf((start, first)), Enumerated(rest, after)
        case Mapped(over, function):
            first, rest = first_and_rest(lowering, node, over)
            return function(first), Mapped(rest, function)
        case Endless(over, item):
            first, add = item(Static(0)), partial(lowering.operate, node, operator.add)
            _, rest = first_and_rest(lowering, node, over)
            return first, Endless(rest, lambda number: item(add(number, Static(1))))
        case Range():
            return iteration.start, _after_first(lowering, node, iteration)
        case KnownItems(items, owner, skipped):
            return items[0], KnownItems(items[1:], owner, skipped + 1)
        case ItemsByIndex(owner, indices, to_end):
            rest = _after_first(lowering, node, indices)
            first = read_item(lowering, node, owner, indices.start)
            if to_end:
                rest = Range(rest.start, lengths.length(lowering, owner))
            return first, replace(iteration, indices=rest)
        case ItemsByNext(owner):
            return lowering.call(node, Static(next), (owner,), {}), iteration
        case ItemsOf(owner):
            first = read_item(lowering, node, owner, Static(0))
            if isinstance(owner, ListRef):
                return first, _items_from(lowering, Static(1), owner)
            return first, ItemsOf(_part(lowering, node, owner, slice(Static(1), None, None)))
    raise AssertionError(f"{iteration} has no first item")


def _after_first(lowering: Lowering, node: Any, numbers: Range) -> Range:
    start, stop, step = numbers.parts
    return Range(lowering.operate(node, operator.add, start, step), stop, step)


def _part(lowering: Lowering, node: Any, owner: Ref | ListRef, part: slice) -> Any:
    """A slice of an array or list, which is one, too."""
    return read_item(lowering, node, owner, part)


def _items_from(lowering: Lowering, start: FrontendValue, owner: ListRef) -> ItemsByIndex:
    """The items of a list from a place on: those that it has when they are taken."""
    return ItemsByIndex(owner, Range(start, lengths.length(lowering, owner)), to_end=True)


def by_index(
    lowering: Lowering, node: Any, iteration: Iteration, nested: bool = False
) -> Iteration:
    """The same iteration, with the rows of arrays, and items of lists, taken by index."""
    if nested:
        iteration = forwards(lowering, node, iteration)
    if not isinstance(iteration, ItemsOf):
        inner = [by_index(lowering, node, one, nested=True) for one in iteration.inner]
        return iteration.with_inner(inner)
    owner = iteration.owner
    sliced = owner.storage.part_of if isinstance(owner, ListRef) else None
    if sliced is not None and sliced[1].step in (None, 1) and not iteration.reversed:
        lowering.loops.iterated.remove(owner)
        return _slice_by_index(lowering, node, *sliced)
    indices = Range(Static(0), lengths.length(lowering, owner))
    return ItemsByIndex(owner, indices, reversed=iteration.reversed)


def _slice_by_index(lowering: Lowering, node: Any, owner: ListRef, index: SliceOf) -> ItemsByIndex:
    """The items of a slice of a list as the items of that list which they are."""
    parts = [p if isinstance(p, Value) else Static(p) for p in (index.start, index.stop)]
    items = lengths.length(lowering, owner)
    bounds = lowering.inline(node, prelude.bounds_of_slice, (*parts, items))
    start, stop = lowering.unpacked(node, bounds)
    lowering.loops.sliced.append(owner.storage)
    return ItemsByIndex(owner, Range(start, stop))


def forwards(lowering: Lowering, node: Any, iteration: Iteration) -> Iteration:
    """The same items of what is run through backwards as those of what is not."""
    match iteration:
        case Range(reversed=True):
            return ranges.backwards(lowering, iteration)
        case KnownItems(items, reversed=True):
            return KnownItems(iteration.in_order(items))
        case ItemsByIndex(owner, indices, reversed=True):
            return ItemsByIndex(owner, ranges.backwards(lowering, indices))
        case ItemsOf(owner, reversed=True):
            return ItemsOf(_part(lowering, node, owner, slice(None, None, Static(-1))))
    return iteration


def slice_of(
    iteration: Iteration, start: FrontendValue, stop: FrontendValue | None, step: FrontendValue
) -> Iteration | None:
    """The items from `start` to before `stop`, each `step`th, without making the others; None where
    that cannot be said of an iteration. stop: None for all."""
    match iteration:
        case Endless(_, item) if stop is not None:
            return Mapped(Range(start, stop, step), item)
        case Range() if stop is not None:
            asked, numbers = Range(start, stop, step), iteration.known
            bounds = known_objects(asked.parts)
            if numbers is not None and bounds is not None:
                return Range.of(numbers[slice(*bounds)])
            return asked if iteration.parts == ALL_NUMBERS.parts else None
        case Enumerated() if start != Static(0) or step != Static(1):
            return None
        case Enumerated(over) | Mapped(over):
            inner = slice_of(over, start, stop, step)
            return inner and iteration.with_inner((inner,))
    return None


def unrolled(lowering: Lowering, node: Any, iteration: Iteration) -> tuple[Any, ...]:
    """The items one by one."""
    plain, made = without_maps(iteration)
    return tuple(map(made, _plain_items(lowering, node, plain)))


def without_maps(iteration: Iteration) -> tuple[Iteration, Callable[[Any], Any]]:
    """What an iteration runs over, and what it makes of an item, when that is taken."""
    match iteration:
        case Mapped(over, function):
            plain, below = without_maps(over)
            return plain, lambda item: function(below(item))
        case Enumerated(over):
            plain, below = without_maps(over)
            return iteration.with_inner((plain,)), lambda pair: TupleOf(
                (pair.items[0], below(pair.items[1]))
            )
        case Zip(inner):
            columns = [without_maps(one) for one in inner]

            def made(row: TupleOf) -> TupleOf:
                return TupleOf(tuple(m(i) for (_, m), i in zip(columns, row.items, strict=True)))

            return Zip(tuple(plain for plain, _ in columns)), made
    return iteration, lambda item: item


def _plain_items(lowering: Lowering, node: Any, iteration: Iteration) -> tuple[Any, ...]:
    match iteration:
        case Zip(inner):
            columns = [unrolled(lowering, node, one) for one in inner]
            return tuple(map(TupleOf, zip(*columns, strict=False)))
        case Enumerated(over, start):
            number = known_integers.static_integer(lowering, node, start)
            items = unrolled(lowering, node, over)
            return tuple(TupleOf((Static(number + i), item)) for i, item in enumerate(items))
        case KnownItems(items, owner, skipped):
            if owner is not None:
                items = lowering.unpacked(node, owner)[skipped:]
            return iteration.in_order(items)
        case Range():
            ends = (known_integers.static_integer(lowering, node, p) for p in iteration.parts)
            return iteration.in_order(tuple(map(Static, range(*ends))))
        case ItemsByIndex(owner, indices):
            places = iteration.in_order(unrolled(lowering, node, indices))
            return tuple(read_item(lowering, node, owner, place) for place in places)
        case ItemsOf(owner):
            return iteration.in_order(lowering.unpacked(node, owner))
    return lowering.unsupported(
        node, "the number of items is not known", "make a list of them first, or loop with `for`"
    )
