"""What a loop runs over: the iterations that values and built-in functions stand for."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast

from gradscribe.frontend.containers import known_integers, lengths, run_time_sets, subscripts
from gradscribe.frontend.joins.splitting import resolved
from gradscribe.frontend.kinds.raised import as_python, make_iterator
from gradscribe.frontend.memory import iterators, outside
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.prelude import iteration_prelude as prelude
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import class_attributes, instances, protocols
from gradscribe.frontend.syntax.source import source_of
from gradscribe.frontend.values import texts
from gradscribe.frontend.values.values import (
    BoundMethod,
    DictRef,
    Iteration,
    ListRef,
    OneShot,
    Ref,
    Static,
    TupleOf,
    ViewOf,
    is_number,
)
from gradscribe.ir.core import Value
from gradscribe.ir.types import Array, Opaque, Sequence
from gradscribe.primitives.control import RUN


@as_python(iter)
def over(lowering: Lowering, node: Any, item: Any) -> Iteration:
    """What a `for` over this value runs over."""
    item = outside.opened(lowering, iterators.taken(lowering, node, resolved(lowering, item)))
    if isinstance(item, Iteration):
        return item
    if instances.is_object(item):
        return _object_iteration(lowering, node, item)
    if isinstance(item, Ref):
        type_ = lowering.load(item).type
        if isinstance(type_, Array) and type_.rank:
            return Iteration("array", (item,))
    if isinstance(item, Value) and texts.is_text(item):
        item = unknown.emit(lowering, list, (item,), {}, Sequence(texts.TEXT), RUN)
    if isinstance(item, ListRef) and isinstance(lowering.contents[item.storage], Value):
        return Iteration("sequence", (item,))
    if run_time_sets.is_set(item):
        items = run_time_sets.listed(lowering, item)
        if items is not None:
            return Iteration("sequence", (items,))
    if isinstance(item, Static) and isinstance(item.value, range):
        r = item.value
        return Iteration("range", (Static(r.start), Static(r.stop), Static(r.step)))
    if isinstance(item, (TupleOf, ListRef, DictRef, Static)):
        owner = item if isinstance(item, (ListRef, DictRef, ViewOf)) else None
        return Iteration("static", lowering.unpacked(node, item), owner=owner)
    raise_for_number(lowering, node, item)
    if unknown.is_opaque(item) and not run_time_sets.is_set(item):
        unknown.refuse(lowering, node)
    return lowering.unsupported(
        node,
        "this value cannot be iterated over",
        "loop over a range, an array, a list, a tuple or a dict",
    )


def started(lowering: Lowering, node: Any, item: Any) -> OneShot:
    """`iter(item)`: an iterator over the items, which are made when they are taken."""
    unknown.asked(lowering, iter, (item,), Opaque())
    make_iterator(lowering, node, iter, (item,), {})
    return iterators.made(lowering, lambda taker: over(lowering, taker, item), (item,))


def raise_for_number(lowering: Lowering, node: Any, item: Any) -> None:
    """Raise what Python raises for the items of a number, or of an array without axes."""
    if is_number(item):
        lowering.raises(
            node,
            TypeError("a number is not iterable"),
            "this value cannot be iterated over",
            "loop over a range, an array, a list, a tuple or a dict",
        )
    if isinstance(item, Ref) and getattr(lowering.load(item).type, "rank", None) == 0:
        lowering.raises(node, TypeError("iteration over a 0-d array"))


def _object_iteration(lowering: Lowering, node: Any, item: Any) -> Iteration:
    """An iteration over an object of a user's class."""
    found = iter_of(lowering, node, item)
    following = class_attributes.method(lowering, found, "__next__")
    if following is not None:
        _check_end(lowering, node, following)
        found = lowering.inline(node, prelude.taken, (found,))
    return _counted(lowering, node, item) if found is item else over(lowering, node, found)


def _check_end(lowering: Lowering, node: Any, following: BoundMethod) -> None:
    """Refuse to take all items of an iterator that never says that there are no more."""
    function = following.function
    parts = gast.walk(source_of(function.__code__).node)
    if not any(isinstance(p, gast.Raise) or _asks_for_next(p) for p in parts):
        lowering.unsupported(
            node,
            f"the iterator `{function.__qualname__.split('.')[-2]}` has no end",
            "loop over it alone, and leave the loop by `break`",
        )


def _asks_for_next(node: Any) -> bool:
    """Whether this calls `next`, or `__next__`, of another iterator."""
    called = node.func if isinstance(node, gast.Call) else None
    return getattr(called, "id", getattr(called, "attr", "")) in ("next", "__next__")


def _counted(lowering: Lowering, node: Any, item: Any) -> Iteration:
    """The items that an object gives by number."""
    count = protocols.call(lowering, node, item, "__len__")
    if class_attributes.method(lowering, item, "__getitem__") is None or count is None:
        lowering.unsupported(
            node,
            "this object cannot be iterated over",
            "give its class `__iter__`, or `__len__` and `__getitem__`",
            python=TypeError,
        )
    return Iteration("items", (range_of(lowering, node, (count,), {}), item))


def iter_of(lowering: Lowering, node: Any, item: Any) -> Any:
    """What `iter` gives of an object: itself, if its class has no `__iter__`."""
    found = protocols.call(lowering, node, item, "__iter__")
    return item if found is None else found


def unrolled(lowering: Lowering, node: Any, item: Iteration) -> tuple[Any, ...]:
    """The items of an iteration over structures, row by row."""
    plain, mapped = without_maps(item)
    return tuple(map(mapped, _plain_items(lowering, node, plain)))


def without_maps(item: Iteration) -> tuple[Iteration, Callable[[Any], Any]]:
    """What an iteration runs over, and what it makes of an item, when that is taken."""
    if item.kind == "map":
        plain, below = without_maps(item.parts[0])
        return plain, lambda given: item.parts[1](below(given))
    if item.kind == "enumerate":
        plain, below = without_maps(item.parts[0])
        numbered = replace(item, parts=(plain, item.parts[1]))
        return numbered, lambda row: TupleOf((row.items[0], below(row.items[1])))
    if item.kind == "zip":
        columns = [without_maps(part) for part in item.parts]

        def made(row: TupleOf) -> TupleOf:
            return TupleOf(tuple(m(i) for (_, m), i in zip(columns, row.items, strict=True)))

        return replace(item, parts=tuple(plain for plain, _ in columns)), made
    return item, lambda given: given


def _plain_items(lowering: Lowering, node: Any, item: Iteration) -> tuple[Any, ...]:
    if item.kind == "zip":
        columns = [unrolled(lowering, node, part) for part in item.parts]
        rows = tuple(TupleOf(tuple(row)) for row in zip(*columns, strict=False))
        return rows[::-1] if item.reversed else rows
    if item.kind == "enumerate":
        start = known_integers.static_integer(lowering, node, item.parts[1])
        rows = unrolled(lowering, node, item.parts[0])
        return tuple(TupleOf((Static(start + i), row)) for i, row in enumerate(rows))
    if item.kind == "static":
        items = item.parts
        if item.owner is not None:
            items = lowering.unpacked(node, item.owner)[item.skipped :]
        return items[::-1] if item.reversed else items
    if item.kind == "range":
        ends = (known_integers.static_integer(lowering, node, part) for part in item.parts)
        values = tuple(map(Static, range(*ends)))
        return values[::-1] if item.reversed else values
    if item.kind == "items":
        indices = unrolled(lowering, node, item.parts[0])
        return tuple(subscripts.read_item(lowering, node, item.parts[1], i) for i in indices)
    if item.kind in ("array", "sequence"):
        rows = lowering.unpacked(node, item.parts[0])
        return rows[::-1] if item.reversed else rows
    return lowering.unsupported(
        node, "the number of items is not known", "make a list of them first, or loop with `for`"
    )


def range_of(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    parts = [known_integers.integer(lowering, node, part) for part in arguments]
    if len(parts) == 1:
        parts = [Static(0), parts[0]]
    if len(parts) == 2:
        parts.append(Static(1))
    if isinstance(parts[2], Static) and parts[2].value == 0:
        lowering.raises(node, ValueError("range() arg 3 must not be zero"))
    return Iteration("range", tuple(parts))


def zip_of(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    parts = tuple(over(lowering, node, item) for item in arguments)
    if _is_strict(lowering, keywords) and parts:
        first, *others = (_count(lowering, node, part) for part in parts)
        for position, other in enumerate(others, 2):
            _compare_counts(lowering, node, first, other, position)
    return zipped(lowering, node, parts)


def _is_strict(lowering: Lowering, keywords: Any) -> bool:
    """Whether `zip` is told to. (Functions of the prelude zip what is as long as each other.)"""
    is_prelude = bool(lowering.frames) and lowering.frame.source.whole
    return not is_prelude and keywords.get("strict", Static(False)) != Static(False)


def _count(lowering: Lowering, node: Any, part: Iteration) -> Any:
    """How many items there are."""
    if part.kind == "static":
        return Static(len(part.parts))
    if part.kind in ("map", "enumerate"):
        return _count(lowering, node, part.parts[0])
    if part.kind not in ("array", "sequence", "range"):
        lowering.unsupported(
            node,
            "`strict=True` for an iterator whose items are not counted",
            "make a list of it first, as in `zip(list(a), b, strict=True)`",
        )
    return lengths.length(lowering, part if part.kind == "range" else part.parts[0])


def _compare_counts(lowering: Lowering, node: Any, first: Any, other: Any, position: int) -> None:
    """Raise what `zip(…, strict=True)` raises for what is not as long as the first."""
    what = f"zip() argument {position} is shorter or longer than argument 1"
    one, two = (getattr(lowering.value(item).type, "value", None) for item in (first, other))
    equal = None if one is None or two is None else lowering.builder.facts.equal(one, two)
    if isinstance(first, Static) and isinstance(other, Static):
        equal = first == other
    if equal is False:
        lowering.raises(node, ValueError(what))
    if equal is None:
        lengths.raise_where(lowering, node, operator.ne, (first, other), what)


def zipped(lowering: Lowering, node: Any, parts: tuple[Iteration, ...]) -> Iteration:
    """Several iterations side by side; those without end have as many items as the others."""
    if not parts:
        return Iteration("static", ())
    if not any(part.kind == "endless" for part in parts):
        return Iteration("zip", parts)
    finite = [part for part in parts if part.kind != "endless"]
    if not finite:
        return Iteration("endless", _rows_of_endless(parts))

    def row(pair: Any) -> TupleOf:
        number, items = pair.items
        given = iter(items.items)
        return TupleOf(
            tuple(
                part.parts[0](number) if part.kind == "endless" else next(given) for part in parts
            )
        )

    counted = Iteration("enumerate", (Iteration("zip", tuple(finite)), Static(0)))
    return Iteration("map", (counted, row))


def _rows_of_endless(parts: tuple[Iteration, ...]) -> tuple[Any, Iteration]:
    """What gives the row of a number, where no column ends, and what a `for` runs over."""

    def row(number: Any) -> TupleOf:
        return TupleOf(tuple(part.parts[0](number) for part in parts))

    return row, Iteration("map", (Iteration("range", _EVERY), row))


_EVERY = (Static(0), Static(sys.maxsize), Static(1))
"""The range of all numbers."""


def is_endless(iteration: Iteration) -> bool:
    """Whether an iteration never comes to an end (after more trips than a machine makes)."""
    if iteration.kind == "endless":
        return True
    if iteration.kind == "range":
        return bool(iteration.parts[1] == Static(sys.maxsize))
    if iteration.kind in ("map", "enumerate"):
        return is_endless(iteration.parts[0])
    return iteration.kind == "zip" and all(map(is_endless, iteration.parts))


def part_of(
    lowering: Lowering, node: Any, iteration: Iteration, part: tuple[Any, Any, Any]
) -> Iteration | None:
    """The items of an iteration from `start` to before `stop`, each `step`th, without making the
    others; None where that cannot be said of its kind. stop: None for all."""
    start, stop, step = part
    inner: Iteration | None
    if iteration.kind == "endless" and stop is not None:
        return Iteration("map", (Iteration("range", part), iteration.parts[0]))
    if iteration.kind == "range" and all(isinstance(p, Static) for p in (*iteration.parts, *part)):
        stops = range(*(p.value for p in iteration.parts))
        if iteration.reversed:
            stops = stops[::-1]
        chosen = stops[slice(*(None if p is None else p.value for p in part))]
        return Iteration("range", tuple(map(Static, (chosen.start, chosen.stop, chosen.step))))
    if iteration.parts == _EVERY and stop is not None:
        return Iteration("range", part)
    if iteration.kind == "map" and not iteration.reversed:
        inner = part_of(lowering, node, iteration.parts[0], part)
        return None if inner is None else Iteration("map", (inner, iteration.parts[1]))
    if iteration.kind == "enumerate" and not iteration.reversed:
        if start != Static(0) or step != Static(1):
            return None
        inner = part_of(lowering, node, iteration.parts[0], part)
        return None if inner is None else Iteration("enumerate", (inner, iteration.parts[1]))
    return None


def enumerate_of(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    start = arguments[1] if len(arguments) > 1 else keywords.get("start", Static(0))
    counted = over(lowering, node, arguments[0])
    return Iteration(
        "enumerate", (counted.parts[1] if counted.kind == "endless" else counted, start)
    )


def reversed_of(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """An iterator over the items from the last to the first; of an iterator there is none."""
    (item,) = arguments
    if isinstance(item, OneShot):
        lowering.raises(
            node,
            TypeError("an iterator is not reversible"),
            "`reversed` of an iterator",
            "make a list of it first: `reversed(list(zip(a, b)))`",
        )
    return iterators.made(lowering, lambda taker: _backwards(lowering, taker, item), arguments)


def _backwards(lowering: Lowering, node: Any, item: Any) -> Iteration:
    item = outside.opened(lowering, item)
    found = protocols.call(lowering, node, item, "__reversed__")
    if found is not None:
        return over(lowering, node, found)
    is_object = instances.is_object(item)
    inner = _counted(lowering, node, item) if is_object else over(lowering, node, item)
    return Iteration(inner.kind, inner.parts, not inner.reversed, inner.owner)
