"""Frontend values and the Python objects that they stand for, where those are known."""

from __future__ import annotations

import types
from typing import Any, TypeGuard

import numpy as np

from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.state import known_inputs
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    PLAIN_NUMBERS,
    FrontendValue,
    ObjectRef,
    Static,
    TupleOf,
)


def stands_for(item: FrontendValue | None, cls: type | tuple[type, ...]) -> TypeGuard[Static]:
    """Whether this is a known object of one of these classes."""
    return isinstance(item, Static) and isinstance(item.value, cls)


def value_of(value: Any) -> FrontendValue:
    """A Python object (a default, a bound `self`) as a frontend value."""
    if value is None or isinstance(value, (*PLAIN_NUMBERS, str, type, types.FunctionType)):
        return Static(value)
    if isinstance(value, tuple):
        return TupleOf(tuple(map(value_of, value)))
    if callable(value) or isinstance(value, (np.dtype, types.ModuleType)):
        return Static(value)
    return ObjectRef(value, AccessPath(value))


def object_of(lowering: Lowering, node: Any, item: FrontendValue) -> Any:
    """The Python object of a value that has to be static, in tuples, too."""
    if isinstance(item, Static):
        return item.value
    if isinstance(item, TupleOf):
        return tuple(object_of(lowering, node, below) for below in item.items)
    known_inputs.demand(lowering, item)
    return lowering.unsupported(
        node,
        "this must be known when the function is compiled",
        "write it as a literal, or pass it to the function: strings, flags and `None` are known",
    )


def effect_argument(lowering: Lowering, item: FrontendValue) -> Any:
    """An argument of a call for its effect: static objects as they are, else a value."""
    if isinstance(item, Static):
        return item.value
    return lowering.value(item)
