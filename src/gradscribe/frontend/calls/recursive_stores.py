"""What a recursive function stores to, of what it is given: arrays, lists, and the numbers that are
attributes of objects or items of dicts.

Such a function is an IR function, which stores to nothing: what it leaves in its arguments comes
back as further results, and its caller stores that. A list that gets other items is handed over as
a run-time list, also where its items are known one by one (a `memo` that is empty at first).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, Protocol

from gradscribe.errors import AliasingError
from gradscribe.frontend.calls.general_types import general_result, symbols
from gradscribe.frontend.containers.lists import take_items
from gradscribe.frontend.containers.stores import store
from gradscribe.frontend.memory import aliasing, outside_state, sequences
from gradscribe.frontend.state import wording
from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.state.interruptions import StoredListError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.structures import NumberIn, Owner
from gradscribe.frontend.values.values import (
    ListRef,
    Ref,
    Storage,
    Unbound,
    is_number,
    may_hold,
    may_overlap,
)
from gradscribe.ir.core import Location, Value
from gradscribe.ir.types import Never, Type
from gradscribe.ir.types import Sequence as SequenceType


class Given(Protocol):
    """The arguments of a call, as far as this needs them (see `recursion`)."""

    lowering: Lowering
    node: Any
    frame: Frame
    owners: list[Owner | None]
    storages: frozenset[Storage]

    @property
    def key(self) -> Any: ...

    @property
    def names(self) -> Any: ...

    @property
    def location(self) -> Location | None: ...


class Stores:
    """The arguments of a recursive function that is being lowered, as they are when it starts."""

    def __init__(
        self,
        lowering: Lowering,
        frame: Frame,
        given: Given,
        leaves: Sequence[Value],
        made: dict[int, Any],
    ) -> None:
        self._lowering = lowering
        self._frame = frame
        self._given = given
        self._leaves = leaves
        self._numbers = {leaf: number for number, leaf in enumerate(leaves)}
        self._before = dict(lowering.contents)
        self.lists = {
            item.storage: number for number, item in made.items() if isinstance(item, ListRef)
        }

    def check(self) -> None:
        """Look for lists that have got other items so far than those of known number, or the first
        item: what is known of them is less, then."""
        contents = self._lowering.contents
        growing, items = set[int](), dict[int, Type]()
        for storage, number in self.lists.items():
            before, now = self._before[storage], contents.get(storage, self._before[storage])
            if isinstance(before, tuple) and now is not before:
                growing.add(number)
            elif isinstance(before, Value) and is_of_nothing(before):
                found = self._lowering.value_in(storage) if storage in contents else before
                if not is_of_nothing(found):
                    items[self._numbers[before]] = self._item_of(found)
        if growing or items:
            raise StoredListError(self._given.key, frozenset(growing), items)

    def _item_of(self, value: Value) -> Type:
        """The type of the items of a list, in terms of the parameters."""
        known = {symbol for leaf in self._leaves for symbol in symbols(leaf.type)}
        (type_,) = general_result([value], self._lowering.builder.facts, known)
        assert isinstance(type_, SequenceType)
        return type_.item

    def made(self, entered: dict[Storage, Any]) -> dict[int, Value]:
        """What is left in the arguments that were stored to, by the numbers of the leaves. Other
        stores to what comes from outside are refused."""
        if self._lowering.outside.fields:
            self._refuse("an object from outside", "store that in the function that calls it")
        self.check()
        stored: dict[int, Value] = {}
        for storage, before in entered.items():
            now, name = self._lowering.contents.get(storage), storage.name
            roots = self._lowering.changes.roots
            others = [other for other in roots if may_overlap(storage, other)]
            if not others and outside_state.is_as_found(self._lowering, storage, before):
                continue
            found = self._leaves_left(before, now)
            if found is None or any(other is not storage for other in others):
                self._refuse(wording.quoted(name, "an argument"))
            stored |= found
        for cell, (owner, _) in self._lowering.added.items():
            is_new = owner in entered and cell not in entered
            is_new &= cell in self._lowering.contents
            if is_new and not isinstance(self._lowering.items_in(cell)[cell.name], Unbound):
                self._refuse(f"the new attribute `{cell.name}` of an argument")
        return dict(sorted(stored.items()))

    def levels(self, entered: dict[Storage, Any], stored: Iterable[int]) -> tuple[int, ...]:
        """Of each leaf that is stored to: if it is a list, in how many levels it holds nothing
        twice, and no memory of other arguments."""
        storages = {before: s for s, before in entered.items() if isinstance(before, Value)}
        owners = [storages.get(self._leaves[number]) for number in stored]
        return tuple(
            0 if owner is None or any(may_hold(owner, other) for other in entered) else owner.levels
            for owner in owners
        )

    def _leaves_left(self, before: Any, now: Any) -> dict[int, Value] | None:
        """What is left in the leaves that a storage held; None where it holds other things."""
        if isinstance(before, Value):
            number = self._numbers.get(before)
            if number is None or self._given.owners[number] is None:
                return None
            return {number: now}
        if not isinstance(before, dict) or list(before) != list(now):
            return None
        stored: dict[int, Value] = {}
        for key, item in before.items():
            if now[key] is item:
                continue
            number = self._numbers.get(item) if isinstance(item, Value) else None
            if number is None or not is_number(now[key]):
                return None
            stored[number] = self._lowering.value(now[key])
        return stored

    def _refuse(self, what: str, advice: str = "store into a copy, and return that") -> NoReturn:
        raise AliasingError(
            f"`{self._frame.source.name}` stores into {what}, and calls itself",
            advice,
            self._frame.source.location(self._frame.source.node),
        )


def is_of_nothing(value: Value) -> bool:
    """Whether this is a run-time list that is known to be empty."""
    return isinstance(value.type, SequenceType) and isinstance(value.type.item, Never)


def take_over(
    given: Given, number: int, contents: Value, levels: int, captured: frozenset[Storage]
) -> None:
    """Store what a recursive function has left in a leaf that it was given (see `Result`)."""
    owner: Owner | None = given.owners[number]
    assert owner is not None
    lowering = given.lowering
    others = {other.storage for i, other in enumerate(given.owners) if other and i != number}
    if not isinstance(owner, NumberIn) and any(
        may_overlap(owner.storage, other) for other in others | captured
    ):
        what = f"`{given.frame.source.name}` stores into `{given.names[number]}`"
        raise AliasingError(
            f"{what}, which it may reach by another name, too",
            "pass a copy (`.copy()`) as one of them",
            given.location,
        )
    if isinstance(owner, Ref):
        store(lowering, given.node, owner, lowering.wrap(contents))
    elif isinstance(owner, ListRef):
        take_items(lowering, given.node, owner, contents)
        if not levels and not sequences.holds_numbers(lowering, owner):
            reached = {one for other in given.storages | captured for one in other.reached}
            owner.storage.holds |= reached - {owner.storage}
        owner.storage.levels = min(owner.storage.levels, levels)
    else:
        with aliasing.changing_items(lowering, given.node, owner.storage):
            lowering.contents[owner.storage] = {
                **lowering.items_in(owner.storage),
                owner.key: contents,
            }
