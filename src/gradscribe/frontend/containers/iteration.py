"""What a loop runs over: the iterations that values and built-in functions stand for."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn

import gast

from gradscribe.frontend.containers import (
    in_turns,
    iteration_items,
    known_integers,
    lengths,
    numbered_items,
    run_time_sets,
)
from gradscribe.frontend.kinds import presence
from gradscribe.frontend.kinds.raised import as_python, make_iterator
from gradscribe.frontend.kinds.static_values import stands_for
from gradscribe.frontend.memory import at_once, iterators, outside
from gradscribe.frontend.memory.sequences import made_list
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.prelude import iteration_prelude as prelude
from gradscribe.frontend.state.flow import resolved
from gradscribe.frontend.state.handlers import handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import class_attributes, instances, protocols
from gradscribe.frontend.syntax.source import source_of
from gradscribe.frontend.values import texts
from gradscribe.frontend.values.iterations import (
    Endless,
    Enumerated,
    ItemsByIndex,
    ItemsByNext,
    ItemsOf,
    Iteration,
    KnownItems,
    Leaf,
    Mapped,
    Range,
    Zip,
)
from gradscribe.frontend.values.values import (
    BoundMethod,
    DictRef,
    FrontendValue,
    ListRef,
    OneShot,
    Ref,
    Static,
    TupleOf,
    ViewOf,
    is_number,
)
from gradscribe.ir.core import Value
from gradscribe.ir.known import all_known
from gradscribe.ir.types import Array, Opaque
from gradscribe.ir.types import Sequence as ListType
from gradscribe.primitives.control import RUN


@as_python(iter)
def over(lowering: Lowering, node: Any, item: FrontendValue) -> Iteration:
    """What a `for` over this value runs over."""
    item = outside.opened(lowering, iterators.taken(lowering, node, resolved(lowering, item)))
    if isinstance(item, Iteration):
        return item
    if instances.is_object(item):
        return _object_iteration(lowering, node, item)
    if isinstance(item, Static):
        own = iter_of(lowering, node, item)
        if own is not item:
            return over(lowering, node, own)
    if isinstance(item, Ref):
        type_ = lowering.load(item).type
        if isinstance(type_, Array) and type_.rank:
            return ItemsOf(item)
    if isinstance(item, Value) and texts.is_text(item):
        item = unknown.emit(lowering, list, (item,), {}, ListType(texts.TEXT), RUN)
    if run_time_sets.is_set(item):
        item = run_time_sets.listed(lowering, item) or item
    if isinstance(item, ListRef) and isinstance(lowering.contents[item.storage], Value):
        return ItemsOf(item)
    if stands_for(item, range):
        return Range.of(item.value)
    if isinstance(item, (TupleOf, ListRef, DictRef, Static)):
        owner = item if isinstance(item, (ListRef, DictRef, ViewOf)) else None
        return KnownItems(lowering.unpacked(node, item), owner)
    raise_for_number(lowering, node, item)
    if unknown.is_opaque(item) and not run_time_sets.is_set(item):
        unknown.refuse(lowering, node)
    return lowering.unsupported(
        node,
        "this value cannot be iterated over",
        "loop over a range, an array, a list, a tuple or a dict",
    )


def started(lowering: Lowering, node: Any, item: FrontendValue) -> OneShot:
    """`iter(item)`: an iterator over the items, which are made when they are taken."""
    unknown.asked(lowering, iter, (item,), Opaque())
    make_iterator(lowering, node, iter, (item,), {})
    return iterators.made(lowering, lambda taker: over(lowering, taker, item), (item,))


def raise_for_number(lowering: Lowering, node: Any, item: FrontendValue) -> None:
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


def _object_iteration(lowering: Lowering, node: Any, item: FrontendValue) -> Iteration:
    """An iteration over an object of a user's class."""
    found = iter_of(lowering, node, item)
    if class_attributes.method(lowering, found, "__next__") is not None:
        return ItemsByNext(found)
    return _numbered(lowering, node, item) if found is item else over(lowering, node, found)


def _numbered(lowering: Lowering, node: Any, item: FrontendValue) -> Leaf:
    """The items that an object gives by number, until there is none."""
    if class_attributes.method(lowering, item, "__getitem__") is None:
        _refuse_object(lowering, node)
    count = numbered_items.length(lowering, node, item)
    if count is None:
        return numbered_items.asked_in_turn(lowering, node, item)
    return ItemsByIndex(item, _range(lowering, node, count))


def begun(lowering: Lowering, node: Any, item: FrontendValue) -> FrontendValue:
    """`iter(item)`, of an object of a user's class, whose `__iter__` is called once; what has items
    itself as it is."""
    opened = outside.opened(lowering, item)
    return over(lowering, node, opened) if instances.is_object(opened) else item


def is_by_next(iteration: FrontendValue) -> bool:
    """Whether code of the user gives the items of this one by one, and says when they end."""
    leaves = iteration.leaves if isinstance(iteration, Iteration) else ()
    return any(isinstance(leaf, ItemsByNext) for leaf in leaves)


def all_taken(lowering: Lowering, node: Any, iteration: Iteration) -> Iteration:
    """The same iteration, with all items taken that code of the user gives one by one."""
    if not isinstance(iteration, ItemsByNext):
        return iteration
    return over(lowering, node, taken_list(lowering, node, iteration))


def taken_list(lowering: Lowering, node: Any, iteration: ItemsByNext) -> ListRef:
    """The list of all items that an iterator of a user's class has left."""
    following = class_attributes.method(lowering, iteration.owner, "__next__")
    if following is not None:
        _check_end(lowering, node, following)
    return made_list(lowering.inline(node, prelude.taken, (iteration.owner,)))


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


def _counted(lowering: Lowering, node: Any, item: FrontendValue) -> ItemsByIndex:
    """The items of the numbers below its length, which `reversed` takes."""
    count = protocols.call(lowering, node, item, "__len__")
    if class_attributes.method(lowering, item, "__getitem__") is None or count is None:
        _refuse_object(lowering, node)
    return ItemsByIndex(item, _range(lowering, node, count))


def _refuse_object(lowering: Lowering, node: Any) -> NoReturn:
    lowering.unsupported(
        node,
        "this object cannot be iterated over",
        "give its class `__iter__`, or `__len__` and `__getitem__`",
        python=TypeError,
    )


def iter_of(lowering: Lowering, node: Any, item: FrontendValue) -> FrontendValue:
    """What `iter` gives of an object: itself, if its class has no `__iter__`."""
    found = protocols.call(lowering, node, item, "__iter__")
    return item if found is None else found


@handles(range)
def _range(
    lowering: Lowering,
    node: Any,
    start: FrontendValue,
    stop: FrontendValue | None = None,
    step: FrontendValue = Static(1),
    /,
) -> Range:
    bounds = (Static(0), start) if stop is None else (start, stop)
    found = Range(*(known_integers.integer(lowering, node, part) for part in (*bounds, step)))
    if isinstance(found.step, Static) and found.step.value == 0:
        lowering.raises(node, ValueError("range() arg 3 must not be zero"))
    return found


@handles(zip)
@iterators.iterator
def _zip(
    lowering: Lowering,
    node: Any,
    /,
    *iterables: FrontendValue,
    strict: FrontendValue = Static(False),
) -> Iteration:
    parts = tuple(over(lowering, node, item) for item in iterables)
    if any(map(is_by_next, parts)):
        return _zipped_by_next(lowering, node, parts, strict)
    return _zipped(lowering, node, parts, strict)


def _zipped_by_next(
    lowering: Lowering, node: Any, parts: tuple[Iteration, ...], strict: FrontendValue
) -> Iteration:
    """`zip` of what code of the user gives one by one: row by row, as Python takes them. As long
    as each other, they are all taken to their ends."""
    if strict == Static(False):
        return in_turns.rows(lowering, node, parts)
    if sum(part.computes for part in parts) > 1:
        in_turns.refuse(lowering, node)
    return _zipped(lowering, node, [all_taken(lowering, node, part) for part in parts], strict)


def _zipped(
    lowering: Lowering, node: Any, parts: Sequence[Iteration], strict: FrontendValue
) -> Iteration:
    # Functions of the prelude zip what is as long as each other.
    is_prelude = bool(lowering.frames) and lowering.frame.source.whole
    if strict != Static(False) and parts and not is_prelude:
        counts: list[FrontendValue] | None = all_known(
            [iteration_items.count(lowering, part) for part in parts]
        )
        if counts is None:
            lowering.unsupported(
                node,
                "`strict=True` for an iterator whose items are not counted",
                "make a list of it first, as in `zip(list(a), b, strict=True)`",
            )
        for position, other in enumerate(counts[1:], 2):
            _compare_counts(lowering, node, counts[0], other, position)
    return zipped(lowering, node, parts)


def _compare_counts(
    lowering: Lowering, node: Any, first: FrontendValue, other: FrontendValue, position: int
) -> None:
    """Raise what `zip(…, strict=True)` raises for what is not as long as the first."""
    what = f"zip() argument {position} is shorter or longer than argument 1"
    one, two = (getattr(lowering.value(item).type, "value", None) for item in (first, other))
    equal = None if one is None or two is None else lowering.builder.facts.equal(one, two)
    if isinstance(first, Static) and isinstance(other, Static):
        equal = first == other
    if equal is not True and presence.catches(lowering, ValueError):
        lowering.unsupported(
            node,
            "`zip(…, strict=True)` in a `try` that handles its error, which comes after the items",
            "compare the lengths first, without `try`",
        )
    if equal is False:
        lowering.raises(node, ValueError(what))
    if equal is None:
        lengths.raise_where(lowering, node, operator.ne, (first, other), what)


def zipped(lowering: Lowering, node: Any, parts: Sequence[Iteration]) -> Iteration:
    """Several iterations side by side; those without end have as many items as the others."""
    if not parts:
        return KnownItems(())
    for position, part in enumerate(parts):
        _check_last(lowering, node, part, parts[position + 1 :])
    finite = tuple(part for part in parts if not isinstance(part, Endless))
    if len(finite) == len(parts):
        return Zip(finite)

    def row(number: Any, given: Iterator[Any]) -> TupleOf:
        return TupleOf(
            tuple(p.item(number) if isinstance(p, Endless) else next(given) for p in parts)
        )

    if not finite:
        return Endless.of(lambda number: row(number, iter(())))
    counted = Enumerated(Zip(finite), Static(0))
    return Mapped(counted, lambda pair: row(pair.items[0], iter(pair.items[1].items)))


def _check_last(
    lowering: Lowering, node: Any, part: Iteration, others: Sequence[Iteration]
) -> None:
    """Refuse an iteration whose items change something when they are taken, if another one, after
    it, may end first: Python takes one item more of it than of that."""
    if not (others and part.computes):
        return
    count = iteration_items.length(lowering, part)
    counts = [None if count is None else iteration_items.length(lowering, one) for one in others]
    more = [None if one is None or count is None else one - count for one in counts]
    facts = lowering.builder.facts
    if not all(one is not None and facts.at_least(one, 0) for one in more):
        check_partly_taken(lowering, node, part, "`zip`, which takes one more")


def check_partly_taken(lowering: Lowering, node: Any, over: Iteration, taker: str) -> None:
    """Refuse to leave out items that change something when they are taken."""
    count = iteration_items.length(lowering, over) if over.computes else None
    if not over.computes or (count is not None and count.known == 0):
        return
    first = partial(iteration_items.first_and_rest, lowering, node, over)
    at_once.refuse_to_leave_out(lowering, node, first, taker)


@handles(enumerate)
@partial(iterators.iterator, runs_code=False)
def _enumerate(
    lowering: Lowering, node: Any, /, iterable: FrontendValue, start: FrontendValue = Static(0)
) -> Enumerated:
    counted = all_taken(lowering, node, over(lowering, node, iterable))
    return Enumerated(counted.over if isinstance(counted, Endless) else counted, start)


@handles(reversed)
def _reversed(lowering: Lowering, node: Any, item: FrontendValue, /) -> FrontendValue:
    """An iterator over the items from the last to the first; of an iterator there is none."""
    if isinstance(item, OneShot):
        lowering.raises(
            node,
            TypeError("an iterator is not reversible"),
            "`reversed` of an iterator",
            "make a list of it first: `reversed(list(zip(a, b)))`",
        )
    own = protocols.call(lowering, node, outside.opened(lowering, item), "__reversed__")
    if own is not None:
        return own
    owner = item if isinstance(item, ListRef) else None
    before = None if owner is None else lowering.contents.get(owner.storage)

    def items(taker: FrontendValue) -> Iteration:
        now = None if owner is None or before is None else lowering.contents[owner.storage]
        if now is not before and not (
            isinstance(now, tuple) and isinstance(before, tuple) and len(now) == len(before)
        ):
            lowering.unsupported(
                node,
                "the list changes after `reversed` has counted its items",
                "reverse a copy of it: `reversed(xs[:])`",
            )
        return _backwards(lowering, taker, item)

    return iterators.made(lowering, items, (item,))


def _backwards(lowering: Lowering, node: Any, item: FrontendValue) -> Iteration:
    item = outside.opened(lowering, item)
    is_object = instances.is_object(item)
    inner = _counted(lowering, node, item) if is_object else over(lowering, node, item)
    assert isinstance(inner, Leaf)  # what is made of others is an iterator
    return replace(inner, reversed=not inner.reversed)
