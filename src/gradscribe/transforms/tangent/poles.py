"""Tangents at poles: no NaN comes of an infinite derivative that a choice does not hand on.

A choice (`np.where`, `np.maximum`) may cut a tangent off before a pole, as stores of numbers and
joins with them do, or behind it.
Before it, the tangent is zero and its product with the infinite partial derivative is NaN; behind
it, what was not chosen may be NaN or infinite itself. In both cases the derivative is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Operation, Value
from gradscribe.ir.types import Array, is_differentiable
from gradscribe.primitives.choices import CHOICES
from gradscribe.primitives.control import APPEND, LIST, SET, TUPLE
from gradscribe.primitives.indexing import ACCUMULATE, STORE
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.transforms.derivatives.cotangents import call, constant, zero_where_cut

_FILLS = frozenset({PRIMITIVES[np.diagflat]})
"""What puts zeros beside the elements that it is given."""

_JOINS = _FILLS | {
    PRIMITIVES[function]
    for function in (np.array, np.concatenate, np.stack, np.column_stack, np.hstack, np.vstack)
}
_JOINS |= {STORE, ACCUMULATE, LIST, TUPLE, APPEND, SET}
"""What puts elements that have a tangent beside others."""


class Poles:
    """What is known of the tangents made so far: which a choice may have cut off, and which may
    be infinite."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._masked: set[Value] = set()
        self._unbounded: set[Value] = set()

    def note(self, operation: Operation, given: Sequence[Value | None], tangent: Value) -> None:
        """given: the tangents of the operands, where they have one; tangent: the result's."""
        primitive = operation.primitive
        tangents = [t for t in given if t is not None]
        only_masked = bool(tangents) and self._masked.issuperset(tangents)
        if primitive.masks or only_masked or self._joins(operation, given):
            self._masked.add(tangent)
        keeps = primitive.elementwise or primitive.view or primitive in CHOICES
        passes = keeps and not self._unbounded.isdisjoint(tangents)
        if passes or (primitive.pole and not only_masked):
            self._unbounded.add(tangent)

    def merge(self, result: Value, sources: Sequence[Value | None]) -> None:
        """result: a tangent that is one of these, on one path or another; None: zero."""
        if any(source is None or source in self._masked for source in sources):
            self._masked.add(result)
        if not self._unbounded.isdisjoint(sources):
            self._unbounded.add(result)

    def _joins(self, operation: Operation, given: Sequence[Value | None]) -> bool:
        """Whether elements without tangents, or with those cut off, stand beside others."""
        if operation.primitive not in _JOINS:
            return False
        pairs = zip(operation.operands, given, strict=True)
        return operation.primitive in _FILLS or any(
            t in self._masked if t is not None else is_differentiable(operand.type)
            for operand, t in pairs
        )

    def term(self, operation: Operation, tangent: Value, partial: Any, product: Value) -> Value:
        """The product of a tangent and a partial derivative: zero where a choice says so."""
        if tangent in self._masked and operation.primitive.pole:
            return zero_where_cut(self._builder, tangent, product)
        if operation.primitive in CHOICES and tangent in self._unbounded:
            return self._selected(partial, product)
        return product

    def _selected(self, partial: Any, product: Value) -> Value:
        if not isinstance(partial, Value) or not isinstance(product.type, Array):
            return product
        return call(self._builder, np.where, partial, product, constant(self._builder, 0.0))
