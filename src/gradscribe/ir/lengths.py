"""What is known of symbolic lengths: which are equal, broadcast, never negative.

`Facts` answers the questions that type rules and the adjoint ask ("are these two axes equally
long?"). An answer that follows from the specializing call and not from the program alone is
remembered as a `Guard`, to be checked on entry of later calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.formulas import OPERATIONS, Formula, is_nonnegative

_ONE = Affine((), 1)


@dataclass(frozen=True, slots=True)
class Guard:
    """A relation over arguments that the specialization assumes: `expression relation 0`."""

    expression: Affine
    relation: Literal["==", "!=", ">="]

    def holds(self, values: Mapping[Symbol, int]) -> bool:
        value = evaluated(self.expression, values)
        assert value is not None, "guards are relations between arguments"
        if self.relation == "==":
            return value == 0
        return value >= 0 if self.relation == ">=" else value != 0


def evaluated(expression: Affine, values: Mapping[Symbol, int]) -> int | None:
    """The value of an expression, given those of symbols; None where that takes others, too."""
    total = expression.constant
    for symbol, coefficient in expression.terms:
        value = values.get(symbol)
        if value is None and symbol.formula is not None:
            value = _value(symbol.formula, values)
        if value is None:
            return None
        total += coefficient * value
    return total


def _value(formula: Formula, values: Mapping[Symbol, int]) -> int | None:
    numbers: list[int | None] = []
    for part in formula.parts:
        number = None if part is None else evaluated(part, values)
        if part is not None and number is None:
            return None
        numbers.append(number)
    try:
        return formula.value(numbers)
    except (ValueError, ZeroDivisionError):
        return None


class BroadcastError(ValueError):
    """Lengths that NumPy does not broadcast to each other."""


class Facts:
    """What one specialization knows of lengths.

    samples: the values of the argument symbols in the specializing call (empty when it was
    specialized from type strings; then nothing is assumed beyond the program itself).
    unanswered: the symbols that questions were about to which there was no answer.
    unknown_broadcasts: how often it was unknown whether an axis is broadcast.
    conditions: what else has to hold of a call, as whoever lowers has it.
    """

    def __init__(self, samples: Mapping[Symbol, int] | None = None) -> None:
        self.samples: dict[Symbol, int] = dict(samples or {})
        self.guards: list[Guard] = []
        self.conditions: list[Any] = []
        self._equal_to: dict[Symbol, Affine] = {}
        self._guarded: dict[Symbol, Affine] = {}
        self._answers: dict[tuple[Any, ...], Affine] = {}
        self._laws: dict[Symbol, list[Affine]] = {}
        self._assumed: dict[Symbol, list[Affine]] = {}
        self.unanswered: set[Symbol] = set()
        self.unknown_broadcasts = 0

    def fork(self) -> Facts:
        """A copy that learns for itself: what it is asked leaves no guards here."""
        copy = Facts(self.samples)
        copy.guards += self.guards
        copy.conditions = self.conditions
        copy._equal_to |= self._equal_to
        copy._guarded |= self._guarded
        copy._answers |= self._answers
        copy._laws = {symbol: list(bounds) for symbol, bounds in self._laws.items()}
        return copy

    @property
    def assumed(self) -> int:
        """How much is assumed of a call by now."""
        return len(self.guards) + len(self.conditions)

    def bound(self, symbol: Symbol, expression: Affine) -> None:
        """Take note that an expression is never negative, whenever this symbol has a value. (Of the
        number of an iteration it follows nothing for a path that does not enter the loop.)"""
        self._laws.setdefault(symbol, []).append(expression)

    @contextmanager
    def scope(self, bounds: Iterable[Affine] = ()) -> Iterator[None]:
        """A path on which these expressions are not negative. What the program enforces on it
        (that lengths are equal, say) is forgotten at its end; not so what a guard ensures."""
        equal_to, outer, count = dict(self._equal_to), self._assumed, len(self._answers)
        self._assumed = {symbol: list(known) for symbol, known in outer.items()}
        for expression in bounds:
            for symbol, _ in expression.terms:
                self._assumed.setdefault(symbol, []).append(expression)
        try:
            yield
        finally:
            self._assumed = outer
            self._equal_to = self._guarded | equal_to
            for key in list(self._answers)[count:]:
                if self._is_of_another(key):
                    del self._answers[key]

    def is_nonnegative(self, expression: Affine) -> bool:
        """Whether an expression is known never to be negative, in any call."""
        return is_nonnegative(self.normalize(expression), self._bounds_of, lambda rest: False)

    def _bounds_of(self, symbol: Symbol) -> Iterable[Affine]:
        known = (*self._assumed.get(symbol, ()), *self._laws.get(symbol, ()))
        return map(self.normalize, known)

    def _is_assumed(self, expression: Affine) -> bool:
        """Whether an expression over what a loop computes is never negative, if that is so of
        expressions over arguments, which are not negative in the specializing call."""
        guards: list[Guard] = []

        def assume(rest: Affine) -> bool:
            least = self._least(rest)
            value = None if least is None else self._sample(least)
            if least is None or value is None or value < 0:
                return False
            guards.append(Guard(least, ">="))
            return True

        follows = is_nonnegative(expression, self._bounds_of, assume)
        for guard in guards if follows else ():
            self._guard(guard)
        return follows

    def _least(self, expression: Affine) -> Affine | None:
        """The expression over arguments that remains where other symbols are as small as can be."""
        result = Affine.of(expression.constant)
        for symbol, coefficient in expression.terms:
            if self.is_argument(symbol):
                result += Affine.of(symbol) * coefficient
            elif coefficient < 0 or symbol.minimum is None:
                return None
            else:
                result += coefficient * symbol.minimum
        return result

    def _unknown_is(self, difference: Affine) -> None:
        """Take note of what would have to be known to answer."""
        self.unanswered.update(difference.symbols())

    def slice_length(
        self, length: Affine, start: Affine | None, stop: Affine | None, step: int = 1
    ) -> Affine:
        """The length of `[start:stop:step]` of an axis, by Python's rules (None: left out).

        Slices that are equally long, whatever the lengths are, have equal expressions: `x[1:]`,
        `x[:-1]` and `np.diff(x)` of an array of unknown length, too.
        """
        if abs(step) == 1 and start is None and stop is None:
            return length
        length = self.normalize(length)
        start, stop = (None if part is None else self.normalize(part) for part in (start, stop))
        if not any(part.terms for part in (length, start, stop) if part is not None):
            first, last = (None if part is None else part.constant for part in (start, stop))
            return Affine.of(len(range(length.constant)[first:last:step]))
        if step < 0 and (start is not None or stop is not None):
            return self._computed("slice", length, start, stop, Affine.of(step))
        whole = self._span(length, start, stop)
        return whole if abs(step) == 1 else self.quotient(whole + (abs(step) - 1), abs(step))

    def _span(self, length: Affine, start: Affine | None, stop: Affine | None) -> Affine:
        """The length of `[start:stop]`."""
        lower = Affine.of(0) if start is None else self._from_start(length, start)
        upper = length if stop is None else self._from_start(length, stop)
        if lower is None or upper is None:
            return self._computed("slice", length, start, stop, None)
        lower = self.maximum(lower, Affine.of(0))
        above = self.maximum(length - upper, Affine.of(0))
        return self.maximum(length - above - lower, Affine.of(0))

    def _from_start(self, length: Affine, part: Affine) -> Affine | None:
        """A bound of a slice, counted from the start; None where its sign is not known."""
        counts_from_start = self.at_least(part, 0)
        if counts_from_start is None:
            return None
        return part if counts_from_start else length + part

    def maximum(self, a: Affine, b: Affine) -> Affine:
        """The greater one of two lengths or integers."""
        difference = self.normalize(a - b)
        is_greater = self.at_least(difference, 0)
        if is_greater is not None:
            return a if is_greater else b
        return b + self._computed("max", difference, Affine.of(0))

    def minimum(self, a: Affine, b: Affine) -> Affine:
        """The smaller one of two integers."""
        return a + b - self.maximum(a, b)

    def quotient(self, a: Affine, divisor: int) -> Affine:
        """`a // divisor` of a positive divisor."""
        a = self.normalize(a)
        whole = Affine(
            tuple((s, c // divisor) for s, c in a.terms if c // divisor), a.constant // divisor
        )
        rest = a - whole * divisor
        if rest.known is not None:
            return whole
        result = self._computed("quotient by", rest, Affine.of(divisor))
        ((symbol, _),) = result.terms
        self.bound(symbol, rest - result * divisor)
        self.bound(symbol, result * divisor - rest + (divisor - 1))
        return whole + result

    def multiplied(self, *factors: Affine) -> Affine:
        """A product that is not affine."""
        ordered = sorted(map(self.normalize, factors), key=repr)
        return self._computed("product", *ordered)

    def computed(self, operation: str, *parts: Affine | None) -> Affine:
        """What a formula gives, brought to its simplest form."""
        first, *others = parts
        if operation == "quotient by" and first is not None and others[0] is not None:
            divisor = others[0].known
            if divisor is not None and divisor > 0:
                return self.quotient(first, divisor)
        return self._computed(operation, *parts)

    def _computed(self, operation: str, *parts: Affine | None) -> Affine:
        """What a formula gives; the same for the same parts."""
        parts = tuple(None if part is None else self.normalize(part) for part in parts)
        key = (operation, *parts)
        if key not in self._answers:
            minimum = self._minimum(operation, parts)
            symbol = Symbol("length", minimum, formula=Formula(operation, parts))
            alike = None if self.is_argument(symbol) else self._alike(key)
            self._answers[key] = Affine.of(symbol) if alike is None else self._answers[alike]
        return self._answers[key]

    def _is_of_another(self, key: tuple[Any, ...]) -> bool:
        """Whether the answer to a question is that to one which was equal on some path."""
        ((symbol, _),) = self._answers[key].terms
        return symbol.formula != Formula(key[0], key[1:])

    def _alike(self, key: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The formula found before whose parts are equal to those of this one, if lengths that
        are equal in the specializing call are."""

        def may_agree(a: Any, b: Any) -> bool:
            lengths = isinstance(a, Affine) and isinstance(b, Affine)
            return a == b or (lengths and self._sample(a - b) == 0)

        def agree(a: Any, b: Any) -> bool:
            return a == b or self.agree(a, b)

        alike = (k for k in self._answers if len(k) == len(key) and all(map(may_agree, key, k)))
        return next((other for other in alike if all(map(agree, key, other))), None)

    def _minimum(self, operation: str, parts: tuple[Affine | None, ...]) -> int | None:
        minima = [None if part is None else part.minimum for part in parts]
        if operation == "max":
            return max((minimum for minimum in minima if minimum is not None), default=None)
        if operation in ("slice", "arange"):
            return 0
        first = minima[0]
        return 0 if first is not None and first >= 0 and None not in minima else None

    def derived(self, operation: str, *parts: Affine | int) -> Affine:
        """The length that an operation makes of these; the same for the same parts."""
        operands = [self.normalize(Affine.of(part)) for part in parts]
        known = self._computed if operation in OPERATIONS else self._unknown
        return known(operation, *operands)

    def _unknown(self, *key: Any) -> Affine:
        """The unknown length that is the answer to this question."""
        return self._answers.setdefault(key, Affine.of(Symbol("length")))

    def normalize(self, length: Affine) -> Affine:
        """The canonical form of a length under the equalities found so far."""
        while length.terms and any(symbol in self._equal_to for symbol, _ in length.terms):
            length = length.substitute(self._equal_to)
        return length

    def equal(self, a: Affine, b: Affine) -> bool | None:
        """Whether two lengths are equal; None where neither program nor call tells."""
        difference = self.normalize(a - b)
        if difference.known is not None:
            return difference.known == 0
        if self.is_nonnegative(difference - 1) or self.is_nonnegative(-difference - 1):
            return False
        value = self._sample(difference)
        if value is None:
            self._unknown_is(difference)
            return None
        self._guard(Guard(difference, "==" if value == 0 else "!="))
        if value == 0:
            found = self._solved(a, b)
            self._equal_to |= found
            self._guarded |= found
        return value == 0

    def agree(self, a: Affine, b: Affine) -> bool:
        """Whether two unknown lengths are equal in the specializing call, which then becomes an
        assumption. Nothing is assumed of lengths that differ there."""
        unknown = a.known is None and b.known is None
        alike = unknown and self._sample(self.normalize(a - b)) == 0
        return a == b or (alike and bool(self.equal(a, b)))

    def at_least(self, a: Affine, bound: int) -> bool | None:
        """Whether `a >= bound`; None where neither program nor call tells."""
        difference = self.normalize(a - bound)
        if self.is_nonnegative(difference):
            return True
        if self.is_nonnegative(-difference - 1):
            return False
        value = self._sample(difference)
        if value is not None:
            self._guard(Guard(difference if value >= 0 else -difference - 1, ">="))
            return value >= 0
        if self.samples and self._is_assumed(difference):
            return True
        self._unknown_is(difference)
        return None

    def sampled(self, a: Affine | None) -> int | None:
        """The value that `a` has in the specializing call, which becomes an assumption."""
        value = None if a is None else self.likely(a)
        if a is not None and value is not None and a.known is None:
            self.equal(a, Affine.of(value))
        return value

    def likely(self, a: Affine) -> int | None:
        """The value that `a` has in the specializing call; it may have another one in others."""
        return self._sample(self.normalize(a))

    def assume_equal(self, a: Affine, b: Affine) -> None:
        """Record an equality that the program itself enforces on this path (NumPy raises
        otherwise)."""
        self._equal_to |= self._solved(a, b)

    def _solved(self, a: Affine, b: Affine) -> dict[Symbol, Affine]:
        """One of the symbols of two equal lengths in terms of the others; none where no symbol
        stands there once."""
        difference = self.normalize(a - b)
        local = any(not self.is_argument(symbol) for symbol, _ in difference.terms)
        for symbol, coefficient in reversed(difference.terms):
            if abs(coefficient) == 1 and not (local and self.is_argument(symbol)):
                rest = difference - Affine.of(symbol) * coefficient
                return {symbol: rest * -coefficient}
        return {}

    def is_argument(self, symbol: Symbol) -> bool:
        """Whether guards can speak of it. Such a symbol is put in terms of its like only."""
        if symbol.formula is not None:
            return all(map(self.is_argument, symbol.formula.symbols()))
        return symbol.source is not None or symbol in self.samples

    def broadcast(self, shapes: Iterable[tuple[Affine, ...]]) -> tuple[Affine, ...]:
        """The shape that these shapes broadcast to, by NumPy's rules."""
        result: tuple[Affine, ...] = ()
        for shape in shapes:
            rank = max(len(result), len(shape))
            ones = (_ONE,) * rank
            left, right = (ones[len(dims) :] + dims for dims in (result, shape))
            result = tuple(map(self._broadcast_axis, left, right))
        return result

    def _broadcast_axis(self, a: Affine, b: Affine) -> Affine:
        a, b = self.normalize(a), self.normalize(b)
        if a == b or b.known == 1:
            return a
        if a.known == 1:
            return b
        many_a, many_b = self.is_many(a), self.is_many(b)
        equal = self.equal(a, b)
        if many_a and many_b:
            if equal is False:
                raise BroadcastError(
                    f"axes of {self.shown(a)} and {self.shown(b)} do not broadcast"
                )
            if equal is None:
                self.assume_equal(a, b)
            return self.normalize(a)
        if equal:
            return self.normalize(a)
        for one, other in ((a, b), (b, a)):
            if self._sample(one) == 1 and self.equal(one, _ONE):
                return other
        self.unknown_broadcasts += 1
        if many_a or many_b:
            return a if many_a else b
        return self._unknown("broadcast", a, b)

    def is_many(self, length: Affine) -> bool:
        """Whether an axis is known to have two or more elements: it is never broadcast."""
        return self.is_nonnegative(length - 2)

    def shown(self, a: Affine) -> str:
        """A length for messages: in the specializing call, where that is known."""
        value = self._sample(self.normalize(a))
        return repr(a) if value is None else str(value)

    def _sample(self, expression: Affine) -> int | None:
        return evaluated(expression, self.samples)

    def _guard(self, guard: Guard) -> None:
        if guard not in self.guards:
            self.guards.append(guard)
