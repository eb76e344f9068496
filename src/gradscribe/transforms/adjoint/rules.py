"""Derivative rules of primitives, inlined into the reverse sweep.

A rule is inlined once, on placeholders for the primal's values, which tells which of them it
reads. Only those are then asked of the scope, and those whose shape alone is read are replaced
by whatever has that shape.
"""

from __future__ import annotations

import itertools
import operator
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Operation, Value, map_operands
from gradscribe.ir.types import Tuple
from gradscribe.primitives.choices import CHOICES
from gradscribe.primitives.control import CONSTANT, ITEM, TUPLE, ZEROS_LIKE
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.transforms.adjoint.projection import project
from gradscribe.transforms.adjoint.scopes import Scope
from gradscribe.transforms.analyses.opacity import check_known
from gradscribe.transforms.building import derived
from gradscribe.transforms.derivatives import conjugates
from gradscribe.transforms.derivatives.cotangents import add, call, constant, zero_where_cut
from gradscribe.transforms.derivatives.templates import Renewal, Template, Templates

ASKING_FOR_NAN = frozenset(
    PRIMITIVES[function]
    for function in (
        *(np.isnan, np.isfinite, np.nan_to_num, np.nanmax, np.nanmin),
        *(np.nanmedian, np.nanquantile, np.nanpercentile),
    )
)
"""What a program asks that leaves out missing values."""


def apply_rule(scope: Scope, operation: Operation, d_out: Value, templates: Templates) -> None:
    """Contribute to the cotangents of the operands of an operation by its primitive's rule."""
    rule = Pulled(scope, operation, d_out, templates)
    if not rule.positions:
        return
    instance = rule.instance
    is_masked = _is_masked(scope, operation, d_out)
    is_unbounded = _is_unbounded(scope, operation, d_out)
    for operand, where in rule.positions.items():
        start = len(scope.builder.operations)
        has_poles = operation.primitive.pole and instance.have_poles(where)
        has_poles |= scope.context.meets_nan and instance.are_computed(where)
        for cotangent in instance.cotangents(where):
            if is_masked and has_poles:
                cotangent = zero_where_cut(scope.builder, d_out, cotangent)
            if instance.is_shared(where):  # it keeps its name: others refer to it
                start = len(scope.builder.operations)
            cotangent = project(scope, cotangent, operand, start)
            if is_masked:
                scope.context.masked.add(cotangent)
            if is_unbounded or (has_poles and not is_masked):
                scope.context.unbounded.add(cotangent)
            scope.contribute(operand, cotangent)


class Pulled:
    """The rule of an operation in a scope. positions: where each operand whose cotangent is wanted
    stands. What the rule reads of the primal is made available at once."""

    def __init__(
        self, scope: Scope, operation: Operation, d_out: Value, templates: Templates
    ) -> None:
        self._scope = scope
        self.positions: dict[Value, list[int]] = {}
        for i, operand in enumerate(operation.operands):
            if operand in scope.context.active:
                self.positions.setdefault(operand, []).append(i)
        if not self.positions:
            return
        conjugates.check(operation)
        if scope.parent is not None and not operation.primitive.elementwise:
            _relearn(scope, operation)
        zeros = _zeros_among(scope.builder, d_out) if operation.primitive.partial else frozenset()
        numbers = [_known_number(scope, operand) for operand in operation.operands]
        template = templates.of(operation, numbers, d_out, scope.builder.facts, zeros)
        self._results = template.rule.results
        wanted = sorted(i for where in self.positions.values() for i in where)
        for i in wanted:
            check_known(operation, self._results[i])
        self.instance = _Instance(scope, operation, template, wanted, d_out)

    @property
    def operands(self) -> list[Value]:
        """Those that the rule gives a cotangent."""
        given = self._results
        return [
            o for o, where in self.positions.items() if any(given[i] is not None for i in where)
        ]

    def cotangents(self) -> dict[Value, Value]:
        """The cotangents of these, each in one piece."""
        found: dict[Value, Value] = {}
        for operand in self.operands:
            start = len(self._scope.builder.operations)
            for given in self.instance.cotangents(self.positions[operand]):
                cotangent = project(self._scope, given, operand, start)
                total = found.get(operand)
                found[operand] = (
                    cotangent
                    if total is None
                    else add(self._scope.builder, total, cotangent, operand)
                )
        return found


def _zeros_among(builder: Builder, d_out: Value) -> frozenset[int]:
    """Which of the cotangents of several results are zero, as far as the operations of this scope
    tell."""
    made = {result: o for o in builder.operations for result in o.results}

    def is_zero(value: Value, position: int | None = None) -> bool:
        operation = made.get(value)
        if operation is None:
            return False
        if operation.primitive is ZEROS_LIKE:
            return True
        if operation.primitive is CONSTANT:  # of a number
            return bool(operation.attributes["value"] == 0)
        if operation.primitive is TUPLE and position is not None:
            return is_zero(operation.operands[operation.attributes["items"][position].index])
        if operation.primitive is ITEM:
            return is_zero(operation.operands[0], operation.attributes["position"])
        if operation.callee is operator.add:
            return all(map(is_zero, operation.operands))
        return False

    if not isinstance(d_out.type, Tuple):
        return frozenset()
    return frozenset(i for i in range(len(d_out.type.items)) if is_zero(d_out, i))


def _relearn(scope: Scope, operation: Operation) -> None:
    """Take note again of what the operation demands of the lengths of its operands: what was
    learned in a nested block holds only there."""
    types = map_operands(
        dict(operation.attributes), lambda operand: operation.operands[operand.index].type
    )
    operation.primitive.type_rule(scope.builder.facts, operation.callee, **types)


def _is_masked(scope: Scope, operation: Operation, d_out: Value) -> bool:
    """Whether the cotangents of the operands are zero where a mask has cut them off."""
    is_mask = operation.primitive.masks or operation.attributes.get("where", True) is not True
    return is_mask or d_out in scope.context.masked


def _is_unbounded(scope: Scope, operation: Operation, d_out: Value) -> bool:
    """Whether the cotangents of the operands may be infinite as d_out may be."""
    primitive = operation.primitive
    keeps = primitive.elementwise or primitive.view or primitive in CHOICES
    return keeps and d_out in scope.context.unbounded


def _known_number(scope: Scope, operand: Value) -> Any:
    definition = scope.context.structure.definition.get(operand)
    if definition is None or definition.primitive is not CONSTANT:
        return None
    return definition.attributes["value"]


class _Instance:
    """A template on the primal's values. What the wanted results read of the primal is made
    available at once; operations are emitted as results are asked for."""

    def __init__(
        self,
        scope: Scope,
        operation: Operation,
        template: Template,
        wanted: Sequence[int],
        d_out: Value,
    ) -> None:
        self._builder = scope.builder
        self._rule = rule = template.rule
        self._elementwise = operation.primitive.elementwise
        self._conjugated = conjugates.is_conjugated(operation)
        self._selects = operation.primitive in CHOICES and d_out in scope.context.unbounded
        self._d_out = d_out
        self._emitted: set[int] = set()
        self._counts: Counter[int] | None = None
        given = self._given(d_out)
        self._mapping: dict[Value, Value] = {rule.d_out: given}
        self._renewal = Renewal(
            template, self._mapping, derived(operation.location), scope.builder.facts
        )
        need = rule.need(*wanted)
        placeholders = (*rule.primals, rule.out)  # the result may be computed again of them
        primals = (*operation.operands, operation.result)
        for placeholder, primal in zip(placeholders, primals, strict=True):
            if placeholder in need.values:
                self._mapping[placeholder] = scope.primal(primal)
            elif placeholder in need.shapes:
                self._mapping[placeholder] = scope.primal(scope.shaped_like(primal))

    def cotangents(self, where: Sequence[int]) -> Iterator[Value]:
        """What the rule gives an operand that stands at these positions."""
        results = [self._result(i) for i in where]
        for result in dict.fromkeys(results):
            if self._elementwise:
                count, conjugated = results.count(result), self._conjugated
                cotangent = _times(self._builder, self._d_out, result, count, conjugated)
                if cotangent is not None and self._selects and isinstance(result, Value):
                    zero = constant(self._builder, 0.0)
                    cotangent = call(self._builder, np.where, result, cotangent, zero)
                if cotangent is not None:
                    yield cotangent
            elif result is not None:
                value = result if isinstance(result, Value) else constant(self._builder, result)
                if self._conjugated:
                    value = conjugates.conjugate(self._builder, value)
                yield from itertools.repeat(value, results.count(result))

    def _given(self, d_out: Value) -> Value:
        """The cotangent that the rule is given."""
        if self._elementwise or not self._conjugated:
            return d_out
        return conjugates.conjugate(self._builder, d_out)  # type: ignore[no-any-return]

    def is_shared(self, where: Sequence[int]) -> bool:
        """Whether the rule gives the same value to operands at other positions, too."""
        given = self._rule.results
        if self._counts is None:
            self._counts = Counter(map(id, given))
        own = Counter(id(given[i]) for i in where)
        return any(self._counts[result] > count for result, count in own.items())

    def have_poles(self, where: Sequence[int]) -> bool:
        """Whether the partial derivatives by these operands can be infinite."""
        return self._rule.need(*where).has_poles

    def are_computed(self, where: Sequence[int]) -> bool:
        """Whether the partial derivatives by these operands are numbers of the program's, as of a
        product."""
        return self._elementwise and any(isinstance(self._rule.results[i], Value) for i in where)

    def _result(self, i: int) -> Any:
        given = self._rule.results[i]
        if not isinstance(given, Value):
            return given
        for operation in self._rule.need(i).operations:
            if id(operation) not in self._emitted:
                self._emitted.add(id(operation))
                self._builder.append(self._renewal.operation(operation))
        return self._mapping[given]


def _times(
    builder: Builder, cotangent: Value, partial: Any, count: int, conjugated: bool
) -> Value | None:
    """cotangent * count * partial derivative (or its conjugate); None where there is none.

    Zero is a factor as any other: what is infinite or NaN becomes NaN, in forward mode, too.
    """
    if partial is None:
        return None
    divisor = _reciprocal_of(builder, partial) if count == 1 else None
    if divisor is not None:
        if conjugated:
            divisor = conjugates.conjugate(builder, divisor)
        return call(builder, operator.truediv, cotangent, divisor)
    if conjugated:
        partial = conjugates.conjugate(builder, partial)
    if isinstance(partial, Value):
        if count > 1:
            partial = call(builder, operator.mul, constant(builder, count), partial)
        return call(builder, operator.mul, cotangent, partial)
    partial = partial * count
    if partial == 1:
        return cotangent
    if partial == -1:
        return call(builder, operator.neg, cotangent)
    return call(builder, operator.mul, cotangent, constant(builder, partial))


def _reciprocal_of(builder: Builder, partial: Any) -> Value | None:
    """y, where the partial derivative was just computed as 1 / y: dividing rounds once."""
    last = builder.operations[-1] if builder.operations else None
    if last is None or last.results != (partial,) or last.callee is not operator.truediv:
        return None
    one, divisor = last.operands
    made = [o for o in builder.operations[-3:] if one in o.results and o.primitive is CONSTANT]
    return divisor if made and made[0].attributes["value"] == 1 else None
