"""Weak references, which tell when nobody has an object any more.

Of objects that the function makes, compiled code has its own in their place, or none, which live
longer, or not as long: what such a reference says of them is not known.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, ObjectRef, Ref, Static
from gradscribe.ir.probing import is_a


def refuse(lowering: Lowering, node: Any, callee: Any, arguments: Sequence[FrontendValue]) -> None:
    """Refuse a weak reference to an object of the program, and what holds such references."""
    is_class = is_a(callee, type) and issubclass(callee, (*_REFERENCES, *_CONTAINERS))
    if not (is_class or callee is weakref.proxy):
        return
    if is_class and issubclass(callee, _CONTAINERS):
        refuse_asking(lowering, node, callee.__name__)
    if arguments and not _is_found(lowering, arguments[0]):
        refuse_asking(lowering, node, callee.__name__)


def refuse_asking(lowering: Lowering, node: Any, name: str) -> None:
    """Refuse what asks whether somebody has an object."""
    lowering.unsupported(
        node,
        f"`{name}` tells how long an object that is made here lives, which is not known",
        "refer to it by its name, or make the object and the reference outside",
    )


_REFERENCES = (weakref.ReferenceType, weakref.finalize)
_CONTAINERS = (weakref.WeakSet, weakref.WeakKeyDictionary, weakref.WeakValueDictionary)


def _is_found(lowering: Lowering, item: FrontendValue) -> bool:
    """Whether this was found outside, and lives on."""
    is_captured = isinstance(item, Ref) and item.storage in lowering.outside.entered
    return is_captured or isinstance(item, (Static, ObjectRef))
