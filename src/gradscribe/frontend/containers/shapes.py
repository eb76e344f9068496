"""The shapes of arrays as tuples."""

from __future__ import annotations

from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, Static, TupleOf
from gradscribe.ir.types import Array
from gradscribe.primitives.indexing import LENGTH


def shape_of(lowering: Lowering, owner: FrontendValue) -> TupleOf:
    """The shape of an array as a tuple: known lengths are static."""
    value = lowering.value(owner)
    if unknown.is_opaque(value):
        unknown.refuse(lowering, lowering.frame.statement)
    dims = value.type.dims if isinstance(value.type, Array) else ()
    return TupleOf(
        tuple(
            Static(dim.known)
            if dim.known is not None
            else lowering.emit(LENGTH, {"x": value, "axis": axis})
            for axis, dim in enumerate(dims)
        )
    )
