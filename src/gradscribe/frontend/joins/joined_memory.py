"""Memory that unread code may have kept, and that branches and loops hand on (see `kept_memory`).

What comes out of a branch or loop under a name is memory of its own in the IR, whichever array it
was on the path that was taken. Its handle comes out with it: in an object of the running program,
which is bound to a name of its own (that no program can have) where a side or iteration ends, and
merged and carried as all names are:

    if flag:
        keep(y_kept)
        y_handle = SimpleNamespace(memory=y_kept)
    else:
        y_handle = SimpleNamespace(memory=z_kept)
    y_kept = y_handle.memory

A handle is handed on only where it was found to be needed: the function is lowered once more.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from typing import Any

from gradscribe.frontend.joins.merge_plans import Sides
from gradscribe.frontend.memory import kept_memory
from gradscribe.frontend.memory.carried_parts import held, reached
from gradscribe.frontend.memory.reach import is_kept, is_read_only
from gradscribe.frontend.state.carried_entry import leaf_name
from gradscribe.frontend.state.flow import may_be_undefined
from gradscribe.frontend.state.knowledge import State
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, Ref, Storage
from gradscribe.ir.core import Value
from gradscribe.ir.types import Array, Opaque
from gradscribe.primitives.control import EFFECT

HeldPart = tuple[Any, tuple[Any, ...]]
"""A part of what a name, attribute or list holds: what holds it, and the path to the part."""


def arrays(
    lowering: Lowering, names: Mapping[str, FrontendValue], keys: Iterable[Any]
) -> dict[HeldPart, Ref]:
    """The arrays among what these names, attributes and lists hold, by their places; without those
    that are told apart there, and have handles of their own."""
    found: dict[HeldPart, list[Ref]] = {}
    for key in keys:
        for path, item in reached(lowering, key, held(names, lowering.contents, key)):
            contents = lowering.contents.get(item.storage)
            is_array = isinstance(contents, Value) and isinstance(contents.type, Array)
            if isinstance(item, Ref) and is_array and not is_read_only(item):
                found.setdefault((key, path), []).append(item)
    return {place: items[0] for place, items in found.items() if len(items) == 1}


def name_of(place: HeldPart) -> str:
    """The name to which the handle of a part is bound."""
    key, path = place
    return f"handle of {key.serial if isinstance(key, Storage) else key} {path}"


def can_be_shown(lowering: Lowering, array: Ref) -> bool:
    """Whether memory has a handle here, or nobody can have kept it."""
    return array.storage in kept_memory.handle(lowering, ()) or not is_kept(lowering, array)


def show(lowering: Lowering, places: Mapping[HeldPart, Ref]) -> None:
    """Bind names to the handles of these arrays, which hold what the program holds."""
    for place, shown in places.items():
        array = kept_memory.current(lowering, shown)
        tree = {"args": (), "keywords": {"memory": array}, "type": _HANDLE}
        name = f"{leaf_name(place[0])}_handle".lstrip("_")
        lowering.frame.names[name_of(place)] = lowering.plain(
            EFFECT, tree, types.SimpleNamespace, name
        )


_HANDLE = Opaque(types.SimpleNamespace)


def take(lowering: Lowering, places: Iterable[HeldPart]) -> None:
    """Let the arrays at these places have the handles that names are bound to."""
    wanted = {place: lowering.frame.names.pop(name_of(place), None) for place in places}
    found = arrays(lowering, lowering.frame.names, dict.fromkeys(key for key, _ in wanted))
    for place, shown in wanted.items():
        array = found.get(place)
        if array is None or not isinstance(shown, Value):
            continue
        if array.storage in kept_memory.handle(lowering, ()):
            continue  # it is an array from before, which has kept its own
        contents = lowering.value_in(array.storage)
        if may_be_undefined(lowering, contents) or may_be_undefined(lowering, shown):
            continue
        tree = {"args": (shown, "memory"), "keywords": {}, "type": contents.type}
        name = f"{contents.name}_kept".lstrip("_")
        handle = lowering.plain(EFFECT, tree, getattr, name)
        kept_memory.take(lowering, array.storage, handle)


# -- branches --------------------------------------------------------------------------------------


def show_sides(lowering: Lowering, sides: Sides) -> list[HeldPart]:
    """Let both sides of a branch hold the handles of the arrays that are merged, if one of them may
    have been kept; the places of those."""
    if not kept_memory.hands_on(lowering):
        return []
    keys = _merged(sides)
    found: list[dict[HeldPart, Ref]] = []
    for state in sides.states:
        lowering.restore(state)
        found.append(arrays(lowering, state.names, keys))
    first, second = found
    wanted = [
        place
        for place in first.keys() & second.keys()
        if (first[place].storage, first[place].path) != (second[place].storage, second[place].path)
        and any(is_kept(lowering, one[place]) for one in found)
    ]
    wanted = sorted(wanted, key=name_of)
    for block, state, own in zip(sides.blocks, sides.states, found, strict=True):
        lowering.restore(state)
        with lowering.inside(block):
            wanted = [place for place in wanted if can_be_shown(lowering, own[place])]
    for block, state, own in zip(sides.blocks, sides.states, found, strict=True):
        lowering.restore(state)
        with lowering.inside(block):
            show(lowering, {place: own[place] for place in wanted})
        state.names.update(lowering.frame.names)
        state.held.update(lowering.kept.held)
    lowering.restore(sides.before)
    return wanted


def _merged(sides: Sides) -> list[Any]:
    """The names and attributes, and the lists, of which the two sides leave different ones."""
    first, second = sides.states
    names = [n for n, item in first.names.items() if second.names.get(n, item) is not item]
    inside = [
        storage
        for storage in sides.before.contents
        if first.contents[storage] is not second.contents[storage]
        and not isinstance(first.contents[storage], Value)
        and not isinstance(second.contents[storage], Value)
    ]
    return [*names, *inside]


# -- loops -----------------------------------------------------------------------------------------


class Handles:
    """The handles that a loop carries. places: those of the arrays that may have been kept."""

    def __init__(self, lowering: Lowering) -> None:
        self._lowering = lowering
        self.places: set[HeldPart] = set()
        self._without: set[HeldPart] = set()
        self._renewed: set[Storage] = set()

    def enter(self, keys: Iterable[Any], state: State) -> None:
        """Before the loop. keys: what it carries."""
        if kept_memory.hands_on(self._lowering):
            for storage in self._renewed:  # in an attempt that was taken back
                state.held.pop(storage, None)
                self._lowering.kept.held.pop(storage, None)
            before = dict(self._lowering.kept.held)
            self._show(keys)
            held = self._lowering.kept.held
            self._renewed = {s for s in held if before.get(s) is not held[s]}
            state.names.update(self._lowering.frame.names)
            state.held.update(held)

    def end(self, keys: Iterable[Any]) -> bool:
        """At the end of an iteration; whether that could be foreseen."""
        if not kept_memory.hands_on(self._lowering):
            return True
        before = self.places - self._without
        self._show(keys)
        return before == self.places - self._without

    def _show(self, keys: Iterable[Any]) -> None:
        lowering = self._lowering
        found = arrays(lowering, lowering.frame.names, keys)
        self.places.update(p for p, array in found.items() if is_kept(lowering, array))
        self._without.update(
            p for p in self.places & found.keys() if not can_be_shown(lowering, found[p])
        )
        wanted = sorted((self.places & found.keys()) - self._without, key=name_of)
        show(lowering, {place: found[place] for place in wanted})

    @property
    def names(self) -> list[str]:
        """The names that hold the handles."""
        return sorted(map(name_of, self.places - self._without))

    def take(self) -> None:
        """In the beginning of an iteration, or after the loop."""
        take(self._lowering, sorted(self.places - self._without, key=name_of))
