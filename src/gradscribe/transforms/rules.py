"""Derivative rules of primitives, inlined into the reverse sweep.

A rule is inlined once, on placeholders for the primal's values, which tells which of them it
reads. Only those are then asked of the scope, and those whose shape alone is read are replaced
by whatever has that shape.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradscribe.errors import NoDerivativeError, UnsupportedError
from gradscribe.frontend import rules as frontend_rules
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Block, Operand, Operation, Value, map_operands
from gradscribe.ir.types import Array, Type
from gradscribe.primitives.control import CONSTANT, ZEROS_LIKE
from gradscribe.primitives.indexing import LENGTH, SIZE
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.transforms.activity import has_zero_derivative
from gradscribe.transforms.cotangents import call, constant, project
from gradscribe.transforms.scopes import Scope
from gradscribe.transforms.storage import derived

_SHAPE_READERS = frozenset({LENGTH, SIZE, ZEROS_LIKE})


@dataclass(frozen=True)
class Template:
    """A rule inlined on placeholders: `primals` are those of out and the operands (None where
    the operand is a known number), `results` what it gives for each operand."""

    operations: tuple[Operation, ...]
    out: Value
    primals: tuple[Value | None, ...]
    d_out: Value
    results: tuple[Any, ...]


Templates = dict[tuple[Operation, Type], Template]


def apply_rule(scope: Scope, operation: Operation, d_out: Value, templates: Templates) -> None:
    """Contribute to the cotangents of the operands of an operation by its primitive's rule."""
    active = scope.context.active
    wanted = [i for i, operand in enumerate(operation.operands) if operand in active]
    if not wanted:
        return
    _refuse_complex(operation)
    key = (operation, d_out.type)
    if key not in templates:
        templates[key] = _template(scope, operation, d_out)
    instance = _Instance(scope, operation, templates[key], wanted, d_out)
    positions: dict[Value, list[int]] = {}
    for i in wanted:
        positions.setdefault(operation.operands[i], []).append(i)
    is_masked = _is_masked(scope, operation, d_out)
    for operand, where in positions.items():
        start = len(scope.builder.operations)
        for cotangent in instance.cotangents(where):
            if is_masked and operation.primitive.pole:
                cotangent = _guarded(scope.builder, d_out, cotangent)
            cotangent = project(scope, cotangent, operand, start)
            if is_masked:
                scope.context.masked.add(cotangent)
            scope.contribute(operand, cotangent)


def _refuse_complex(operation: Operation) -> None:
    """Rules do not conjugate yet."""
    for value in (*operation.operands, operation.result):
        if np.dtype(getattr(value.type, "dtype", "float64")).kind == "c":
            raise UnsupportedError(
                f"`{operation.primitive.name}` of complex numbers cannot be differentiated yet",
                "compute with the real and imaginary parts",
                operation.location,
            )


def _is_masked(scope: Scope, operation: Operation, d_out: Value) -> bool:
    """Whether the cotangents of the operands are zero where a mask has cut them off."""
    if operation.primitive is PRIMITIVES[np.where]:
        return True
    keeps_zeros = operation.primitive.elementwise or operation.primitive.view
    return keeps_zeros and d_out in scope.context.masked


def _guarded(builder: Builder, d_out: Value, cotangent: Value) -> Value:
    """Zero where d_out is zero, also where the partial derivative is infinite."""
    if not isinstance(d_out.type, Array):
        return cotangent
    zero = constant(builder, 0.0)
    is_zero = call(builder, operator.eq, d_out, zero)
    return call(builder, np.where, is_zero, zero, cotangent)


def _template(scope: Scope, operation: Operation, d_out: Value) -> Template:
    primitive = operation.primitive
    if primitive.adjoint is None or has_zero_derivative(primitive):
        raise NoDerivativeError(
            f"`{primitive.name}` has no derivative",
            "wrap what need not be differentiated in stop_gradient",
            operation.location,
        )
    builder = Builder(scope.builder.facts)
    location = builder.location = derived(operation.location)
    out = Value(operation.result.type, operation.result.name)
    d_placeholder = Value(d_out.type, d_out.name)
    primals: list[Value | None] = []
    numbers: list[Any] = []
    for operand in operation.operands:
        number = _known_number(scope, operand)
        numbers.append(number)
        primals.append(Value(operand.type, operand.name) if number is None else None)

    def argument(operand: Operand) -> Any:
        placeholder = primals[operand.index]
        return numbers[operand.index] if placeholder is None else placeholder

    arguments = {"out": out, **map_operands(dict(operation.attributes), argument)}
    if not primitive.elementwise:
        arguments["d_out"] = d_placeholder
    given = frontend_rules.inline(builder, primitive.adjoint, arguments, location)
    results = _by_operand(operation, given)
    return Template(tuple(builder.operations), out, tuple(primals), d_placeholder, results)


def _known_number(scope: Scope, operand: Value) -> Any:
    definition = scope.context.structure.definition.get(operand)
    if definition is None or definition.primitive is not CONSTANT:
        return None
    return definition.attributes["value"]


def _by_operand(operation: Operation, given: Any) -> tuple[Any, ...]:
    """What a rule returned (an entry for each parameter, or for the first alone), by operand."""
    results: list[Any] = [None] * len(operation.operands)
    parameters = list(operation.attributes.values())
    entries = list(given) if isinstance(given, (tuple, list)) else [given]
    for attribute, entry in zip(parameters, entries, strict=False):
        for operand, item in _matched(attribute, entry):
            results[operand.index] = item
    return tuple(results)


def _matched(attribute: Any, entry: Any) -> Iterator[tuple[Operand, Any]]:
    if isinstance(attribute, Operand):
        yield attribute, entry
    elif isinstance(attribute, (tuple, list)) and isinstance(entry, (tuple, list)):
        for part, item in zip(attribute, entry, strict=True):
            yield from _matched(part, item)


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
        self._d_out = d_out
        self._mapping: dict[Value, Value] = {template.d_out: d_out}
        results = [template.results[i] for i in wanted]
        shapes, values = _reads(_needed(template.operations, results), results)
        placeholders = (template.out, *template.primals)
        primals = (operation.result, *operation.operands)
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
                cotangent = _times(self._builder, self._d_out, result, results.count(result))
                if cotangent is not None:
                    yield cotangent
            elif result is not None:
                value = result if isinstance(result, Value) else constant(self._builder, result)
                yield from itertools.repeat(value, results.count(result))

    def _result(self, i: int) -> Any:
        given = self._template.results[i]
        if not isinstance(given, Value):
            return given
        for operation in _needed(self._template.operations, [given]):
            if operation.results[0] not in self._mapping:
                self._builder.append(_renewed(operation, self._mapping))
        return self._mapping[given]


def _needed(operations: Sequence[Operation], results: Sequence[Any]) -> list[Operation]:
    live = {result for result in results if isinstance(result, Value)}
    needed: list[Operation] = []
    for operation in reversed(operations):
        if operation.primitive.effect or not live.isdisjoint(operation.results):
            needed.append(operation)
            live.update(operation.operands)
            for region in operation.regions:
                live.update(_all_reads(region))
    return needed[::-1]


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


def _renewed(operation: Operation, mapping: dict[Value, Value]) -> Operation:
    """The operation on mapped values, with results of its own (entered in the mapping)."""
    operands = tuple(mapping.get(value, value) for value in operation.operands)
    regions = tuple(_renewed_block(region, mapping) for region in operation.regions)
    results = tuple(_new(value, mapping) for value in operation.results)
    return replace(operation, operands=operands, results=results, regions=regions)


def _renewed_block(block: Block, mapping: dict[Value, Value]) -> Block:
    parameters = tuple(_new(value, mapping) for value in block.parameters)
    operations = tuple(_renewed(operation, mapping) for operation in block.operations)
    return Block(parameters, operations, tuple(mapping.get(v, v) for v in block.yields))


def _new(value: Value, mapping: dict[Value, Value]) -> Value:
    result = mapping[value] = Value(value.type, value.name)
    return result


def _times(builder: Builder, cotangent: Value, partial: Any, count: int = 1) -> Value | None:
    """cotangent * count * partial derivative; None for zero."""
    if partial is None or (not isinstance(partial, Value) and partial == 0):
        return None
    if isinstance(partial, Value):
        return _times_value(builder, cotangent, partial, count)
    partial = partial * count
    if partial == 1:
        return cotangent
    if partial == -1:
        return call(builder, operator.neg, cotangent)
    return call(builder, operator.mul, cotangent, constant(builder, partial))


def _times_value(builder: Builder, cotangent: Value, partial: Value, count: int) -> Value:
    divisor = _reciprocal_of(builder, partial)
    if divisor is not None and count == 1:
        return call(builder, operator.truediv, cotangent, divisor)
    if count > 1:
        partial = call(builder, operator.mul, constant(builder, count), partial)
    return call(builder, operator.mul, cotangent, partial)


def _reciprocal_of(builder: Builder, partial: Value) -> Value | None:
    """y, where the partial derivative was just computed as 1 / y: dividing rounds once."""
    last = builder.operations[-1] if builder.operations else None
    if last is None or last.results != (partial,) or last.callee is not operator.truediv:
        return None
    one, divisor = last.operands
    made = [o for o in builder.operations[-3:] if one in o.results and o.primitive is CONSTANT]
    return divisor if made and made[0].attributes["value"] == 1 else None
