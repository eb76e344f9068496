"""What is carried by a loop: names and attributes, or memory; and the parts of what they hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gradscribe.frontend.kinds import trees
from gradscribe.frontend.kinds.trees import Parts, Shape
from gradscribe.frontend.memory.reach import storages
from gradscribe.frontend.state.carried_entry import Path
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    BoundMethod,
    Cell,
    DictRef,
    Either,
    FrontendValue,
    InstanceRef,
    Items,
    ListRef,
    LocalFunction,
    ObjectRef,
    PartialOf,
    Ref,
    Reference,
    Static,
    Storage,
    TupleOf,
    Unbound,
    is_number,
)


def is_carried(item: FrontendValue | Items) -> bool:
    """Whether a part of a carried value is, or holds, run-time values; others stay as they are."""
    if isinstance(item, Static):
        return is_number(item)
    return not isinstance(item, (BoundMethod, LocalFunction, ObjectRef, PartialOf))


def parts_of(item: FrontendValue | Items, contents: Mapping[Storage, Any]) -> Parts | None:
    """The parts of a carried value, or of what memory holds; None of a leaf."""
    if isinstance(item, dict):
        return Parts(Shape(DictRef, dict, tuple(item)), tuple(item.values()))
    if isinstance(item, tuple):
        return Parts(Shape(ListRef, list, tuple(range(len(item)))), item)
    return trees.parts_of(item, contents) if is_carried(item) else None


def is_memory(key: Any) -> bool:
    """Whether what is carried are the contents of an array or container, not what a name or an
    attribute is bound to."""
    return isinstance(key, Storage) and not isinstance(key, Cell)


def held(
    names: Mapping[str, FrontendValue], contents: Mapping[Storage, Any], key: Any
) -> FrontendValue | Items:
    """What a name, attribute or piece of memory holds in a state."""
    return contents[key] if is_memory(key) else bound(names, contents, key)


def bound(
    names: Mapping[str, FrontendValue], contents: Mapping[Storage, Any], key: str | Cell
) -> FrontendValue:
    """What a name or attribute is bound to in a state."""
    if isinstance(key, Cell):
        found: FrontendValue = contents[key][key.name]
        return found
    return names.get(key, _MISSING)


_MISSING = Unbound("")


def reached(
    lowering: Lowering, key: Any, item: FrontendValue | Items
) -> Iterator[tuple[Path, Reference]]:
    """What has a storage among all that a name reaches (or, of memory, what is held in it), each
    with the path of the part that it belongs to."""
    if isinstance(item, (tuple, dict)):
        yield from _below(lowering, item, (), set())
    elif not is_memory(key):
        yield from _reached(lowering, item, (), set())


def _reached(
    lowering: Lowering, item: FrontendValue, path: Path, seen: set[Storage]
) -> Iterator[tuple[Path, Reference]]:
    if isinstance(item, TupleOf):
        yield from _below(lowering, item.items, path, seen)
    elif isinstance(item, Either):
        for one in (item.first, item.second):
            yield from _reached(lowering, one, path, seen)
    elif isinstance(item, Ref):
        yield path, item
    elif not isinstance(item, (ListRef, DictRef, InstanceRef)):
        yield from ((path, Ref(storage)) for storage in storages(lowering, item))
    elif item.storage not in seen:
        yield path, item
        if isinstance(item, InstanceRef):
            attributes: Items = {cell.name: DictRef(cell) for cell in lowering.cells(item)}
            yield from _below(lowering, attributes, path, seen | {item.storage})
        elif isinstance(items := lowering.contents[item.storage], (tuple, dict)):
            yield from _below(lowering, items, path, seen)


def _below(
    lowering: Lowering, items: Items, path: Path, seen: set[Storage]
) -> Iterator[tuple[Path, Reference]]:
    pairs: Iterable[tuple[Any, FrontendValue]]
    pairs = items.items() if isinstance(items, dict) else enumerate(items)
    for key, item in pairs:
        yield from _reached(lowering, item, (*path, key), seen)
