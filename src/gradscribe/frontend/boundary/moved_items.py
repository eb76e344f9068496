"""What is stored to and was taken from a list from outside that gets other items: where it is
afterwards, if anywhere, is not followed."""

from __future__ import annotations

from gradscribe.frontend.state.flow import CHANGING
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.ir.core import Value
from gradscribe.ir.flow import sources
from gradscribe.primitives.control import GET, ITEM, LIST, TUPLE
from gradscribe.primitives.lists import IN_PLACE, JOIN, SECTION

_ITEMS = frozenset({GET, ITEM})
_MADE_OF_ITEMS = IN_PLACE | {JOIN, SECTION, LIST, TUPLE}


def are_changed(lowering: Lowering) -> bool:
    """Whether there may be such items."""
    outside, changes = lowering.outside, lowering.changes
    moved = {
        outside.originals[storage] for storage in changes.rearranged if storage in outside.originals
    }
    stored = changes.stored - outside.entered.keys() if moved else ()
    return any(_comes_from(lowering, lowering.contents.get(storage), moved) for storage in stored)


def _comes_from(lowering: Lowering, value: object, origins: set[Value]) -> bool:
    """Whether a value may be an item of one of these, after stores to it."""
    pending, seen = [(value, False)], set[tuple[object, bool]]()
    while pending:
        value, is_container = pending.pop()
        if not isinstance(value, Value) or (value, is_container) in seen:
            continue
        seen.add((value, is_container))
        if is_container and value in origins:
            return True
        made = lowering.builder.definition(value)
        if made is None:
            continue
        if made.regions:
            pending += ((source, is_container) for source in sources(made, value))
        elif made.primitive in _ITEMS:
            pending.append((made.operands[0], True))
        elif made.primitive in _MADE_OF_ITEMS and is_container:
            pending += ((operand, each) for operand in made.operands for each in (True, False))
        elif made.primitive in CHANGING | IN_PLACE or made.primitive.view:
            pending.append((made.operands[0], is_container))
    return False
