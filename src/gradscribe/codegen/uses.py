"""Where values are made and read: the facts that folding and naming ask for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from gradscribe.codegen.key_lists import key_lists
from gradscribe.ir.core import LOOP, Block, Function, Operand, Operation, Value
from gradscribe.ir.flow import Loop
from gradscribe.ir.types import Opaque, Scalar, Tuple
from gradscribe.primitives import lists
from gradscribe.primitives.control import APPEND, EFFECT, ITEM, LENT, PUSH, SET, STACK_POP, TUPLE
from gradscribe.primitives.indexing import ACCUMULATE, STORE
from gradscribe.primitives.lifetimes import ENDS
from gradscribe.primitives.raising import makes_exception

IN_PLACE = frozenset({STORE, ACCUMULATE}) | lists.IN_PLACE
"""Operations whose result is, after bufferization, the object of their first operand."""

_STORES = frozenset({STORE, ACCUMULATE, APPEND, SET})

STACK_STEPS = frozenset({PUSH, STACK_POP})

Site = tuple[Block, int]
"""A block, and the index of an operation in it; for a yield, the number of its operations."""


@dataclass
class Uses:
    """producer: the operation of a result. home: where a value is defined (-1: a parameter).
    sites: where it is read, in program order. items: the items that loops run over. arguments: the
    parameters of the function. lends: whether it shows unread code a matrix, or more axes. keys:
    the lists of keys that are written as dicts."""

    producer: dict[Value, Operation] = field(default_factory=dict)
    home: dict[Value, Site] = field(default_factory=dict)
    sites: dict[Value, list[Site]] = field(default_factory=dict)
    items: set[Value] = field(default_factory=set)
    arguments: frozenset[Value] = frozenset()
    lends: bool = False
    keys: frozenset[Value] = frozenset()

    def of(self, value: Value) -> list[Site]:
        return self.sites.get(value, [])

    def makers(self, operation: Operation) -> Iterator[Operation]:
        """What makes the numbers that an operation reads, and those that these are made of."""
        pending, seen = [*operation.operands], set[Value]()
        while pending:
            value = pending.pop()
            made = self.producer.get(value)
            if made is not None and value not in seen and isinstance(value.type, Scalar):
                seen.add(value)
                pending += made.operands
                yield made


def uses_of(function: Function) -> Uses:
    uses = Uses(arguments=frozenset(function.body.parameters), keys=key_lists(function))
    _visit(function.body, uses)
    return uses


def _visit(block: Block, uses: Uses) -> None:
    for parameter in block.parameters:
        uses.home[parameter] = (block, -1)
    for index, operation in enumerate(block.operations):
        for operand in operation.operands:
            uses.sites.setdefault(operand, []).append((block, index))
        for region in operation.regions:
            _visit(region, uses)
        uses.lends |= operation.primitive is LENT and getattr(operation.result.type, "rank", 0) > 1
        if operation.primitive is LOOP:
            uses.items.update(Loop(operation).items)
        for result in operation.results:
            uses.producer[result] = operation
            uses.home[result] = (block, index)
    for value in block.yields:
        uses.sites.setdefault(value, []).append((block, len(block.operations)))


def stored_value(operation: Operation) -> Value | None:
    """What an operation puts into the array or list that it changes; None if it does not."""
    if operation.primitive not in _STORES:
        return None
    value: Operand = operation.attributes["value"]
    return operation.operands[value.index]


Pattern = dict[int, Value]
"""The items of a tuple value that are bound to names at once, by position."""


def destructured(uses: Uses) -> dict[Value, Pattern]:
    """The tuples that are only ever taken apart, where they are made: `for a, b in …`."""
    found: dict[Value, Pattern] = {}
    for value, (block, _) in uses.home.items():
        if not isinstance(value.type, Tuple) or not _can_bind(value, uses):
            continue
        pattern: Pattern = {}
        for home, position in uses.of(value):
            reader = home.operations[position] if position < len(home.operations) else None
            if home is not block or reader is None or reader.primitive is not ITEM:
                break
            if reader.attributes["position"] in pattern:
                break
            pattern[reader.attributes["position"]] = reader.result
        else:
            found[value] = pattern
    return found


def is_foreign(operation: Operation | None) -> bool:
    """Whether this makes what unread code has made, which lives as long as a variable has it."""
    if operation is None or operation.primitive is not EFFECT:
        return False
    if operation.callee in ENDS or makes_exception(operation.callee):
        return False
    return any(isinstance(result.type, Opaque) for result in operation.results)


def bound_by(value: Value, patterns: dict[Value, Pattern]) -> Iterator[Value]:
    """The values that are bound to names where a value is made: itself, or its items."""
    if value not in patterns:
        yield value
        return
    for item in patterns[value].values():
        yield from bound_by(item, patterns)


def _can_bind(value: Value, uses: Uses) -> bool:
    """Whether a value is an item of a loop or the result of an operation that prints as one
    expression; not a carried value or the parameter of a function."""
    producer = uses.producer.get(value)
    if producer is None:
        return value in uses.items
    return not producer.regions and producer.primitive is not TUPLE
