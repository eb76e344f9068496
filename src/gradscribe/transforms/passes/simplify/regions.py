"""Rewriting of `if` and `loop`: branches that are known, values that pass through unchanged,
records of what is at hand anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from gradscribe.ir.core import IF, LOOP, Block, Operation, Primitive, Value
from gradscribe.ir.flow import Loop
from gradscribe.ir.types import Never, Sequence, Type, Undefined
from gradscribe.primitives.control import CONSTANT, LEN, RAISE, UNDEF
from gradscribe.transforms.passes.simplify.cse import same_attributes
from gradscribe.transforms.passes.simplify.types import same_type

if TYPE_CHECKING:
    from gradscribe.transforms.passes.simplify.rewriter import Rewriter


def rewrite_if(rewriter: Rewriter, operation: Operation) -> None:
    """Place an `if`, or the branch that is always taken."""
    (condition,) = operation.operands
    constant = rewriter.constant_of(condition)
    known = rewriter.known.get(condition) if constant is None else bool(constant)
    if known is not None and _inline(rewriter, operation, operation.regions[not known]):
        return
    if known is not None:
        operation = _without_side(rewriter, operation, known)
    blocks = []
    for region, outcome in zip(operation.regions, (True, False), strict=True):
        before = rewriter.known.get(condition)
        rewriter.known[condition] = outcome
        with rewriter.facts.scope():
            blocks.append(rewriter.block(region))
        if before is None:
            del rewriter.known[condition]
        else:
            rewriter.known[condition] = before
    operation = _with_regions(operation, tuple(blocks))
    rewriter.append(operation)
    yields = (block.yields for block in operation.regions)
    for result, then, otherwise in zip(operation.results, *yields, strict=True):
        _merge(rewriter, result, then, otherwise)


def _without_side(rewriter: Rewriter, operation: Operation, known: bool) -> Operation:
    """The `if` without the operations of the branch that is never taken."""
    dead = operation.regions[known]
    if all(inner.primitive is UNDEF for inner in dead.operations):
        return operation
    nothing = [Value(result.type) for result in operation.results]
    made = tuple(Operation(UNDEF, (), (value,), {"type": value.type}) for value in nothing)
    rewriter.changed = True
    regions = list(operation.regions)
    regions[known] = Block((), made, tuple(nothing))
    return replace(operation, regions=tuple(regions))


def _inline(rewriter: Rewriter, operation: Operation, branch: Block) -> bool:
    """Place the operations of a branch in place of the `if`, if the types allow that."""
    if any(inner.primitive is RAISE for inner in branch.operations):
        return False
    undefined = {o.result for o in branch.operations if o.primitive is UNDEF}
    if not all(
        value in undefined or _fits(rewriter, rewriter.resolve(value), result)
        for value, result in zip(branch.yields, operation.results, strict=True)
    ):
        return False
    for inner in branch.operations:
        rewriter.visit(inner)
    for result, value in zip(operation.results, branch.yields, strict=True):
        given = rewriter.resolve(value)
        is_like = same_type(rewriter.facts, given.type, result.type)
        if not is_like and _is_undefined(rewriter, given):
            given = _undefined(rewriter, result)
        rewriter.substitute(result, given)
    rewriter.changed = True
    return True


def _undefined(rewriter: Rewriter, like: Value) -> Value:
    value = Value(like.type, like.name)
    rewriter.append(Operation(UNDEF, (), (value,), {"type": value.type}))
    return value


def _is_undefined(rewriter: Rewriter, value: Value) -> bool:
    definition = rewriter.definitions.get(value)
    is_none = definition is not None and definition.primitive is UNDEF
    return is_none or isinstance(value.type, (Never, Undefined))


def _fits(rewriter: Rewriter, value: Value, result: Value) -> bool:
    """Whether a value may stand for a result into which it flows."""
    return _is_undefined(rewriter, value) or same_type(rewriter.facts, value.type, result.type)


def _merge(rewriter: Rewriter, result: Value, then: Value, otherwise: Value) -> None:
    """Find what stands for a result of an `if`: one value on both sides, or one number; and
    for an array, the one that both sides store to."""
    if same_type(rewriter.facts, then.type, result.type):
        if then is otherwise:
            _substitute_used(rewriter, result, then)
            return
        definition = _same_constant(rewriter, then, otherwise)
        if definition is not None and rewriter.uses[result]:
            value = rewriter.constant(definition.attributes["value"], definition)
            rewriter.substitute(result, value)
            return
    if then.type == otherwise.type == result.type and _tells_shape(result.type):
        for side in (then, otherwise):
            root = rewriter.roots.get(side, side)
            if root in rewriter.visible:
                rewriter.roots[result] = root


def _same_constant(rewriter: Rewriter, a: Value, b: Value) -> Operation | None:
    """The definition of one of two values that are one and the same number, else None."""
    first, second = rewriter.definitions.get(a), rewriter.definitions.get(b)
    if first is None or second is None:
        return None
    if first.primitive is not CONSTANT or second.primitive is not CONSTANT:
        return None
    return first if same_attributes(first.attributes, second.attributes) else None


def rewrite_loop(rewriter: Rewriter, operation: Operation) -> None:
    """Place a loop, after carried values and items that stand for others are replaced."""
    loop = Loop(operation)
    if _runs_never(rewriter, loop):
        for carried in loop.carried:
            rewriter.substitute(carried.result, carried.initial)
        return
    _replace_items(rewriter, loop)
    _replace_carried(rewriter, loop)
    regions = tuple(map(rewriter.block, operation.regions))
    operation = _with_regions(operation, regions)
    operation = _counting(rewriter, operation)
    operation = _without_exit(rewriter, operation)
    rewriter.append(operation)
    _remember_results(rewriter, operation)


def _runs_never(rewriter: Rewriter, loop: Loop) -> bool:
    """Whether a loop without records makes no iteration: its first range is a known, empty one."""
    first = next(iter(loop.iterated), None)
    if loop.collected or first is None or first.kind != "range":
        return False
    bounds = [rewriter.constant_of(value) for value in first.operands]
    if any(type(bound) is not int for bound in bounds) or bounds[2] == 0 or range(*bounds):
        return False
    return all(map(partial(_fits, rewriter), loop.initial, loop.results))


def _replace_items(rewriter: Rewriter, loop: Loop) -> None:
    """Items that are known without the iterable: recorded values that the iterations did not
    change, items that another loop over the same iterable recorded, and iterables given twice."""
    first: dict[tuple[object, ...], Value] = {}
    for kind, operands, item in loop.iterated:
        same = first.setdefault((kind, *operands), item)
        if same is not item:
            _substitute_used(rewriter, item, same)
    for kind, (record, *_), item in loop.iterated:
        if kind == "collected" and record in rewriter.elements:
            collecting, element = rewriter.elements[record]
            value = _recorded(rewriter, collecting, element, first)
            if value is not None and same_type(rewriter.facts, value.type, item.type):
                _substitute_used(rewriter, item, value)
            elif element in rewriter.roots and element.type == item.type:
                rewriter.roots[item] = rewriter.roots[element]


def _recorded(
    rewriter: Rewriter,
    loop: Operation,
    element: Value,
    items: dict[tuple[object, ...], Value],
) -> Value | None:
    """The value that every element of a record is: one that is visible here, or the item of
    this loop's own iterable, which is that of the loop that recorded it."""
    if element in rewriter.visible:
        return element
    definition = rewriter.definitions.get(element)
    if definition is not None and definition.primitive is CONSTANT:
        return rewriter.constant(definition.attributes["value"], definition)
    for kind, operands, item in Loop(loop).iterated:
        if item is element:
            return items.get((kind, *operands))
    return None


def _replace_carried(rewriter: Rewriter, loop: Loop) -> None:
    """Carried values that no iteration changes are the initial ones."""
    for carried in loop.carried:
        value, parameter = carried.initial, carried.parameter
        following = rewriter.resolve(carried.following)
        if following is parameter or following is value:
            if same_type(rewriter.facts, value.type, parameter.type):
                for alias in carried.names:
                    _substitute_used(rewriter, alias, value)
        elif _tells_shape(value.type) and value.type == parameter.type == carried.following.type:
            for alias in carried.names:
                rewriter.roots[alias] = rewriter.roots.get(value, value)


def _tells_shape(type_: Type) -> bool:
    """Whether values of one type have one shape: lists of one type may differ in length."""
    return not isinstance(type_, Sequence) or type_.length is not None


def _substitute_used(rewriter: Rewriter, value: Value, by: Value) -> None:
    """Substitute a value, which is a change only if anything reads it."""
    if rewriter.uses[value]:
        rewriter.substitute(value, by)


def _without_exit(rewriter: Rewriter, operation: Operation) -> Operation:
    """The loop without its `again`, if that is always true."""
    loop = Loop(operation)
    definitions = list(map(rewriter.definitions.get, loop.exits))
    if not any(made and made.attributes.get("value") is True for made in definitions):
        return operation
    rewriter.changed = True
    body = replace(loop.body, yields=(*loop.following, *loop.elements))
    return replace(
        operation,
        regions=(body, *operation.regions[1:]),
        attributes={**operation.attributes, "shape": replace(loop.shape, exits=False)},
    )


def _counting(rewriter: Rewriter, operation: Operation) -> Operation:
    """The loop with a range beside a list, if its body reads where the items are in that."""
    for kind, operands, item in Loop(operation).iterated:
        place = rewriter.lookups.places.get(item)
        if place is None or kind != "sequence":
            continue
        zero, one = (rewriter.constant(number, operation) for number in (0, 1))
        count = rewriter.emit(LEN, {"x": operands[0]}, operation)
        assert count is not None
        loop = Loop(operation)
        body = replace(loop.body, parameters=(place, *loop.body.parameters))
        shape = replace(loop.shape, iterables=("range", *loop.shape.iterables))
        operation = replace(
            operation,
            operands=(zero, count, one, *operation.operands),
            regions=(body, *operation.regions[1:]),
            attributes={**operation.attributes, "shape": shape},
        )
    return operation


def _remember_results(rewriter: Rewriter, operation: Operation) -> None:
    """Note what the records of a loop hold; equal records are one."""
    seen: dict[Value, Value] = {}
    for element, result in Loop(operation).records:
        rewriter.elements[result] = (operation, element)
        same = seen.setdefault(element, result)
        if same is not result:
            _substitute_used(rewriter, result, same)


def _with_regions(operation: Operation, regions: tuple[Block, ...]) -> Operation:
    if all(new is old for new, old in zip(regions, operation.regions, strict=True)):
        return operation
    return replace(operation, regions=regions)


REWRITES: dict[Primitive, Callable[[Rewriter, Operation], None]] = {
    IF: rewrite_if,
    LOOP: rewrite_loop,
}
