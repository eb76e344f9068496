"""Lowering of `try`, `except`, `else` and `finally`.

What is known to raise goes straight to its handler, and where nothing can raise what is caught,
the body stands alone. Otherwise a `try` is a branch whose condition is an attempt: the first side
is what is tried, the second the handlers, which start from the state before. So that this is the
state that they start from in Python, too, whatever cannot raise is done before the attempt, and a
name that may or may not have been assigned when the exception came cannot be read afterwards.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gast

from gradscribe.frontend.calls import builtins as known
from gradscribe.frontend.calls import opaque
from gradscribe.frontend.calls.definitions import AlwaysRaisesError
from gradscribe.frontend.control.branches import RAISED, attempt, branch
from gradscribe.frontend.lowering import EXITS, RETURN_VALUE, Lowering
from gradscribe.frontend.operators import truth
from gradscribe.frontend.values import Manager, Static, TupleOf, Unbound
from gradscribe.ir.core import Operation, Value, walk
from gradscribe.ir.types import BOOL
from gradscribe.primitives.control import (
    ASSERT,
    ATTEMPT,
    CAUGHT,
    EFFECT,
    ENTER,
    EXIT,
    RAISE,
    attempted,
    finally_done,
)
from gradscribe.primitives.indexing import ACCUMULATE, STORE
from gradscribe.primitives.raising import Classes, may_raise

_NO_ARGUMENTS: dict[str, Any] = {"args": (), "keywords": {}}
_SIMPLE = (gast.Assign, gast.AnnAssign, gast.AugAssign, gast.Expr, gast.Return)


@dataclass(frozen=True, eq=False)
class Handler:
    """What is done with the exceptions of some classes. name: what the exception is bound to."""

    classes: Classes
    name: str | None
    body: Sequence[Any]


def try_statement(lowering: Lowering, node: Any) -> None:
    """A `try` statement."""
    if node.finalbody:
        _finally(lowering, node)
    else:
        _handled(lowering, node)


def _handled(lowering: Lowering, node: Any) -> None:
    from gradscribe.frontend.statements import statements

    if not node.handlers:
        statements(lowering, node.body)
        return
    handlers = [_handler(lowering, handler) for handler in node.handlers]
    Attempt(lowering, node, node.body, handlers, node.orelse).run()


def suppressing(lowering: Lowering, node: Any, manager: Manager, body: Any) -> None:
    """`with suppress(…)`: a `try` whose handler does nothing."""
    classes = tuple(known.static_value(lowering, node, item) for item in manager.arguments)
    if len(node.items) > 1:
        lowering.unsupported(node, "`suppress` among other managers is not supported")
    Attempt(lowering, node, node.body, [Handler(classes, None, [])], []).run()


def _suppress(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    return Manager("suppress", tuple(arguments))


known.BUILTINS[contextlib.suppress] = _suppress


def _handler(lowering: Lowering, node: Any) -> Handler:
    from gradscribe.frontend.expressions import expression

    classes: Any = Static(Exception) if node.type is None else expression(lowering, node.type)
    items = classes.items if isinstance(classes, TupleOf) else (classes,)
    found = tuple(known.static_value(lowering, node, item) for item in items)
    if not all(isinstance(c, type) and issubclass(c, BaseException) for c in found):
        lowering.unsupported(node, "the exceptions that this catches are not known")
    return Handler(found, None if node.name is None else node.name.id, node.body)


class Attempt:
    """A `try` with handlers, while it is lowered."""

    def __init__(
        self,
        lowering: Lowering,
        node: Any,
        body: Sequence[Any],
        handlers: Sequence[Handler],
        orelse: Sequence[Any],
    ) -> None:
        self.lowering = lowering
        self.node = node
        self.body = body
        self.handlers = handlers
        self.orelse = orelse
        self.caught = tuple(cls for handler in handlers for cls in handler.classes)
        self.unsettled: set[str] = set()

    def run(self) -> None:
        """Lower what cannot raise before the attempt, and the rest as an attempt."""
        from gradscribe.frontend.statements import ended, pending_exits, statements

        lowering = self.lowering
        for position, statement in enumerate(self.body):
            rest = self.body[position:]
            state, made = lowering.fork(), len(lowering.builder.operations)
            part = rest if pending_exits(lowering) else [statement]
            try:
                with self._trying(lowering.builder.depth):
                    statements(lowering, part)
            except AlwaysRaisesError as error:
                self._known(error)
                return
            if any(self._may_raise(o) for o in lowering.builder.operations[made:]):
                lowering.restore(state)
                del lowering.builder.operations[made:]
                self._attempt(rest)
                return
            if ended(lowering) or len(part) > 1:
                break
        statements(lowering, self.orelse)

    def _may_raise(self, operation: Operation) -> bool:
        return may_raise(operation, self.caught, walk_all(self.lowering.builder.operations))

    @contextlib.contextmanager
    def _trying(self, blocks: int) -> Any:
        """What is lowered now is tried; blocks: how many blocks are open around the `try`."""
        self.lowering.attempts.append((blocks, self.caught))
        try:
            yield
        finally:
            self.lowering.attempts.pop()

    def _known(self, error: AlwaysRaisesError) -> None:
        """Go on where an exception is handled that is raised for certain."""
        for handler in self.handlers:
            if issubclass(error.cls, handler.classes):
                self._handle(handler, error.value)
                return
        raise error

    def _handle(self, handler: Handler, exception: Any) -> None:
        from gradscribe.frontend.statements import statements

        names = self.lowering.frame.names
        if handler.name is not None:
            exception = self.lowering.named(exception, handler.name)
            names[handler.name] = exception
        outer, self.lowering.handled = self.lowering.handled, exception
        statements(self.lowering, handler.body)
        self.lowering.handled = outer
        if handler.name is not None:
            self.lowering.frame.names.pop(handler.name, None)

    # -- at run time -----------------------------------------------------------------------------

    def _attempt(self, body: Sequence[Any]) -> None:
        from gradscribe.frontend.statements import statements

        lowering, flag = self.lowering, "attempt completed"
        condition = lowering.emit(ATTEMPT, {"catches": self.caught})

        def then() -> None:
            self._try(body)
            lowering.frame.names[flag] = Static(True)

        def otherwise() -> None:
            reason = "may or may not have been assigned when the exception came"
            for name in self.unsettled:
                lowering.frame.names[name] = Unbound(f"`{name}` {reason}")
            caught = lowering.emit(CAUGHT, {"cls": _common(self.caught)})
            self._choose(self.handlers, caught)
            lowering.frame.names[flag] = Static(False)

        attempt(lowering, self.node, condition, then, otherwise)
        completed = truth(lowering, lowering.frame.names.pop(flag))
        if completed is True:
            statements(lowering, self.orelse)
        elif self.orelse and isinstance(completed, Value):
            branch(lowering, completed, lambda: statements(lowering, self.orelse), lambda: None)

    def _choose(self, handlers: Sequence[Handler], caught: Value) -> None:
        first, *others = handlers
        if not others:
            self._handle(first, caught)
            return
        classes = first.classes[0] if len(first.classes) == 1 else first.classes
        is_first = opaque.emit(self.lowering, isinstance, (caught, Static(classes)), {}, BOOL)
        branch(
            self.lowering,
            is_first,
            lambda: self._handle(first, caught),
            lambda: self._choose(others, caught),
        )

    def _try(self, body: Sequence[Any]) -> None:
        """Lower what is tried, and find what is unsettled when an exception comes."""
        from gradscribe.frontend.statements import ended, pending_exits, statements

        lowering = self.lowering
        known_before = set(lowering.contents)
        steps: list[tuple[Any, set[str], bool, list[Operation]]] = []
        for position, statement in enumerate(body):
            if ended(lowering):
                break
            before, made = lowering.fork(), len(lowering.builder.operations)
            pending = bool(pending_exits(lowering))
            with self._trying(lowering.builder.depth - 1):
                statements(lowering, body[position:] if pending else [statement])
            names = lowering.frame.names
            changed = {n for n in names if names[n] is not before.names.get(n)}
            stored = any(
                lowering.contents[storage] is not before.contents[storage]
                for storage in known_before
            )
            operations = lowering.builder.operations[made:]
            steps.append((statement, changed, stored, operations))
            if pending:
                break
        raising = [i for i, step in enumerate(steps) if any(map(self._may_raise, step[3]))]
        last = raising[-1] if raising else 0
        for position, (statement, changed, stored, operations) in enumerate(steps[: last + 1]):
            final = position == last and isinstance(statement, _SIMPLE)
            if not final:
                self.unsettled |= changed - {*EXITS, RETURN_VALUE}
            if stored and not (final and self._stores_last(operations)):
                lowering.unsupported(
                    statement,
                    "this changes an array or list in a `try` that may be left by an exception",
                    "change it before or after the `try`",
                )

    def _stores_last(self, operations: Sequence[Operation]) -> bool:
        """Whether all that may raise comes before the first store."""
        stores = [i for i, o in enumerate(operations) if o.primitive in (STORE, ACCUMULATE)]
        raising = [i for i, o in enumerate(operations) if self._may_raise(o)]
        return not stores or all(i <= stores[0] for i in raising)


def walk_all(operations: Sequence[Operation]) -> list[Operation]:
    """The operations, and those in their regions."""
    found: list[Operation] = []
    for operation in operations:
        found.append(operation)
        for region in operation.regions:
            found += walk(region)
    return found


def _common(classes: Classes) -> type:
    """The class of what is caught, as far as it is known."""
    return classes[0] if len(classes) == 1 else BaseException


# -- finally -----------------------------------------------------------------------------------


def _finally(lowering: Lowering, node: Any) -> None:
    """`try` … `finally`: both in order; kept as a `try` where the latter has effects, which then
    happen when an exception passes, too."""
    from gradscribe.frontend.statements import statements

    builder = lowering.builder
    entered = len(builder.operations)
    lowering.emit(ENTER, _NO_ARGUMENTS, attempted)
    passing = None
    try:
        _handled(lowering, node)
    except AlwaysRaisesError as error:
        passing = error
    names = lowering.frame.names
    raised = names.pop(RAISED, None)
    leaving = builder.operations.pop() if raised is not None else None
    if leaving is not None and leaving.primitive is not RAISE:
        lowering.unsupported(node, "this `try` with `finally` is not supported")
    left = {name: names.pop(name) for name in (*EXITS, RETURN_VALUE) if name in names}
    names.update({name: Static(True) for name in left if name in EXITS})
    lowering.emit(EXIT, _NO_ARGUMENTS, attempted)
    lowering.emit(ENTER, _NO_ARGUMENTS, finally_done)
    made = len(builder.operations)
    statements(lowering, node.finalbody)
    has_effects = any(o.primitive in (EFFECT, ASSERT) for o in walk_all(builder.operations[made:]))
    lowering.emit(EXIT, _NO_ARGUMENTS, finally_done)
    if not has_effects:
        _drop_markers(builder.operations, entered)
    names = lowering.frame.names
    if not any(isinstance(names.get(name), Static) and not names[name].value for name in EXITS):
        names.update(left)
    if leaving is not None:
        builder.append(leaving)
        names[RAISED] = Static(True)
    if passing is not None:
        raise passing


def _drop_markers(operations: list[Operation], start: int) -> None:
    ours = (attempted, finally_done)
    depth, kept = 0, []
    for operation in operations[start:]:
        is_marker = operation.primitive in (ENTER, EXIT) and operation.callee in ours
        if is_marker and operation.primitive is ENTER:
            depth += 1
        outermost = is_marker and depth == 1
        if is_marker and operation.primitive is EXIT:
            depth -= 1
        if not outermost:
            kept.append(operation)
    operations[start:] = kept
