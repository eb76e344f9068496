"""Branches: lowering both sides of a run-time condition and joining what they leave behind.

Both sides start from the same state; afterwards what differs is merged (see `merging`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.interface import RunTimeKeyError
from gradscribe.frontend.joins.known_exceptions import raise_known
from gradscribe.frontend.joins.merge_plans import Sides
from gradscribe.frontend.joins.merging import Merge
from gradscribe.frontend.memory import aliasing
from gradscribe.frontend.state.definitions import NotYetKnownError
from gradscribe.frontend.state.frame import RAISED
from gradscribe.frontend.state.interruptions import (
    AlwaysRaisesError,
    EverOtherTypesError,
    HasRaisedError,
)
from gradscribe.frontend.state.knowledge import State
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, Items, Static, Unbound
from gradscribe.ir.core import Block, Location, Operation, Value
from gradscribe.ir.types import BOOL, Array, Scalar
from gradscribe.primitives.conditions import assumed_outcome, bounds_of
from gradscribe.primitives.control import EFFECT, RAISE
from gradscribe.primitives.registry import PRIMITIVES

_Key = TypeVar("_Key")


def conditional(
    lowering: Lowering,
    node: Any,
    condition: Value,
    then: Callable[[], FrontendValue],
    otherwise: Callable[[], FrontendValue],
) -> FrontendValue:
    """The value of an expression that evaluates one of two expressions."""
    key = "value of the expression"
    names = lowering.frame.names

    def side(evaluate: Callable[[], FrontendValue]) -> Callable[[], None]:
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
    """Lower both sides and leave the merged state. A side that raises takes no part. Where a side
    cannot be compiled, or the two leave values that have no type in common, the side that the
    specializing call takes is assumed, if its lengths and integers tell."""
    location, depth = lowering.builder.location, len(lowering.frame.loops)
    if isinstance(condition.type, Array) and condition.type.dims:  # it raises, as a rule
        tree = {"args": (condition,), "keywords": {}, "type": BOOL}
        condition = lowering.emit(EFFECT, tree, bool)
    before = lowering.fork()
    builder = lowering.builder
    try:
        first = _side(lowering, condition, True, then)
    except UnsupportedError as error:
        _assume(lowering, condition, False, error)
        lowering.restore(before)
        del lowering.frame.loops[depth:]
        builder.location = location
        otherwise()
        return
    after_first = lowering.fork()
    lowering.restore(before)
    empty = Block((), (), ())
    if RAISED in after_first.names:
        lowering.assumed = {**before.assumed, lowering.numbering.of(condition): False}
        lowering.builder.emit_if(condition, Block((), tuple(first), ()), empty, (), location)
        otherwise()
        return
    try:
        second = _side(lowering, condition, False, otherwise)
    except UnsupportedError as error:
        _assume(lowering, condition, True, error)
        del lowering.frame.loops[depth:]
        builder.location = location
        _go_on(lowering, first, after_first)
        return
    after_second = lowering.fork()
    lowering.restore(before)
    if RAISED in after_second.names:
        lowering.builder.emit_if(condition, empty, Block((), tuple(second), ()), (), location)
        _go_on(lowering, first, after_first)
        return
    flag = as_flag(lowering, condition)
    merge = Merge(lowering, Sides(flag, before, (first, second), (after_first, after_second)))
    results, yields = merge.run()
    if merge.divides_values:
        outcome = assumed_outcome(builder.facts, builder.definition, condition)
        if outcome is not None:
            _go_on(lowering, *((first, after_first) if outcome else (second, after_second)))
            return
    blocks = [Block((), tuple(o), tuple(y)) for o, y in zip((first, second), yields, strict=True)]
    lowering.builder.emit_if(condition, blocks[0], blocks[1], results, location)
    merge.finish()


def _side(
    lowering: Lowering, condition: Value, outcome: bool, side: Callable[[], None]
) -> list[Operation]:
    """The operations of one side of a branch; its state is the current one afterwards."""
    builder = lowering.builder
    bounds = bounds_of(builder.definition, condition, outcome)
    with builder.facts.scope(bounds), builder.block() as operations:
        lowering.assumed = {**lowering.assumed, lowering.numbering.of(condition): outcome}
        _lower_side(lowering, side)
    return operations


def _assume(lowering: Lowering, condition: Value, outcome: bool, error: UnsupportedError) -> None:
    """Let a condition have the outcome that it has in the specializing call; raise the error, for
    which that would have to be so, if it has the other one, or none that can be assumed."""
    builder = lowering.builder
    is_request = isinstance(error, (EverOtherTypesError, RunTimeKeyError))
    is_request |= aliasing.may_tell_apart(lowering, error)
    if is_request or assumed_outcome(builder.facts, builder.definition, condition) is not outcome:
        raise error


def _go_on(lowering: Lowering, operations: list[Operation], state: State) -> None:
    """Go on after one side of a branch, as the only one that there is."""
    for operation in operations:
        lowering.builder.append(operation)
    lowering.restore(state)


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
    second_raises = after_second.names.pop(RAISED, None) is not None
    if second_raises:
        for state in (before, after_first, after_second):
            lowering.complete(state)
        _take_no_part(before, after_first, after_second)
    states = (after_first, after_second)
    merge = Merge(lowering, Sides(None, before, (first, second), states, second_raises))
    results, yields = merge.run()
    second.sort(key=lambda operation: operation.primitive is RAISE)
    blocks = [Block((), tuple(o), tuple(y)) for o, y in zip((first, second), yields, strict=True)]
    lowering.builder.emit_if(condition, blocks[0], blocks[1], results, location)
    merge.finish()


def _take_no_part(before: State, first: State, second: State) -> None:
    """Let a state that nothing comes after have no values where the other differs from the one
    before."""
    _leave_out(before.names, first.names, second.names)
    _leave_out(before.contents, first.contents, second.contents)


def _leave_out(before: Mapping[_Key, Any], now: Mapping[_Key, Any], last: dict[_Key, Any]) -> None:
    nothing = Unbound.on_one_path()
    for key in last.keys() - now.keys():
        del last[key]
    for key, item in now.items():
        if key in before and before[key] is item:
            last[key] = item
        elif key not in last or last[key] is not item:
            last[key] = _without_values(item, nothing)


def _without_values(contents: FrontendValue | Items, nothing: Unbound) -> Unbound | Items:
    """Contents of the same structure: of a list or tuple, of a dict or object, or one value."""
    if isinstance(contents, tuple):
        return (nothing,) * len(contents)
    if isinstance(contents, dict):
        return dict.fromkeys(contents, nothing)
    return nothing


def _lower_side(lowering: Lowering, side: Callable[[], None]) -> None:
    """Lower a side. One that needs what a recursive call gives, when that is not known yet, takes
    no part, as one that raises. Where it never comes to be known (an item of a list that is always
    empty), it is refused when it is taken."""
    frame = lowering.frame
    depth, around = len(frame.loops), frame.depth
    frame.depth = lowering.builder.depth
    try:
        side()
    except AlwaysRaisesError as error:
        del frame.loops[depth:]
        raise_known(lowering, error)
    except HasRaisedError:
        del frame.loops[depth:]
        frame.names[RAISED] = Static(True)
    except NotYetKnownError:
        del frame.loops[depth:]
        frame.names[RAISED] = Static(True)
        made = lowering.builder.operations
        if not made or made[-1].primitive is not RAISE:
            what = "this path reads what nothing makes, such as an item of a list that stays empty"
            raise_here(lowering, UnsupportedError, what, "raise an exception there")
    finally:
        frame.depth = around


def raise_here(lowering: Lowering, cls: type, *args: Any) -> None:
    """Raise at run time, where this path is taken."""
    exception = lowering.emit(EFFECT, {"args": args, "keywords": {}}, cls)
    lowering.emit(RAISE, {"exception": exception, "cause": None})
    lowering.frame.names[RAISED] = Static(True)


def refuse_here(
    lowering: Lowering, error: UnsupportedError, kind: type[UnsupportedError] = UnsupportedError
) -> None:
    """Refuse at run time, where this path is taken, what an error says at its place."""
    here = lowering.builder.location
    if isinstance(error.location, Location):
        lowering.builder.location = error.location
    raise_here(lowering, kind, error.what, error.advice)
    lowering.builder.location = here


def as_flag(lowering: Lowering, condition: Value) -> Value:
    """A condition as a plain truth value, which may tell kinds apart later."""
    if isinstance(condition.type, Scalar) and condition.type.dtype == "bool":
        return condition
    return lowering.emit(PRIMITIVES[bool], {"x": condition}, bool)
