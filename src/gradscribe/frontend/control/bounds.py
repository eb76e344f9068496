"""What conditions say about lengths, on the path on which they hold or do not hold."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import IF, Operand, Operation, Value
from gradscribe.ir.known import all_known
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import Array, Scalar, Sequence, Tuple, Type, is_integer
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


def matched_lengths(pairs: Iterable[tuple[Type, Type]]) -> dict[Symbol, Affine]:
    """For the lengths and integers in types that are symbols: those in the same place of others."""
    found: dict[Symbol, Affine] = {}
    for one, other in pairs:
        for a, b in zip(_lengths(one), _lengths(other), strict=True):
            if a is not None and b is not None and len(a.terms) == 1:
                symbol, coefficient = a.terms[0]
                if abs(coefficient) == 1:
                    found.setdefault(symbol, (b - a.constant) * coefficient)
    return found


def _lengths(type_: Type) -> tuple[Affine | None, ...]:
    if isinstance(type_, Array):
        return type_.dims
    if isinstance(type_, Scalar):
        return (type_.value,)
    return (type_.length,) if isinstance(type_, Sequence) else ()


class MergedLengths:
    """The lengths after a branch, for those of the two sides.

    Where they differ by a known number, that is counted by one unknown that is 0 or 1, so that
    lengths that differ alike stay comparable: `x[1:]` or `x` is as long as `y[1:]` or `y`.
    """

    def __init__(self, builder: Builder) -> None:
        self._facts = builder.facts
        self._first: Symbol | None = None
        self._found: dict[tuple[Affine, Affine], Affine] = {}

    def merged(self, type_: Type, first: Type, second: Type) -> Type:
        """The join of two types, with the lengths that follow from theirs."""
        if isinstance(type_, Array) and isinstance(first, Array) and isinstance(second, Array):
            pairs = zip(first.dims, second.dims, strict=True)
            dims = tuple(b if self._facts.agree(a, b) else self._length(a, b) for a, b in pairs)
            return replace(type_, dims=dims)
        if is_integer(type_) and is_integer(first) and is_integer(second):
            if first.value is None or second.value is None:
                return replace(type_, value=None)
            return replace(type_, value=self._length(first.value, second.value))
        if isinstance(type_, Tuple) and isinstance(first, Tuple) and isinstance(second, Tuple):
            return Tuple(tuple(map(self.merged, type_.items, first.items, second.items)))
        return type_

    def _length(self, a: Affine, b: Affine) -> Affine:
        difference = self._facts.normalize(a - b)
        if difference.known is not None:
            return b + self._chooser() * difference.known if difference.known else b
        if (a, b) not in self._found:
            minima = all_known([a.minimum, b.minimum])
            minimum = None if minima is None else min(minima)
            self._found[a, b] = Affine.of(Symbol("length", minimum))
        return self._found[a, b]

    def _chooser(self) -> Affine:
        if self._first is None:
            self._first = Symbol("first")
            self._facts.bound(self._first, -Affine.of(self._first) + 1)
        return Affine.of(self._first)
