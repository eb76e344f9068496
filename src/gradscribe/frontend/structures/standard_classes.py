"""Containers of the standard library, written in Python, and lowered as a user's classes.

`collections.deque`, `defaultdict` and `Counter` are made of lists and dicts here; `heapq` works on
lists as they are. What they hold is differentiated through as what lists and dicts hold is.
"""

from __future__ import annotations

import collections
import operator
from typing import Any

import numpy as np

from gradscribe.frontend.prelude.standard_polynomials import Polynomial
from gradscribe.frontend.structures.keyed import KeyedItems, OrderedItems
from gradscribe.frontend.values.values import FrontendValue, InstanceRef
from gradscribe.primitives.registry import STAND_INS


class Queue:
    """A `collections.deque`, as a list."""

    def __init__(self, items: Any = (), maxlen: Any = None) -> None:
        if maxlen is not None and operator.index(maxlen) < 0:
            raise ValueError("maxlen must be non-negative")
        self.held: list[Any] = []
        self.maxlen = maxlen
        self.extend(items)

    def __len__(self) -> int:
        return len(self.held)

    def __iter__(self) -> Any:
        return self.held

    def __contains__(self, item: Any) -> bool:
        return item in self.held

    def __getitem__(self, position: Any) -> Any:
        refuse_slice(position)
        return self.held[position]

    def __setitem__(self, position: Any, item: Any) -> None:
        refuse_slice(position)
        self.held[position] = item

    def append(self, item: Any) -> None:
        self.held.append(item)
        if self.maxlen is not None and len(self.held) > self.maxlen:
            self.held.pop(0)

    def appendleft(self, item: Any) -> None:
        self.held.insert(0, item)
        if self.maxlen is not None and len(self.held) > self.maxlen:
            self.held.pop()

    def extend(self, items: Any) -> None:
        for item in items:
            self.append(item)

    def extendleft(self, items: Any) -> None:
        for item in items:
            self.appendleft(item)

    def pop(self) -> Any:
        return self.held.pop()

    def popleft(self) -> Any:
        return self.held.pop(0)

    def rotate(self, steps: int = 1) -> None:
        count = len(self.held)
        if count:
            start = -steps % count
            self.held = self.held[start:] + self.held[:start]

    def reverse(self) -> None:
        self.held.reverse()

    def clear(self) -> None:
        self.held.clear()

    def copy(self) -> Queue:
        return Queue(self.held, self.maxlen)

    def count(self, item: Any) -> int:
        return self.held.count(item)

    def index(self, item: Any) -> int:
        return self.held.index(item)


class HeldItems:
    """A dict that is an object, for classes that are dicts and more."""

    held: dict[Any, Any]

    def __len__(self) -> int:
        return len(self.held)

    def __iter__(self) -> Any:
        return self.held.keys()

    def __contains__(self, key: Any) -> bool:
        return key in self.held

    def __setitem__(self, key: Any, item: Any) -> None:
        self.held[key] = item

    def get(self, key: Any, default: Any = None) -> Any:
        return self.held.get(key, default)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        return self.held.setdefault(key, default)

    def pop(self, key: Any, *default: Any) -> Any:
        return self.held.pop(key, *default)

    def popitem(self) -> Any:
        return self.held.popitem()

    def clear(self) -> None:
        self.held.clear()

    def keys(self) -> Any:
        return self.held.keys()

    def values(self) -> Any:
        return self.held.values()

    def items(self) -> Any:
        return self.held.items()


class DefaultItems(HeldItems):
    """A `collections.defaultdict`, as a dict."""

    def __init__(self, default_factory: Any = None, items: Any = (), **named: Any) -> None:
        if default_factory is not None and not callable(default_factory):
            raise TypeError("first argument must be callable or None")
        self.default_factory = default_factory
        self.held = dict(items, **named)

    def __getitem__(self, key: Any) -> Any:
        if self.default_factory is not None and key not in self.held:
            self.held[key] = self.default_factory()
        return self.held[key]

    def __delitem__(self, key: Any) -> None:
        del self.held[key]

    def update(self, *others: Any, **named: Any) -> None:
        self.held.update(*others, **named)


class CountedItems(HeldItems):
    """A `collections.Counter`, as a dict."""

    def __init__(self, items: Any = (), **named: Any) -> None:
        self.held = {}
        self.update(items, **named)

    def __getitem__(self, key: Any) -> Any:
        return self.held.get(key, 0)

    def __missing__(self, key: Any) -> Any:
        return 0

    def __delitem__(self, key: Any) -> None:
        if key in self.held:
            del self.held[key]

    def update(self, items: Any = (), **named: Any) -> None:
        if hasattr(items, "items"):
            self._add(items)
        else:
            for key in items:
                self.held[key] = self.held.get(key, 0) + 1
        if named:
            self._add(named)

    def _add(self, counts: Any) -> None:
        """Take these counts over as they are, where there are no others yet."""
        if self.held:
            for key, count in counts.items():
                self.held[key] = count + self.held.get(key, 0)
        else:
            self.held.update(counts)

    def copy(self) -> CountedItems:
        return CountedItems(self.held)

    def subtract(self, items: Any = ()) -> None:
        if hasattr(items, "items"):
            for key, count in items.items():
                self.held[key] = self.held.get(key, 0) - count
        else:
            for key in items:
                self.held[key] = self.held.get(key, 0) - 1

    def most_common(self, n: Any = None) -> Any:
        pairs = sorted(self.held.items(), key=lambda pair: pair[1], reverse=True)
        return pairs if n is None else pairs[: max(n, 0)]

    def total(self) -> Any:
        return sum(self.held.values())


def refuse_slice(position: Any) -> None:
    if isinstance(position, slice):
        raise TypeError("sequence index must be integer, not 'slice'")


def hashed(item: Any) -> Any:
    """The item, if it can be one of a set: `sets._hashed`."""
    raise NotImplementedError


class DistinctItems:
    """A set of objects, as a list: objects have no order of their own in a set."""

    def __init__(self, items: Any = ()) -> None:
        self.held: list[Any] = []
        self.update(items)

    def __len__(self) -> int:
        return len(self.held)

    def __iter__(self) -> Any:
        return self.held

    def __contains__(self, item: Any) -> bool:
        return hashed(item) in self.held

    def add(self, item: Any) -> None:
        if hashed(item) not in self.held:
            self.held.append(item)

    def discard(self, item: Any) -> None:
        if hashed(item) in self.held:
            self.held.remove(item)

    def remove(self, item: Any) -> None:
        if hashed(item) not in self.held:
            raise KeyError(item)
        self.held.remove(item)

    def pop(self) -> Any:
        return self.held.pop()

    def update(self, *others: Any) -> None:
        for items in others:
            for item in items:
                self.add(item)

    def union(self, *others: Any) -> DistinctItems:
        made = DistinctItems(self.held)
        made.update(*others)
        return made

    def copy(self) -> DistinctItems:
        return DistinctItems(self.held)

    def clear(self) -> None:
        self.held.clear()


# -- heaps: each item is at most as large as those at twice its position, plus one and two -------


CLASSES: dict[type, type] = {
    collections.deque: Queue,
    collections.defaultdict: DefaultItems,
    collections.Counter: CountedItems,
    np.poly1d: Polynomial,
}
"""What stands for a class of the standard library."""

STAND_INS |= {
    KeyedItems: {},
    OrderedItems: collections.OrderedDict(),
    DistinctItems: set(),
    Queue: collections.deque(),
    DefaultItems: collections.defaultdict(),
    CountedItems: collections.Counter(),
    Polynomial: np.poly1d(1),
}


def example_of(item: FrontendValue) -> Any:
    """An object of the library's, if one of a class in Python stands for such; else None."""
    return STAND_INS.get(item.cls) if isinstance(item, InstanceRef) else None


def class_in_python(item: FrontendValue) -> type | None:
    """The class of a library that an object stands for, if it does."""
    example = example_of(item)
    return None if example is None else type(example)
