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
from gradscribe.recording.levels import OF_TENSORS, refused
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
        if OF_TENSORS.get() and not agrees(name, (*args, *kwargs), Tensor) and _is_called_by_user():
            raise refused(
                UnsupportedError(
                    f"`{name}` means one thing for Tensors and another for arrays, which they are "
                    "in a function that runs as it is",
                    f"write the function, `np.{name}(x, …)`, or pass arrays",
                )
            )
        return found(self, *args, **kwargs)

    return method


def _is_called_by_user() -> bool:
    return not is_library_module(sys._getframe(2).f_globals.get("__name__"))
