"""Lowering of statements: they change the state and append operations.

`STATEMENTS` maps each kind of node to its handler. Exits (`return`, `break`, `continue`)
clear flags; the statements after a possible exit are lowered under the flag. Where one side
of an `if` always exits, the rest of the block becomes part of the other side, and no flag
is needed.
"""

from __future__ import annotations

import functools
import importlib
import operator
from collections.abc import Callable, Sequence
from typing import Any

import gast

from gradscribe.frontend import builtins as known
from gradscribe.frontend import calls, containers
from gradscribe.frontend.branches import RAISED, branch
from gradscribe.frontend.expressions import expression, index
from gradscribe.frontend.loops import for_loop, while_loop
from gradscribe.frontend.lowering import (
    EXITS,
    NOT_BROKEN,
    NOT_CONTINUED,
    NOT_RETURNED,
    RETURN_VALUE,
    Lowering,
)
from gradscribe.frontend.operators import BINARY, new_list, operate, truth
from gradscribe.frontend.subscripts import augment, read_item, store_item
from gradscribe.frontend.values import ListRef, Ref, Static
from gradscribe.ir.core import Value
from gradscribe.primitives.control import ASSERT, EFFECT, RAISE


def statements(lowering: Lowering, nodes: Sequence[Any]) -> None:
    """Lower a block, as far as control reaches."""
    for position, node in enumerate(nodes):
        if ended(lowering):
            return
        pending = pending_exits(lowering)
        if pending:
            _guarded(lowering, pending, functools.partial(statements, lowering, nodes[position:]))
            return
        lowering.frame.end = _end_of_header(node)
        lowering.builder.begin_statement()
        lowering.builder.location = lowering.frame.source.location(node)
        if isinstance(node, gast.If):
            if _if(lowering, node, nodes[position + 1 :]):
                return
            continue
        handler = STATEMENTS.get(type(node))
        if handler is None:
            lowering.unsupported(
                node, f"`{type(node).__name__.lower()}` statements are not supported"
            )
        handler(lowering, node)


def _end_of_header(node: Any) -> tuple[int, int]:
    """Where a statement ends, or its header, if it has a body: what follows is read later."""
    body = getattr(node, "body", None)
    if isinstance(body, list) and body:
        return body[0].lineno, body[0].col_offset
    return node.end_lineno, node.end_col_offset


def ended(lowering: Lowering) -> bool:
    """Whether control cannot come here."""
    names = lowering.frame.names
    if RAISED in names:
        return True
    return any(isinstance(names.get(e), Static) and not names[e].value for e in EXITS)


def pending_exits(lowering: Lowering) -> list[str]:
    """The exits that may or may not have been taken."""
    names = lowering.frame.names
    return [e for e in EXITS if isinstance(names.get(e), Value)]


def _guarded(lowering: Lowering, pending: list[str], rest: Callable[[], None]) -> None:
    """Lower `rest` under the condition that none of the pending exits was taken."""
    names = lowering.frame.names
    flag = names[pending[0]]
    for other in pending[1:]:
        flag = operate(lowering, None, operator.and_, flag, names[other])

    def go_on() -> None:
        for exit_ in pending:
            lowering.frame.names[exit_] = Static(True)
        rest()

    def skip() -> None:
        if len(pending) == 1:
            lowering.frame.names[pending[0]] = Static(False)

    branch(lowering, flag, go_on, skip)


def _if(lowering: Lowering, node: Any, rest: Sequence[Any]) -> bool:
    """An `if` statement; True if the rest of the block was lowered with it."""
    condition = truth(lowering, expression(lowering, node.test))
    if isinstance(condition, bool):
        statements(lowering, node.body if condition else node.orelse)
        return False
    leaves = [_always_leaves(node.body), _always_leaves(node.orelse)]
    with_rest = any(leaves)
    then = list(node.body) + ([] if leaves[0] or not with_rest else list(rest))
    otherwise = list(node.orelse) + ([] if leaves[1] or not with_rest else list(rest))
    branch(
        lowering,
        condition,
        lambda: statements(lowering, then),
        lambda: statements(lowering, otherwise),
    )
    return with_rest


def _always_leaves(nodes: Sequence[Any]) -> bool:
    """Whether a block always ends in return, break or continue."""
    if not nodes:
        return False
    last = nodes[-1]
    if isinstance(last, gast.If):
        return _always_leaves(last.body) and _always_leaves(last.orelse)
    return isinstance(last, (gast.Return, gast.Break, gast.Continue))


# -- assignments -----------------------------------------------------------------------------


def assign(lowering: Lowering, target: Any, item: Any) -> None:
    """Bind or store a value to an assignment target."""
    if isinstance(target, gast.Name):
        lowering.frame.names[target.id] = lowering.named(item, target.id)
    elif isinstance(target, (gast.Tuple, gast.List)):
        _unpack(lowering, target, item)
    elif isinstance(target, gast.Subscript):
        owner = expression(lowering, target.value)
        store_item(lowering, target, owner, index(lowering, target.slice), item)
    elif isinstance(target, gast.Attribute):
        lowering.unsupported(
            target, "stores to attributes are not supported", "return the new value instead"
        )
    else:
        lowering.unsupported(target, "this assignment target is not supported")


def _unpack(lowering: Lowering, target: Any, item: Any) -> None:
    items = list(calls.unpacked(lowering, target, item))
    starred = [i for i, t in enumerate(target.elts) if isinstance(t, gast.Starred)]
    if starred:
        first, after = starred[0], len(target.elts) - starred[0] - 1
        if len(items) < len(target.elts) - 1:
            lowering.unsupported(target, f"not enough values to unpack: {len(items)}")
        middle = new_list(lowering, tuple(items[first : len(items) - after]))
        items[first : len(items) - after] = [middle]
    if len(items) != len(target.elts):
        lowering.unsupported(
            target, f"expected {len(target.elts)} values to unpack, got {len(items)}"
        )
    for part, below in zip(target.elts, items, strict=True):
        assign(lowering, part.value if isinstance(part, gast.Starred) else part, below)


def _assign(lowering: Lowering, node: Any) -> None:
    item = expression(lowering, node.value)
    for target in node.targets:
        assign(lowering, target, item)


def _annotated(lowering: Lowering, node: Any) -> None:
    if node.value is not None:
        assign(lowering, node.target, expression(lowering, node.value))


def _augmented(lowering: Lowering, node: Any) -> None:
    callee = BINARY[type(node.op)]
    target = node.target
    if isinstance(target, gast.Subscript):
        owner = expression(lowering, target.value)
        place = index(lowering, target.slice)
        _augment_item(lowering, node, callee, owner, place)
        return
    if not isinstance(target, gast.Name):
        lowering.unsupported(target, "stores to attributes are not supported")
    current = expression(lowering, gast.Name(target.id, gast.Load(), None, None))
    item = expression(lowering, node.value)
    if isinstance(current, Ref):
        augment(lowering, node, current, callee, item)
    elif isinstance(current, ListRef) and callee is operator.add:
        containers.extend_list(lowering, node, current, item)
    else:
        assign(lowering, target, operate(lowering, node, callee, current, item))


def _augment_item(lowering: Lowering, node: Any, callee: Any, owner: Any, place: Any) -> None:
    old = read_item(lowering, node, owner, place)
    item = expression(lowering, node.value)
    if isinstance(owner, Ref):
        from gradscribe.frontend.subscripts import basic_index
        from gradscribe.primitives.indexing import GETITEM

        step = (GETITEM, {"index": basic_index(lowering, node, place)}, None)
        view = Ref(owner.storage, (*owner.path, step), owner.exact)
        augment(lowering, node, view, callee, item)
    elif isinstance(old, Ref):
        augment(lowering, node, old, callee, item)
    else:
        store_item(lowering, node, owner, place, operate(lowering, node, callee, old, item))


def _delete(lowering: Lowering, node: Any) -> None:
    for target in node.targets:
        if not isinstance(target, gast.Name):
            lowering.unsupported(target, "`del` of items is not supported")
        lowering.frame.names.pop(target.id, None)


# -- exits and effects -----------------------------------------------------------------------


def _return(lowering: Lowering, node: Any) -> None:
    item = Static(None) if node.value is None else expression(lowering, node.value)
    lowering.frame.names[RETURN_VALUE] = lowering.named(item, "")
    lowering.frame.names[NOT_RETURNED] = Static(False)


def _break(lowering: Lowering, node: Any) -> None:
    lowering.frame.names[NOT_BROKEN] = Static(False)


def _continue(lowering: Lowering, node: Any) -> None:
    lowering.frame.names[NOT_CONTINUED] = Static(False)


def _raise(lowering: Lowering, node: Any) -> None:
    exception = None if node.exc is None else _exception(lowering, node.exc)
    cause = None if node.cause is None else _exception(lowering, node.cause)
    lowering.emit(RAISE, {"exception": exception, "cause": cause})
    lowering.frame.names[RAISED] = Static(True)


def _exception(lowering: Lowering, node: Any) -> Any:
    if not isinstance(node, gast.Call):
        item = expression(lowering, node)
        if isinstance(item, Static) and isinstance(item.value, type):
            return lowering.emit(EFFECT, {"args": (), "keywords": {}}, item.value)
        return lowering.value(item)
    callee = expression(lowering, node.func)
    if not (isinstance(callee, Static) and not node.keywords):
        lowering.unsupported(node, "this exception is not supported", "raise a plain exception")
    arguments = tuple(known.effect_argument(lowering, expression(lowering, a)) for a in node.args)
    return lowering.emit(EFFECT, {"args": arguments, "keywords": {}}, callee.value)


def _assert(lowering: Lowering, node: Any) -> None:
    condition = truth(lowering, expression(lowering, node.test))
    if condition is True:
        return
    message = None
    if node.msg is not None:
        message = known.effect_argument(lowering, expression(lowering, node.msg))
    lowering.emit(ASSERT, {"condition": condition, "message": message})


def _expression_statement(lowering: Lowering, node: Any) -> None:
    if not isinstance(node.value, gast.Constant):
        expression(lowering, node.value)


def _function(lowering: Lowering, node: Any) -> None:
    if node.decorator_list:
        lowering.unsupported(node, "decorated nested functions are not supported")
    lowering.frame.names[node.name] = calls.local_function(lowering, node)


def _import(lowering: Lowering, node: Any) -> None:
    for alias in node.names:
        module = importlib.import_module(alias.name)
        top = alias.name.partition(".")[0]
        bound = module if alias.asname else importlib.import_module(top)
        lowering.frame.names[alias.asname or top] = Static(bound)


def _import_from(lowering: Lowering, node: Any) -> None:
    if node.level:
        lowering.unsupported(node, "relative imports inside functions are not supported")
    module = importlib.import_module(node.module)
    for alias in node.names:
        lowering.frame.names[alias.asname or alias.name] = Static(getattr(module, alias.name))


def _pass(lowering: Lowering, node: Any) -> None:
    """Nothing."""


STATEMENTS: dict[type, Callable[[Lowering, Any], None]] = {
    gast.Assign: _assign,
    gast.AnnAssign: _annotated,
    gast.AugAssign: _augmented,
    gast.Delete: _delete,
    gast.For: for_loop,
    gast.While: while_loop,
    gast.Return: _return,
    gast.Break: _break,
    gast.Continue: _continue,
    gast.Raise: _raise,
    gast.Assert: _assert,
    gast.Expr: _expression_statement,
    gast.FunctionDef: _function,
    gast.Import: _import,
    gast.ImportFrom: _import_from,
    gast.Pass: _pass,
}
