"""The lengths of what comes out of branches and loops, for those of what goes in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.builder import Builder
from gradscribe.ir.known import all_known
from gradscribe.ir.types import Array, Scalar, Sequence, Tuple, Type, is_integer


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
