"""What is carried by a loop: names and attributes, or memory; and the parts of what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradscribe.frontend.lowering import PLAIN_NUMBERS
from gradscribe.frontend.values import (
    BoundMethod,
    Cell,
    LocalFunction,
    ObjectRef,
    PartialOf,
    Static,
    Storage,
    Unbound,
)


def is_carried(item: Any) -> bool:
    """Whether a part of a carried value is, or holds, run-time values; others stay as they are."""
    if isinstance(item, Static):
        return isinstance(item.value, PLAIN_NUMBERS)
    return not isinstance(item, (BoundMethod, LocalFunction, ObjectRef, PartialOf))


def is_memory(key: Any) -> bool:
    """Whether what is carried are the contents of an array or container, not what a name or an
    attribute is bound to."""
    return isinstance(key, Storage) and not isinstance(key, Cell)


def held(names: Mapping[str, Any], contents: Mapping[Storage, Any], key: Any) -> Any:
    """What a name, attribute or piece of memory holds in a state."""
    if isinstance(key, Cell):
        return contents[key][key.name]
    return contents[key] if isinstance(key, Storage) else names.get(key, _MISSING)


_MISSING = Unbound("")
