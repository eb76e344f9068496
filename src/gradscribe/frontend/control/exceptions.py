"""Lowering of `try`, `except`, `else` and `finally`.

What is known to raise goes straight to its handler, and where nothing can raise what is caught,
the body stands alone. Otherwise a `try` is a branch whose condition is an attempt: the first side
is what is tried, the second the handlers, which start from the state before. So that this is the
state that they start from in Python, too, whatever cannot raise is done before the attempt. Where
a handler still depends on how far the body had come (a name that may have been assigned, an array
that may have been stored to), it is not compiled: an exception that comes to it is refused then.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gast

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.joins.branches import attempt, branch, refuse_here
from gradscribe.frontend.joins.exits import ended, pending_exits
from gradscribe.frontend.joins.final_blocks import final_block, walk_all
from gradscribe.frontend.joins.known_exceptions import refuse_unknown
from gradscribe.frontend.kinds import static_values
from gradscribe.frontend.memory import outside_state
from gradscribe.frontend.opaque import lent_containers, unknown
from gradscribe.frontend.state.frame import EXITS, RETURN_VALUE
from gradscribe.frontend.state.handlers import handles
from gradscribe.frontend.state.interruptions import AlwaysRaisesError
from gradscribe.frontend.state.knowledge import State
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.syntax.name_liveness import reads_of
from gradscribe.frontend.values.values import (
    FrontendValue,
    Manager,
    Static,
    Storage,
    TupleOf,
    Turn,
    Unbound,
)
from gradscribe.ir.core import CALL, Operation, Value
from gradscribe.ir.types import BOOL
from gradscribe.primitives.contracts import contract_of
from gradscribe.primitives.control import ATTEMPT, CAUGHT, EFFECT
from gradscribe.primitives.raising import Classes, may_raise

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
        final_block(lowering, node, _handled)
    else:
        _handled(lowering, node)


def _handled(lowering: Lowering, node: Any) -> None:

    if not node.handlers:
        lowering.statements(node.body)
        return
    handlers = [_handler(lowering, handler) for handler in node.handlers]
    Attempt(lowering, node, node.body, handlers, node.orelse).run()


def suppressing(
    lowering: Lowering, node: Any, manager: Manager, body: Callable[[FrontendValue], None]
) -> None:
    """`with suppress(…)`: a `try` whose handler does nothing."""
    classes = tuple(static_values.object_of(lowering, node, item) for item in manager.arguments)
    Attempt(lowering, node, node.body, [Handler(classes, None, [])], []).run()


@handles(contextlib.suppress)
def _suppress(lowering: Lowering, node: Any, /, *exceptions: FrontendValue) -> Manager:
    return Manager("suppress", exceptions)


def _handler(lowering: Lowering, node: Any) -> Handler:
    classes: FrontendValue = Static(Exception)
    if node.type is not None:
        classes = lowering.expression(node.type)
    items = classes.items if isinstance(classes, TupleOf) else (classes,)
    found = tuple(static_values.object_of(lowering, node, item) for item in items)
    if not all(isinstance(c, type) and issubclass(c, BaseException) for c in found):
        lowering.unsupported(
            node,
            "the exceptions that this catches are not known",
            "name the classes in the `except` itself",
        )
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
        self.unsettled: dict[str, Unbound] = {}
        self.storing: Any = None
        self.stored: set[Storage] = set()

    def run(self) -> None:
        """Lower what cannot raise before the attempt, and the rest as an attempt."""
        lowering = self.lowering
        for position, statement in enumerate(self.body):
            rest = self.body[position:]
            trial = lowering.trial()
            part = rest if pending_exits(lowering) else [statement]
            try:
                with self._trying(lowering.builder.depth):
                    lowering.statements(part)
            except AlwaysRaisesError as error:
                self._known(error)
                return
            if any(self._may_raise(o) for o in trial.operations):
                trial.take_back()
                self._attempt(rest)
                return
            if ended(lowering) or len(part) > 1:
                break
        lowering.statements(self.orelse)

    def _may_raise(self, operation: Operation) -> bool:
        return may_raise(operation, self.caught, walk_all(self.lowering.builder.operations))

    @contextlib.contextmanager
    def _trying(self, blocks: int) -> Iterator[None]:
        """What is lowered now is tried; blocks: how many blocks are open around the `try`."""
        self.lowering.exceptions.attempts.append((blocks, self.caught))
        try:
            yield
        finally:
            self.lowering.exceptions.attempts.pop()

    def _known(self, error: AlwaysRaisesError) -> None:
        """Go on where an exception is handled that is raised for certain."""
        for handler in self.handlers:
            if issubclass(error.cls, handler.classes):
                refuse_unknown(self.lowering, error)
                self._handle(handler, error.value)
                return
        raise error

    def _handle(self, handler: Handler, exception: FrontendValue) -> None:
        names = self.lowering.frame.names
        if handler.name is not None:
            exception = self.lowering.named(exception, handler.name)
            names[handler.name] = exception
        outer, self.lowering.exceptions.handled = self.lowering.exceptions.handled, exception
        self.lowering.statements(handler.body)
        self.lowering.exceptions.handled = outer
        if handler.name is not None:
            self.lowering.frame.names.pop(handler.name, None)

    # -- at run time -----------------------------------------------------------------------------

    def _attempt(self, body: Sequence[Any]) -> None:

        lowering, flag = self.lowering, "attempt completed"
        hidden = lowering.outside.hidden
        condition = lowering.emit(ATTEMPT, {"catches": self.caught})

        def then() -> None:
            self._try(body)
            lowering.frame.names[flag] = Static(True)

        def otherwise() -> None:
            caught = lowering.emit(CAUGHT, {"cls": _common(self.caught)})
            if lowering.outside.hidden > hidden:
                outside_state.ask_again(lowering, "a call that raises")
            self._recover(caught)
            lowering.frame.names[flag] = Static(False)

        attempt(lowering, self.node, condition, then, otherwise)
        completed = lowering.truth(lowering.frame.names.pop(flag))
        if completed is True:
            lowering.statements(self.orelse)
        elif self.orelse and isinstance(completed, Value):
            branch(lowering, completed, lambda: lowering.statements(self.orelse), lambda: None)

    def _recover(self, caught: Value) -> None:
        """The handlers, from the state before; where they depend on what the body had done when the
        exception came, the refusal of that, at run time."""
        lowering = self.lowering
        trial = lowering.trial()
        lowering.frame.names.update(self.unsettled)
        unknown = self._unknown(caught)
        if unknown is None:
            return
        trial.take_back()
        if not self._is_certain():
            refuse_here(lowering, unknown)
            return
        lowering.unsupported(
            self.node,
            "an iterator changes something that is read later, and then ends by an IndexError, or "
            "by a StopIteration that comes from elsewhere, from a loop or from a `try`",
            "write `__iter__`, and `__next__` that raises StopIteration itself, outside of these",
        )

    def _is_certain(self) -> bool:
        """Whether what is handled comes sooner or later: the end of an iterator, in what we have
        written."""
        heads = [getattr(handler, "type", None) for handler in getattr(self.node, "handlers", ())]
        is_ours = any(isinstance(head, gast.Constant) for head in heads)
        is_ours |= self.lowering.frame.is_of_package
        return is_ours and self.caught in ((StopIteration,), (IndexError,))

    def _unknown(self, caught: Value) -> UnsupportedError | None:
        """Lower the handlers. What they, or the statements after them, read of what the body may
        have changed, as an error."""
        lowering = self.lowering
        if self.storing is not None and self._is_seen():
            return _refusal(
                lowering,
                self.storing,
                "this changes an array or list in a `try` that may be left by an exception",
                "change it before or after the `try`",
            )
        try:
            self._choose(self.handlers, caught)
        except UnsupportedError as error:
            if error.what not in [unbound.reason for unbound in self.unsettled.values()]:
                raise
            return error
        if ended(lowering):
            return None
        deleted = lowering.frame.source.live_or_deleted.get(self.node, frozenset())
        live = self._read_after() | deleted
        names = [
            n for n, unbound in self.unsettled.items() if lowering.frame.names.get(n) is unbound
        ]
        read = [n for n in names if n in live]
        if not read:
            return None
        what, advice = self.unsettled[read[0]].reason, "give the name a value on every path"
        return _refusal(lowering, self.node, what, advice)

    def _is_seen(self) -> bool:
        """Whether what the body stored to may be read once the exception has come."""
        lowering = self.lowering
        if any(isinstance(s, Turn) or lowering.outside.is_seen(s) for s in self.stored):
            return True
        kept = self.stored & lowering.kept.handles.keys()
        runs_again = lowering.nesting.enclosed is not None or any(f.loops for f in lowering.frames)
        if kept and runs_again:
            return True
        lowering.kept.unsettled |= kept
        statements = (statement for handler in self.handlers for statement in handler.body)
        read = self._read_after() | reads_of(*statements)
        return lent_containers.name_read_later(lowering, self.stored, among=read) is not None

    def _read_after(self) -> frozenset[str]:
        """The names that are read after the `try`, once an exception has come: all, where it is
        none of the program's, and none, where a function of ours returns then."""
        frame = self.lowering.frame
        if frame.source.whole and all(
            handler.body and isinstance(handler.body[-1], gast.Return) for handler in self.handlers
        ):
            return frozenset()
        return frame.source.live.get(self.node, frozenset(frame.names))

    def _choose(self, handlers: Sequence[Handler], caught: Value) -> None:
        first, *others = handlers
        if not others:
            self._handle(first, caught)
            return
        classes = first.classes[0] if len(first.classes) == 1 else first.classes
        is_first = unknown.emit(self.lowering, isinstance, (caught, Static(classes)), {}, BOOL)
        branch(
            self.lowering,
            self.lowering.value(is_first),
            lambda: self._handle(first, caught),
            lambda: self._choose(others, caught),
        )

    def _try(self, body: Sequence[Any]) -> None:
        """Lower what is tried, and find what is unsettled when an exception comes."""
        lowering = self.lowering
        steps: list[tuple[Any, set[str], set[Storage], list[Operation], Watch]] = []
        for position, statement in enumerate(body):
            if ended(lowering):
                break
            trial = lowering.trial()
            before = trial.before
            pending = bool(pending_exits(lowering))
            watch = Watch(lowering, before, self.caught)
            with self._trying(lowering.builder.depth - 1), watch.watching():
                lowering.statements(body[position:] if pending else [statement])
            names = lowering.frame.names
            changed = {n for n in names if names[n] is not before.names.get(n)}
            stored = watch.stored_by_now()
            operations = trial.operations
            steps.append((statement, changed, stored, operations, watch))
            if pending:
                break
        raising = [i for i, step in enumerate(steps) if any(map(self._may_raise, step[3]))]
        last = raising[-1] if raising else 0
        for position, (statement, changed, stored, _, watch) in enumerate(steps[: last + 1]):
            is_last = position == last and isinstance(statement, _SIMPLE)
            # A side that raises leaves nothing behind: only who watches it knows what it changed.
            changed = watch.changed if is_last else watch.changed | changed
            stored = watch.stored if is_last and not watch.is_partly else watch.stored | stored
            reason = "may or may not have been assigned when the exception came"
            for name in changed - {*EXITS, RETURN_VALUE}:
                self.unsettled[name] = Unbound(f"`{name}` {reason}", mixed=True)
            self.stored |= stored
            if stored and self.storing is None:
                self.storing = statement


def _refusal(lowering: Lowering, node: Any, what: str, advice: str) -> UnsupportedError:
    return UnsupportedError(what, advice, lowering.location(node))


class Watch:
    """What a statement has changed when an exception may come.

    changed: the names of the function around. stored: the memory from before the statement that was
    stored to. Both as they are found while it is lowered, operation by operation. is_partly:
    whether an operation that may raise may have stored something itself by then.
    """

    def __init__(self, lowering: Lowering, before: State, caught: Classes) -> None:
        self.lowering = lowering
        self.frame = lowering.frame
        self.before = before
        self.caught = caught
        self.changed: set[str] = set()
        self.stored: set[Storage] = set()
        self.is_partly = False

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        watchers = self.lowering.builder.watchers
        watchers.append(self._see)
        try:
            yield
        finally:
            watchers.remove(self._see)

    def _see(self, operation: Operation) -> None:
        definitions = map(self.lowering.builder.definition, operation.operands)
        around = [made for made in definitions if made is not None]
        if operation.regions or not may_raise(operation, self.caught, around):
            return
        names = self.frame.names
        self.changed |= {n for n in names if names[n] is not self.before.names.get(n)}
        self.stored |= self.stored_by_now()
        self.is_partly |= self.lowering.exceptions.partly > 0 or _may_write(operation)

    def stored_by_now(self) -> set[Storage]:
        """The memory that is another than before the statement, or, of what was found outside in
        it, than it was there."""
        contents, entered = self.lowering.contents, self.lowering.outside.entered
        before = {**entered, **self.before.contents}
        return {one for one, held in before.items() if contents.get(one, held) is not held}


def _may_write(operation: Operation) -> bool:
    """Whether a call of unread code, or of a function that calls itself, may write to memory."""
    if operation.primitive is CALL:
        return True
    if operation.primitive is not EFFECT:
        return False
    is_shown = bool(operation.attributes.get("reached"))
    return is_shown or not contract_of(operation.callee).only_reads


def _common(classes: Classes) -> type:
    """The class of what is caught, as far as it is known."""
    return classes[0] if len(classes) == 1 else BaseException
