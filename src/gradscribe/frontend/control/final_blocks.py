"""Lowering of `finally`: what is done however a `try` is left.

Both blocks come in order. They are kept as a `try` where the second has effects, which then happen
when an exception passes, too.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

from gradscribe.frontend.control.branches import branch
from gradscribe.frontend.control.exits import ended, pending_exits
from gradscribe.frontend.frame import EXITS, RAISED, RETURN_VALUE
from gradscribe.frontend.interruptions import AlwaysRaisesError
from gradscribe.frontend.lowering import Lowering
from gradscribe.frontend.operators import operate
from gradscribe.frontend.values import Static, Storage
from gradscribe.ir.core import Operation, walk
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
from gradscribe.primitives.raising import may_raise

_NO_ARGUMENTS: dict[str, Any] = {"args": (), "keywords": {}}


def final_block(lowering: Lowering, node: Any, handled: Callable[[Lowering, Any], None]) -> None:
    """`try` … `finally`: both in order; kept as a `try` where the latter has effects, which then
    happen when an exception passes, too."""
    from gradscribe.frontend.statements import statements

    builder = lowering.builder
    entered = len(builder.operations)
    lowering.emit(ENTER, _NO_ARGUMENTS, attempted)
    leaving, passing = _tried(lowering, node, handled)
    names = lowering.frame.names
    left = {name: names.pop(name) for name in (*EXITS, RETURN_VALUE) if name in names}
    names.update({name: Static(True) for name in left if name in EXITS})
    lowering.emit(EXIT, _NO_ARGUMENTS, attempted)
    lowering.emit(ENTER, _NO_ARGUMENTS, finally_done)
    made, contents = len(builder.operations), dict(lowering.contents)
    statements(lowering, node.finalbody)
    tried = builder.operations[entered:made]
    refuse_passing(lowering, node, tried if leaving is None else [*tried, leaving], contents)
    has_effects = any(o.primitive in (EFFECT, ASSERT) for o in walk_all(builder.operations[made:]))
    lowering.emit(EXIT, _NO_ARGUMENTS, finally_done)
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
    caught = tuple(cls for _, classes in lowering.attempts for cls in classes)
    if caught and any(lowering.contents.get(s) is not held for s, held in before.items()):
        operations = walk_all(tried)
        if any(may_raise(o, caught, operations) for o in tried if not _is_marker(o)):
            what = "this changes an array or list when an exception passes that is handled"
            lowering.unsupported(node, what, "change it before or after the `try`")


class _AnyError(Exception):
    """What only those operations may raise that may raise anything."""


def _leave_finally(
    lowering: Lowering, node: Any, left: dict[str, Any], tried: Sequence[Operation], raises: bool
) -> bool:
    """Go on after a `finally` as the `try` was left, unless the `finally` itself leaves: that ends
    an exception, too. left: the exits of the `try`. raises: whether it always raises. Whether the
    `finally` leaves for certain."""
    names = lowering.frame.names
    always, pending = RAISED not in names and ended(lowering), pending_exits(lowering)
    operations = walk_all(tried)
    may = any(o.primitive in (RAISE, ASSERT, CHECK) for o in operations)
    may = may or _may_raise_anything(operations)
    if (always and may) or (pending and (may or raises)):
        what = "a `finally` that leaves would end an exception here"
        lowering.unsupported(node, what, "catch the exception with `except`")
    if pending:
        flags = [names[name] for name in pending]
        stays = functools.reduce(lambda a, b: operate(lowering, node, operator.and_, a, b), flags)

        def stay() -> None:
            lowering.frame.names.update({name: Static(True) for name in pending})
            lowering.frame.names.update(left)

        def leave() -> None:
            if len(pending) == 1:
                lowering.frame.names[pending[0]] = Static(False)

        branch(lowering, stays, stay, leave)
    elif not always:
        names.update(left)
    return always


def _may_raise_anything(operations: list[Operation]) -> bool:
    flat = [o for o in operations if not o.regions]
    return any(may_raise(o, (_AnyError,), flat) for o in flat if not _is_marker(o))


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
