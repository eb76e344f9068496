"""Iterators: what gives its items once, when it is asked for them.

`zip(…)`, `map(…)`, a generator expression and the like are made from what they are given, and
compute nothing then. Their items are computed where something takes them: a `for`, a `*`, a
function of items such as `sum`. Nothing is left for a second taker; as that is a mistake more often
than a wish, it is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradscribe.frontend.lowering import Lowering
from gradscribe.frontend.values import Iteration, OneShot, Static, Storage

Handler = Callable[[Lowering, Any, tuple[Any, ...], dict[str, Any]], Any]

_TAKEN, _REST = "taken", "rest"
"""Whether the items are taken; after a `next`, what is left (else None)."""


def made(lowering: Lowering, items: Callable[[Any], Any], holds: tuple[Any, ...] = ()) -> OneShot:
    """A new iterator. items: makes the items, given the node that takes them; holds: the values
    that it makes them of."""
    storage = Storage()
    lowering.contents[storage] = {_TAKEN: Static(False), _REST: Static(None)}
    return OneShot(storage, items, holds)


def taken(lowering: Lowering, node: Any, item: Any) -> Any:
    """The items of an iterator, which has none left then; any other value as it is."""
    while isinstance(item, OneShot):
        flag, rest = lowering.contents[item.storage].values()
        is_outside = bool(lowering.loops.trips) and item.storage.serial < lowering.loops.trips[-1]
        is_known = isinstance(flag, Static) and isinstance(rest, (Static, Iteration))
        if is_outside or not is_known or flag.value:
            what = "a loop takes the items of an iterator that is made before it"
            lowering.unsupported(
                node,
                what if is_outside else "the items of this iterator may have been taken before",
                "make a list of it first, as in `pairs = list(zip(a, b))`",
            )
        lowering.contents[item.storage] = {_TAKEN: Static(True), _REST: Static(None)}
        item = rest if isinstance(rest, Iteration) else item.items(node)
    return item


def put_back(lowering: Lowering, item: OneShot, rest: Iteration) -> None:
    """Leave what was not taken of an iterator for those who come later."""
    lowering.contents[item.storage] = {_TAKEN: Static(False), _REST: rest}


def iterator(handler: Handler) -> Handler:
    """Of a function that makes items, the one that makes an iterator over them."""

    def make(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
        def items(taker: Any) -> Any:
            given = tuple(taken(lowering, taker, item) for item in arguments)
            return handler(lowering, taker, given, keywords)

        return made(lowering, items, arguments)

    return make


def computed(handler: Handler) -> Handler:
    """The same of a function that takes all it is given at once."""

    def make(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
        given = tuple(taken(lowering, node, item) for item in arguments)
        found = handler(lowering, node, given, keywords)
        return made(lowering, lambda taker: found, (found,))

    return make


def taking(handler: Handler) -> Handler:
    """Of a function of items, the one that takes them where it is given an iterator."""

    def take(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
        given = tuple(taken(lowering, node, item) for item in arguments)
        return handler(lowering, node, given, keywords)

    return take
