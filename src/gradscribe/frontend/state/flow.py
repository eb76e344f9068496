"""Where the values come from that branches and loops hand on.

Comes in: an IR value of the function that is being lowered. Goes out: what it is on each path, or
in the beginning of a loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradscribe.frontend.state.interruptions import SplitError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import Either, FrontendValue
from gradscribe.ir.core import IF, Operation, Value
from gradscribe.ir.flow import sources
from gradscribe.primitives.control import LENT, REREAD, UNDEF, WRITTEN
from gradscribe.primitives.indexing import ACCUMULATE, STORE
from gradscribe.primitives.raising import always_raises

CHANGING = frozenset({STORE, ACCUMULATE, LENT, REREAD, WRITTEN})
"""Operations whose result is, or takes the place of, their first operand."""


def origin(lowering: Lowering, value: Value) -> Operation | None:
    """The operation that made the array which stores and calls have changed since; None, where
    that is given."""
    return lowering.builder.definition(first(lowering, value))


def first(lowering: Lowering, value: Value) -> Value:
    """The array that stores and calls have changed since, as it was made or given."""
    while True:
        made = lowering.builder.definition(value)
        if value in lowering.loops.carried:
            value = lowering.loops.carried[value][2]
        elif made is not None and made.primitive in CHANGING:
            value = made.operands[0]
        else:
            return value


def flowing(lowering: Lowering, value: Value) -> Iterator[Value]:
    """What a loop that is being lowered carries first, or runs over; what a value is on each path
    that comes out of a branch or loop. Nothing, where an operation computes it."""
    definition = lowering.builder.definition(value)
    if definition is None:
        if value in lowering.loops.carried:
            yield lowering.loops.carried[value][2]
        elif value in lowering.loops.rows:
            yield lowering.loops.rows[value]
        return
    found = sources(definition, value)
    is_only = definition.primitive is IF and always_raises(definition.regions[1])
    yield from [*found][:1] if is_only else found


def resolved(lowering: Lowering, item: FrontendValue) -> FrontendValue:
    """A value that is of one kind: of an Either, the alternative that the path tells."""
    while isinstance(item, Either):
        known = lowering.assumed.get(lowering.numbering.of(item.flag))
        if known is None:
            raise SplitError(item.flag, lowering.builder.location)
        item = item.first if known else item.second
    return item


def may_be_undefined(lowering: Lowering, value: Value) -> bool:
    """Whether there may be no such value, on a path that does not make it."""
    pending, seen = [value], set[Value]()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        definition = lowering.builder.definition(value)
        if definition is not None and definition.primitive is UNDEF:
            return True
        if definition is not None and definition.primitive in CHANGING:
            pending.append(definition.operands[0])
        pending += flowing(lowering, value)
    return False
