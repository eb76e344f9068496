"""What is known of several things: all of it, or nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

_T = TypeVar("_T")


def all_known(items: Iterable[_T | None]) -> list[_T] | None:
    """The items, if none of them is None."""
    found = []
    for item in items:
        if item is None:
            return None
        found.append(item)
    return found
