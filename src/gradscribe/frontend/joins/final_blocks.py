"""Lowering of `finally`: what is done however a `try` is left.

Both blocks come in order. They are kept as a `try` where the second has effects, which then happen
when an exception passes, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gast

from gradscribe.frontend.joins.exits import ended, guarded, pending_exits
from gradscribe.frontend.state.frame import EXITS, RAISED, RETURN_VALUE
from gradscribe.frontend.state.interruptions import AlwaysRaisesError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.syntax.name_liveness import reads_of
from gradscribe.frontend.values.values import FrontendValue, Ref, Static, Storage
from gradscribe.ir.core import Operation, Value, walk
from gradscribe.primitives.control import (
    ASSERT,
    CHECK,
    EFFECT,
    ENTER,
    EXIT,
    RAISE,
    attempted,
    finally_done,
)
from gradscribe.primitives.raising import Classes, may_raise
from gradscribe.primitives.real_numbers import CHECKS

_NO_ARGUMENTS: dict[str, Any] = {"args": (), "keywords": {}}


def final_block(lowering: Lowering, node: Any, handled: Callable[[Lowering, Any], None]) -> None:
    """`try` … `finally`: both in order; kept as a `try` where the latter has effects, which then
    happen when an exception passes, too."""
    builder = lowering.builder
    entered, before = len(builder.operations), dict(lowering.frame.names)
    lowering.emit(ENTER, _NO_ARGUMENTS, attempted)
    leaving, passing = _tried(lowering, node, handled)
    names = lowering.frame.names
    after = dict(names)
    left = {name: names.pop(name) for name in (*EXITS, RETURN_VALUE) if name in names}
    names.update({name: Static(True) for name in left if name in EXITS})
    lowering.emit(EXIT, _NO_ARGUMENTS, attempted)
    lowering.emit(ENTER, _NO_ARGUMENTS, finally_done)
    made, contents = len(builder.operations), dict(lowering.contents)
    lowering.statements(node.finalbody)
    tried = builder.operations[entered:made]
    refuse_passing(lowering, node, tried if leaving is None else [*tried, leaving], contents)
    has_effects = any(o.primitive in (EFFECT, ASSERT) for o in walk_all(builder.operations[made:]))
    lowering.emit(EXIT, _NO_ARGUMENTS, finally_done)
    changed = {name: held for name, held in after.items() if held is not before.get(name)}
    readers = node.finalbody if has_effects else _conditions(node.finalbody)
    _refuse_unsettled(lowering, readers, tried, builder.operations[made:], changed)
    if not has_effects:
        _drop_markers(builder.operations, entered)
    raises = leaving is not None or passing is not None
    if _leave_finally(lowering, node, left, tried, raises):
        return
    if leaving is not None:
        builder.append(leaving)
        lowering.frame.names[RAISED] = Static(True)
    if passing is not None:
        raise passing


def _tried(
    lowering: Lowering, node: Any, handled: Callable[[Lowering, Any], None]
) -> tuple[Operation | None, AlwaysRaisesError | None]:
    """Lower the `try`: the operation that raises at its end, or what Python would raise there."""
    passing = None
    try:
        handled(lowering, node)
    except AlwaysRaisesError as error:
        passing = error
    if lowering.frame.names.pop(RAISED, None) is None:
        return None, passing
    leaving = lowering.builder.operations.pop()
    if leaving.primitive is not RAISE:
        lowering.unsupported(
            node,
            "a `try` that always raises is not supported",
            "raise under a condition, or leave the `try` out",
        )
    return leaving, passing


def refuse_passing(
    lowering: Lowering, node: Any, tried: Sequence[Operation], before: dict[Storage, Any]
) -> None:
    """Refuse what changes memory when it is left, if an exception may pass that is handled further
    out: what handles it starts from the state before. before: the contents when it was left."""
    caught = tuple(cls for _, classes in lowering.exceptions.attempts for cls in classes)
    if caught and any(lowering.contents.get(s) is not held for s, held in before.items()):
        operations = walk_all(tried)
        if any(may_raise(o, caught, operations) for o in tried if not _is_marker(o)):
            what = "this changes an array or list when an exception passes that is handled"
            lowering.unsupported(node, what, "change it before or after the `try`")


def _refuse_unsettled(
    lowering: Lowering,
    readers: Sequence[Any],
    tried: Sequence[Operation],
    final: Sequence[Operation],
    changed: dict[str, FrontendValue],
) -> None:
    """Refuse a `finally` with effects that reads what the `try` makes, if an exception may pass
    before it is made. readers: the statements, or conditions, that the effects depend on. changed:
    the names that the `try` has bound anew, with what they are."""
    risky = [i for i, o in enumerate(tried) if _may_pass(walk_all([o]), _PASSING)]
    if not risky or not readers:
        return
    early = {value for o in tried[: risky[0]] for value in o.results}
    late = {value for o in walk_all(tried[risky[0] :]) for value in o.results}
    read = {value for o in walk_all(final) for value in o.operands}
    names = reads_of(*readers) & changed.keys()
    is_late = any(_value_of(lowering, changed[name]) not in early for name in names)
    if is_late or not late.isdisjoint(read):
        lowering.unsupported(
            readers[0],
            "what this reads may or may not have been assigned when the exception passed",
            "give it its value before the `try`",
        )


def _conditions(body: Sequence[Any]) -> list[Any]:
    """What tells whether something is done in these statements."""
    nodes = [node for statement in body for node in gast.walk(statement)]
    return [node.test for node in nodes if isinstance(node, (gast.If, gast.IfExp, gast.While))]


def _value_of(lowering: Lowering, item: FrontendValue) -> Value | None:
    """The value that a number is, or an array contains; None for what is known."""
    held = lowering.contents.get(item.storage) if isinstance(item, Ref) else item
    return held if isinstance(held, Value) else None


class _AnyError(Exception):
    """What only those operations may raise that may raise anything."""


_PASSING = (ValueError, LookupError, OverflowError, ZeroDivisionError, _AnyError)
"""What operations raise, but where it is asked of NumPy (`np.errstate`)."""


def _leave_finally(
    lowering: Lowering,
    node: Any,
    left: dict[str, FrontendValue],
    tried: Sequence[Operation],
    raises: bool,
) -> bool:
    """Go on after a `finally` as the `try` was left, unless the `finally` itself leaves: that ends
    an exception, too. left: the exits of the `try`. raises: whether it always raises. Whether the
    `finally` leaves for certain."""
    names = lowering.frame.names
    always, pending = RAISED not in names and ended(lowering), pending_exits(lowering)
    operations = walk_all(tried)
    may = _may_pass(operations, (_AnyError,))
    if (always and may) or (pending and (may or raises)):
        what = "a `finally` that leaves would end an exception here"
        lowering.unsupported(node, what, "catch the exception with `except`")
    if pending:
        guarded(lowering, pending, lambda: lowering.frame.names.update(left))
    elif not always:
        names.update(left)
    return always


def _may_pass(operations: list[Operation], classes: Classes) -> bool:
    """Whether these may raise an exception of the program's, or of one of these classes."""
    if any(o.primitive in (RAISE, ASSERT, CHECK, *CHECKS) for o in operations):
        return True
    flat = [o for o in operations if not o.regions]
    return any(may_raise(o, classes, flat) for o in flat if not _is_marker(o))


def _is_marker(operation: Operation) -> bool:
    """Whether this says where a `try` or a `finally` begins or ends."""
    return operation.primitive in (ENTER, EXIT) and operation.callee in (attempted, finally_done)


def _drop_markers(operations: list[Operation], start: int) -> None:
    depth, kept = 0, []
    for operation in operations[start:]:
        is_marker = _is_marker(operation)
        if is_marker and operation.primitive is ENTER:
            depth += 1
        outermost = is_marker and depth == 1
        if is_marker and operation.primitive is EXIT:
            depth -= 1
        if not outermost:
            kept.append(operation)
    operations[start:] = kept


def walk_all(operations: Sequence[Operation]) -> list[Operation]:
    """The operations, and those in their regions."""
    found: list[Operation] = []
    for operation in operations:
        found.append(operation)
        for region in operation.regions:
            found += walk(region)
    return found
