"""The lists, deques and dicts from outside that a function leaves changed, and what is new in them.

Those that are captured as inputs are known by their leaves (see `effects`). Here are the others:
containers of known structure, which were opened item by item (`{}`, `[None]`), and those to which
items are only added, for which a list of what is added stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gradscribe.frontend.boundary.results import held, leaves_held
from gradscribe.frontend.interface import NEW, ContainerChange
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    Held,
    ListRef,
    ObjectRef,
    Static,
    Storage,
    TupleOf,
)
from gradscribe.ir.core import Value


@dataclass(frozen=True, slots=True)
class ChangedContainer:
    """values: the leaves of what is new. items: what these are in the frontend."""

    change: ContainerChange
    values: list[Value]
    items: list[FrontendValue]


def changed_containers(lowering: Lowering) -> Iterator[ChangedContainer]:
    """The containers that hold something else at the end. May open what they hold, so that there
    are more captures afterwards."""
    for storage, found in list(lowering.outside.containers.items()):
        before = lowering.outside.entered[storage]
        now = lowering.contents.get(storage, before)
        if now is not before or storage in lowering.changes.stored:
            lowering.outside.compared.add(id(found.target))
        kept = None if isinstance(now, Value) or found.grown else _kept(before, now)
        if now is before or now == () == before or _is_as_before(kept, before):
            continue
        yield _changed(lowering, storage, found, now, kept)


def _changed(
    lowering: Lowering, storage: Storage, found: ObjectRef, now: Held, kept: tuple[Any, ...] | None
) -> ChangedContainer:
    new: ListRef | TupleOf = ListRef(storage)
    if isinstance(now, Value) and not lowering.outside.entered.keys().isdisjoint(storage.holds):
        what = f"what is outside may be put in `{found.name}`, in a branch or loop"
        lowering.unsupported(None, what, "put a copy there")
    if kept is not None:
        pairs = zip(_by_place(now).values(), kept, strict=True)
        new = TupleOf(tuple(item for item, former in pairs if former is NEW))
    tree, values = held(lowering, new, f"in `{found.name}`", storage)
    keys = tuple(now) if isinstance(now, dict) else None
    change = ContainerChange(found.path, found.name, tree, keys, kept, found.grown)
    return ChangedContainer(change, values, list(leaves_held(lowering, new, storage)))


def _kept(before: Held, now: Held) -> tuple[Any, ...]:
    """For each item at the end, the key or position that it had before, or `NEW`."""
    former = _by_place(before)
    return tuple(_former_key(former, key, item) for key, item in _by_place(now).items())


def _by_place(held: Held) -> dict[Any, FrontendValue]:
    """The items of a container that are known, by key or position."""
    if isinstance(held, dict):
        return held
    return {} if isinstance(held, Value) else dict(enumerate(held))


def _former_key(former: dict[Any, FrontendValue], key: Any, item: FrontendValue) -> Any:
    places = [key, *former] if key in former else former
    return next((place for place in places if _is_one(former[place], item)), NEW)


def _is_one(first: FrontendValue, second: FrontendValue) -> bool:
    """Whether two frontend values are one object."""
    if isinstance(first, (ListRef, DictRef)) and isinstance(second, (ListRef, DictRef)):
        return first.storage is second.storage
    if isinstance(first, Static) and isinstance(second, Static):
        return first.value is second.value
    return first is second


def _is_as_before(kept: tuple[Any, ...] | None, before: Held) -> bool:
    """Whether the items are those that were there, in their order (dicts: with their keys)."""
    return kept == tuple(_by_place(before))
