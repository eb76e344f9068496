"""What NumPy makes of the arguments of its functions, where that is not what one would expect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_COUNTING = frozenset({"mean", "std", "var", "nanmean", "nanstd", "nanvar"})


def counts_by_value(callee: Any) -> bool:
    """Whether a function counts the elements that take part by adding up what is given as `where`,
    which may be numbers."""
    return getattr(callee, "__name__", getattr(callee, "name", None)) in _COUNTING


def options_of_method(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a method of a ufunc that NumPy has handed over (NEP 13): what the program
    gives by name of its arguments is there, too, and among the inputs."""
    return {name: value for name, value in kwargs.items() if name not in ("array", "indices")}
