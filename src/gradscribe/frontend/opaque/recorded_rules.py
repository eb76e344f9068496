"""The derivatives of recorded calls: of the operation `given`, by the pullback that was saved.

The pullback is called as it is, at run time, and what it gives cannot be differentiated again.
"""

from __future__ import annotations

from typing import Any

from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.state.handlers import ObjectsOf, handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, Static, TupleOf
from gradscribe.ir.core import Method
from gradscribe.ir.types import Tuple
from gradscribe.primitives.control import RUN
from gradscribe.primitives.recorded_functions import Pull, Push


@handles(ObjectsOf(Pull))
def _pull(
    lowering: Lowering,
    node: Any,
    rule: Static,
    out: FrontendValue,
    inputs: TupleOf,
    saved: TupleOf,
    d_out: FrontendValue,
    /,
) -> TupleOf:
    given = d_out.items if isinstance(d_out, TupleOf) else (d_out,)
    return TupleOf(_applied(lowering, Method("__call__"), saved, given, inputs.items))


@handles(ObjectsOf(Push))
def _push(
    lowering: Lowering,
    node: Any,
    rule: Static,
    out: FrontendValue,
    inputs: TupleOf,
    saved: TupleOf,
    d_inputs: TupleOf,
    /,
) -> FrontendValue:
    likes = out.items if isinstance(out, TupleOf) else (out,)
    found = _applied(lowering, Method("tangent"), saved, d_inputs.items, likes)
    return TupleOf(found) if isinstance(out, TupleOf) else found[0]


def _applied(
    lowering: Lowering,
    method: Method,
    saved: TupleOf,
    given: tuple[FrontendValue, ...],
    likes: tuple[FrontendValue, ...],
) -> tuple[FrontendValue, ...]:
    """What the pullback gives for these (co)tangents: values of the types of those."""
    types = tuple(lowering.value(like).type for like in likes)
    type_ = types[0] if len(types) == 1 else Tuple(types)
    made = unknown.emit(lowering, method, (saved.items[0], *given), {}, type_, RUN)
    return (made,) if len(types) == 1 else tuple(lowering.unpacked(None, made))
