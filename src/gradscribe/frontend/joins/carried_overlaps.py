"""Which parts of what a loop carries may be the same memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradscribe.frontend.memory.carried_parts import reached
from gradscribe.frontend.memory.reach import is_kept, is_read_only
from gradscribe.frontend.state.carried_entry import Entry, Part
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    FrontendValue,
    Items,
    Ref,
    Storage,
    may_hold,
    may_overlap,
)

ItemOf = Callable[[Any], "FrontendValue | Items"]
"""What a carried name, or piece of memory, holds in a state."""


class Overlaps:
    """What is found of the entries of one loop, from one attempt at it to the next."""

    def __init__(self, lowering: Lowering) -> None:
        self.lowering = lowering
        self.tokens = 0

    def settle(self, entries: Sequence[Entry], known: set[Storage], end: ItemOf) -> bool:
        """What a name ends an iteration with, it begins the next one with: the same for overlaps.
        known: the memory that was there before the loop. end: what is at the end of an
        iteration."""
        settled = not self.share(entries, end)
        for entry in entries:
            for path, item in reached(self.lowering, entry.key, end(entry.key)):
                storage = item.storage
                holders = {other for other in known if may_hold(other, storage)}
                overlaps = ({storage} | storage.overlaps) & known | holders
                found = Part(
                    overlaps,
                    set(),
                    {*storage.holds} & known,
                    storage.levels,
                    is_read_only(item),
                    is_kept(self.lowering, Ref(storage)),
                )
                settled = entry.part(path).widen(found) and settled
        return settled

    def share(self, entries: Sequence[Entry], item_of: ItemOf) -> bool:
        """Give entries whose memory may overlap a common token; whether any was new."""
        found = [
            (entry.part(path), item.storage)
            for entry in entries
            for path, item in reached(self.lowering, entry.key, item_of(entry.key))
        ]
        new = False
        for position, (one, a) in enumerate(found):
            for other, b in found[position + 1 :]:
                if not (one.tokens & other.tokens) and _may_share(a, b):
                    one.tokens.add(self.tokens)
                    other.tokens.add(self.tokens)
                    self.tokens += 1
                    new = True
        return new


def _may_share(a: Storage, b: Storage) -> bool:
    """Whether two storages may be the same memory, or one of them a list that holds the other."""
    return may_overlap(a, b) or may_hold(a, b) or may_hold(b, a)
