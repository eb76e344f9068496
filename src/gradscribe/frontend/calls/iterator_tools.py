"""Functions of `itertools` that take part of their items, group them, or never end.

What never ends has items by number; `zip` and `for` take as many of them as they need.
"""

from __future__ import annotations

import itertools
import operator
import sys
from typing import Any

from gradscribe.frontend.containers import iteration as iterations
from gradscribe.frontend.containers import lengths
from gradscribe.frontend.containers.subscripts import read_item
from gradscribe.frontend.memory import at_once, iterators
from gradscribe.frontend.memory.iterators import iterator, made
from gradscribe.frontend.prelude import itertools_prelude as prelude
from gradscribe.frontend.state import handlers
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.iterations import Endless, Mapped, Range
from gradscribe.frontend.values.values import OneShot, Static, TupleOf
from gradscribe.ir.types import Tuple


def _written_as(function: Any) -> handlers.Handler:
    """Of a function written in Python, the one that makes an iterator over what it gives."""
    return iterator(
        lambda lowering, node, arguments, keywords: lowering.inline(
            node, function, arguments, keywords
        )
    )


def _zip_longest(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    if len(arguments) != 2:
        lowering.unsupported(node, "`zip_longest` of so many iterables", "zip two at a time")
    lists = [lowering.listed(node, (item,), {}) for item in arguments]
    fill = keywords.get("fillvalue", Static(None))
    return lowering.inline(node, prelude.zipped_longest, (*lists, fill))


def columns(lowering: Lowering, node: Any, rows: Any) -> Any:
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


def _groupby(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    given = (*arguments, *keywords.values(), Static(None))[:2]
    rows = iterations.over(lowering, node, lowering.inline(node, prelude.grouped, given))
    former: list[OneShot] = []

    def row(pair: TupleOf) -> TupleOf:
        key, items = pair.items
        for group in former:  # it is empty as soon as the next one is asked for
            iterators.end(lowering, group)
        former[:] = [made(lowering, lambda taker: items, (items,))]
        return TupleOf((key, former[0]))

    return Mapped(rows, row)


def _tee(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    source, *count = arguments
    depth = len(lowering.generators.early)
    at_once.note(lowering, "`tee`", (source,))
    items = lowering.listed(node, (source,), {})
    taken = at_once.since(lowering, depth)
    at_once.refuse_effects(lowering, node, taken)

    def copied(taker: Any) -> Any:
        at_once.check_unchanged(lowering, taker, taken, "since it was made, the program changes")
        lowering.generators.early += taken
        return items

    number = count[0].value if count and isinstance(count[0], Static) else 2
    return TupleOf(tuple(made(lowering, copied, (items, source)) for _ in range(number)))


def _count(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    names = dict(zip(("start", "step"), arguments, strict=False)) | keywords
    start, step = names.get("start", Static(0)), names.get("step", Static(1))
    over = Range(start, Static(sys.maxsize), step)

    def item(number: Any) -> Any:
        change = lowering.operate(node, operator.mul, number, step)
        return lowering.operate(node, operator.add, start, change)

    return Endless(over, item)


def _cycle(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    items = lowering.listed(node, arguments, {})
    length = lengths.length(lowering, items)

    def item(number: Any) -> Any:
        place = lowering.operate(node, operator.mod, number, length)
        return read_item(lowering, node, items, place)

    return Endless.of(item)


def _repeat(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    given = [*arguments, *keywords.values()]
    if len(given) == 2:
        one = lowering.listed(node, (TupleOf((given[0],)),), {})
        return lowering.operate(node, operator.mul, one, given[1])

    return Endless.of(lambda number: given[0])


handlers.FUNCTIONS.update(
    {
        itertools.takewhile: _written_as(prelude.taken_while),
        itertools.dropwhile: _written_as(prelude.dropped_while),
        itertools.filterfalse: _written_as(prelude.filtered_out),
        itertools.compress: _written_as(prelude.compressed),
        itertools.zip_longest: iterator(_zip_longest),
        itertools.groupby: iterator(_groupby),
        itertools.tee: _tee,
        itertools.count: iterator(_count),
        itertools.cycle: iterator(_cycle),
        itertools.repeat: iterator(_repeat),
    }
)
