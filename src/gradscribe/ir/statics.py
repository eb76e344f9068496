"""Objects that are known when a function is compiled: which of them mean the same."""

from __future__ import annotations

from typing import Any

CONSTANTS = (bool, int, float, complex, str, bytes, slice)
"""Two objects of one of these types that are equal mean the same."""


def same_static(a: Any, b: Any) -> bool:
    """Whether two static objects mean the same: one object, or equal plain constants."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return bool(a == b and str(a) == str(b))
    return isinstance(a, CONSTANTS) and bool(a == b)
