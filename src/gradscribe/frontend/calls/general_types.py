"""The types of recursive functions: of their parameters, without what is known of lengths and
integers, and of their results, in terms of those; and the way back to the types of one call.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.core import Value
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import Scalar, Type, map_lengths
from gradscribe.ir.types import Sequence as SequenceType


class General:
    """Types without what is known of lengths and integers, but which lengths are equal (and which
    are one, for broadcasting). bounds: what the new symbols stand for."""

    def __init__(self, facts: Facts, name: str) -> None:
        self.bounds: dict[Symbol, Affine] = {}
        self._facts, self._name = facts, name
        self._lengths: dict[Affine, Symbol] = {}
        self._integers = 0

    def of(self, type_: Type) -> Type:
        if isinstance(type_, Scalar) and type_.value is not None:
            symbol = _symbol(f"{self._name}_integer", self._integers, None)
            self._integers += 1
            self.bounds[symbol] = type_.value
            return replace(type_, value=Affine.of(symbol))
        if isinstance(type_, SequenceType):
            return SequenceType(map_lengths(type_.item, self._length))
        return map_lengths(type_, self._length)

    def _length(self, of: Affine) -> Affine:
        of = self._facts.normalize(of)
        if of.known == 1:
            return of
        symbol = self._lengths.setdefault(of, _symbol(self._name, len(self._lengths), 0))
        self.bounds[symbol] = of
        return Affine.of(symbol)


@functools.cache
def _symbol(kind: str, number: int, minimum: int | None) -> Symbol:
    """The unknown of this number: the same for all functions, so that types can be compared."""
    return Symbol(f"{kind}{number}", minimum)


def general_result(values: Sequence[Value], facts: Facts, known: set[Symbol]) -> tuple[Type, ...]:
    """The types of results in terms of the parameters' lengths and integers; other lengths are
    numbered in order."""
    unknown: dict[Affine, Symbol] = {}

    def length(of: Affine) -> Affine:
        of = facts.normalize(of)
        if all(symbol in known for symbol, _ in of.terms):
            return of
        return Affine.of(unknown.setdefault(of, _symbol("result", len(unknown), 0)))

    types: list[Type] = []
    for value in values:
        type_ = value.type
        if isinstance(type_, Scalar) and type_.value is not None:
            of = type_.value
            is_known = of.terms and all(symbol in known for symbol, _ in of.terms)
            type_ = type_ if is_known else replace(type_, value=None)
        elif isinstance(type_, SequenceType):
            type_ = SequenceType(map_lengths(type_.item, length))
        else:
            type_ = map_lengths(type_, length)
        types.append(type_)
    return tuple(types)


def symbols(type_: Type) -> set[Symbol]:
    return {symbol for of in _lengths(type_) for symbol, _ in of.terms}


def _lengths(type_: Type) -> list[Affine]:
    """All lengths and integers in a type, but for those of lists."""
    found: list[Affine] = []

    def collect(of: Affine) -> Affine:
        found.append(of)
        return of

    map_lengths(type_.item if isinstance(type_, SequenceType) else type_, collect)
    return found


def bounds_of(general: Type, given: Type) -> dict[Symbol, Affine]:
    """What the symbols of a parameter's type stand for."""
    pairs = zip(_lengths(general), _lengths(given), strict=True)
    return {symbol: actual for of, actual in pairs for symbol, _ in of.terms}


def instances(types: Sequence[Type], bounds: dict[Symbol, Affine]) -> list[Type]:
    """The types of results in terms of the caller's lengths."""
    fresh: dict[Symbol, Affine] = {}

    def value(symbol: Symbol) -> Affine:
        if symbol in bounds:
            return bounds[symbol]
        return fresh.setdefault(symbol, Affine.of(Symbol("length")))

    def instance(of: Affine) -> Affine:
        return of.substitute({symbol: value(symbol) for symbol, _ in of.terms})

    return [map_lengths(type_, instance) for type_ in types]
