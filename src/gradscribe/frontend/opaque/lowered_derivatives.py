"""What a rule that a user gave returns when it is lowered: checked, and arranged by what it
belongs to (see `given_derivatives`).

Comes in: frontend values. Goes out: for each value a derivative of its structure, with
`Static(None)` where there is none. What only the run tells of shapes is checked in the code that
is emitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradscribe.frontend.kinds.static_values import stands_for
from gradscribe.frontend.memory.sequences import known_items
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.opaque.given_derivatives import (
    GivenRule,
    Lengths,
    is_same_shape,
    kind_of,
    sums_to,
)
from gradscribe.frontend.prelude import derivative_prelude as prelude
from gradscribe.frontend.state import wording
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import DictRef, FrontendValue, ListRef, Ref, Static, TupleOf
from gradscribe.ir.core import Value
from gradscribe.ir.types import Array, Scalar, Sequence, Type, is_differentiable

NOTHING = Static(None)


def parts_of(lowering: Lowering, item: FrontendValue) -> tuple[FrontendValue, ...] | None:
    """The items of a tuple, or of a list whose items are known; None of anything else."""
    if stands_for(item, (tuple, list)):
        return tuple(map(Static, item.value))
    return known_items(lowering, item)


def type_of(lowering: Lowering, item: FrontendValue) -> Type | None:
    """The type of a number, an array, or a list that only the run knows."""
    if known_items(lowering, item) is None and isinstance(item, (Ref, Value, ListRef)):
        type_ = lowering.value(item).type
        return type_ if isinstance(type_, (Array, Scalar, Sequence)) else None
    return None


def leaves_of(lowering: Lowering, item: FrontendValue) -> Iterator[FrontendValue]:
    """Those values in a value that have derivatives."""
    parts = parts_of(lowering, item)
    if parts is None:
        type_ = type_of(lowering, item)
        if type_ is not None and is_differentiable(type_):
            yield item
    for part in parts or ():
        yield from leaves_of(lowering, part)


def nested(
    lowering: Lowering, like: FrontendValue, leaves: Iterator[FrontendValue]
) -> FrontendValue:
    """Derivatives in the structure of a value, from those of its leaves."""
    parts = parts_of(lowering, like)
    if parts is not None:
        return TupleOf(tuple(nested(lowering, part, leaves) for part in parts))
    return next(leaves, NOTHING) if any(leaves_of(lowering, like)) else NOTHING


@dataclass(frozen=True, eq=False)
class Lowered:
    """The check of a rule that is lowered at a node of the program."""

    lowering: Lowering
    node: Any
    rule: GivenRule

    def cotangents(self, found: FrontendValue, parameters: tuple[FrontendValue, ...]) -> TupleOf:
        """What an adjoint gave, for each parameter."""
        self.rule.check_returned(found != NOTHING)
        given = self._entries(found, parameters)
        is_none = [_is_none(item) for item in given]
        due = [any(leaves_of(self.lowering, parameter)) for parameter in parameters]
        arranged = self.rule.arranged(given, is_none, due)
        names = [f"`{name}`" for name in self.rule.names]
        return TupleOf(tuple(map(self.derivative, names, arranged, parameters)))

    def derivative(
        self, name: str, item: FrontendValue | None, like: FrontendValue
    ) -> FrontendValue:
        """The derivative of one value, which may be a tuple of values."""
        if item is None or _is_none(item) or not any(leaves_of(self.lowering, like)):
            return NOTHING
        items, parts = parts_of(self.lowering, item), parts_of(self.lowering, like)
        if parts is None:
            return self._leaf(name, item, like)
        if items is None or len(items) != len(parts):
            raise self.rule.refuse_structure(name, self._kind(item), f"a tuple of {len(parts)}")
        names = [f"{name}[{i}]" for i in range(len(parts))]
        return TupleOf(tuple(map(self.derivative, names, items, parts)))

    def _entries(
        self, found: FrontendValue, parameters: tuple[FrontendValue, ...]
    ) -> tuple[FrontendValue, ...]:
        """One for each parameter. (For a single one, a rule need not return a tuple.)"""
        entries = parts_of(self.lowering, found)
        if entries is None:
            return (found,)
        parts = parts_of(self.lowering, parameters[0]) if len(parameters) == 1 else None
        if parts is None:
            return entries
        is_pair = len(entries) == 1 and parts_of(self.lowering, entries[0]) is not None
        return entries if is_pair or (entries and _is_none(entries[0])) else (found,)

    def _leaf(self, name: str, item: FrontendValue, like: FrontendValue) -> FrontendValue:
        if unknown.is_opaque(item):
            unknown.refuse(self.lowering, self.node)
        wanted, given = type_of(self.lowering, like), type_of(self.lowering, item)
        number = item.value if isinstance(item, Static) else None
        is_number = isinstance(number, (int, float, complex))
        is_list = isinstance(wanted, Sequence)
        if is_list and (given == wanted or parts_of(self.lowering, item) is not None):
            return item
        if is_list or not (is_number or isinstance(given, (Array, Scalar))):
            raise self.rule.refuse_structure(name, self._kind(item), self._kind(like))
        assert isinstance(wanted, (Array, Scalar))
        if is_number:
            constant = self.lowering.constant(number)
            item, given = constant, constant.type
        assert isinstance(given, (Array, Scalar))
        is_whole = isinstance(given, Scalar) and given.weak and given.dtype != "bool"
        if not (is_whole and np.dtype(given.dtype).kind == "i"):
            self.rule.check_dtype(name, np.dtype(given.dtype), np.dtype(wanted.dtype))
        return self._of_shape(name, item, like, (_dims(given), _dims(wanted)))

    def _of_shape(
        self, name: str, item: FrontendValue, like: FrontendValue, shapes: tuple[Lengths, Lengths]
    ) -> FrontendValue:
        facts, is_adjoint = self.lowering.builder.facts, self.rule.kind == "adjoint"
        fits = (sums_to if is_adjoint else is_same_shape)(facts, *shapes)
        if fits is False:
            raise self.rule.shape_error(name, *(wording.shape(facts, dims) for dims in shapes))
        if fits is None:
            error = self.rule.shape_error(name, "{0}", "{1}")
            check = prelude.check_sum if is_adjoint else prelude.check_same
            parts = map(Static, (error.what, error.advice, error.location, tuple))
            self.lowering.inline(self.node, check, (item, like, *parts))
        return self._summed(item, *shapes) if is_adjoint else item

    def _summed(self, item: FrontendValue, given: Lengths, wanted: Lengths) -> FrontendValue:
        """A cotangent, summed over the axes that its value does not have, or that are one long."""
        extra = len(given) - len(wanted)
        if extra:
            item = self._sum(item, {"axis": Static(tuple(range(extra)))})
        ends = enumerate(zip(given[extra:], wanted, strict=True))
        spread = tuple(i for i, (n, to) in ends if to.known == 1 and n.known != 1)
        if spread:
            item = self._sum(item, {"axis": Static(spread), "keepdims": Static(True)})
        return item

    def _sum(self, item: FrontendValue, keywords: dict[str, FrontendValue]) -> FrontendValue:
        found: FrontendValue = self.lowering.call(self.node, Static(np.sum), (item,), keywords)
        return found

    def _kind(self, item: FrontendValue) -> str:
        """What a value is called in errors."""
        if isinstance(item, Static):
            return kind_of(item.value)
        parts = parts_of(self.lowering, item)
        if parts is not None:
            return f"a {'list' if isinstance(item, ListRef) else 'tuple'} of {len(parts)}"
        type_ = type_of(self.lowering, item)
        if isinstance(type_, Array):
            return "an array" if type_.rank else "an array without axes"
        if isinstance(type_, Scalar):
            return "a number"
        if isinstance(type_, Sequence):
            return "a list"
        return "a dict" if isinstance(item, DictRef) else "an object"


def _is_none(item: FrontendValue) -> bool:
    return isinstance(item, Static) and item.value is None


def _dims(type_: Array | Scalar) -> Lengths:
    return type_.dims if isinstance(type_, Array) else ()
