"""Lowering of expressions: gast node in, frontend value out.

`EXPRESSIONS` maps each kind of node to its handler; what is missing there is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import gast

from gradscribe.frontend.calls import inlining, iterator_tools
from gradscribe.frontend.calls.operators import BINARY, UNARY, compare
from gradscribe.frontend.containers import keyed_dicts, sets, unpacking
from gradscribe.frontend.containers.subscripts import read_item
from gradscribe.frontend.expressions import comprehensions
from gradscribe.frontend.expressions.attributes import method_or_attribute
from gradscribe.frontend.expressions.booleans import boolean, condition
from gradscribe.frontend.expressions.formatted import formatted
from gradscribe.frontend.joins.splitting import choose, for_each_kind
from gradscribe.frontend.kinds import tensors
from gradscribe.frontend.kinds.static_values import stands_for
from gradscribe.frontend.memory import outside, scope
from gradscribe.frontend.memory.sequences import new_list
from gradscribe.frontend.state.flow import resolved
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.syntax.bindings import dotted
from gradscribe.frontend.syntax.refusals import refused
from gradscribe.frontend.values.values import (
    BoundMethod,
    DictRef,
    Either,
    FrontendValue,
    ListRef,
    LocalFunction,
    Ref,
    Static,
    TupleOf,
    Unbound,
    is_number,
)
from gradscribe.ir.types import Array


def expression(lowering: Lowering, node: Any) -> FrontendValue:
    """The frontend value of an expression."""
    handler = EXPRESSIONS.get(type(node))
    if handler is None:
        what, advice = refused(node, "expressions")
        lowering.unsupported(node, what, advice)
    result = handler(lowering, node)
    if isinstance(result, Either) and not _may_be_either(node):
        return resolved(lowering, result)
    return result


def _may_be_either(node: Any) -> bool:
    """Whether an expression may make a value of two kinds, or have one that is made in the same
    statement; whatever else gives one reads it."""
    if isinstance(node, (gast.Attribute, gast.Subscript)):
        return _may_be_either(node.value)
    return isinstance(node, _MAKING_EITHER)


_MAKING_EITHER = (gast.IfExp, gast.Call, gast.BoolOp, gast.BinOp, gast.UnaryOp, gast.Compare)


def _constant(lowering: Lowering, node: Any) -> Static:
    return Static(node.value)


def _name(lowering: Lowering, node: Any) -> FrontendValue:
    found = resolved(lowering, scope.lookup(lowering, node, node.id))
    if isinstance(found, Unbound):
        scope.refuse_unbound(lowering, node, node.id, found)
    return found


def _binary(lowering: Lowering, node: Any) -> FrontendValue:
    left, right = expression(lowering, node.left), expression(lowering, node.right)
    callee = BINARY[type(node.op)]

    def operated(a: FrontendValue, b: FrontendValue) -> FrontendValue:
        operands = tensors.promoted(lowering, node, callee, a, b)
        return lowering.operate(node, callee, *operands)

    return for_each_kind(lowering, node, (left, right), operated)


def _unary(lowering: Lowering, node: Any) -> FrontendValue:
    if isinstance(node.op, gast.Not):
        return _negation(lowering, node)
    operand, callee = expression(lowering, node.operand), UNARY[type(node.op)]
    return for_each_kind(lowering, node, (operand,), lambda a: lowering.operate(node, callee, a))


def _negation(lowering: Lowering, node: Any) -> FrontendValue:
    """`not a`: only the truth of the operand counts."""
    known = lowering.truth(condition(lowering, node.operand))
    if isinstance(known, bool):
        return Static(not known)
    return lowering.operate(node, operator.not_, known)


def _compare(lowering: Lowering, node: Any) -> FrontendValue:
    operands = [node.left, *node.comparators]

    def link(position: int, left: FrontendValue) -> FrontendValue:
        right, op = expression(lowering, operands[position + 1]), node.ops[position]
        result = for_each_kind(
            lowering, node, (left, right), lambda a, b: compare(lowering, node, op, a, b)
        )
        if position == len(node.ops) - 1:
            return result
        known = lowering.truth(result)
        if isinstance(known, bool):
            return link(position + 1, right) if known else result
        return choose(lowering, node, known, lambda: link(position + 1, right), lambda: result)

    return link(0, expression(lowering, node.left))


def _conditional_expression(lowering: Lowering, node: Any) -> FrontendValue:
    known = lowering.truth(condition(lowering, node.test))
    if isinstance(known, bool):
        return expression(lowering, node.body if known else node.orelse)
    return choose(
        lowering,
        node,
        known,
        lambda: expression(lowering, node.body),
        lambda: expression(lowering, node.orelse),
    )


def _items(lowering: Lowering, nodes: list[Any]) -> tuple[FrontendValue, ...]:
    items: list[FrontendValue] = []
    for node in nodes:
        if isinstance(node, gast.Starred):
            items += lowering.unpacked(node, expression(lowering, node.value))
        else:
            items.append(expression(lowering, node))
    return tuple(items)


def _tuple(lowering: Lowering, node: Any) -> TupleOf:
    return TupleOf(_items(lowering, node.elts))


def _list(lowering: Lowering, node: Any) -> ListRef:
    """A list display. From a `*` on of which only the run tells how many items there are, the list
    is given the items part by part."""
    items: list[FrontendValue] = []
    for position, part in enumerate(node.elts):
        starred = isinstance(part, gast.Starred)
        item = expression(lowering, part.value if starred else part)
        if starred and not unpacking.is_counted(lowering, item):
            made = new_list(lowering, tuple(items))
            _extend(lowering, node, made, item)
            for rest in node.elts[position + 1 :]:
                _extend(lowering, node, made, _section(lowering, rest))
            return made
        items += lowering.unpacked(part, item) if starred else [item]
    return new_list(lowering, tuple(items))


def _section(lowering: Lowering, node: Any) -> FrontendValue:
    """The items that a part of a list display gives."""
    if isinstance(node, gast.Starred):
        return expression(lowering, node.value)
    return new_list(lowering, (expression(lowering, node),))


def _extend(lowering: Lowering, node: Any, items: ListRef, more: FrontendValue) -> None:
    lowering.call(node, BoundMethod(items, "extend"), (more,), {})


def _set(lowering: Lowering, node: Any) -> FrontendValue:
    return sets.new_set(lowering, node, new_list(lowering, _items(lowering, node.elts)))


def _dict(lowering: Lowering, node: Any) -> FrontendValue:
    pairs: list[tuple[FrontendValue, FrontendValue]] = []
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            other = outside.opened(lowering, expression(lowering, value))
            if not isinstance(other, DictRef):
                lowering.unsupported(
                    node,
                    "`**` of this value is not supported in a dict display",
                    "give it a dict, or write the items out",
                    python=TypeError,
                )
            pairs += [(Static(k), item) for k, item in lowering.items_in(other.storage).items()]
            continue
        pairs.append((expression(lowering, key), expression(lowering, value)))
    return keyed_dicts.new_dict(lowering, node, pairs)


def _subscript(lowering: Lowering, node: Any) -> FrontendValue:
    if isinstance(node.value, gast.Attribute) and node.value.attr == "data":
        return _item_of_data(lowering, node)
    owner, place = expression(lowering, node.value), index(lowering, node.slice)
    return _item(lowering, node, owner, place)


def _item_of_data(lowering: Lowering, node: Any) -> FrontendValue:
    """`x.data[i]`: of an array with one axis the number that its memory holds there."""
    array = expression(lowering, node.value.value)
    place = index(lowering, node.slice)
    is_array = isinstance(array, Ref) and not tensors.is_tensor(lowering, array)
    type_ = lowering.value(array).type if is_array else None
    if isinstance(type_, Array) and type_.rank == 1 and is_number(place):
        item = _item(lowering, node, array, place)
        return lowering.call(node, BoundMethod(item, "item"), (), {})
    owner = lowering.attribute(node.value, array, "data")
    return _item(lowering, node, owner, place)


def _item(
    lowering: Lowering, node: Any, owner: FrontendValue, place: FrontendValue
) -> FrontendValue:
    return for_each_kind(
        lowering, node, (owner, place), lambda a, b: read_item(lowering, node, a, b)
    )


def index(lowering: Lowering, node: Any) -> FrontendValue:
    """The value of an index: slices become `Static(slice)`-like trees of frontend values."""
    if isinstance(node, gast.Slice):
        parts = (node.lower, node.upper, node.step)
        return slice(*(None if part is None else expression(lowering, part) for part in parts))
    if isinstance(node, gast.Tuple):
        return TupleOf(tuple(part for item in node.elts for part in _indices(lowering, item)))
    item = expression(lowering, node)
    if stands_for(item, slice):
        parts = (item.value.start, item.value.stop, item.value.step)
        return slice(*(None if part is None else Static(part) for part in parts))
    return item


def _indices(lowering: Lowering, node: Any) -> tuple[FrontendValue, ...]:
    """One item of an index, or those of a starred one."""
    if isinstance(node, gast.Starred):
        return lowering.unpacked(node, expression(lowering, node.value))
    return (index(lowering, node),)


def _attribute(lowering: Lowering, node: Any) -> FrontendValue:
    owner = expression(lowering, node.value)
    return for_each_kind(lowering, node, (owner,), lambda a: lowering.attribute(node, a, node.attr))


def _lambda(lowering: Lowering, node: Any) -> LocalFunction:
    return inlining.local_function(lowering, node)


def _walrus(lowering: Lowering, node: Any) -> FrontendValue:
    target = node.target
    name = target.id if isinstance(target, gast.Name) else target.attr
    item = lowering.named(expression(lowering, node.value), name)
    lowering.assign(target, item)
    return item


def _owner(lowering: Lowering, node: Any) -> FrontendValue:
    """The object whose method is called. A container from outside that the function only adds to
    is changed where it is: that is an effect, like printing."""
    adds = node is lowering.statement.discarded and lowering.frame.is_only_grown(
        dotted(node.func.value)
    )
    if lowering.has_tensors and node.func.attr == "insert":
        adds = False  # what belongs to the graph is added at the end only
    outer, lowering.outside.as_objects = lowering.outside.as_objects, adds
    try:
        return expression(lowering, node.func.value)
    finally:
        lowering.outside.as_objects = outer


def _call(lowering: Lowering, node: Any) -> FrontendValue:
    callee = _callee(lowering, node)
    if node.args and isinstance(node.args[0], gast.GeneratorExp) and not node.keywords:
        stopping = comprehensions.stopping(callee, len(node.args))
        if stopping is not None:
            return stopping(lowering, *node.args)
    if callee == Static(zip) and [*map(type, node.args)] == [gast.Starred] and not node.keywords:
        rows = expression(lowering, node.args[0].value)
        columns = iterator_tools.columns(lowering, node, rows)
        if columns is not None:
            return columns
        arguments = lowering.unpacked(node.args[0], rows)
    else:
        arguments = _items(lowering, node.args)
    keywords = _keywords(lowering, node)
    return for_each_kind(
        lowering,
        node,
        (callee, *arguments, *keywords.values()),
        lambda function, *given: lowering.call(
            node,
            function,
            given[: len(arguments)],
            dict(zip(keywords, given[len(arguments) :], strict=True)),
        ),
    )


def _callee(lowering: Lowering, node: Any) -> FrontendValue:
    """What a call calls."""
    if not isinstance(node.func, gast.Attribute):
        return expression(lowering, node.func)
    return for_each_kind(
        lowering,
        node,
        (_owner(lowering, node),),
        lambda owner: method_or_attribute(lowering, node, owner, node.func.attr),
    )


def _keywords(lowering: Lowering, node: Any) -> dict[str, FrontendValue]:
    """The arguments that a call gives by name."""
    keywords: dict[str, FrontendValue] = {}
    for keyword in node.keywords:
        item = expression(lowering, keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = item
        elif isinstance(item := outside.opened(lowering, item), DictRef):
            keywords |= lowering.items_in(item.storage)
        else:
            lowering.unsupported(
                node,
                "`**` of this value is not supported in a call",
                "give it a dict, or write the arguments out",
                python=TypeError,
            )
    return keywords


EXPRESSIONS: dict[type, Callable[[Lowering, Any], FrontendValue]] = {
    gast.Constant: _constant,
    gast.Name: _name,
    gast.BinOp: _binary,
    gast.UnaryOp: _unary,
    gast.BoolOp: boolean,
    gast.Compare: _compare,
    gast.IfExp: _conditional_expression,
    gast.Tuple: _tuple,
    gast.List: _list,
    gast.Dict: _dict,
    gast.Set: _set,
    gast.ListComp: comprehensions.list_of,
    gast.GeneratorExp: comprehensions.generator,
    gast.SetComp: comprehensions.set_of,
    gast.DictComp: comprehensions.dict_of,
    gast.Subscript: _subscript,
    gast.Attribute: _attribute,
    gast.Lambda: _lambda,
    gast.JoinedStr: formatted,
    gast.NamedExpr: _walrus,
    gast.Call: _call,
}
