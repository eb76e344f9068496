"""Methods of Tensors in a recorded run, in which they are arrays: what both have by one name, and
mean otherwise (`x.max(1)`, `x.std()`, `x.size`), is refused in functions that are called with
Tensors. Libraries are written for arrays, and have NumPy's."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.kinds.tensors import agrees
from gradscribe.ir.probing import is_library_module
from gradscribe.recording.levels import OF_TENSORS, Traced, refused
from gradscribe.runtime.tensors.tensor import Tensor


def guarded(name: str, found: Any) -> Any:
    """A method or attribute of arrays that record."""
    if name == "size":
        return property(_method(name, found.fget))
    is_method = callable(found) and not name.startswith("_")
    return _method(name, found) if is_method else found


def _method(name: str, found: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(found)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        is_one = agrees(name, (*args, *kwargs), Tensor)
        cuts = name in _CUTTING and type(self._present()) is Traced
        if OF_TENSORS.get() and (cuts or not is_one) and _is_called_by_user():
            raise refused(
                UnsupportedError(
                    f"`{name}` means one thing for Tensors and another for arrays, which they are "
                    "in a function that runs as it is",
                    "pass arrays"
                    if cuts
                    else f"write the function, `np.{name}(x, …)`, or pass arrays",
                )
            )
        return found(self, *args, **kwargs)

    return method


_CUTTING = frozenset({"item", "tolist"})
"""What gives plain numbers of a Tensor, and those that are differentiated of an array."""


def _is_called_by_user() -> bool:
    return not is_library_module(sys._getframe(2).f_globals.get("__name__"))
