"""The types of what a loop carries: how lengths and integers change from iteration to iteration.

A length is the same in every iteration, or changes by the same number in each, or nothing is known
of it but that others change alike. Which of these it is, is tried in this order: the first is
assumed until an iteration refutes it, then the second, then the third.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import (
    NONE,
    Array,
    JoinError,
    Never,
    Scalar,
    Sequence,
    Tuple,
    Type,
    join,
    map_lengths,
)


@dataclass(frozen=True, slots=True)
class _Change:
    """What a length is before the first iteration, and by how much each iteration changes it, if by
    a known number."""

    start: Affine
    step: int | None


class CarriedTypes:
    """The lengths that change in one loop, each named by a marker in the types.

    counter: the number of the iteration in the body; the symbols made after it belong to one
    iteration.
    """

    def __init__(self, facts: Facts, counter: Symbol) -> None:
        self._facts = facts
        self._counter = counter
        self._changes: dict[Affine, _Change] = {}
        self._markers: dict[Any, Affine] = {}
        self._found: dict[Affine, Affine] = {}

    def bound(self, types: list[Type], iteration: Affine | None = None) -> list[Type]:
        """The types of parameters (or results) with new symbols for what is not known of this
        iteration, or after this number of iterations."""
        self._found = {}
        fresh: dict[Affine, Affine] = {}
        number = Affine.of(self._counter) if iteration is None else iteration

        def renew(length: Affine) -> Affine:
            change = self._changes.get(length)
            if change is None:
                return length
            if change.step is not None:
                return change.start + number * change.step
            varies = length.terms[0][0].varies
            return fresh.setdefault(length, Affine.of(Symbol("length", varies=varies)))

        return [map_lengths(type_, renew) for type_ in types]

    @property
    def counts_iterations(self) -> bool:
        """Whether a length depends on the number of the iteration."""
        return any(change.step is not None for change in self._changes.values())

    # -- the fixed point -------------------------------------------------------------------------

    def generalizes(self, assumed: Type, found: Type) -> bool:
        """Whether a parameter of type `assumed` may take a value of type `found`."""
        if isinstance(assumed, Scalar) and isinstance(found, Scalar):
            return _widens(assumed, found) and (
                assumed.value is None
                or (found.value is not None and self._agrees(assumed.value, found.value))
            )
        if isinstance(assumed, Sequence) and isinstance(found, Sequence):
            agrees = assumed.length is None or assumed.length == found.length
            agrees = agrees and assumed.optional >= found.optional
            filled = found.item == NONE and assumed.item != Never()
            return agrees and (filled or self.generalizes(assumed.item, found.item))
        if isinstance(assumed, Tuple) and isinstance(found, Tuple):
            return all(map(self.generalizes, assumed.items, found.items))
        if isinstance(assumed, Array) and isinstance(found, Array):
            return (assumed.dtype, assumed.rank) == (found.dtype, found.rank) and all(
                map(self._agrees, assumed.dims, found.dims)
            )
        return assumed == found

    def _agrees(self, assumed: Affine, found: Affine) -> bool:
        facts, change = self._facts, self._changes.get(assumed)
        if change is None:
            return bool(facts.equal(assumed, found))
        if change.step is None:
            return facts.normalize(self._found.setdefault(assumed, found)) == facts.normalize(found)
        following = change.start + (Affine.of(self._counter) + 1) * change.step
        return facts.normalize(following) == facts.normalize(found)

    def first(self, type_: Type, inside: bool = False) -> Type:
        """The type to assume first for a value of this type. inside: of an item."""
        return self.widened(type_, type_, type_, inside)

    def widened(self, type_: Type, assumed: Type, found: Type, inside: bool = False) -> Type:
        """The type of a parameter: without what is true of one iteration only. type_: the join."""
        if isinstance(type_, Scalar):
            return Scalar(type_.dtype, type_.weak)
        if isinstance(type_, Sequence):
            one, other = (
                t.item if isinstance(t, Sequence) and t.item not in (Never(), NONE) else type_.item
                for t in (assumed, found)
            )
            length = type_.length if inside and self.is_outer(type_.length) else None
            item = self.widened(type_.item, one, other, inside=True)
            return Sequence(item, length, type_.optional)
        if isinstance(type_, Tuple):
            below = [t.items if isinstance(t, Tuple) else type_.items for t in (assumed, found)]
            items = map(self.widened, type_.items, *below, [inside] * len(type_.items))
            return Tuple(tuple(items))
        if isinstance(type_, Array) and isinstance(assumed, Array) and isinstance(found, Array):
            pairs = zip(assumed.dims, found.dims, strict=True)
            return replace(type_, dims=tuple(self._widened(a, f, inside) for a, f in pairs))
        return type_

    def _widened(self, assumed: Affine, found: Affine, inside: bool) -> Affine:
        change = self._changes.get(assumed)
        if change is None and assumed == found:
            is_of_one_iteration = self._is_of_one_iteration(found)
            return self._marker(found, None, inside=inside) if is_of_one_iteration else found
        if self._agrees(assumed, found):
            return assumed
        if change is not None:
            split = object() if change.step is None else None
            return self._marker(change.start, None, split, inside)
        step = None if inside else self._step(found - assumed)
        return self._marker(assumed, step, inside=inside)

    def _step(self, difference: Affine) -> int | None:
        """What each iteration adds to a length, if one iteration, or `iteration + 1` of them, add
        this."""
        difference = self._facts.normalize(difference)
        if difference.known is None and difference.terms[0][0] is self._counter:
            step = difference.terms[0][1]
            return step if difference == (Affine.of(self._counter) + 1) * step else None
        return difference.known

    def counted(self, start: Affine, step: int) -> Affine:
        """An integer that each iteration changes by the same number."""
        return self._marker(start, step) if step else start

    def _marker(
        self, start: Affine, step: int | None, split: Any = None, inside: bool = False
    ) -> Affine:
        """The name for lengths that start alike and change alike. inside: of items of a list."""
        key = start, step, split, inside
        if key not in self._markers:
            marker = self._markers[key] = Affine.of(Symbol("length", varies=inside))
            self._changes[marker] = _Change(start, step)
        return self._markers[key]

    def _is_of_one_iteration(self, length: Affine) -> bool:
        """Whether this speaks of what only one iteration has: its number, what it computes."""
        if length in self._changes:
            return False
        return any(symbol.serial >= self._counter.serial for symbol in length.symbols())

    def is_outer(self, length: Affine | None) -> bool:
        """Whether this is a length in terms of the arguments: the same in every iteration."""
        is_argument = self._facts.is_argument
        return length is not None and all(is_argument(symbol) for symbol, _ in length.terms)

    def is_lasting(self, type_: Type) -> bool:
        """Whether this type speaks of lengths and numbers in terms of the arguments alone."""
        lengths: list[Affine | None] = []

        def noted(length: Affine) -> Affine:
            lengths.append(length)
            return length

        map_lengths(type_, noted)
        return all(map(self.is_outer, lengths))


def _widens(assumed: Scalar, found: Scalar) -> bool:
    """Whether a number of one kind may stand where one of another is assumed."""
    plain = replace(assumed, value=None)
    try:
        return join(plain, replace(found, value=None)) == plain
    except JoinError:
        return False


def widest(types: list[Type], expected: list[Type]) -> list[Type]:
    """The types to assume for what begins with these, where others are expected."""
    if len(types) != len(expected):
        return types
    return [_joined(first, other) for first, other in zip(types, expected, strict=True)]


def _joined(first: Type, other: Type) -> Type:
    try:
        return join(first, other) if isinstance(first, (Scalar, Sequence)) else first
    except JoinError:
        return first
