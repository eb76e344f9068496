"""Branches: lowering both sides of a run-time condition and joining what they leave behind.

Both sides start from the same state; afterwards what differs is merged (see `merging`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradscribe.frontend.calls.definitions import NotYetKnownError
from gradscribe.frontend.control.bounds import bounds_of
from gradscribe.frontend.control.merging import Merge
from gradscribe.frontend.lowering import Lowering, State
from gradscribe.frontend.values import (
    Static,
    Unbound,
)
from gradscribe.ir.core import Block, Value
from gradscribe.ir.types import Scalar
from gradscribe.primitives.control import EFFECT, RAISE
from gradscribe.primitives.registry import PRIMITIVES

RAISED = "has raised"
"""The name under which a path that ends in `raise` says so."""


def conditional(
    lowering: Lowering,
    node: Any,
    condition: Value,
    then: Callable[[], Any],
    otherwise: Callable[[], Any],
) -> Any:
    """The value of an expression that evaluates one of two expressions."""
    key = "value of the expression"
    names = lowering.frame.names

    def side(evaluate: Callable[[], Any]) -> Callable[[], None]:
        def run() -> None:
            lowering.frame.names[key] = evaluate()

        return run

    branch(lowering, condition, side(then), side(otherwise))
    result = lowering.frame.names.pop(key)
    names.pop(key, None)
    if isinstance(result, Unbound):
        lowering.unsupported(
            node,
            f"this expression has no single type: {result.reason}",
            "use `if` statements, or give both sides one type",
        )
    return result


def branch(
    lowering: Lowering,
    condition: Value,
    then: Callable[[], None],
    otherwise: Callable[[], None],
) -> None:
    """Lower both sides and leave the merged state. A side that raises takes no part."""
    location = lowering.builder.location
    before = lowering.fork()
    key = lowering.numbering.of(condition)
    facts, builder = lowering.builder.facts, lowering.builder
    with facts.scope(bounds_of(builder.definition, condition, True)), builder.block() as first:
        lowering.assumed = {**before.assumed, key: True}
        _lower_side(lowering, then)
    after_first = lowering.fork()
    lowering.restore(before)
    lowering.assumed = {**before.assumed, key: False}
    empty = Block((), (), ())
    if RAISED in after_first.names:
        lowering.builder.emit_if(condition, Block((), tuple(first), ()), empty, (), location)
        otherwise()
        return
    with facts.scope(bounds_of(builder.definition, condition, False)), builder.block() as second:
        _lower_side(lowering, otherwise)
    after_second = lowering.fork()
    lowering.restore(before)
    if RAISED in after_second.names:
        lowering.builder.emit_if(condition, empty, Block((), tuple(second), ()), (), location)
        for operation in first:
            lowering.builder.append(operation)
        lowering.restore(after_first)
        return
    flag = condition
    if not _is_flag(condition):
        flag = lowering.emit(PRIMITIVES[bool], {"x": condition}, bool)
    merge = Merge(lowering, flag, before, (first, second), (after_first, after_second))
    results, yields = merge.run()
    blocks = [Block((), tuple(o), tuple(y)) for o, y in zip((first, second), yields, strict=True)]
    lowering.builder.emit_if(condition, blocks[0], blocks[1], results, location)
    merge.finish()


def attempt(
    lowering: Lowering,
    node: Any,
    condition: Value,
    then: Callable[[], None],
    otherwise: Callable[[], None],
) -> None:
    """Lower a `try` and what handles its exceptions as the sides of a branch; what is tried stays
    in its side, also if the other one always raises."""
    location, before = lowering.builder.location, lowering.fork()
    facts, builder = lowering.builder.facts, lowering.builder
    with facts.scope(), builder.block() as first:
        _lower_side(lowering, then)
    after_first = lowering.fork()
    lowering.restore(before)
    with facts.scope(), builder.block() as second:
        _lower_side(lowering, otherwise)
    after_second = lowering.fork()
    lowering.restore(before)
    if RAISED in after_first.names:
        lowering.unsupported(
            node,
            "a `try` that always raises is not supported",
            "raise under a condition, or leave the `try` out",
        )
    if after_second.names.pop(RAISED, None) is not None:
        _take_no_part(after_first, after_second)
    merge = Merge(lowering, None, before, (first, second), (after_first, after_second))
    results, yields = merge.run()
    second.sort(key=lambda operation: operation.primitive is RAISE)
    blocks = [Block((), tuple(o), tuple(y)) for o, y in zip((first, second), yields, strict=True)]
    lowering.builder.emit_if(condition, blocks[0], blocks[1], results, location)
    merge.finish()


def _take_no_part(first: State, second: State) -> None:
    """Let a state that nothing comes after have no values where it differs from the other."""
    nothing = Unbound("this path raises")
    for name, item in first.names.items():
        if second.names.get(name) is not item:
            second.names[name] = nothing
    for storage, contents in first.contents.items():
        if second.contents.get(storage, contents) is not contents:
            is_items = isinstance(contents, tuple)
            second.contents[storage] = (nothing,) * len(contents) if is_items else nothing


def _lower_side(lowering: Lowering, side: Callable[[], None]) -> None:
    """Lower a side. One that needs what a recursive call gives, when that is not known yet, takes
    no part, as one that raises."""
    frame = lowering.frame
    depth = len(frame.loops)
    try:
        side()
    except NotYetKnownError:
        del frame.loops[depth:]
        frame.names[RAISED] = Static(True)


def raise_here(lowering: Lowering, cls: type, *args: Any) -> None:
    """Raise at run time, where this path is taken."""
    exception = lowering.emit(EFFECT, {"args": args, "keywords": {}}, cls)
    lowering.emit(RAISE, {"exception": exception, "cause": None})
    lowering.frame.names[RAISED] = Static(True)


def _is_flag(condition: Value) -> bool:
    """Whether a condition is a plain truth value, which may tell kinds apart later."""
    return isinstance(condition.type, Scalar) and condition.type.dtype == "bool"
