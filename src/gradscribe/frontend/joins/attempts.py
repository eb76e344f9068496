"""What earlier attempts at a loop have found, for the next attempt at it.

A loop is lowered again and again until the types hold of what it carries. So are the loops in its
body: each of them twice in each attempt at the one around it, were it not for what is noted here.
An attempt at a loop starts from what has held in the last attempt at the loop around it. Comes in:
the entries that have settled. Goes out: those to start from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Sequence as SequenceOf
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from gradscribe.frontend.joins.carried import Carried
from gradscribe.frontend.state.carried_entry import Entry, Part
from gradscribe.frontend.state.knowledge import Attempts, State
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import Storage

_SIMPLE = ("leaves", "late")
"""The modes of entries that are known by their types alone."""


def note(attempts: Attempts, names: SequenceOf[str], carried: Carried) -> None:
    """Note what has settled. names: what is assigned."""
    numbers = _numbers(carried.entry)
    attempts.entries, attempts.types, attempts.parts = [], {}, {}
    attempts.opened = [numbers[storage] for storage in carried.opened if storage in numbers]
    attempts.tokens = carried.overlaps.tokens
    for entry in carried.entries:
        key = numbers.get(entry.key, entry.key)
        if entry.mode not in _SIMPLE or isinstance(key, Storage):
            continue
        if key not in names:
            attempts.entries.append((key, entry.mode))
        if entry.types and all(map(carried.lengths.is_lasting, entry.types)):
            attempts.types[key] = list(entry.types)
        attempts.parts[key] = {p: _renamed(part, numbers) for p, part in entry.parts.items()}


def start(attempts: Attempts, carried: Carried) -> None:
    """Enter what was carried in an earlier attempt."""
    numbers = _numbers(carried.entry)
    storages = {number: storage for storage, number in numbers.items()}
    for key, mode in attempts.entries:
        if isinstance(key, str) or key in storages:
            carried.entries.append(Entry(storages.get(key, key), mode))
    opened = [storages[number] for number in attempts.opened if number in storages]
    carried.entries[:] = [e for e in carried.entries if e.key not in opened]
    carried.entries += [Entry(storage, "list") for storage in opened]
    if opened:
        carried.restart()
    for entry in carried.entries:
        key = numbers.get(entry.key, entry.key)
        entry.expected = attempts.types.get(key, [])
        parts = attempts.parts.get(key, {}).items()
        entry.parts = {path: _renamed(part, storages) for path, part in parts}
    carried.overlaps.tokens = attempts.tokens


def _numbers(state: State) -> dict[Any, tuple[int, str]]:
    return {storage: (number, storage.name) for number, storage in enumerate(state.contents)}


def _renamed(part: Part, names: Mapping[Any, Any]) -> Part:
    """The same with these names of storages, in the place of their own; without others."""
    overlaps, holds = ({names[s] for s in own if s in names} for own in (part.overlaps, part.holds))
    return replace(part, overlaps=overlaps, holds=holds, tokens=set(part.tokens))


@contextmanager
def at(lowering: Lowering, node: Any) -> Iterator[Attempts]:
    """The attempts at a loop, inside of those at the loop around it."""
    around = lowering.loops.attempts
    place = lowering.frame.source.filename, type(node), node.lineno, node.col_offset
    number, around.met = around.met, around.met + 1
    if number == len(around.below) or around.below[number].place != place:
        around.below[number:] = [Attempts(place)]
    own = lowering.loops.attempts = around.below[number]
    own.met = 0
    try:
        yield own
    finally:
        lowering.loops.attempts = around
