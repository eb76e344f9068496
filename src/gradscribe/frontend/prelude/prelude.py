"""Built-in functions on run-time lists, written in Python.

The frontend lowers these as it lowers the user's functions: what a call of `max` with a key
means is the loop that is written here. Comparisons are made as CPython makes them, in its order.
"""

from __future__ import annotations

import copy
import sys
from typing import Any

import numpy as np

from gradscribe.primitives.lists import order


def remembered(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`function(*args, **kwargs)`, for a function that remembers its results."""
    return function(*args, **kwargs)


def any_of(items: Any) -> bool:
    for item in items:
        if item:
            return True
    return False


def all_of(items: Any) -> bool:
    for item in items:
        if not item:
            return False
    return True


def is_equal(item: Any, other: Any) -> bool:
    """Whether containers take two items for the same."""
    return item is other or item == other


def are_equal(items: Any, others: Any) -> bool:
    """Whether sequences of one length hold the same."""
    for item, other in zip(items, others):  # noqa: B905
        if not is_equal(item, other):
            return False
    return True


def are_ordered(items: Any, others: Any, comparison: Any) -> Any:
    """The order of sequences: that of the first items that differ, or of the lengths."""
    for item, other in zip(items, others):  # noqa: B905
        if not is_equal(item, other):
            return comparison(item, other)
    return comparison(len(items), len(others))


def contains(items: Any, wanted: Any) -> bool:
    for item in items:
        if is_equal(item, wanted):
            return True
    return False


def count(items: Any, wanted: Any) -> int:
    found = 0
    for item in items:
        if is_equal(item, wanted):
            found += 1
    return found


def index(items: Any, wanted: Any) -> int:
    for i, item in enumerate(items):
        if is_equal(item, wanted):
            return i
    raise ValueError("the item is not in the list")


def index_of_number(items: Any, wanted: Any) -> int:
    for i, item in enumerate(items):
        if is_equal(item, wanted):
            return i
    raise ValueError(_NOT_FOUND.format(wanted))


def index_to_remove(items: Any, wanted: Any) -> int:
    for i, item in enumerate(items):
        if is_equal(item, wanted):
            return i
    raise ValueError("list.remove(x): x not in list")


_NOT_FOUND = "{!r} is not in list" if sys.version_info < (3, 14) else "list.index(x): x not in list"
"""What `list.index` raises."""


def largest(items: Any) -> Any:
    if len(items) == 0:
        raise ValueError("max() iterable argument is empty")
    best = items[0]
    for item in items[1:]:
        if item > best:
            best = item
    return best


def smallest(items: Any) -> Any:
    if len(items) == 0:
        raise ValueError("min() iterable argument is empty")
    best = items[0]
    for item in items[1:]:
        if item < best:
            best = item
    return best


def largest_by(items: Any, key: Any) -> Any:
    if len(items) == 0:
        raise ValueError("max() iterable argument is empty")
    best = items[0]
    best_key = key(best)
    for item in items[1:]:
        item_key = key(item)
        if item_key > best_key:
            best, best_key = item, item_key
    return best


def smallest_by(items: Any, key: Any) -> Any:
    if len(items) == 0:
        raise ValueError("min() iterable argument is empty")
    best = items[0]
    best_key = key(best)
    for item in items[1:]:
        item_key = key(item)
        if item_key < best_key:
            best, best_key = item, item_key
    return best


def in_order(items: Any, reverse: bool) -> Any:
    return [items[i] for i in order(items, reverse)]


def in_order_by(items: Any, key: Any, reverse: bool) -> Any:
    return [items[i] for i in order([key(item) for item in items], reverse)]


def listed(items: Any) -> Any:
    return [item for item in items]


def deeply_copied(items: Any) -> Any:
    return [copy.deepcopy(item) for item in items]


def product(items: Any, start: Any) -> Any:
    for item in items:
        start = start * item
    return start


def bounds_of_slice(start: Any, stop: Any, count: Any) -> Any:
    if start is None:
        start = 0
    elif start < 0:
        start = max(start + count, 0)
    if stop is None or stop > count:
        stop = count
    elif stop < 0:
        stop = stop + count
    return start, stop


def end_of_part(array: Any, number: Any, count: Any, axis: Any) -> Any:
    if number == 1 and array.shape[axis] % count != 0:
        raise ValueError("array split does not result in an equal division")
    length = array.shape[axis] // count
    return length if number == 1 else number * length


def part(array: Any, start: Any, stop: Any, axis: Any) -> Any:
    axes_before = axis if axis >= 0 else axis + array.ndim
    return array[(slice(None),) * axes_before + (slice(start, stop),)]


def extended(array: Any, axis: Any, before: Any, after: Any) -> Any:
    parts: tuple[Any, ...] = (array,)
    if before is not None:
        parts = (one_slice(before, array, axis), *parts)
    if after is not None:
        parts = (*parts, one_slice(after, array, axis))
    return np.concatenate(parts, axis=axis)


def one_slice(part: Any, array: Any, axis: Any) -> Any:
    if np.ndim(part) > 0:
        return part
    along = axis % np.ndim(array)
    return np.broadcast_to(part, (*array.shape[:along], 1, *array.shape[along + 1 :]))


def converted(x: Any, dtype: Any) -> Any:
    return np.asarray(x, dtype=dtype)[()]


def spliced(items: Any, start: Any, stop: Any, others: Any) -> Any:
    count = len(items)
    first = 0 if start is None else start if start >= 0 else max(start + count, 0)
    last = count if stop is None else stop if stop >= 0 else max(stop + count, 0)
    return items[:first] + others + items[max(first, last) :]
