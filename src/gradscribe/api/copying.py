"""Copies of the callables of this package: they are copied and pickled as functions are."""

from __future__ import annotations

import sys
from pickle import PicklingError
from typing import Any

from gradscribe.ir.probing import probe


class CopiedAsFunction:
    """A callable with the names of a function. A copy of it is itself; pickled, it is the name
    under which it can be imported."""

    def __copy__(self) -> CopiedAsFunction:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> CopiedAsFunction:
        return self

    def __reduce__(self) -> Any:
        """Raises PicklingError where its name is not that of itself."""
        if imported(self) is not self:
            raise not_importable(self)
        return str(self.__qualname__)


def imported(function: Any) -> Any:
    """What can be imported under the name of a function; None where nothing can."""
    found: Any = sys.modules.get(probe(function, "__module__") or "")
    for part in probe(function, "__qualname__", "<nameless>").split("."):
        found = getattr(found, part, None)
    return found


def not_importable(function: Any) -> PicklingError:
    """The error for a callable that cannot be pickled by its name."""
    name = probe(function, "__qualname__", type(function).__name__)
    return PicklingError(
        f"{function!r} cannot be pickled: `{name}` of module `{function.__module__}` is something "
        "else, and functions are pickled by their names. Define it at the top level of a module, "
        "or make it anew where it is loaded."
    )
