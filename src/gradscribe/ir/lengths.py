"""Symbolic lengths of array axes: affine expressions and what is known of them.

A length is an `Affine` expression over `Symbol`s: the lengths of argument axes, integer
arguments, loop indices. `Facts` answers the questions that type rules and the adjoint ask
("are these two axes equally long?"). An answer that follows from the specializing call and
not from the program alone is remembered as a `Guard`, to be checked on entry of later calls.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

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
    """An unknown integer, equal only to itself. `minimum` is a lower bound."""

    name: str
    minimum: int | None = 0
    source: Source | None = None
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
        coefficients = dict(self.terms)
        for symbol, coefficient in other.terms:
            coefficients[symbol] = coefficients.get(symbol, 0) + coefficient
        return _affine(coefficients, self.constant + other.constant)

    def __neg__(self) -> Affine:
        return self * -1

    def __sub__(self, other: int | Symbol | Affine) -> Affine:
        return self + -Affine.of(other)

    def __mul__(self, factor: int) -> Affine:
        return _affine({s: c * factor for s, c in self.terms}, self.constant * factor)

    def rename(self, name: Callable[[Symbol], str]) -> Affine:
        """The same expression over symbols of other names (for texts only)."""
        return Affine(tuple((replace(s, name=name(s)), c) for s, c in self.terms), self.constant)

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
        result = Affine((), self.constant)
        for symbol, coefficient in self.terms:
            result += values.get(symbol, Affine.of(symbol)) * coefficient
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


@dataclass(frozen=True, slots=True)
class Guard:
    """A relation over arguments that the specialization assumes: `expression relation 0`."""

    expression: Affine
    relation: Literal["==", "!=", ">="]

    def holds(self, values: Mapping[Symbol, int]) -> bool:
        value = self.expression.constant + sum(values[s] * c for s, c in self.expression.terms)
        if self.relation == "==":
            return value == 0
        return value >= 0 if self.relation == ">=" else value != 0


class Facts:
    """What one specialization knows of lengths.

    samples: the values of the argument symbols in the specializing call (empty when it was
    specialized from type strings; then nothing is assumed beyond the program itself).
    """

    def __init__(self, samples: Mapping[Symbol, int] | None = None) -> None:
        self.samples: dict[Symbol, int] = dict(samples or {})
        self.guards: list[Guard] = []
        self._equal_to: dict[Symbol, Affine] = {}
        self._answers: dict[tuple[Any, ...], Affine] = {}

    def fork(self) -> Facts:
        """A copy that learns for itself: what it is asked leaves no guards here."""
        copy = Facts(self.samples)
        copy.guards += self.guards
        copy._equal_to |= self._equal_to
        copy._answers |= self._answers
        return copy

    def slice_length(
        self, length: Affine, start: Affine | None, stop: Affine | None, step: int = 1
    ) -> Affine:
        """The length of `[start:stop:step]` of an axis, by Python's rules (None: left out).

        Where a part may count from the end or reach over it, the length is a new unknown; the
        same slice of an axis of the same length has the same one.
        """
        if abs(step) == 1 and start is None and stop is None:
            return length
        length = self.normalize(length)
        start, stop = (None if part is None else self.normalize(part) for part in (start, stop))
        if not any(part.terms for part in (length, start, stop) if part is not None):
            first, last = (None if part is None else part.constant for part in (start, stop))
            return Affine.of(len(range(length.constant)[first:last:step]))
        if step == 1:
            lower = Affine.of(0) if start is None else _from_start(length, start)
            upper = length if stop is None else _from_start(length, stop)
            if self._ordered(Affine.of(0), lower, upper, length):
                return upper - lower
        return self._unknown("slice", length, start, stop, step)

    def _ordered(self, *lengths: Affine) -> bool:
        """Whether these are known to be in ascending order."""
        return all(self.at_least(b - a, 0) for a, b in itertools.pairwise(lengths))

    def derived(self, operation: str, *parts: Affine | int) -> Affine:
        """The unknown length that an operation makes of these; the same for the same parts."""
        return self._unknown(operation, *(self.normalize(Affine.of(part)) for part in parts))

    def _unknown(self, *key: Any) -> Affine:
        """The unknown length that is the answer to this question."""
        return self._answers.setdefault(key, Affine.of(Symbol("length")))

    def normalize(self, length: Affine) -> Affine:
        """The canonical form of a length under the equalities found so far."""
        while any(symbol in self._equal_to for symbol, _ in length.terms):
            length = length.substitute(self._equal_to)
        return length

    def equal(self, a: Affine, b: Affine) -> bool | None:
        """Whether two lengths are equal; None where neither program nor call tells."""
        difference = self.normalize(a - b)
        if difference.known is not None:
            return difference.known == 0
        lower, upper = difference.minimum, (-difference).minimum
        if (lower is not None and lower > 0) or (upper is not None and upper > 0):
            return False
        value = self._sample(difference)
        if value is None:
            return None
        self._guard(Guard(difference, "==" if value == 0 else "!="))
        if value == 0:
            self.assume_equal(a, b)
        return value == 0

    def at_least(self, a: Affine, bound: int) -> bool | None:
        """Whether `a >= bound`; None where neither program nor call tells."""
        difference = self.normalize(a - bound)
        if difference.minimum is not None and difference.minimum >= 0:
            return True
        upper = (-difference).minimum
        if upper is not None and upper > 0:
            return False
        value = self._sample(difference)
        if value is None:
            return None
        self._guard(Guard(difference if value >= 0 else -difference - 1, ">="))
        return value >= 0

    def sampled(self, a: Affine | None) -> int | None:
        """The value that `a` has in the specializing call, which becomes an assumption."""
        value = None if a is None else self._sample(self.normalize(a))
        if a is not None and value is not None and a.known is None:
            self.equal(a, Affine.of(value))
        return value

    def assume_equal(self, a: Affine, b: Affine) -> None:
        """Record an equality that the program itself enforces (NumPy raises otherwise)."""
        difference = self.normalize(a - b)
        local = any(not self._is_argument(symbol) for symbol, _ in difference.terms)
        for symbol, coefficient in reversed(difference.terms):
            if abs(coefficient) == 1 and not (local and self._is_argument(symbol)):
                rest = difference - Affine.of(symbol) * coefficient
                self._equal_to[symbol] = rest * -coefficient
                return

    def _is_argument(self, symbol: Symbol) -> bool:
        """Whether guards can speak of it. Such a symbol is put in terms of its like only."""
        return symbol.source is not None or symbol in self.samples

    def broadcast(self, shapes: Iterable[tuple[Affine, ...]]) -> tuple[Affine, ...]:
        """The shape that these shapes broadcast to, by NumPy's rules."""
        result: tuple[Affine, ...] = ()
        for shape in shapes:
            rank = max(len(result), len(shape))
            ones = (Affine((), 1),) * rank
            left, right = (ones[len(dims) :] + dims for dims in (result, shape))
            result = tuple(map(self._broadcast_axis, left, right))
        return result

    def _broadcast_axis(self, a: Affine, b: Affine) -> Affine:
        a, b = self.normalize(a), self.normalize(b)
        if a == b or b.known == 1:
            return a
        if a.known == 1:
            return b
        many_a, many_b = _many(a), _many(b)
        equal = self.equal(a, b)
        if many_a and many_b:
            if equal is False:
                raise ValueError(f"axes of {self.shown(a)} and {self.shown(b)} do not broadcast")
            if equal is None:
                self.assume_equal(a, b)
            return self.normalize(a)
        if equal:
            return self.normalize(a)
        for one, other in ((a, b), (b, a)):
            if self._sample(one) == 1 and self.equal(one, Affine((), 1)):
                return other
        if many_a or many_b:
            return a if many_a else b
        return self._unknown("broadcast", a, b)

    def shown(self, a: Affine) -> str:
        """A length for messages: in the specializing call, where that is known."""
        value = self._sample(self.normalize(a))
        return repr(a) if value is None else str(value)

    def _sample(self, expression: Affine) -> int | None:
        if not all(symbol in self.samples for symbol, _ in expression.terms):
            return None
        return expression.constant + sum(self.samples[s] * c for s, c in expression.terms)

    def _guard(self, guard: Guard) -> None:
        if guard not in self.guards:
            self.guards.append(guard)


def _from_start(length: Affine, part: Affine) -> Affine:
    """A bound of a slice; a known negative one counts from the end."""
    return length + part if part.known is not None and part.known < 0 else part


def _many(length: Affine) -> bool:
    return length.minimum is not None and length.minimum >= 2
