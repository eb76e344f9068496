"""Lowering of expressions: gast node in, frontend value out.

`EXPRESSIONS` maps each kind of node to its handler; what is missing there is refused.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from gradscribe.frontend import builtins as known
from gradscribe.frontend import calls, scope
from gradscribe.frontend.branches import conditional
from gradscribe.frontend.lowering import Lowering, is_number
from gradscribe.frontend.subscripts import read_item
from gradscribe.frontend.values import (
    BoundMethod,
    DictRef,
    ListRef,
    LocalFunction,
    ObjectRef,
    Ref,
    Static,
    Storage,
    TupleOf,
    same_static,
)
from gradscribe.ir.core import Value
from gradscribe.ir.types import Array, Opaque, Scalar
from gradscribe.primitives.control import FORMAT
from gradscribe.primitives.indexing import LENGTH
from gradscribe.primitives.registry import METHODS, PRIMITIVES

BINARY: dict[type, Callable[..., Any]] = {
    gast.Add: operator.add,
    gast.Sub: operator.sub,
    gast.Mult: operator.mul,
    gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv,
    gast.Mod: operator.mod,
    gast.Pow: operator.pow,
    gast.MatMult: operator.matmul,
    gast.BitAnd: operator.and_,
    gast.BitOr: operator.or_,
    gast.BitXor: operator.xor,
    gast.LShift: operator.lshift,
    gast.RShift: operator.rshift,
}
UNARY: dict[type, Callable[..., Any]] = {
    gast.USub: operator.neg,
    gast.UAdd: operator.pos,
    gast.Invert: operator.invert,
    gast.Not: operator.not_,
}
COMPARE: dict[type, Callable[..., Any]] = {
    gast.Lt: operator.lt,
    gast.LtE: operator.le,
    gast.Gt: operator.gt,
    gast.GtE: operator.ge,
    gast.Eq: operator.eq,
    gast.NotEq: operator.ne,
}
_COMPARISONS = frozenset(COMPARE.values())


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


def operate(lowering: Lowering, node: Any, callee: Any, *operands: Any) -> Any:
    """An operator on frontend values: folded if static, on tuples and lists as Python does."""
    if all(isinstance(o, Static) for o in operands) and _folds(callee, operands):
        try:
            return Static(callee(*(o.value for o in operands)))
        except Exception as error:
            lowering.unsupported(node, f"this always raises {type(error).__name__}: {error}")
    if any(isinstance(o, (TupleOf, ListRef)) for o in operands):
        return _structural(lowering, node, callee, operands)
    for operand in operands:
        if not (is_number(operand) or isinstance(operand, (Ref, Value))):
            lowering.unsupported(
                node, f"the operator `{callee.__name__}` is not supported on these operands"
            )
    return calls.apply_primitive(lowering, node, PRIMITIVES[callee], callee, operands, {})


def _folds(callee: Any, operands: tuple[Any, ...]) -> bool:
    """Whether a static operation is computed now: anything but floating arithmetic, which
    stays in the program as the user wrote it."""
    floating = any(isinstance(o.value, (float, complex, np.generic)) for o in operands)
    return callee in _COMPARISONS or not floating


def _structural(lowering: Lowering, node: Any, callee: Any, operands: tuple[Any, ...]) -> Any:
    first, second = (*(known_items(lowering, o) for o in operands), None)[:2]
    if first is not None and second is not None:
        if callee is operator.add:
            return _rebuild(lowering, operands[0], first + second)
        if callee in (operator.eq, operator.ne):
            return _compare_tuples(lowering, node, callee, first, second)
    if callee is operator.mul and first is not None and isinstance(operands[1], Static):
        return _rebuild(lowering, operands[0], first * operands[1].value)
    return lowering.unsupported(node, f"`{callee.__name__}` of tuples or lists is not supported")


def known_items(lowering: Lowering, item: Any) -> tuple[Any, ...] | None:
    """The items of a tuple or list of known structure; None of anything else."""
    if isinstance(item, TupleOf):
        return item.items
    contents = lowering.contents[item.storage] if isinstance(item, ListRef) else None
    return contents if isinstance(contents, tuple) else None


def _rebuild(lowering: Lowering, like: Any, items: tuple[Any, ...]) -> Any:
    return TupleOf(items) if isinstance(like, TupleOf) else new_list(lowering, items)


def _compare_tuples(lowering: Lowering, node: Any, callee: Any, a: Any, b: Any) -> Any:
    result: Any = Static(len(a) == len(b))
    if len(a) == len(b):
        for x, y in zip(a, b, strict=True):
            part = operate(lowering, node, operator.eq, x, y)
            result = (
                part if _is_true(result) else operate(lowering, node, operator.and_, result, part)
            )
    return operate(lowering, node, operator.not_, result) if callee is operator.ne else result


def _is_true(item: Any) -> bool:
    return isinstance(item, Static) and item.value is True


def new_list(lowering: Lowering, items: tuple[Any, ...]) -> ListRef:
    """A new list of known structure."""
    storage = Storage()
    lowering.contents[storage] = items
    return ListRef(storage)


def truth(lowering: Lowering, item: Any) -> bool | Value:
    """The truth value: known, or as an IR value that Python tests at run time."""
    if isinstance(item, Static):
        return bool(item.value)
    if isinstance(item, TupleOf):
        return bool(item.items)
    if isinstance(item, (ListRef, DictRef)):
        contents = lowering.contents[item.storage]
        return (
            truth(lowering, calls.length(lowering, item))
            if isinstance(contents, Value)
            else bool(contents)
        )
    if isinstance(item, (ObjectRef, BoundMethod, LocalFunction)):
        return True
    return lowering.value(item)


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


def compare(lowering: Lowering, node: Any, op: Any, left: Any, right: Any) -> Any:
    """One comparison."""
    if isinstance(op, (gast.Is, gast.IsNot)):
        return Static(_identical(lowering, node, left, right) is isinstance(op, gast.Is))
    if isinstance(op, (gast.In, gast.NotIn)):
        return _membership(lowering, node, isinstance(op, gast.In), left, right)
    return operate(lowering, node, COMPARE[type(op)], left, right)


def _identical(lowering: Lowering, node: Any, left: Any, right: Any) -> bool:
    if isinstance(left, Static) and isinstance(right, Static):
        return left.value is right.value or same_static(left.value, right.value)
    for side, other in ((left, right), (right, left)):
        if isinstance(side, Static) and (side.value is None or isinstance(side.value, bool)):
            if isinstance(other, Value) and isinstance(other.type, Opaque):
                break
            return False
    return lowering.unsupported(
        node, "`is` between run-time values is not supported", "compare with `==`"
    )


def _membership(lowering: Lowering, node: Any, wanted: bool, item: Any, container: Any) -> Any:
    if isinstance(container, DictRef) and isinstance(item, Static):
        return Static((item.value in lowering.contents[container.storage]) is wanted)
    if isinstance(container, Static) and isinstance(item, Static):
        return Static((item.value in container.value) is wanted)
    items = getattr(container, "items", None)
    if isinstance(container, ListRef):
        items = lowering.contents[container.storage]
    if not isinstance(items, tuple):
        lowering.unsupported(node, "`in` is not supported on this container")
    result: Any = Static(False)
    for other in items:
        part = operate(lowering, node, operator.eq, item, other)
        if _is_true(part):
            return Static(wanted)
        if isinstance(result, Static):
            result = part
        elif not isinstance(part, Static):
            result = operate(lowering, node, operator.or_, result, part)
    return result if wanted else operate(lowering, node, operator.not_, result)


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


def attribute(lowering: Lowering, node: Any, owner: Any, name: str) -> Any:
    """`owner.name`."""
    if isinstance(owner, Static) and not is_number(owner):
        if not hasattr(owner.value, name):
            lowering.unsupported(node, f"`{owner.value!r}` has no attribute `{name}`")
        return Static(getattr(owner.value, name))
    if isinstance(owner, ObjectRef):
        found = scope.attribute_of_object(lowering, node, owner, name)
        if isinstance(found, property):
            return calls.call(lowering, node, Static(found.fget), (owner,), {})
        return BoundMethod(owner, name) if callable(found) else found
    if isinstance(owner, TupleOf) and name in _field_names(owner.cls):
        return owner.items[_field_names(owner.cls).index(name)]
    if isinstance(owner, Ref):
        return _array_attribute(lowering, node, owner, name)
    if is_number(owner):
        return _number_attribute(lowering, node, owner, name)
    return BoundMethod(owner, name)


def _field_names(cls: type) -> tuple[str, ...]:
    """The names of the items of a namedtuple or dataclass."""
    if dataclasses.is_dataclass(cls):
        return tuple(field.name for field in dataclasses.fields(cls))
    return getattr(cls, "_fields", ())


def _array_attribute(lowering: Lowering, node: Any, owner: Ref, name: str) -> Any:
    type_ = lowering.load(owner).type
    assert isinstance(type_, Array)
    if name == "shape":
        return shape_of(lowering, owner)
    if name == "ndim":
        return Static(type_.rank)
    if name == "dtype":
        return Static(np.dtype(type_.dtype))
    if name == "data" or (name == "array" and known.is_tensor(lowering, owner)):
        return calls.cut(lowering, owner)
    if name == "size" and known.is_tensor(lowering, owner):
        return BoundMethod(owner, name)
    if name in ("T", "mT", "size", "real", "imag") and name in METHODS:
        return calls.apply_method(lowering, node, owner, name, (), {})
    return BoundMethod(owner, name)


def shape_of(lowering: Lowering, owner: Any) -> TupleOf:
    """The shape of an array as a tuple: known lengths are static."""
    value = lowering.value(owner)
    dims = value.type.dims if isinstance(value.type, Array) else ()
    return TupleOf(
        tuple(
            Static(dim.known)
            if dim.known is not None
            else lowering.emit(LENGTH, {"x": value, "axis": axis})
            for axis, dim in enumerate(dims)
        )
    )


def _number_attribute(lowering: Lowering, node: Any, owner: Any, name: str) -> Any:
    type_ = owner.type if isinstance(owner, Value) else lowering.value(owner).type
    assert isinstance(type_, Scalar)
    if name == "shape" and not type_.weak:
        return TupleOf(())
    if name == "ndim" and not type_.weak:
        return Static(0)
    if name == "dtype" and not type_.weak:
        return Static(np.dtype(type_.dtype))
    if name == "data":
        return calls.cut(lowering, owner)
    if name in ("T", "real"):
        return owner
    return BoundMethod(owner, name)


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
