"""Masks of NumPy's functions, `where=`, given as numbers."""

from __future__ import annotations

from typing import Any

_COUNTING = frozenset({"mean", "std", "var", "nanmean", "nanstd", "nanvar"})


def counts_by_value(callee: Any) -> bool:
    """Whether a function counts the elements that take part by adding up what it is given."""
    return getattr(callee, "__name__", getattr(callee, "name", None)) in _COUNTING
