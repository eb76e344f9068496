"""Derivative rules of primitives, inlined into the reverse sweep.

A rule is inlined once, on placeholders for the primal's values, which tells which of them it
reads. Only those are then asked of the scope, and those whose shape alone is read are replaced
by whatever has that shape.
"""

from __future__ import annotations

import itertools
import operator
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Block, Operation, Value, map_operands, walk
from gradscribe.ir.types import Tuple
from gradscribe.primitives.choices import CHOICES
from gradscribe.primitives.control import CONSTANT, ITEM, TUPLE, ZEROS_LIKE
from gradscribe.primitives.indexing import LENGTH, SIZE
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

_SHAPE_READERS = frozenset({LENGTH, SIZE, ZEROS_LIKE})


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
        wanted = sorted(i for where in self.positions.values() for i in where)
        for i in wanted:
            check_known(operation, template.results[i])
        self._results = template.results
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
        self._template = template
        self._elementwise = operation.primitive.elementwise
        self._conjugated = conjugates.is_conjugated(operation)
        self._selects = operation.primitive in CHOICES and d_out in scope.context.unbounded
        self._d_out = d_out
        self._emitted: set[int] = set()
        self._counts: Counter[int] | None = None
        given = self._given(d_out)
        self._mapping: dict[Value, Value] = {template.d_out: given}
        self._renewal = Renewal(
            template, self._mapping, derived(operation.location), scope.builder.facts
        )
        results = [template.results[i] for i in wanted]
        shapes, values = _reads(_needed(template.operations, results), results)
        placeholders = (*template.primals, template.out)  # the result may be computed again of them
        primals = (*operation.operands, operation.result)
        for placeholder, primal in zip(placeholders, primals, strict=True):
            if placeholder in values:
                self._mapping[placeholder] = scope.primal(primal)
            elif placeholder in shapes:
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
        given = self._template.results
        if self._counts is None:
            self._counts = Counter(map(id, given))
        own = Counter(id(given[i]) for i in where)
        return any(self._counts[result] > count for result, count in own.items())

    def have_poles(self, where: Sequence[int]) -> bool:
        """Whether the partial derivatives by these operands can be infinite."""
        results = [self._template.results[i] for i in where]
        needed = _needed(self._template.operations, results)
        inner = (o for operation in needed for region in operation.regions for o in walk(region))
        operations = [*needed, *inner]
        return any(map(_may_be_infinite(operations), operations))

    def are_computed(self, where: Sequence[int]) -> bool:
        """Whether the partial derivatives by these operands are numbers of the program's, as of a
        product."""
        return self._elementwise and any(
            isinstance(self._template.results[i], Value) for i in where
        )

    def _result(self, i: int) -> Any:
        given = self._template.results[i]
        if not isinstance(given, Value):
            return given
        for operation in _needed(self._template.operations, [given]):
            if id(operation) not in self._emitted:
                self._emitted.add(id(operation))
                self._builder.append(self._renewal.operation(operation))
        return self._mapping[given]


def _may_be_infinite(operations: Sequence[Operation]) -> Callable[[Operation], bool]:
    """Whether one of these operations has a pole: not so a division by a number other than zero,
    or a power with an exponent that is not negative."""
    numbers = {o.results[0]: o.attributes["value"] for o in operations if o.primitive is CONSTANT}

    def check(operation: Operation) -> bool:
        primitive = operation.primitive
        last = numbers.get(operation.operands[-1]) if operation.operands else None
        if last is not None and primitive is PRIMITIVES[operator.truediv]:
            return bool(last == 0)
        if last is not None and primitive is PRIMITIVES[operator.pow]:
            return bool(last < 0)
        return primitive.pole

    return check


def _needed(operations: Sequence[Operation], results: Sequence[Any]) -> list[Operation]:
    live = {result for result in results if isinstance(result, Value)}
    needed: list[Operation] = []
    for operation in reversed(operations):
        if _has_effect(operation) or not live.isdisjoint(operation.results):
            needed.append(operation)
            live.update(operation.operands)
            for region in operation.regions:
                live.update(_all_reads(region))
    return needed[::-1]


def _has_effect(operation: Operation) -> bool:
    inner = (o for region in operation.regions for o in walk(region))
    return operation.primitive.effect or any(o.primitive.effect for o in inner)


def _all_reads(block: Block) -> Iterator[Value]:
    yield from block.yields
    for operation in block.operations:
        yield from operation.operands
        for region in operation.regions:
            yield from _all_reads(region)


def _reads(
    operations: Sequence[Operation], results: Sequence[Any]
) -> tuple[set[Value], set[Value]]:
    """The values whose shape is read, and those that are read themselves."""
    shapes: set[Value] = set()
    values = {result for result in results if isinstance(result, Value)}
    pending = list(operations)
    while pending:
        operation = pending.pop()
        (shapes if operation.primitive in _SHAPE_READERS else values).update(operation.operands)
        for region in operation.regions:
            values.update(region.yields)
            pending += region.operations
    return shapes, values


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
