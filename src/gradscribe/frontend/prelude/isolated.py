"""Calls of the user's own functions at run time that leave the memory of the program alone.

The function is given copies of arrays, so that it may keep them or return views of them, and what
it returns is copied, so that it may return one array twice or use it again. That it writes to its
arguments, which the program would not see, is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from gradscribe.errors import ArgumentError
from gradscribe.ir import overlaps


def apart(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    keywords: Mapping[str, Any],
    refusal: Callable[[], ArgumentError],
) -> Any:
    """`function(*args, **keywords)`, apart from the memory of the program. refusal: makes the error
    for a function that writes to its arguments."""
    given = copied((args, dict(keywords)))
    result = function(*given[0], **given[1])
    if not is_same((args, dict(keywords)), given):
        raise refusal()
    return copied(result)


def copied(value: Any) -> Any:
    """Arrays, in tuples, lists and dicts too, in memory of their own; other values as they are."""
    if type(value) is np.ndarray:
        return overlaps.copied(value)
    if isinstance(value, np.ndarray):
        return value.copy(order="K")
    if type(value) in (tuple, list):
        return type(value)(map(copied, value))
    if type(value) is dict:
        return {key: copied(item) for key, item in value.items()}
    return value


def is_same(value: Any, copy: Any) -> bool:
    """Whether a copy still is what it was made of."""
    if type(value) is not type(copy):
        return False
    if isinstance(value, np.ndarray):
        return bool(value.shape == copy.shape and value.tobytes() == copy.tobytes())
    if type(value) in (tuple, list):
        pairs = zip(value, copy, strict=False)
        return len(value) == len(copy) and all(is_same(*pair) for pair in pairs)
    if type(value) is dict:
        pairs = zip(value.values(), copy.values(), strict=False)
        return list(value) == list(copy) and all(is_same(*pair) for pair in pairs)
    return value is copy


def are_distinct(*items: Any) -> bool:
    """Whether no array or list is there twice among these, and in them."""
    found = list(_within(items))
    return len({id(item) for item in found}) == len(found)


def _within(items: Any) -> Iterator[Any]:
    for item in items:
        if isinstance(item, (np.ndarray, list)):
            yield item
        if isinstance(item, (tuple, list)):
            yield from _within(item)
