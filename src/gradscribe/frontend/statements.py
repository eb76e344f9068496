"""Lowering of statements: they change the state and append operations.

`STATEMENTS` maps each kind of node to its handler. Exits (`return`, `break`, `continue`)
clear flags; the statements after a possible exit are lowered under the flag. Where one side
of an `if` always exits, the rest of the block becomes part of the other side, and no flag
is needed.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import gast

from gradscribe.frontend import outside
from gradscribe.frontend.calls import dispatch as calls
from gradscribe.frontend.calls import inlining, tensors, unpacking
from gradscribe.frontend.calls.definitions import AlwaysRaisesError
from gradscribe.frontend.calls.imports import import_from, import_statement
from gradscribe.frontend.calls.local_classes import define as define_class
from gradscribe.frontend.control import comprehensions
from gradscribe.frontend.control.branches import RAISED, branch
from gradscribe.frontend.control.contexts import with_statement
from gradscribe.frontend.control.exceptions import try_statement
from gradscribe.frontend.control.loops import for_loop, while_loop
from gradscribe.frontend.control.raising import assert_statement, raise_known, raise_statement
from gradscribe.frontend.data import class_attributes, containers, dicts, object_stores, protocols
from gradscribe.frontend.data.attributes import attribute
from gradscribe.frontend.data.indices import step_of
from gradscribe.frontend.data.sequences import new_list
from gradscribe.frontend.data.subscripts import augment, part_of, read_item, store_item
from gradscribe.frontend.expressions import condition, expression, index
from gradscribe.frontend.lowering import (
    EXITS,
    NOT_BROKEN,
    NOT_CONTINUED,
    NOT_RETURNED,
    RETURN_VALUE,
    Lowering,
)
from gradscribe.frontend.operators import BINARY, operate, truth
from gradscribe.frontend.refusals import refused
from gradscribe.frontend.splitting import for_each_kind, splitting
from gradscribe.frontend.values import DictRef, Either, ListRef, Ref, Static
from gradscribe.ir.core import Value
from gradscribe.ir.types import is_complex


def statements(lowering: Lowering, nodes: Sequence[Any]) -> None:
    """Lower a block, as far as control reaches."""
    position = 0
    while position < len(nodes) and not ended(lowering):
        rest = nodes[position:]
        pending = pending_exits(lowering)
        if pending:
            _guarded(lowering, pending, functools.partial(statements, lowering, rest))
            return
        if lowering.has_alternatives:
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
    if isinstance(node, (gast.If, gast.Match)):
        lower = _if if isinstance(node, gast.If) else _match
        return len(nodes) if lower(lowering, node, nodes[1:]) else 1
    handler = STATEMENTS.get(type(node))
    if handler is None:
        what, advice = refused(node, "statements")
        lowering.unsupported(node, what, advice)
    try:
        handler(lowering, node)
    except AlwaysRaisesError as error:
        raise_known(lowering, error)
    return 1


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
    test = truth(lowering, condition(lowering, node.test))
    if isinstance(test, bool):
        statements(lowering, node.body if test else node.orelse)
        return False
    leaves = [_always_leaves(node.body), _always_leaves(node.orelse)]
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
    from gradscribe.frontend.control.patterns import match_statement

    return match_statement(lowering, node, rest, _always_leaves)


def _always_leaves(nodes: Sequence[Any]) -> bool:
    """Whether a block always ends in return, break or continue."""
    if not nodes:
        return False
    last = nodes[-1]
    if isinstance(last, gast.If):
        return _always_leaves(last.body) and _always_leaves(last.orelse)
    if isinstance(last, gast.With):
        return _always_leaves(last.body)
    if isinstance(last, gast.Match):
        wildcard = getattr(last.cases[-1].pattern, "pattern", last) is None
        return wildcard and all(_always_leaves(case.body) for case in last.cases)
    return isinstance(last, (gast.Return, gast.Break, gast.Continue))


# -- assignments -----------------------------------------------------------------------------


def assign(lowering: Lowering, target: Any, item: Any) -> None:
    """Bind or store a value to an assignment target."""
    if isinstance(target, gast.Name):
        lowering.frame.names[target.id] = lowering.named(item, target.id)
    elif isinstance(item, Either):
        for_each_kind(lowering, target, (item,), lambda one: _assigned(lowering, target, one))
    elif isinstance(target, (gast.Tuple, gast.List)):
        _unpack(lowering, target, item)
    elif isinstance(target, gast.Subscript):
        owner = expression(lowering, target.value)
        store_item(lowering, target, owner, index(lowering, target.slice), item)
    else:
        assert isinstance(target, gast.Attribute)
        owner = expression(lowering, target.value)
        _store_attribute(lowering, target, owner, item)


def _store_attribute(lowering: Lowering, target: Any, owner: Any, item: Any) -> None:
    """`owner.name = item`; the real and the imaginary part of an array are views of it."""
    if isinstance(owner, Ref) and target.attr in ("real", "imag"):
        if target.attr == "imag" and not is_complex(lowering.load(owner).type):
            error = TypeError("array does not have imaginary part to set")
            lowering.raises(target, error)
        part = attribute(lowering, target, owner, target.attr)
        store_item(lowering, target, part, Static(...), item)
    else:
        object_stores.store(lowering, target, owner, target.attr, item)


def _assigned(lowering: Lowering, target: Any, item: Any) -> Static:
    assign(lowering, target, item)
    return Static(None)


def _unpack(lowering: Lowering, target: Any, item: Any) -> None:
    starred = [i for i, t in enumerate(target.elts) if isinstance(t, gast.Starred)]
    if starred and unpacking.has_run_time_length(lowering, item):
        first = starred[0]
        last = len(target.elts) - first - 1
        _assign_each(lowering, target, unpacking.divided(lowering, target, item, first, last))
        return
    expected = None if starred else len(target.elts)
    items = list(unpacking.unpacked(lowering, target, item, expected))
    if len({*map(id, items)}) < len(items):
        lowering.builder.begin_statement()  # several targets refer to the same value
    if starred:
        first, after = starred[0], len(target.elts) - starred[0] - 1
        if len(items) < len(target.elts) - 1:
            lowering.unsupported(
                target,
                f"not enough values to unpack: {len(items)}",
                "name fewer targets, or give it more items",
            )
        middle = new_list(lowering, tuple(items[first : len(items) - after]))
        items[first : len(items) - after] = [middle]
    if len(items) != len(target.elts):
        lowering.unsupported(
            target,
            f"expected {len(target.elts)} values to unpack, got {len(items)}",
            "name as many targets as there are items, or collect the rest: `a, *rest = …`",
        )
    _assign_each(lowering, target, items)


def _assign_each(lowering: Lowering, target: Any, items: Sequence[Any]) -> None:
    for part, below in zip(target.elts, items, strict=True):
        assign(lowering, part.value if isinstance(part, gast.Starred) else part, below)


def _assign(lowering: Lowering, node: Any) -> None:
    first = node.targets[0]
    if isinstance(node.value, gast.ListComp) and isinstance(first, gast.Name):
        item = comprehensions.list_of(lowering, node.value, first.id)
    else:
        item = expression(lowering, node.value)
    if len(node.targets) > 1:
        if isinstance(first, gast.Name):
            item = lowering.named(item, first.id)
        lowering.builder.begin_statement()  # the other targets refer to the same values
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
    if isinstance(target, gast.Attribute):
        owner, name = expression(lowering, target.value), target.attr
        current = attribute(lowering, target, owner, name)
        changed = _augmented_value(lowering, node, callee, current)
        if changed is not current or class_attributes.is_computed(owner, name):
            object_stores.store(lowering, target, owner, name, changed)
        return
    read = gast.Name(target.id, gast.Load(), None, None)
    current = expression(lowering, gast.copy_location(read, target))
    changed = _augmented_value(lowering, node, callee, current)
    if changed is not current:
        assign(lowering, target, changed)


def _augmented_value(lowering: Lowering, node: Any, callee: Any, current: Any) -> Any:
    """What `current op= node.value` binds: `current` itself where that is changed in place."""
    item = expression(lowering, node.value)
    return for_each_kind(
        lowering, node, (item,), lambda one: _augmented_by(lowering, node, callee, current, one)
    )


def _augmented_by(lowering: Lowering, node: Any, callee: Any, current: Any, item: Any) -> Any:
    current = outside.opened(lowering, current)
    if not isinstance(current, (Ref, ListRef)):
        tensors.refuse_shared_number(lowering, node, current)
    return _changed_by(lowering, node, callee, current, item)


def _changed_by(lowering: Lowering, node: Any, callee: Any, current: Any, item: Any) -> Any:
    """What `current op= item` gives: `current` itself, changed in place, or another value."""
    if isinstance(current, Ref):
        augment(lowering, node, current, callee, item)
        return current
    if isinstance(current, ListRef) and callee is operator.add:
        containers.extend(lowering, node, (current, item), {})
        return current
    if isinstance(current, DictRef) and callee is operator.or_:
        dicts.update(lowering, node, (current, item), {})
        return current
    changed = protocols.augment(lowering, node, callee, current, item)
    return operate(lowering, node, callee, current, item) if changed is None else changed


def _augment_item(lowering: Lowering, node: Any, callee: Any, owner: Any, place: Any) -> None:
    old = read_item(lowering, node, owner, place)
    item = expression(lowering, node.value)
    for_each_kind(
        lowering,
        node,
        (item,),
        lambda one: _augment_item_by(lowering, node, callee, owner, place, old, one),
    )


def _augment_item_by(
    lowering: Lowering, node: Any, callee: Any, owner: Any, place: Any, old: Any, item: Any
) -> Static:
    if isinstance(owner, Ref):
        view = part_of(owner, step_of(lowering, node, place))
        augment(lowering, node, view, callee, item)
        return Static(None)
    old = outside.opened(lowering, old)
    if not isinstance(old, (Ref, ListRef)):
        tensors.refuse_shared_number(lowering, node, old, owner)
    changed = _changed_by(lowering, node, callee, old, item)
    if changed is not old or not isinstance(owner, (ListRef, DictRef)):
        store_item(lowering, node, owner, place, changed)
    return Static(None)


def _delete(lowering: Lowering, node: Any) -> None:
    for target in node.targets:
        if isinstance(target, gast.Name):
            lowering.frame.names.pop(target.id, None)
            continue
        if isinstance(target, gast.Attribute):
            owner = expression(lowering, target.value)
            object_stores.delete(lowering, target, owner, target.attr)
            continue
        owner = expression(lowering, target.value) if isinstance(target, gast.Subscript) else None
        place = None if owner is None else index(lowering, target.slice)
        if isinstance(owner, ListRef):
            containers.delete_item(lowering, target, (owner, place), {})
        elif isinstance(owner, DictRef):
            dicts.delete_key(lowering, target, owner, place)
        elif protocols.call(lowering, target, owner, "__delitem__", place) is None:
            lowering.unsupported(
                target,
                "only names and items of lists and dicts can be deleted",
                "make a new value without it",
            )


# -- exits and effects -----------------------------------------------------------------------


def _return(lowering: Lowering, node: Any) -> None:
    item = Static(None) if node.value is None else expression(lowering, node.value)
    lowering.frame.names[RETURN_VALUE] = lowering.named(item, "")
    lowering.frame.names[NOT_RETURNED] = Static(False)


def _break(lowering: Lowering, node: Any) -> None:
    lowering.frame.names[NOT_BROKEN] = Static(False)


def _continue(lowering: Lowering, node: Any) -> None:
    lowering.frame.names[NOT_CONTINUED] = Static(False)


def _expression_statement(lowering: Lowering, node: Any) -> None:
    if not isinstance(node.value, gast.Constant):
        lowering.discarded = node.value
        expression(lowering, node.value)


def _function(lowering: Lowering, node: Any) -> None:
    decorators = [expression(lowering, decorator) for decorator in node.decorator_list]
    function: Any = inlining.local_function(lowering, node)
    for decorator, item in zip(node.decorator_list[::-1], decorators[::-1], strict=True):
        function = calls.call(lowering, decorator, item, (function,), {})
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
    gast.Assign: _assign,
    gast.AnnAssign: _annotated,
    gast.AugAssign: _augmented,
    gast.Delete: _delete,
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
