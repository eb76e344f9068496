"""Affine expressions over symbols: what is known of lengths of axes, and of integers.

A length is an `Affine` expression over `Symbol`s: the lengths of argument axes, integer
arguments, loop indices, and what is computed from these by a `Formula`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from gradscribe.ir.formulas import Formula

_serial = itertools.count()


@dataclass(frozen=True, slots=True)
class Source:
    """Where a symbol's value is found in a call: a leaf of the arguments, and what of it.

    axis: the axis whose length is meant; -1 for `len` of a list; None for the integer itself.
    """

    leaf: int
    axis: int | None


@dataclass(frozen=True, eq=False, slots=True)
class Symbol:
    """An unknown integer, equal only to itself. minimum: a lower bound. source: where a call holds
    it. formula: how it is computed from others. varies: whether it stands for lengths of items of
    a list, which may differ from item to item."""

    name: str
    minimum: int | None = 0
    source: Source | None = None
    formula: Formula | None = None
    varies: bool = False
    serial: int = field(default_factory=lambda: next(_serial))

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Affine:
    """constant + sum of coefficient * symbol; terms are sorted and free of zeros."""

    terms: tuple[tuple[Symbol, int], ...] = ()
    constant: int = 0

    @staticmethod
    def of(value: int | Symbol | Affine) -> Affine:
        if isinstance(value, Affine):
            return value
        if isinstance(value, Symbol):
            return Affine(((value, 1),), 0)
        return Affine((), int(value))

    def __add__(self, other: int | Symbol | Affine) -> Affine:
        other = Affine.of(other)
        for a, b in ((self, other), (other, self)):
            if not b.terms:
                return Affine(a.terms, a.constant + b.constant) if b.constant else a
        coefficients = dict(self.terms)
        for symbol, coefficient in other.terms:
            coefficients[symbol] = coefficients.get(symbol, 0) + coefficient
        return _affine(coefficients, self.constant + other.constant)

    def __neg__(self) -> Affine:
        return self * -1

    def __sub__(self, other: int | Symbol | Affine) -> Affine:
        return self + -Affine.of(other)

    def __mul__(self, factor: int) -> Affine:
        if factor == 1:
            return self
        return _affine({s: c * factor for s, c in self.terms}, self.constant * factor)

    def rename(self, name: Callable[[Symbol], str]) -> Affine:
        """The same expression over symbols of other names (for texts only)."""
        return Affine(tuple((replace(s, name=name(s)), c) for s, c in self.terms), self.constant)

    def symbols(self) -> Iterator[Symbol]:
        """The symbols in it, and in the formulas of those."""
        for symbol, _ in self.terms:
            yield symbol
            for part in symbol.formula.parts if symbol.formula is not None else ():
                if part is not None:
                    yield from part.symbols()

    @property
    def known(self) -> int | None:
        """The value, where it is a constant."""
        return None if self.terms else self.constant

    @property
    def minimum(self) -> int | None:
        """A lower bound that holds in every call, or None."""
        total = self.constant
        for symbol, coefficient in self.terms:
            if coefficient < 0 or symbol.minimum is None:
                return None
            total += coefficient * symbol.minimum
        return total

    def substitute(self, values: Mapping[Symbol, Affine]) -> Affine:
        if not self.terms:
            return self
        result = Affine((), self.constant)
        for symbol, coefficient in self.terms:
            value = values.get(symbol)
            result += (Affine.of(symbol) if value is None else value) * coefficient
        return result

    def __repr__(self) -> str:
        parts = [
            f"{'-' if c < 0 else '+'} {'' if abs(c) == 1 else f'{abs(c)}*'}{s.name}"
            for s, c in self.terms
        ]
        if self.constant or not parts:
            parts.append(f"{'-' if self.constant < 0 else '+'} {abs(self.constant)}")
        return " ".join(parts).removeprefix("+ ").replace("- ", "-", 1 if parts[0][0] == "-" else 0)


def _affine(coefficients: dict[Symbol, int], constant: int) -> Affine:
    terms = sorted(((s, c) for s, c in coefficients.items() if c), key=lambda t: t[0].serial)
    return Affine(tuple(terms), constant)
