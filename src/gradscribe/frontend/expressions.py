"""Lowering of expressions: gast node in, frontend value out.

`EXPRESSIONS` maps each kind of node to its handler; what is missing there is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from gradscribe.frontend import calls, scope
from gradscribe.frontend.attributes import attribute
from gradscribe.frontend.branches import conditional
from gradscribe.frontend.lowering import Lowering
from gradscribe.frontend.operators import BINARY, UNARY, compare, new_list, operate, truth
from gradscribe.frontend.subscripts import read_item
from gradscribe.frontend.values import (
    DictRef,
    Static,
    Storage,
    TupleOf,
)
from gradscribe.primitives.control import FORMAT


def expression(lowering: Lowering, node: Any) -> Any:
    """The frontend value of an expression."""
    handler = EXPRESSIONS.get(type(node))
    if handler is None:
        lowering.unsupported(node, f"`{type(node).__name__}` expressions are not supported")
    return handler(lowering, node)


def _constant(lowering: Lowering, node: Any) -> Any:
    return Static(node.value)


def _name(lowering: Lowering, node: Any) -> Any:
    return scope.lookup(lowering, node, node.id)


def _binary(lowering: Lowering, node: Any) -> Any:
    left, right = expression(lowering, node.left), expression(lowering, node.right)
    return operate(lowering, node, BINARY[type(node.op)], left, right)


def _unary(lowering: Lowering, node: Any) -> Any:
    operand = expression(lowering, node.operand)
    if isinstance(node.op, gast.Not):
        known = truth(lowering, operand)
        if isinstance(known, bool):
            return Static(not known)
    return operate(lowering, node, UNARY[type(node.op)], operand)


def _boolean(lowering: Lowering, node: Any) -> Any:
    """`a and b`, `a or b`: the value of the operand that decided."""
    is_and = isinstance(node.op, gast.And)

    def rest(position: int) -> Any:
        item = expression(lowering, node.values[position])
        if position == len(node.values) - 1:
            return item
        known = truth(lowering, item)
        if isinstance(known, bool):
            return rest(position + 1) if known is is_and else item
        onward: Callable[[], Any] = lambda: rest(position + 1)  # noqa: E731
        stay: Callable[[], Any] = lambda: item  # noqa: E731
        then, otherwise = (onward, stay) if is_and else (stay, onward)
        return conditional(lowering, node, known, then, otherwise)

    return rest(0)


def _compare(lowering: Lowering, node: Any) -> Any:
    operands = [node.left, *node.comparators]

    def link(position: int, left: Any) -> Any:
        right = expression(lowering, operands[position + 1])
        result = compare(lowering, node, node.ops[position], left, right)
        if position == len(node.ops) - 1:
            return result
        known = truth(lowering, result)
        if isinstance(known, bool):
            return link(position + 1, right) if known else result
        return conditional(lowering, node, known, lambda: link(position + 1, right), lambda: result)

    return link(0, expression(lowering, node.left))


def _conditional_expression(lowering: Lowering, node: Any) -> Any:
    known = truth(lowering, expression(lowering, node.test))
    if isinstance(known, bool):
        return expression(lowering, node.body if known else node.orelse)
    return conditional(
        lowering,
        node,
        known,
        lambda: expression(lowering, node.body),
        lambda: expression(lowering, node.orelse),
    )


def _items(lowering: Lowering, nodes: list[Any]) -> tuple[Any, ...]:
    items: list[Any] = []
    for node in nodes:
        if isinstance(node, gast.Starred):
            items += calls.unpacked(lowering, node, expression(lowering, node.value))
        else:
            items.append(expression(lowering, node))
    return tuple(items)


def _tuple(lowering: Lowering, node: Any) -> Any:
    return TupleOf(_items(lowering, node.elts))


def _list(lowering: Lowering, node: Any) -> Any:
    return new_list(lowering, _items(lowering, node.elts))


def _dict(lowering: Lowering, node: Any) -> Any:
    items: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            other = expression(lowering, value)
            if not isinstance(other, DictRef):
                lowering.unsupported(node, "`**` of this value is not supported in a dict display")
            items |= lowering.contents[other.storage]
            continue
        known = expression(lowering, key)
        if not isinstance(known, Static):
            lowering.unsupported(key, "dict keys must be known when the function is compiled")
        items[known.value] = expression(lowering, value)
    storage = Storage()
    lowering.contents[storage] = items
    return DictRef(storage)


def _subscript(lowering: Lowering, node: Any) -> Any:
    return read_item(lowering, node, expression(lowering, node.value), index(lowering, node.slice))


def index(lowering: Lowering, node: Any) -> Any:
    """The value of an index: slices become `Static(slice)`-like trees of frontend values."""
    if isinstance(node, gast.Slice):
        parts = (node.lower, node.upper, node.step)
        return slice(*(None if part is None else expression(lowering, part) for part in parts))
    if isinstance(node, gast.Tuple):
        return TupleOf(tuple(index(lowering, item) for item in node.elts))
    return expression(lowering, node)


def _attribute(lowering: Lowering, node: Any) -> Any:
    return attribute(lowering, node, expression(lowering, node.value), node.attr)


def _lambda(lowering: Lowering, node: Any) -> Any:
    return calls.local_function(lowering, node)


def _formatted(lowering: Lowering, node: Any) -> Any:
    """An f-string: static if all its parts are, else a value that is only passed along."""
    parts: list[Any] = []
    for part in node.values:
        if isinstance(part, gast.Constant):
            parts.append(part.value)
            continue
        item = expression(lowering, part.value)
        form = "" if part.format_spec is None else _formatted(lowering, part.format_spec)
        if isinstance(form, Static):
            form = form.value
        if not isinstance(form, str):
            lowering.unsupported(part, "a computed format specification is not supported")
        if isinstance(item, Static):
            text = {-1: item.value, 114: repr(item.value), 115: str(item.value)}.get(
                part.conversion, ascii(item.value)
            )
            parts.append(format(text, form))
        else:
            parts.append((lowering.value(item), part.conversion, form))
    if all(isinstance(part, str) for part in parts):
        return Static("".join(parts))
    return lowering.emit(FORMAT, {"parts": tuple(parts)})


def _walrus(lowering: Lowering, node: Any) -> Any:
    item = lowering.named(expression(lowering, node.value), node.target.id)
    lowering.frame.names[node.target.id] = item
    return item


def _call(lowering: Lowering, node: Any) -> Any:
    callee = expression(lowering, node.func)
    arguments = _items(lowering, node.args)
    keywords: dict[str, Any] = {}
    for keyword in node.keywords:
        item = expression(lowering, keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = item
        elif isinstance(item, DictRef):
            keywords |= lowering.contents[item.storage]
        else:
            lowering.unsupported(node, "`**` of this value is not supported in a call")
    return calls.call(lowering, node, callee, arguments, keywords)


EXPRESSIONS: dict[type, Callable[[Lowering, Any], Any]] = {
    gast.Constant: _constant,
    gast.Name: _name,
    gast.BinOp: _binary,
    gast.UnaryOp: _unary,
    gast.BoolOp: _boolean,
    gast.Compare: _compare,
    gast.IfExp: _conditional_expression,
    gast.Tuple: _tuple,
    gast.List: _list,
    gast.Dict: _dict,
    gast.Subscript: _subscript,
    gast.Attribute: _attribute,
    gast.Lambda: _lambda,
    gast.JoinedStr: _formatted,
    gast.NamedExpr: _walrus,
    gast.Call: _call,
}
