"""Lengths that are no affine expressions, and what follows for them all the same.

A `Formula` says how a symbol is computed from affine expressions (`max(a, b)`, `a // k`, a
product, the length of a slice). So it can be evaluated in the specializing call, spoken of in an
entry guard, and reasoned about: `is_nonnegative` proves that an affine expression over such
symbols, and over others of which inequalities are known, is never negative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradscribe.ir.affine import Affine, Symbol

_DEPTH = 5
"""How many symbols are eliminated from one inequality."""

_MOST = 100
"""After how many expressions of which it could not be told the search ends: nested maxima have
exponentially many, and what is true was always found after a few."""


@dataclass(frozen=True, slots=True)
class Formula:
    """An operation of `OPERATIONS` on parts (None: left out)."""

    operation: str
    parts: tuple[Affine | None, ...]

    def symbols(self) -> Iterable[Symbol]:
        """The symbols that the parts are made of."""
        return (symbol for part in self.parts if part is not None for symbol, _ in part.terms)

    def value(self, numbers: Iterable[int | None]) -> int:
        """The value, given those of the parts."""
        return OPERATIONS[self.operation][0](*numbers)

    def text(self, texts: Iterable[str]) -> str:
        """The expression, given those of the parts."""
        return OPERATIONS[self.operation][1](*texts)


def _slice_length(length: int, start: int | None, stop: int | None, step: int) -> int:
    return len(range(length)[start:stop:step])


OPERATIONS: dict[str, tuple[Callable[..., int], Callable[..., str]]] = {
    "max": (max, lambda a, b: f"max({a}, {b})"),
    "min": (min, lambda a, b: f"min({a}, {b})"),
    "quotient by": (lambda a, b: a // b, lambda a, b: f"({a}) // ({b})"),
    "product": (lambda *parts: prod(parts), lambda *parts: " * ".join(f"({p})" for p in parts)),
    "slice": (_slice_length, lambda n, a, b, c: f"len(range({n})[{a}:{b}:{c}])"),
    "arange": (lambda a, b, c: len(range(a, b, c)), lambda a, b, c: f"len(range({a}, {b}, {c}))"),
}
"""For each operation: its value, and its text in Python."""


def is_nonnegative(
    expression: Affine,
    bounds: Callable[[Symbol], Iterable[Affine]],
    assume: Callable[[Affine], bool],
) -> bool:
    """Whether an expression is never negative, as far as can be told.

    bounds: for a symbol, expressions in which it stands that are known to be nonnegative. assume:
    whether that may be assumed of an expression. Symbols that stand in the way are eliminated one
    after the other (Fourier and Motzkin's elimination, one inequality at a time); of a maximum,
    both cases are looked at.
    """
    failed: dict[Affine, int] = {}
    return _follows(expression, bounds, assume, _DEPTH, failed)


def _follows(
    expression: Affine,
    bounds: Callable[[Symbol], Iterable[Affine]],
    assume: Callable[[Affine], bool],
    depth: int,
    failed: dict[Affine, int],
) -> bool:
    """`is_nonnegative` by so many eliminations. failed: by how many it could not be told of
    expressions that were met before: there are many ways to each."""
    minimum = expression.minimum
    if minimum is not None and minimum >= 0:
        return True
    if failed.get(expression, 0) >= depth or not expression.terms or len(failed) > _MOST:
        return False
    if assume(expression):
        return True
    for symbol, coefficient in expression.terms:
        for rest, tell in _eliminated(expression, symbol, coefficient, bounds):
            if tell(_follows(case, bounds, assume, depth - 1, failed) for case in rest):
                return True
    failed[expression] = depth
    return False


def _eliminated(
    expression: Affine,
    symbol: Symbol,
    coefficient: int,
    bounds: Callable[[Symbol], Iterable[Affine]],
) -> Iterator[tuple[list[Affine], Callable[[Iterable[bool]], bool]]]:
    """Expressions without the symbol: if all (or any) of them are nonnegative, so is the one."""
    formula = symbol.formula
    if formula is not None and formula.operation in ("max", "min"):
        cases = [expression.substitute({symbol: part}) for part in formula.parts if part]
        yield cases, all if (coefficient < 0) == (formula.operation == "max") else any
    for bound in bounds(symbol):
        slope = dict(bound.terms).get(symbol, 0)
        if slope and (slope > 0) == (coefficient > 0):
            yield [expression * abs(slope) - bound * abs(coefficient)], all
