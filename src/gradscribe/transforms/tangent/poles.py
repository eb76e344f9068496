"""Tangents at poles: no NaN comes of an infinite derivative that a choice does not hand on.

A choice (`np.where`, `np.maximum`) may cut a tangent off before a pole, as masks do, or behind it.
Before it, the tangent is zero and its product with the infinite partial derivative is NaN; behind
it, what was not chosen may be NaN or infinite itself. In both cases the derivative is zero.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Operation, Value
from gradscribe.ir.types import Array
from gradscribe.primitives.choices import CHOICES
from gradscribe.transforms.cotangents import call, constant


class Poles:
    """What is known of the tangents made so far: which a choice may have cut off, and which may
    be infinite."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._masked: set[Value] = set()
        self._unbounded: set[Value] = set()

    def note(self, operation: Operation, given: Sequence[Value], tangent: Value) -> None:
        """given: the tangents of the operands; tangent: that of the result."""
        primitive = operation.primitive
        keeps = primitive.elementwise or primitive.view
        chooses = primitive in CHOICES
        if chooses or (keeps and bool(given) and self._masked.issuperset(given)):
            self._masked.add(tangent)
        passes = (keeps or chooses) and not self._unbounded.isdisjoint(given)
        if passes or (primitive.pole and not self._masked.issuperset(given)):
            self._unbounded.add(tangent)

    def term(self, operation: Operation, tangent: Value, partial: Any, product: Value) -> Value:
        """The product of a tangent and a partial derivative: zero where a choice says so."""
        if tangent in self._masked and operation.primitive.pole:
            return self._guarded(tangent, product)
        if operation.primitive in CHOICES and tangent in self._unbounded:
            return self._selected(partial, product)
        return product

    def _guarded(self, tangent: Value, product: Value) -> Value:
        if not isinstance(tangent.type, Array):
            return product
        zero = constant(self._builder, 0.0)
        is_zero = call(self._builder, operator.eq, tangent, zero)
        is_cut = call(self._builder, operator.and_, is_zero, call(self._builder, np.isnan, product))
        return call(self._builder, np.where, is_cut, zero, product)

    def _selected(self, partial: Any, product: Value) -> Value:
        if not isinstance(partial, Value) or not isinstance(product.type, Array):
            return product
        return call(self._builder, np.where, partial, product, constant(self._builder, 0.0))
