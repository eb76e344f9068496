"""Numbers that compiled code takes for addresses: they may lead to any memory.

Comes in: a call of a function of ctypes or cffi, with its arguments. Goes out: that it may write to
whatever the program has found outside, if it is given an address as a number.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any

from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, Static, is_number
from gradscribe.ir.probing import is_a, probe

_FUNCTIONS = frozenset({"cast", "string_at", "wstring_at", "from_address"})
_POINTERS = frozenset("PzZO")
"""The codes of ctypes for what is an address."""


_CALLED: Any = ctypes.CFUNCTYPE(None).__mro__[1]
"""The class of the functions of ctypes."""


def note(lowering: Lowering, callee: Any, arguments: Sequence[FrontendValue]) -> None:
    """Note what a call may lead to by the numbers that it is given."""
    if any(map(_is_given, _taken(callee, arguments))):
        anywhere = ctypes.c_void_p(1)
        lowering.outside.show(anywhere, "the memory at an address", written=True)


def _taken(callee: Any, arguments: Sequence[FrontendValue]) -> Iterator[FrontendValue]:
    """The arguments that a callable takes for addresses, if they are numbers."""
    if is_a(callee, _CALLED):
        types = probe(callee, "argtypes") or ()
        yield from (a for a, type_ in zip(arguments, types, strict=False) if _is_pointer(type_))
    elif isinstance(callee, type):
        yield from arguments[:1] if _is_pointer(callee) else ()
    elif probe(callee, "__name__") in _FUNCTIONS:
        owner = probe(callee, "__self__")
        module = probe(callee, "__module__") or probe(type(owner), "__module__")
        if module in ("ctypes", "_ctypes") or isinstance(owner, type):
            yield from arguments[:1]
        elif module == "_cffi_backend":
            yield from arguments[1:]


def _is_pointer(cls: Any) -> bool:
    is_class = isinstance(cls, type)
    return is_class and (issubclass(cls, ctypes._Pointer) or probe(cls, "_type_") in _POINTERS)


def _is_given(item: FrontendValue) -> bool:
    """Whether this is a number that is, or may be, other than zero."""
    is_zero = isinstance(item, Static) and not item.value
    return is_number(item) and not is_zero
