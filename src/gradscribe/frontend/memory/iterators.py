"""Iterators: what gives its items once, when it is asked for them.

`zip(…)`, `map(…)`, a generator expression and the like are made from what they are given, and
compute nothing then. Their items are computed where something takes them: a `for`, a `*`, a
function of items such as `sum`. Nothing is left for a second taker; as that is a mistake more often
than a wish, it is refused.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NoReturn

from gradscribe.frontend.memory import at_once
from gradscribe.frontend.state.handlers import Handler
from gradscribe.frontend.state.interruptions import AlwaysRaisesError
from gradscribe.frontend.state.knowledge import Early
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.iterations import ItemsByIndex, Iteration, KnownItems, Range
from gradscribe.frontend.values.values import (
    DictRef,
    FlatRef,
    FrontendValue,
    ListRef,
    Made,
    OneShot,
    Ref,
    Rest,
    Static,
    Storage,
    Turn,
)
from gradscribe.primitives.raising import may_raise

_TAKEN, _REST = "taken", "rest"
"""Whether the items are taken; after a `next`, what is left (else None)."""


def made(
    lowering: Lowering,
    items: Callable[[Any], FrontendValue],
    holds: tuple[FrontendValue, ...] = (),
    origin: Made | None = None,
) -> OneShot:
    """A new iterator. items: makes the items, given the node that takes them; holds: the values
    that it makes them of; origin: what makes it in the running program."""
    return OneShot(turn(lowering), items, holds, origin)


def turn(lowering: Lowering) -> Turn:
    """The storage of a new iterator."""
    storage = Turn()
    lowering.contents[storage] = {_TAKEN: Static(False), _REST: Static(None)}
    return storage


def made_by(
    found: FrontendValue,
    callee: Any,
    arguments: Iterable[FrontendValue],
    keywords: Mapping[str, FrontendValue],
) -> FrontendValue:
    """What a call has given; an iterator with the call as its origin."""
    if not isinstance(found, OneShot) or found.origin is not None:
        return found
    return replace(found, origin=Made(callee, tuple(arguments), dict(keywords)))


def taken(lowering: Lowering, node: Any, item: FrontendValue) -> FrontendValue:
    """The items of an iterator, which has none left then; any other value as it is."""
    if isinstance(item, FlatRef):
        handed_over(lowering, node, item.turn)
        return Ref(item.storage, item.path)
    while isinstance(item, OneShot):
        rest = handed_over(lowering, node, item.storage)
        item = at_once.computed(lowering, node, item) if rest is None else rest
    return item


def taken_into(
    lowering: Lowering, node: Any, owner: FrontendValue, given: tuple[FrontendValue, ...]
) -> tuple[FrontendValue, ...]:
    """The arguments of what changes a list or dict, the items of iterators among them."""
    storage = owner.storage if isinstance(owner, (ListRef, DictRef)) else None
    before = None if storage is None else lowering.contents[storage]
    made = len(lowering.builder.operations)
    with item_by_item(lowering, node):
        found = tuple(taken(lowering, node, item) for item in given)
    if storage is None:
        return found
    if _may_raise(lowering, made):
        _refuse_to_take(lowering, node)
    if lowering.contents[storage] is not before:
        what = "these items change the list or dict that they are put into"
        lowering.unsupported(node, what, "make a list of them first: `items = list(…)`")
    return found


@contextmanager
def item_by_item(lowering: Lowering, node: Any) -> Iterator[None]:
    """Around what is taken before it is stored, where Python stores each item as it comes."""
    try:
        yield
    except AlwaysRaisesError:
        if not lowering.exceptions.attempts:
            raise
        _refuse_to_take(lowering, node)


def _refuse_to_take(lowering: Lowering, node: Any) -> NoReturn:
    what = "an exception that is handled may come while this takes in items, one by one"
    lowering.unsupported(node, what, "make a list of them first: `items = list(…)`")


def _may_raise(lowering: Lowering, made: int) -> bool:
    """Whether the operations from number `made` on may raise what a `try` around them handles."""
    operations = lowering.builder.operations
    caught = tuple(cls for _, classes in lowering.exceptions.attempts for cls in classes)
    return any(may_raise(operation, caught, operations) for operation in operations[made:])


def handed_over(lowering: Lowering, node: Any, turn: Storage) -> Iteration | None:
    """Hand an iterator to who takes its items; what is left of them, None if that is all."""
    flag, rest = lowering.items_in(turn).values()
    is_outside = (
        bool(lowering.loops.iterations) and turn.serial < lowering.loops.iterations[-1].serial
    )
    is_left = isinstance(flag, Static) and not flag.value and isinstance(rest, (Static, Rest))
    if is_outside or not is_left:
        what = "a loop takes the items of an iterator that is made before it"
        lowering.unsupported(
            node or lowering.frame.statement,
            what if is_outside else "the items of this iterator may have been taken before",
            "make a list of it first, as in `pairs = list(zip(a, b))`",
        )
    lowering.contents[turn] = {_TAKEN: Static(True), _REST: Static(None)}
    if not isinstance(rest, Rest):
        return None
    at_once.check_unchanged(
        lowering, node, rest.early, "since its first items were taken, the program changes"
    )
    lowering.generators.early += rest.early
    return _renewed(lowering, node, rest.iteration)


def _renewed(lowering: Lowering, node: Any, rest: Iteration) -> Iteration:
    """What is left of an iteration, as it is now: the items of a list may have changed."""
    match rest:
        case KnownItems(items, owner, skipped) if owner is not None:
            now = lowering.unpacked(node, owner)
            if not isinstance(owner, ListRef) and len(now) != skipped + len(items):
                lowering.raises(node, RuntimeError("dictionary changed size during iteration"))
            return replace(rest, items=now[skipped:])
        case ItemsByIndex(owner, indices, True):
            stop = lowering.call(node, Static(len), (owner,), {})
            return replace(rest, indices=Range(indices.start, stop))
    return rest.with_inner([_renewed(lowering, node, one) for one in rest.inner])


def end(lowering: Lowering, item: OneShot) -> None:
    """Leave nothing of an iterator for those who come later."""
    if item.storage in lowering.contents:
        lowering.contents[item.storage] = {_TAKEN: Static(True), _REST: Static(None)}


def put_back(lowering: Lowering, item: OneShot, rest: Iteration, early: tuple[Early, ...]) -> None:
    """Leave what was not taken of an iterator for those who come later."""
    lowering.contents[item.storage] = {_TAKEN: Static(False), _REST: Rest(rest, early)}


def iterator(handler: Handler, runs_code: bool = True) -> Handler:
    """Of a function that makes items, the one that makes an iterator over them. runs_code: whether
    code runs between two items, or others are taken."""

    def make(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> OneShot:
        def items(taker: Any) -> Any:
            depth, outer = len(lowering.generators.early), lowering.loops.iterable
            lowering.loops.iterable = taker
            given = tuple(taken(lowering, taker, item) for item in arguments)
            lowering.loops.iterable = outer
            found = handler(lowering, taker, *given, **keywords)
            if runs_code:
                at_once.refuse_effects(lowering, taker, lowering.generators.early[depth:])
            return found

        return made(lowering, items, (*arguments, *keywords.values()))

    return functools.update_wrapper(make, handler)


def computed(handler: Handler) -> Handler:
    """The same of a function that takes all it is given at once."""

    def make(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> OneShot:
        given = tuple(taken(lowering, node, item) for item in arguments)
        found = handler(lowering, node, *given, **keywords)
        return made(lowering, lambda taker: found, (found,))

    return functools.update_wrapper(make, handler)


def taking(in_turns: bool = False, by_key: bool = False) -> Callable[[Handler], Handler]:
    """Of a function of items, the one that takes them where it is given an iterator. in_turns:
    whether it takes one at a time, and perhaps not all; by_key: whether it calls its `key` between
    two of them."""

    def decorate(handler: Handler) -> Handler:
        def take(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
            depth, outer = len(lowering.generators.early), lowering.loops.iterable
            lowering.loops.iterable = node if in_turns else outer
            with at_once.taking(lowering, node):
                given = tuple(taken(lowering, node, item) for item in arguments)
                lowering.loops.iterable = outer
                if in_turns or (by_key and "key" in keywords):
                    at_once.refuse_effects(lowering, node, lowering.generators.early[depth:])
                return handler(lowering, node, *given, **keywords)

        return functools.update_wrapper(take, handler)

    return decorate
