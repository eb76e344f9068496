"""One name or storage that a loop carries, and the small helpers around it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gradscribe.frontend.values import Static, Storage
from gradscribe.ir.types import Type


@dataclass(eq=False)
class Entry:
    """One carried name or storage. mode: how it enters the body.

    leaves: it is taken apart; types are those of the leaves. list: a list of known structure
    that becomes one of unknown length. late: it has no value on entry, or one of another
    kind, and has to be assigned in each trip before it is read.
    """

    key: Any
    mode: str = "leaves"
    types: list[Type] | None = None
    overlaps: set[Storage] = field(default_factory=set)
    tokens: set[int] = field(default_factory=set)
    reason: str = ""
    count: int = 0


def flag_of(item: Any) -> Any:
    """A flag as True, False or an IR value."""
    if isinstance(item, Static):
        return bool(item.value)
    return True if item is None else item


def leaf_name(key: Any) -> str:
    name = key.name if isinstance(key, Storage) else key
    return name if isinstance(name, str) and name.isidentifier() else ""
