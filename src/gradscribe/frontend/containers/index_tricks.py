"""`np.r_[…]`, `np.c_[…]`, `np.mgrid[…]`, `np.ogrid[…]`: indices whose slices are ranges."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.frontend.kinds.static_values import stands_for
from gradscribe.frontend.memory.sequences import known_items, new_list
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    FrontendValue,
    ListRef,
    ObjectRef,
    Ref,
    Static,
    TupleOf,
)
from gradscribe.ir.types import Array, Scalar


def joined(
    lowering: Lowering, node: Any, owner: FrontendValue, index: FrontendValue
) -> FrontendValue | None:
    """What the index makes, where `owner` is one of those; else None."""
    trick = _object(owner)
    if trick is np.mgrid or trick is np.ogrid:
        return _grid(lowering, node, index, trick is np.ogrid)
    joining = next((f for known, f in _JOINING if trick is known), None)
    if joining is None:
        return None
    given = index.items if isinstance(index, TupleOf) else (index,)
    if any(stands_for(part, str) for part in given):
        lowering.unsupported(
            node, "a directive among the parts is not supported", "call `np.concatenate`"
        )
    parts = [_part(lowering, node, part) for part in given]
    _refuse_other_numbers(lowering, node, parts)
    if trick is np.r_:
        parts = [_with_axis(lowering, part) for part in parts]
    return lowering.call(node, Static(joining), (TupleOf(tuple(parts)),), {})


def _grid(lowering: Lowering, node: Any, index: FrontendValue, is_open: bool) -> FrontendValue:
    """`np.mgrid[…]` and `np.ogrid[…]`: the coordinates of the points between the slices."""
    if isinstance(index, slice):
        return _part(lowering, node, index)
    items = known_items(lowering, index)
    if items is None:
        lowering.raises(node, AttributeError("an index of a grid is no slice"))
    ranges = tuple(_part(lowering, node, part) for part in items)
    form = {"indexing": Static("ij"), "sparse": Static(is_open)}
    grids = lowering.call(node, Static(np.meshgrid), ranges, form)
    return grids if is_open else lowering.call(node, Static(np.stack), (grids,), {})


def _with_axis(lowering: Lowering, part: Any) -> FrontendValue:
    """A number as the list of it; arrays and lists as they are."""
    return part if isinstance(part, (Ref, ListRef)) else new_list(lowering, (part,))


def _object(owner: FrontendValue) -> Any:
    """The Python object that a frontend value stands for, if it does."""
    if isinstance(owner, ObjectRef):
        return owner.target
    return owner.value if isinstance(owner, Static) else None


_JOINING = ((np.r_, np.concatenate), (np.c_, np.column_stack))


def _part(lowering: Lowering, node: Any, part: FrontendValue) -> FrontendValue:
    """A slice as the range that it stands for: of so many points, if its step is imaginary."""
    if not isinstance(part, slice):
        return part
    start = Static(0) if part.start is None else part.start
    if isinstance(part.step, Static) and isinstance(part.step.value, complex):
        points = Static(int(abs(part.step.value)))
        return lowering.call(node, Static(np.linspace), (start, part.stop, points), {})
    step = () if part.step is None else (part.step,)
    return lowering.call(node, Static(np.arange), (start, part.stop, *step), {})


def _refuse_other_numbers(lowering: Lowering, node: Any, parts: list[Any]) -> None:
    """Python's numbers take the type of the arrays that they are joined with: here they do only
    where that is the type that they have anyway."""
    types = [lowering.load(part).type for part in parts if isinstance(part, Ref)]
    narrow = any(isinstance(t, Array) and t.dtype in _NARROW for t in types)
    if narrow and any(_is_weak(part) for part in parts):
        lowering.unsupported(
            node, "numbers beside arrays of this type are not supported", "make them arrays"
        )


_NARROW = frozenset({"float32", "float16", "complex64", "int32", "int16", "int8", "uint8"})


def _is_weak(part: Any) -> bool:
    if isinstance(part, Static):
        return True
    type_ = getattr(part, "type", None)
    return isinstance(type_, Scalar) and type_.weak
