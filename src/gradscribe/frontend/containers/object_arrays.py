"""Arrays of objects and strings: tables of pointers, of moves, of what has no number yet.

They are made, filled and read by the running program; nothing of them is differentiated.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gradscribe.frontend.kinds import varying
from gradscribe.frontend.memory.sequences import known_items
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, ListRef, Static, TupleOf
from gradscribe.ir.types import Opaque

_DTYPE_SECOND: tuple[Any, ...] = (np.empty, np.zeros, np.ones, np.array, np.asarray)
_DTYPE_SECOND += (np.empty_like, np.zeros_like, np.ones_like)
_DTYPE_AT: dict[Any, int] = dict.fromkeys(_DTYPE_SECOND, 1) | {np.full: 2, np.full_like: 2}
"""The functions that may make such an array: which of their arguments is the dtype."""


def made(
    lowering: Lowering,
    node: Any,
    callee: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> FrontendValue | None:
    """The array that a call makes, if it holds objects or strings; else None."""
    position = _DTYPE_AT.get(callee)
    if position is None:
        return None
    positional = arguments[position] if len(arguments) > position else None
    if not _holds_objects(lowering, callee, arguments, keywords.get("dtype", positional)):
        return None
    if any(varying.may_vary(lowering, item) for item in (*arguments, *keywords.values())):
        return None
    return unknown.emit(lowering, callee, arguments, keywords, Opaque(np.ndarray))


def _holds_objects(
    lowering: Lowering, callee: Any, arguments: tuple[FrontendValue, ...], dtype: Any
) -> bool:
    if isinstance(dtype, Static) and dtype.value is not None:
        try:
            return np.dtype(dtype.value).kind in "OUS"
        except TypeError:
            return False  # it is no dtype: the call raises
    is_given = callee in (np.array, np.asarray) and arguments
    return bool(is_given) and _is_object(lowering, arguments[0])


def _is_object(lowering: Lowering, item: FrontendValue) -> bool:
    """Whether this is None or a string, or a list in which one is first."""
    if isinstance(item, Static):
        return item.value is None or isinstance(item.value, str)
    if isinstance(item, (TupleOf, ListRef)):
        items = known_items(lowering, item)
        return items is not None and any(_is_object(lowering, first) for first in items[:1])
    return False


def store(
    lowering: Lowering, node: Any, owner: FrontendValue, index: FrontendValue, item: FrontendValue
) -> None:
    """`owner[index] = item` of an object that is only known at run time."""
    if varying.may_vary(lowering, item):
        lowering.unsupported(
            node,
            "what is stored in an array of objects has no derivative",
            "use an array of numbers, or a list",
        )
    unknown.emit(lowering, operator.setitem, (owner, index, item), {}, Opaque())
