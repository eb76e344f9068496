"""What the results of a call in a recorded run are functions of: of its arguments alone, or of what
it has found elsewhere, too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from gradscribe.recording.arrays import present
from gradscribe.recording.calls import Node
from gradscribe.recording.levels import Traced, values_in

ResultOf = tuple[Node, int]


@dataclass(frozen=True)
class Start:
    """The beginning of a call. places: of its arguments in the records of all levels; number: of
    a node made then."""

    places: frozenset[ResultOf]
    number: int


def start_of(arguments: Iterable[Any]) -> Start:
    """The beginning, now, of a call with these arguments."""
    return Start(frozenset(p for p in _places(arguments) if p is not None), Node().number)


def is_function_of(result: Any, start: Start) -> bool | None:
    """Whether a result is computed from the arguments of its call alone; None where that is not
    known, for forward mode keeps no record."""
    found = list(_places([result]))
    if None in found:
        return None
    pending, seen = [place for place in found if place is not None], set[ResultOf]()
    while pending:
        place = pending.pop()
        node, _ = place
        if place in start.places or place in seen:
            continue
        if node.number <= start.number:
            return False
        seen.add(place)
        pending += [parent for parent in node.parents if parent is not None]
    return True


def _places(values: Iterable[Any]) -> Iterator[ResultOf | None]:
    """The places of values in all levels; None for those in forward mode."""
    for tree in values:
        for value in values_in(tree):
            traced = present(value)
            while type(traced) is Traced:
                yield None if traced.level.is_forward else traced.place
                traced = traced.value
