"""What a call at run time is given: frontend values as trees of static objects and IR values."""

from __future__ import annotations

from typing import Any

from gradscribe.frontend.lowering import Lowering
from gradscribe.frontend.values import DictRef, ListRef, ObjectRef, Static, TupleOf
from gradscribe.ir.core import SliceOf


def argument_of(lowering: Lowering, item: Any) -> Any:
    """A value as an argument of such a call: a tree of static objects and IR values."""
    if isinstance(item, Static):
        return item.value
    if isinstance(item, slice):
        parts = (item.start, item.stop, item.step)
        return SliceOf(*(None if p is None else argument_of(lowering, p) for p in parts))
    if isinstance(item, TupleOf) and item.cls is tuple:
        return tuple(argument_of(lowering, below) for below in item.items)
    if isinstance(item, (ListRef, DictRef)):
        contents = lowering.contents[item.storage]
        if isinstance(contents, tuple):
            return [argument_of(lowering, below) for below in contents]
        if isinstance(contents, dict):
            return {key: argument_of(lowering, below) for key, below in contents.items()}
    if isinstance(item, ObjectRef):
        from gradscribe.frontend.inputs import captured_object

        return captured_object(lowering, item)
    return lowering.value(item)
