"""What conditions on lengths and integers say: bounds where they hold, and their outcome where the
program tells it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from gradscribe.ir.affine import Affine
from gradscribe.ir.core import IF, Operand, Operation, Value
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import Scalar, is_integer
from gradscribe.primitives.control import CONSTANT

_BOUNDS: dict[Any, Callable[[Affine, Affine], list[Affine]]] = {
    operator.lt: lambda a, b: [b - a - 1],
    operator.le: lambda a, b: [b - a],
    operator.gt: lambda a, b: [a - b - 1],
    operator.ge: lambda a, b: [a - b],
    operator.eq: lambda a, b: [a - b, b - a],
    operator.ne: lambda a, b: [],
}
"""For a comparison that holds: expressions that are not negative."""

_OPPOSITE = {
    operator.lt: operator.ge,
    operator.le: operator.gt,
    operator.gt: operator.le,
    operator.ge: operator.lt,
    operator.eq: operator.ne,
    operator.ne: operator.eq,
}


Definition = Callable[[Value], Operation | None]
"""The operation that makes a value, where that is known."""


def bounds_of(definition: Definition, condition: Value, outcome: bool) -> list[Affine]:
    """Expressions that are never negative where a condition has this outcome."""
    made = definition(condition)
    if made is None:
        return []
    if made.primitive is IF:
        return _bounds_of_and(
            definition, made.operands[0], made.regions[0].yields, made.regions[1].yields, outcome
        )
    if made.callee is operator.not_:
        return bounds_of(definition, made.operands[0], not outcome)
    if made.callee not in _BOUNDS or len(made.attributes) != 2:
        return []
    a, b = (_integer(made.operands, item) for item in made.attributes.values())
    if a is None or b is None:
        return []
    return _BOUNDS[made.callee if outcome else _OPPOSITE[made.callee]](a, b)


def assumed_outcome(facts: Facts, definition: Definition, condition: Value) -> bool | None:
    """The outcome of a condition that compares lengths and integers, or is one, where the program
    or the specializing call tells, which becomes an assumption; else None."""
    if isinstance(condition.type, Scalar) and condition.type.value is not None:
        is_zero = facts.equal(condition.type.value, Affine.of(0))
        return None if is_zero is None else not is_zero
    made = definition(condition)
    if made is None:
        return None
    if made.primitive is CONSTANT:
        return bool(made.attributes["value"])
    if made.primitive is IF:
        first = assumed_outcome(facts, definition, made.operands[0])
        if first is None or len(made.results) != 1:
            return None
        (chosen,) = made.regions[not first].yields
        return first if chosen is made.operands[0] else assumed_outcome(facts, definition, chosen)
    if made.callee is operator.not_:
        opposite = assumed_outcome(facts, definition, made.operands[0])
        return None if opposite is None else not opposite
    if made.callee not in _BOUNDS or len(made.attributes) != 2:
        return None
    a, b = (_integer(made.operands, item) for item in made.attributes.values())
    if a is None or b is None:
        return None
    if made.callee in (operator.eq, operator.ne):
        equal = facts.equal(a, b)
        return equal if equal is None or made.callee is operator.eq else not equal
    (bound,) = _BOUNDS[made.callee](a, b)
    return facts.at_least(bound, 0)


def _bounds_of_and(
    definition: Definition,
    first: Value,
    then: tuple[Value, ...],
    otherwise: tuple[Value, ...],
    outcome: bool,
) -> list[Affine]:
    """Of `first and second`, which holds where both do; of `first or second`, likewise."""
    if len(then) != 1:
        return []
    if outcome and _is_false(definition, otherwise[0], first):
        return [*bounds_of(definition, first, True), *bounds_of(definition, then[0], True)]
    if not outcome and then[0] is first:
        return [*bounds_of(definition, first, False), *bounds_of(definition, otherwise[0], False)]
    return []


def _is_false(definition: Definition, value: Value, first: Value) -> bool:
    made = definition(value)
    if made is not None and made.primitive is CONSTANT:
        return made.attributes["value"] is False
    return value is first


def _integer(operands: tuple[Value, ...], item: Any) -> Affine | None:
    """The value of an operand of a comparison, if it is an integer of which something is known."""
    if isinstance(item, Operand):
        type_ = operands[item.index].type
        return type_.value if is_integer(type_) else None
    return Affine.of(item) if type(item) is int else None
