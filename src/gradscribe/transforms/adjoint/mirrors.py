"""Mirrors of regions: a loop becomes the loop backwards, an `if` an `if` on the same condition.

Cotangents of outer values pass through both: a loop accumulates them (`loop_scope`), an `if`
yields for each what its sides make of it. The arrays whose stores are undone pass likewise.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gradscribe.ir.core import Block, Operation, Value
from gradscribe.ir.types import BOOL, Array
from gradscribe.primitives.conditions import bounds_of
from gradscribe.primitives.control import CONSTANT, ENTER, EXIT, RESUMED
from gradscribe.primitives.raising import always_raises, is_attempt, is_strict
from gradscribe.transforms.adjoint.given import merge_result
from gradscribe.transforms.adjoint.loop_scope import LoopScope
from gradscribe.transforms.adjoint.projection import zero
from gradscribe.transforms.adjoint.scopes import BranchScope, Scope
from gradscribe.transforms.derivatives.cotangents import call, constant, joined_type, name_of

Sweep = Callable[[Scope], None]
"""Writes the mirror of a scope's block into the scope."""


def mirror_context(scope: Scope, operation: Operation) -> None:
    """Enter in the mirror what is resumed there, where the primal leaves it, and conversely."""
    if operation.callee in RESUMED and not (operation.operands or is_strict(operation)):
        mirrored = ENTER if operation.primitive is EXIT else EXIT
        scope.builder.call(mirrored, dict(operation.attributes), callee=operation.callee)


def mirror_loop(scope: Scope, loop: Operation, sweep: Sweep) -> None:
    """Write the mirror of a loop, if a cotangent reaches it or it stores to a restored array."""
    mirror = LoopScope(scope, loop)
    restores = mirror.carry_restored()
    if not mirror.carry_cotangents() and not restores:
        return
    with scope.builder.facts.scope():
        sweep(mirror)
    mirror.close()


def mirror_if(scope: Scope, operation: Operation, sweep: Sweep) -> None:
    """Write the mirror of an `if`, if a cotangent reaches it or it stores to a restored array."""
    sides = [BranchScope(scope, operation, side) for side in (0, 1)]
    restored = _enter_restored(scope, operation, sides)
    reached = any(result in scope.cotangents for result in operation.results)
    if not reached and not restored:
        return
    for side in sides:
        with _lengths_known(side):
            _enter_cotangents(side)
            sweep(side)
        side.builder.location = scope.builder.location
    _scatter_items(sides)
    condition = _decision(scope, operation)
    results: list[Value] = []
    yields: tuple[list[Value], list[Value]] = ([], [])
    masked = scope.context.masked
    for value in _outer_values(sides):
        found = [side.cotangent(value) for side in sides]
        is_cut = any(cotangent is None or cotangent in masked for cotangent in found)
        given = [_outgoing(side, value) for side in sides]
        result = Value(joined_type(value, given), name_of(value))
        if is_cut:
            masked.add(result)
        present = _presence(sides, value, condition)
        if isinstance(present, list):
            flag = Value(BOOL)
            merge_result(flag, present, results, yields)
            present = flag
        scope.cotangents[value], scope.presences[value] = result, present
        merge_result(result, given, results, yields)
    before = [[side.primal(value) for side in sides] for value in restored]
    for value, given in zip(restored, before, strict=True):
        result = scope.imported[value] = Value(value.type, value.name)
        merge_result(result, given, results, yields)
    blocks = [
        Block((), tuple(side.builder.operations), tuple(given))
        for side, given in zip(sides, yields, strict=True)
    ]
    if results:
        scope.builder.emit_if(condition, blocks[0], blocks[1], results)


def _presence(
    sides: list[BranchScope], value: Value, condition: Value
) -> Value | list[Value] | None:
    """Whether there is a cotangent of an outer value after an `if`: what tells that, or for each
    side what does; None where it is certain, or of no interest."""
    parent = sides[0].parent
    if not parent.context.asks_presence:
        return None
    is_there = [side.cotangent(value) is not None for side in sides]
    flags = [side.presence(value) for side in sides]
    if flags == [None, None]:
        if all(is_there):
            return None
        return condition if is_there[0] else call(parent.builder, operator.not_, condition)
    return [
        flag if known and flag is not None else constant(side.builder, known)
        for side, known, flag in zip(sides, is_there, flags, strict=True)
    ]


def _decision(scope: Scope, operation: Operation) -> Value:
    """What tells which side was taken: the condition; of a `try`, the result that is True on its
    first side alone, for the condition is known only when an exception comes (if it is handled by
    raising another, nothing comes after that)."""
    if not is_attempt(operation):
        return scope.primal(operation.operands[0])
    if always_raises(operation.regions[1]):
        return constant(scope.builder, True)
    definition = scope.context.structure.definition
    yields = zip(*(region.yields for region in operation.regions), strict=True)
    for result, sides in zip(operation.results, yields, strict=True):
        made = [definition.get(value) for value in sides]
        values = [a.attributes["value"] for a in made if a and a.primitive is CONSTANT]
        if result.type == BOOL and values == [True, False]:
            return scope.primal(result)
    return scope.primal(scope.context.exports.completed(operation))


@contextmanager
def _lengths_known(side: BranchScope) -> Iterator[None]:
    """What is known of lengths on one side of an `if`: what its condition says, and that what it
    yields is as long as the results."""
    facts, operation = side.builder.facts, side.operation
    definition = side.context.structure.definition.get
    with facts.scope(bounds_of(definition, operation.operands[0], not side.side)):
        for result, given in zip(operation.results, side.block.yields, strict=True):
            if isinstance(result.type, Array) and isinstance(given.type, Array):
                for a, b in zip(result.type.dims, given.type.dims, strict=True):
                    facts.assume_equal(a, b)
        yield


def _enter_cotangents(side: BranchScope) -> None:
    """Hand the cotangents of the results to what a side yields."""
    for result, given in zip(side.operation.results, side.block.yields, strict=True):
        cotangent = side.parent.cotangents.get(result)
        if cotangent is not None and given in side.context.active:
            with side.context.handing_on(side.parent.presence(result)):
                side.contribute(given, cotangent)


def _enter_restored(scope: Scope, operation: Operation, sides: list[BranchScope]) -> list[Value]:
    """Give each side the restored arrays as they are at its end; the arrays before the `if`."""
    context = scope.context
    before: list[Value] = []
    for position, result in enumerate(operation.results):
        if not context.is_restored(result):
            continue
        if not context.structure.stores_to(operation, context.structure.chain(result)):
            continue
        after = scope.primal(result)
        entries = []
        for side in sides:
            given = side.block.yields[position]
            side.imported[given] = after
            entries.append(context.structure.entry(given, side.block))
        if entries[0] is entries[1] and entries[0] not in before:
            before.append(entries[0])
    return before


def _scatter_items(sides: list[BranchScope]) -> None:
    """Where one side alone reads an item of a loop, add to the array's cotangent right there."""
    for side, other in (sides, sides[::-1]):
        for value in list(side.cotangents):
            scope = _loop_of_item(side, value)
            if scope is None or value in other.cotangents:
                continue
            if side.parent.cotangent(value) is None:
                position = scope.block.parameters.index(value)
                scope.scatter(position, side.cotangents.pop(value), side)


def _loop_of_item(scope: Scope, value: Value) -> LoopScope | None:
    """The mirrored loop of whose array `value` is an (active) item; None if it is none."""
    loop = scope.home(value)
    if not isinstance(loop, LoopScope) or value not in loop.block.parameters[: loop.count]:
        return None
    is_array = loop.shape.iterables[loop.block.parameters.index(value)] == "array"
    return loop if is_array and value in scope.context.active else None


def _outer_values(sides: list[BranchScope]) -> list[Value]:
    """The values from outside whose cotangents either side changes, in a definite order."""
    block_of = sides[0].context.structure.block_of
    values: dict[Value, None] = {}
    for side in sides:
        for value in side.cotangents:
            if block_of[value] is not side.block:
                values[value] = None
    return list(values)


def _outgoing(side: BranchScope, value: Value) -> Value:
    cotangent = side.cotangent(value)
    return zero(side, value) if cotangent is None else cotangent
