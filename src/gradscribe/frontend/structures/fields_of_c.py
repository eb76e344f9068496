"""What objects from outside hold in a way of C's: fields of structures of ctypes, attributes of
classes of Cython's. They are read at each call as others are; but C converts what is stored, and
their memory may be that of an array, or of another object."""

from __future__ import annotations

import ctypes
import types
from typing import Any, NoReturn

import numpy as np

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.class_attributes import is_property
from gradscribe.ir.probing import has, in_class


def holds(target: Any, name: str) -> bool:
    """Whether an object holds this in a way that its class tells in C, a slot included."""
    return _is_described_in_c(in_class(type(target), name, None)) and has(target, name)


def is_field(cls: type, name: str) -> bool:
    """Whether C may convert what is stored under this name."""
    kind = in_class(cls, name, None)
    if isinstance(kind, types.MemberDescriptorType) and "__slots__" in vars(kind.__objclass__):
        return False
    return _is_described_in_c(kind)


def _is_described_in_c(kind: Any) -> bool:
    get, *others = (in_class(type(kind), n, None) for n in ("__get__", "__set__", "__delete__"))
    if get is None or is_property(kind) or isinstance(get, types.FunctionType):
        return False
    return any(others) or not callable(kind)


def refuse_read(lowering: Lowering, node: Any, name: str) -> NoReturn:
    """Refuse to read what was stored, which C may have made something else of."""
    lowering.unsupported(
        node,
        f"`{name}`, which is kept in C, is read after it was stored to: C may have converted it",
        "keep what you store in a variable, and read that",
    )


def refuse_shared(lowering: Lowering) -> None:
    """Refuse a function that reads fields of an object in whose memory it stores under another
    name: in an object that another one points to, in another member of a union. (In an array: see
    `outside_memory`.)"""
    outside = lowering.outside
    for target, location in outside.read_in_c.values():
        own = _memory(target)
        if own is None:
            continue
        if any(_is_seen(target, own, other) for other in outside.stored_in_c.values()):
            raise UnsupportedError(
                f"fields of a {type(target).__name__} are read, and its memory is stored to under "
                "another name",
                "read them before the call, and pass them in",
                location,
            )


def _is_seen(target: Any, own: Any, other: Any) -> bool:
    if other is target:
        return isinstance(target, ctypes.Union) or hasattr(target, "_anonymous_")
    memory = _memory(other)
    return memory is not None and np.may_share_memory(own, memory)


def _memory(target: Any) -> Any:
    """The memory of an object, as an array; None where it does not show it."""
    try:
        return np.asarray(memoryview(target).cast("B"))
    except (TypeError, ValueError, BufferError):
        return None
