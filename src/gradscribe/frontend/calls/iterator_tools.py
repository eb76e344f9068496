"""Functions of `itertools` that take part of their items, group them, or never end.

What never ends has items by number; `zip` and `for` take as many of them as they need.
"""

from __future__ import annotations

import itertools
import operator
import sys
from typing import Any

from gradscribe.frontend.containers import in_turns, known_integers, lengths
from gradscribe.frontend.containers import iteration as iterations
from gradscribe.frontend.containers.subscripts import read_item
from gradscribe.frontend.memory import at_once, iterators
from gradscribe.frontend.memory.iterators import iterator, made
from gradscribe.frontend.prelude import itertools_prelude as prelude
from gradscribe.frontend.state.handlers import enter, handles, written_as
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.iterations import Endless, Mapped, Range
from gradscribe.frontend.values.values import FrontendValue, OneShot, Static, TupleOf
from gradscribe.ir.types import Tuple


@handles(itertools.zip_longest)
@iterator
def _zip_longest(
    lowering: Lowering,
    node: Any,
    /,
    *iterables: FrontendValue,
    fillvalue: FrontendValue = Static(None),
) -> FrontendValue:
    if len(iterables) != 2:
        lowering.unsupported(node, "`zip_longest` of so many iterables", "zip two at a time")
    parts = [iterations.over(lowering, node, item) for item in iterables]
    if any(map(iterations.is_by_next, parts)) and all(part.computes for part in parts):
        in_turns.refuse(lowering, node)
    lists = [lowering.listed(node, part) for part in parts]
    return lowering.inline(node, prelude.zipped_longest, (*lists, fillvalue))


def columns(lowering: Lowering, node: Any, rows: Any) -> FrontendValue | None:
    """`zip(*rows)` of a list of tuples whose length only the run tells: an iterator over lists, in
    the place of tuples of that length. None for other values."""
    if not lengths.has_run_time_length(lowering, rows):
        return None
    item = getattr(lowering.value(rows).type, "item", None)
    if not isinstance(item, Tuple):
        return None
    what = "zip(*rows) of no rows has no columns"
    lengths.raise_for_length(lowering, node, rows, operator.eq, 0, what)
    numbers = map(Static, range(len(item.items)))
    found = tuple(lowering.inline(node, prelude.column, (rows, n)) for n in numbers)
    return made(lowering, lambda taker: TupleOf(found), (rows,))


@handles(itertools.groupby)
@iterator
def _groupby(
    lowering: Lowering,
    node: Any,
    /,
    iterable: FrontendValue,
    key: FrontendValue = Static(None),
) -> Mapped:
    grouped = lowering.inline(node, prelude.grouped, (iterable, key))
    rows = iterations.over(lowering, node, grouped)
    former: list[OneShot] = []

    def row(pair: TupleOf) -> TupleOf:
        key, items = pair.items
        for group in former:  # it is empty as soon as the next one is asked for
            iterators.end(lowering, group)
        former[:] = [made(lowering, lambda taker: items, (items,))]
        return TupleOf((key, former[0]))

    return Mapped(rows, row)


@handles(itertools.tee)
def _tee(
    lowering: Lowering, node: Any, source: FrontendValue, n: FrontendValue = Static(2), /
) -> TupleOf:
    depth = len(lowering.generators.early)
    at_once.note(lowering, "`tee`", (source,))
    items = lowering.listed(node, source)
    taken = at_once.since(lowering, depth)
    at_once.refuse_effects(lowering, node, taken)

    def copied(taker: FrontendValue) -> FrontendValue:
        at_once.check_unchanged(lowering, taker, taken, "since it was made, the program changes")
        lowering.generators.early += taken
        return items

    number = known_integers.static_integer(lowering, node, n)
    if number < 0:
        lowering.raises(node, ValueError("n must be >= 0"))
    return TupleOf(tuple(made(lowering, copied, (items, source)) for _ in range(number)))


@handles(itertools.count)
@iterator
def _count(
    lowering: Lowering,
    node: Any,
    /,
    start: FrontendValue = Static(0),
    step: FrontendValue = Static(1),
) -> Endless:
    over = Range(start, Static(sys.maxsize), step)

    def item(number: Any) -> FrontendValue:
        change = lowering.operate(node, operator.mul, number, step)
        return lowering.operate(node, operator.add, start, change)

    return Endless(over, item)


@handles(itertools.cycle)
@iterator
def _cycle(lowering: Lowering, node: Any, iterable: FrontendValue, /) -> Endless:
    items = lowering.listed(node, iterable)
    length = lengths.length(lowering, items)

    def item(number: Any) -> FrontendValue:
        place = lowering.operate(node, operator.mod, number, length)
        return read_item(lowering, node, items, place)

    return Endless.of(item)


@handles(itertools.repeat)
@iterator
def _repeat(
    lowering: Lowering, node: Any, /, object: FrontendValue, times: FrontendValue | None = None
) -> FrontendValue:
    if times is None:
        return Endless.of(lambda number: object)
    one = lowering.listed(node, TupleOf((object,)))
    return lowering.operate(node, operator.mul, one, times)


enter(
    {
        itertools.takewhile: iterator(written_as(prelude.taken_while)),
        itertools.dropwhile: iterator(written_as(prelude.dropped_while)),
        itertools.filterfalse: iterator(written_as(prelude.filtered_out)),
        itertools.compress: iterator(written_as(prelude.compressed)),
    }
)
