"""Lists, tuples and dicts as code that is not followed gets them: where items of one record, there
are plain ones in another in its place, which that code may not change."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from gradscribe.errors import UnsupportedError
from gradscribe.recording.levels import refused


class Containers:
    """The containers that are given in place of others.

    stand_in: what is given for an item, or a container. keeps_lists: whether a list or tuple whose
    items are given themselves is given itself.
    """

    def __init__(self, stand_in: Callable[[Any], Any], *, keeps_lists: bool = True) -> None:
        self._stand_in = stand_in
        self._keeps_lists = keeps_lists
        self._made: list[tuple[Any, list[Any]]] = []

    def of(self, value: Any) -> Any:
        """What is given for a list, tuple or dict."""
        is_dict = isinstance(value, dict)
        own = list(value.values()) if is_dict else value
        items = list(map(self._stand_in, own))
        if (is_dict or self._keeps_lists) and all(map(operator.is_, items, own)):
            return value
        if is_dict:
            made: Any = dict(zip(value, items, strict=True))
        else:
            made = type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        self._made.append((made, items))
        return made

    def check(self, name: str) -> None:
        """Refuse a call that has changed one of them. name: what was called."""
        for made, items in self._made:
            own = list(made.values()) if isinstance(made, dict) else made
            if len(own) != len(items) or not all(map(operator.is_, own, items)):
                raise refused(
                    UnsupportedError(
                        f"`{name}` changes a list or dict that holds what records",
                        "let it return what is new",
                    )
                )
