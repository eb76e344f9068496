"""What functions from outside read that remember their results: it must not change, neither before
they are called, when they may have remembered what they read, nor after.

Attributes of objects that the program stores to are told by their names.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.memory import outside_state
from gradscribe.frontend.memory.reach import storages
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue
from gradscribe.ir.core import Location


@contextmanager
def reading(lowering: Lowering, node: Any) -> Iterator[None]:
    """Within the block, such a function is called."""
    cached = lowering.cached
    place, cached.called_at = cached.called_at, cached.called_at or lowering.location(node)
    try:
        yield
    finally:
        cached.called_at = place


def note(lowering: Lowering, item: FrontendValue, path: AccessPath) -> None:
    """A variable from outside is read."""
    cached = lowering.cached
    if cached.called_at is None:
        return
    for storage in storages(lowering, item):
        cached.read.setdefault(storage, cached.called_at)
    for kind, name in path.steps:
        if kind == "attribute":
            cached.attributes.setdefault(name, cached.called_at)


def check(lowering: Lowering) -> None:
    """Refuse, at the end of the program, what it has changed of that."""
    cached, outside = lowering.cached, lowering.outside
    places = [
        place
        for storage, place in cached.read.items()
        if storage in outside.entered
        and not outside_state.is_as_found(lowering, storage, outside.entered[storage])
    ]
    places += [cached.attributes[n] for _, n in outside.fields if n in cached.attributes]
    if places:
        raise refusal("reads what the program changes", places[0])


def refusal(what: str, place: Location | None) -> UnsupportedError:
    """The error that tells what is not the same where results are computed anew."""
    return UnsupportedError(
        f"a function that remembers its results {what}",
        "leave out `lru_cache` or `cache`: here the function is computed anew at each call",
        place,
    )
