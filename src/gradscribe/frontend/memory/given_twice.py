"""Whether two arrays or containers that the function is given are one object.

Comes in: two that have storages of their own, for each was found at its own place. Goes out: the
answer; it is a condition of each call where both are found outside, else a check at run time.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from gradscribe.errors import AliasingError
from gradscribe.frontend.interface import AccessPath, Dependency, DependencyKind
from gradscribe.frontend.kinds.trees import parts_of
from gradscribe.frontend.memory.sequences import holds_numbers
from gradscribe.frontend.prelude.isolated import are_distinct
from gradscribe.frontend.state.flow import first
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    ListRef,
    ObjectRef,
    Ref,
    Reference,
    Storage,
)
from gradscribe.ir.core import Value
from gradscribe.ir.types import BOOL
from gradscribe.primitives.control import RUN
from gradscribe.primitives.registry import PRIMITIVES


def is_one(lowering: Lowering, item: Reference, other: Reference) -> bool:
    """Whether these are one object; where that is known only at run time, it is refused there."""
    known = identity(lowering, item, other)
    if isinstance(known, bool):
        return known
    if known is not None:
        names = " and ".join(f"`{one.storage.name}`" for one in (other, item))
        what, advice = f"{names} are one array, which is copied once", "pass it once"
        differ = lowering.plain(PRIMITIVES[operator.not_], {"x": known}, operator.not_)
        lowering.check(differ, what, advice, AliasingError)
    return False


def identity(lowering: Lowering, item: Reference, other: Reference) -> bool | Value | None:
    """Whether these are one object: known, or told at run time; None where nothing tells."""
    if not all(lowering.outside.is_seen(one.storage) for one in (item, other)):
        return False
    if getattr(item, "path", ()) or getattr(other, "path", ()):  # views that are made here
        return False
    found, before = _found(lowering, item.storage), _found(lowering, other.storage)
    if found is not None and before is not None:
        is_same = found[0] is before[0]
        kind: DependencyKind = "same" if is_same else "other"
        key = (kind, before[1].place, found[1].place)
        lowering.outside.dependencies[key] = Dependency(found[1], before[1], kind)
        return is_same
    if type(item) is not type(other):
        return False
    values = [_as_given(lowering, one.storage) for one in (item, other)]
    if any(value is None for value in values):
        return None
    tree = {"args": tuple(values), "keywords": {}, "type": BOOL}
    return lowering.plain(RUN, tree, operator.is_)


def _as_given(lowering: Lowering, storage: Storage) -> Value | None:
    """The leaf that an array or list was given as; None if it was not one leaf."""
    held = lowering.outside.originals.get(storage, lowering.contents[storage])
    value = first(lowering, held) if isinstance(held, Value) else None
    return None if value is None or lowering.builder.definition(value) is not None else value


def check_items(lowering: Lowering, items: Iterable[FrontendValue]) -> None:
    """Refuse, at run time, what is given and holds an array or list twice, where lists among these
    hold what is not known one by one."""
    given = [item for item in items if isinstance(item, (Ref, ListRef))]
    given = [item for item in given if lowering.outside.is_seen(item.storage)]
    values = {item: lowering.contents[item.storage] for item in given}
    found = [item for item, value in values.items() if isinstance(value, Value)]
    holding = [i for i in found if isinstance(i, ListRef) and not holds_numbers(lowering, i)]
    if holding:
        tree = {"args": tuple(values[i] for i in found), "keywords": {}, "type": BOOL}
        differ = lowering.plain(RUN, tree, are_distinct)
        what = f"`{holding[0].storage.name}` holds an array or list twice, which is copied once"
        lowering.check(differ, what, "copy what it holds, one by one", AliasingError)


def _found(lowering: Lowering, storage: Storage) -> tuple[Any, AccessPath] | None:
    """The object from outside that has a storage, and where it is found."""
    outside = lowering.outside
    if storage in outside.containers:
        ref: ObjectRef = outside.containers[storage]
        return ref.target, ref.path
    for capture, _ in outside.captures:
        item = outside.captured[capture.path.place]
        if isinstance(item, (Ref, ListRef, DictRef)) and item.storage in outside.memory:
            found = _below(lowering, item, outside.memory[item.storage], capture.path, storage)
            if found is not None:
                return found
    return None


def _below(
    lowering: Lowering, item: FrontendValue, value: Any, path: AccessPath, storage: Storage
) -> tuple[Any, AccessPath] | None:
    """The same, of what is this value or in it."""
    if getattr(item, "storage", None) is storage:
        return value, path
    parts = parts_of(item, lowering.outside.entered) if isinstance(item, _CONTAINERS) else None
    for key, part in parts.by_key().items() if parts is not None else ():
        found = _below(lowering, part, value[key], path.item(key), storage)
        if found is not None:
            return found
    return None


_CONTAINERS = (ListRef, DictRef)
