"""Functions that are called when nobody has an object any more: `weakref.finalize`, and callbacks
of weak references.

Of objects that the function makes, compiled code has its own in their place, or none, which live
longer, or not as long: when such a function would be called is not known.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, ObjectRef, Ref, Static
from gradscribe.ir.probing import is_a


def refuse(lowering: Lowering, node: Any, callee: Any, arguments: Sequence[FrontendValue]) -> None:
    """Refuse a call that lets a function wait for the end of an object of the program."""
    is_reference = is_a(callee, type) and issubclass(callee, _WAITING)
    if len(arguments) < 2 or not (is_reference or callee is weakref.proxy):
        return
    referent, callback, *_ = arguments
    if not _is_found(lowering, referent) and callback != Static(None):
        lowering.unsupported(
            node,
            f"`{callee.__name__}` lets a function wait until nobody has an object that is made "
            "here, and when that is is not known",
            "call that function where it has to run",
        )


_WAITING = (weakref.ReferenceType, weakref.finalize)


def _is_found(lowering: Lowering, item: FrontendValue) -> bool:
    """Whether this was found outside, and lives on."""
    is_captured = isinstance(item, Ref) and item.storage in lowering.outside.entered
    return is_captured or isinstance(item, (Static, ObjectRef))
