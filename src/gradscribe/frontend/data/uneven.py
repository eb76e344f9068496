"""Lists and tuples whose items are of several types: no one IR value holds them.

An item of such a one is read or stored at a place that is known. Where an argument of the function
says which (`parts[number]`), what it is in the specializing call becomes a guard.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.lowering import Lowering
from gradscribe.frontend.values import Static, TupleOf, is_number
from gradscribe.ir.core import Value
from gradscribe.ir.types import JoinError, Scalar, join_items


def place_among(lowering: Lowering, owner: Any, items: tuple[Any, ...], index: Any) -> Any:
    """The index, or slice, of items of known structure: constant where it has to be."""
    if isinstance(index, slice):
        parts = (index.start, index.stop, index.step)
        settles = any(map(_is_of_call, parts)) and (
            isinstance(owner, TupleOf) or not _are_even(lowering, items)
        )
        return slice(*(_settled(lowering, part) for part in parts)) if settles else index
    if not _is_of_call(index) or _are_even(lowering, items):
        return index
    return _settled(lowering, index)


def _is_of_call(index: Any) -> bool:
    """Whether this is an integer that arguments may tell."""
    if not isinstance(index, Value) or not isinstance(index.type, Scalar):
        return False
    return index.type.value is not None


def _settled(lowering: Lowering, index: Any) -> Any:
    if not _is_of_call(index):
        return index
    known = lowering.builder.facts.sampled(index.type.value)
    return index if known is None else Static(known)


def _are_even(lowering: Lowering, items: tuple[Any, ...]) -> bool:
    """Whether a run-time list holds these items."""
    if any(isinstance(item, Static) and not is_number(item) for item in items):
        return False
    try:
        reduce(join_items, [lowering.value(item).type for item in items])
    except (UnsupportedError, JoinError):
        return False
    return True
