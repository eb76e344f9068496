"""Whether an attribute that was stored on some paths is there when it is read.

A branch hands on either its value or that there is none, and so does a loop whose iterations all
store it. Other loops hand on the value of the iterations that stored it, undefined before; to read
it then raises. Where Python would find something else instead (what the class has, a default), it
matters whether it was stored.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import DictRef, FrontendValue, Items, ListRef, Ref, TupleOf
from gradscribe.ir import flow
from gradscribe.ir.core import IF, Value
from gradscribe.primitives.control import UNDEF
from gradscribe.primitives.raising import always_raises


def may_be_missing(lowering: Lowering, item: FrontendValue) -> bool:
    """Whether a frontend value has no value on some path."""
    return any(_is_undefined(lowering, value, set()) for value in _values(lowering, item))


def note_present(lowering: Lowering, item: FrontendValue) -> None:
    """It is known, or a flag tells, whether a loop has left this value: where it is read, it is
    there."""
    lowering.loops.told.update(_values(lowering, item))


def _values(lowering: Lowering, item: FrontendValue) -> Iterator[Value]:
    if isinstance(item, TupleOf):
        for part in item.items:
            yield from _values(lowering, part)
    held: FrontendValue | Items = item
    if isinstance(item, (Ref, ListRef, DictRef)):
        held = lowering.contents[item.storage]
    if isinstance(held, Value):
        yield held


def catches(lowering: Lowering, error: type[Exception]) -> bool:
    """Whether a handler around what is lowered now catches exceptions of this class."""
    return any(issubclass(error, caught) for _, caught in lowering.exceptions.attempts)


def _is_undefined(lowering: Lowering, value: Value, seen: set[Value]) -> bool:
    if value in seen or value in lowering.loops.told:
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
        taken = True if always_raises(operation.regions[1]) else taken
        return [*found] if taken is None else [found[0] if taken else found[1]]
    return [*found]
