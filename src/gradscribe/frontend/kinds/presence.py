"""Whether an attribute that was stored on some paths is there when it is read.

A branch hands on either its value or that there is none. A loop hands on the value of the trips
that stored it, undefined before; to read it then raises. Where Python would find something else
instead (what the class has, a default), it matters whether it was stored.
"""

from __future__ import annotations

from typing import Any

from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import DictRef, ListRef, Ref, TupleOf
from gradscribe.ir import flow
from gradscribe.ir.core import IF, Value
from gradscribe.primitives.control import UNDEF


def may_be_missing(lowering: Lowering, item: Any) -> bool:
    """Whether a frontend value has no value on some path."""
    if isinstance(item, TupleOf):
        return any(may_be_missing(lowering, part) for part in item.items)
    if isinstance(item, (Ref, ListRef, DictRef)):
        item = lowering.contents[item.storage]
    return isinstance(item, Value) and _is_undefined(lowering, item, set())


def catches(lowering: Lowering, error: type[Exception]) -> bool:
    """Whether a handler around what is lowered now catches exceptions of this class."""
    return any(issubclass(error, caught) for _, caught in lowering.exceptions.attempts)


def _is_undefined(lowering: Lowering, value: Value, seen: set[Value]) -> bool:
    if value in seen:
        return False
    seen.add(value)
    return any(
        source is None or _is_undefined(lowering, source, seen)
        for source in sources(lowering, value)
    )


def sources(lowering: Lowering, value: Value) -> list[Value | None]:
    """The values that one is handed on from; None for one that is undefined."""
    operation = lowering.builder.definition(value)
    if operation is None:
        carried = lowering.loops.carried.get(value)
        return [] if carried is None else [carried[2]]
    if operation.primitive is UNDEF:
        return [None]
    found = flow.sources(operation, value)
    if operation.primitive is IF:
        taken = lowering.assumed.get(lowering.numbering.of(operation.operands[0]))
        return [*found] if taken is None else [found[0] if taken else found[1]]
    return [*found]
