"""Lowering of statements: they change the state and append operations.

`STATEMENTS` maps each kind of node to its handler. Exits (`return`, `break`, `continue`)
clear flags; the statements after a possible exit are lowered under the flag. Where one side
of an `if` always exits, the rest of the block becomes part of the other side, and no flag
is needed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import gast

from gradscribe.frontend.calls import inlining
from gradscribe.frontend.calls.imports import import_from, import_statement
from gradscribe.frontend.calls.local_classes import define as define_class
from gradscribe.frontend.control.contexts import with_statement
from gradscribe.frontend.control.exceptions import try_statement
from gradscribe.frontend.control.loops import for_loop, while_loop
from gradscribe.frontend.control.patterns import match_statement
from gradscribe.frontend.control.raising import assert_statement, raise_statement
from gradscribe.frontend.expressions.assignments import (
    annotated_statement,
    assign_statement,
    augmented_statement,
    delete_statement,
)
from gradscribe.frontend.expressions.booleans import condition
from gradscribe.frontend.joins.branches import branch
from gradscribe.frontend.joins.exits import always_leaves, ended, guarded, pending_exits
from gradscribe.frontend.joins.known_exceptions import raise_known
from gradscribe.frontend.joins.splitting import splitting
from gradscribe.frontend.opaque.lifetimes import sweep
from gradscribe.frontend.state.frame import (
    NOT_BROKEN,
    NOT_CONTINUED,
    NOT_RETURNED,
    RAISED,
    RETURN_VALUE,
)
from gradscribe.frontend.state.interruptions import AlwaysRaisesError, HasRaisedError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.syntax.refusals import refused
from gradscribe.frontend.values.values import FrontendValue, Static


def statements(lowering: Lowering, nodes: Sequence[Any]) -> None:
    """Lower a block, as far as control reaches."""
    position = 0
    while position < len(nodes) and not ended(lowering):
        rest = nodes[position:]
        pending = pending_exits(lowering)
        if pending:
            guarded(lowering, pending, functools.partial(statements, lowering, rest))
            return
        if lowering.variants.exist:
            lowered: list[int] = []
            with splitting(lowering, rest, statements, lowered):
                lowered.append(_statement(lowering, rest))
            position += lowered[0]
        else:
            position += _statement(lowering, rest)


def _statement(lowering: Lowering, nodes: Sequence[Any]) -> int:
    """Lower the first statement of these; how many were lowered with it."""
    node = nodes[0]
    lowering.frame.end = _end_of_header(node)
    lowering.frame.statement = None if getattr(node, "body", None) else node
    lowering.builder.begin_statement()
    if lowering.frame.called_at is None:
        lowering.builder.location = lowering.frame.source.location(node)
    outer, lowering.frame.depth = lowering.frame.depth, lowering.builder.depth
    try:
        if isinstance(node, (gast.If, gast.Match)):
            lower = _if if isinstance(node, gast.If) else _match
            lowered = len(nodes) if lower(lowering, node, nodes[1:]) else 1
        else:
            _handled(lowering, node)
            lowered = 1
        if not ended(lowering):
            sweep(lowering)
        return lowered
    except HasRaisedError:
        lowering.frame.names[RAISED] = Static(True)
    finally:
        lowering.frame.depth = outer
    return 1


def _handled(lowering: Lowering, node: Any) -> None:
    handler = STATEMENTS.get(type(node))
    if handler is None:
        what, advice = refused(node, "statements")
        lowering.unsupported(node, what, advice)
    try:
        handler(lowering, node)
    except AlwaysRaisesError as error:
        raise_known(lowering, error)


def _end_of_header(node: Any) -> tuple[int, int]:
    """Where a statement ends, or its header, if it has a body: what follows is read later."""
    body = getattr(node, "body", None)
    if isinstance(body, list) and body:
        return body[0].lineno, body[0].col_offset
    return node.end_lineno, node.end_col_offset


def _if(lowering: Lowering, node: Any, rest: Sequence[Any]) -> bool:
    """An `if` statement; True if the rest of the block was lowered with it."""
    test = lowering.truth(condition(lowering, node.test))
    if isinstance(test, bool):
        statements(lowering, node.body if test else node.orelse)
        return False
    leaves = [always_leaves(node.body), always_leaves(node.orelse)]
    with_rest = any(leaves)
    then = list(node.body) + ([] if leaves[0] or not with_rest else list(rest))
    otherwise = list(node.orelse) + ([] if leaves[1] or not with_rest else list(rest))
    branch(
        lowering,
        test,
        lambda: statements(lowering, then),
        lambda: statements(lowering, otherwise),
    )
    return with_rest


def _match(lowering: Lowering, node: Any, rest: Sequence[Any]) -> bool:
    return match_statement(lowering, node, rest, always_leaves)


# -- exits and effects -----------------------------------------------------------------------


def _return(lowering: Lowering, node: Any) -> None:
    item = Static(None) if node.value is None else lowering.expression(node.value)
    lowering.frame.names[RETURN_VALUE] = lowering.named(item, "")
    lowering.frame.names[NOT_RETURNED] = Static(False)


def _break(lowering: Lowering, node: Any) -> None:
    lowering.frame.names[NOT_BROKEN] = Static(False)


def _continue(lowering: Lowering, node: Any) -> None:
    lowering.frame.names[NOT_CONTINUED] = Static(False)


def _expression_statement(lowering: Lowering, node: Any) -> None:
    if not isinstance(node.value, gast.Constant):
        lowering.statement.discarded = node.value
        lowering.expression(node.value)


def _function(lowering: Lowering, node: Any) -> None:
    decorators = [lowering.expression(decorator) for decorator in node.decorator_list]
    function: FrontendValue = inlining.local_function(lowering, node)
    for decorator, item in zip(node.decorator_list[::-1], decorators[::-1], strict=True):
        function = lowering.call(decorator, item, (function,), {})
    lowering.frame.names[node.name] = function


def _global(lowering: Lowering, node: Any) -> None:
    """Globals are read; a store to one would be seen by everybody."""
    stored = [name for name in node.names if name in lowering.frame.source.local_names]
    if stored:
        lowering.unsupported(
            node,
            f"stores to the global variable `{stored[0]}` are not supported",
            "return the new value, and assign it where the function is called",
        )


def _nonlocal(lowering: Lowering, node: Any) -> None:
    """Variables of a function around that is lowered, too, have become attributes by now (see
    `shared_variables`)."""
    lowering.unsupported(
        node,
        f"stores to `{node.names[0]}`, a variable of another function, are not supported",
        "return the new value, and assign it where the function is called",
    )


def _pass(lowering: Lowering, node: Any) -> None:
    """Nothing."""


STATEMENTS: dict[type, Callable[[Lowering, Any], None]] = {
    gast.Assign: assign_statement,
    gast.AnnAssign: annotated_statement,
    gast.AugAssign: augmented_statement,
    gast.Delete: delete_statement,
    gast.For: for_loop,
    gast.While: while_loop,
    gast.Return: _return,
    gast.Break: _break,
    gast.Continue: _continue,
    gast.Raise: raise_statement,
    gast.Assert: assert_statement,
    gast.Expr: _expression_statement,
    gast.FunctionDef: _function,
    gast.ClassDef: define_class,
    gast.Import: import_statement,
    gast.ImportFrom: import_from,
    gast.Pass: _pass,
    gast.Global: _global,
    gast.Nonlocal: _nonlocal,
    gast.With: with_statement,
    gast.Try: try_statement,
}
