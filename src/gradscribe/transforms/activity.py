"""Activity: which values of a function a derivative has to follow.

A value is *varied* if it depends on an active argument through differentiable operations, and
*useful* if a differentiable result depends on it likewise. Active is what is both. Dependence
through loops is followed round the carried values, conditions are not (a derivative holds for
the branches and trips that were taken).

Comparisons, integers and the operations that are entered as constant (`stop_gradient`, creation
of arrays, …) cut dependence. An operation of which nothing is known does not: it stays active,
so that a derivative through it is refused, not silently zero.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Collection, Iterable, Iterator

from gradscribe.ir.core import (
    CALL,
    IF,
    LOOP,
    Block,
    Function,
    Operation,
    Primitive,
    Value,
    map_operands,
    walk,
)
from gradscribe.ir.types import Array, is_differentiable
from gradscribe.primitives import control, indexing, lists
from gradscribe.primitives.registry import METHODS, PRIMITIVES

STRUCTURAL = frozenset(
    {
        control.TUPLE,
        control.ITEM,
        *lists.OPERATIONS,
        control.COPY,
        control.ADD_ITEMS,
        indexing.GETITEM,
        indexing.GATHER,
        indexing.STORE,
        indexing.ACCUMULATE,
        IF,
        LOOP,
        CALL,
    }
)
"""Primitives whose derivative is part of the transforms, not a rule of the primitive."""

_ALWAYS_CONSTANT = frozenset({control.CONSTANT, control.UNDEF, control.ZEROS_LIKE, control.RUN})


def active_values(function: Function, active_leaves: frozenset[int]) -> set[Value]:
    """The values whose (co)tangents are needed, for these numbers of active argument leaves."""
    body = function.body
    uses: dict[Value, list[Value]] = {}
    sources: dict[Value, list[Value]] = {}
    for source, result in _dependences(body):
        uses.setdefault(source, []).append(result)
        sources.setdefault(result, []).append(source)
    seeds = [body.parameters[leaf] for leaf in active_leaves]
    varied = reachable(filter(passes_derivative, seeds), uses)
    return varied & reachable(filter(passes_derivative, body.yields), sources)


@functools.cache
def has_zero_derivative(primitive: Primitive) -> bool:
    """Whether the primitive is declared to have no derivative (not: whether none is known)."""
    if primitive in _ALWAYS_CONSTANT or primitive.effect:
        return True
    if primitive in STRUCTURAL or primitive.adjoint is not None or primitive.tangent is not None:
        return False
    return any(primitive in table.values() for table in (PRIMITIVES, METHODS))


def _dependences(block: Block) -> Iterator[tuple[Value, Value]]:
    """(source, result) for each pair of differentiable values where one is made of the other."""
    for operation in walk(block):
        for source, result in pairs_of(operation):
            if passes_derivative(source) and passes_derivative(result):
                yield source, result


def pairs_of(operation: Operation) -> Iterator[tuple[Value, Value]]:
    """(source, result) for each pair of values where one is made of the other."""
    if operation.primitive is LOOP:
        yield from _loop_pairs(operation)
    elif operation.primitive is IF:
        for region in operation.regions:
            yield from zip(region.yields, operation.results, strict=True)
    elif not has_zero_derivative(operation.primitive):
        for result in operation.results:
            for operand in _operands_with_tangents(operation):
                yield operand, result


def _operands_with_tangents(operation: Operation) -> Collection[Value]:
    """The operands whose tangents the operation's rule takes; of the others, such as the array
    whose shape np.full_like gives to its result, the result is no function."""
    tangent = operation.primitive.tangent
    if not callable(tangent):
        return operation.operands
    accepted = inspect.signature(tangent).parameters
    found: list[Value] = []
    for name, attribute in operation.attributes.items():
        if f"d_{name}" in accepted:
            map_operands(attribute, lambda operand: found.append(operation.operands[operand.index]))
    return found


def _loop_pairs(loop: Operation) -> Iterator[tuple[Value, Value]]:
    shape, body = loop.attributes["shape"], loop.regions[0]
    count = len(shape.iterables)
    for where, item in zip(shape.iterable_slices(), body.parameters, strict=False):
        for operand in loop.operands[where]:
            yield operand, item
    initial = loop.operands[shape.iterable_operands :]
    for position, first in enumerate(initial):
        parameter, last = body.parameters[count + position], body.yields[position]
        for source in (first, last):
            yield source, parameter
            yield source, loop.results[position]
    collected = body.yields[shape.carried + shape.exits :]
    yield from zip(collected, loop.results[shape.carried :], strict=True)


def reachable(seeds: Iterable[Value], edges: dict[Value, list[Value]]) -> set[Value]:
    """All values that these lead to."""
    reached: set[Value] = set()
    pending = list(seeds)
    while pending:
        value = pending.pop()
        if value not in reached:
            reached.add(value)
            pending += edges.get(value, ())
    return reached


def passes_derivative(value: Value) -> bool:
    """Whether a derivative may pass here: an array without elements has none to pass."""
    type_ = value.type
    if isinstance(type_, Array) and any(length.known == 0 for length in type_.dims):
        return False
    return is_differentiable(type_)
