"""Operations that are no function of NumPy's, as Python functions that the compiler reads."""

from __future__ import annotations

from typing import Any


def stored(x: Any, value: Any, index: Any) -> Any:
    """x after `x[index] = value`."""
    changed = x.copy()
    changed[index] = value
    return changed


def converted(x: Any, dtype: Any) -> Any:
    """An array of another dtype."""
    return x.astype(dtype)


def item(x: Any) -> Any:
    """The one element, as a number of Python's."""
    return x.item()
