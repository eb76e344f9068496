"""How operators, and the operations that only the compiler makes, are spelled.

`OPERATORS`, by the user's callee, and `SPELLINGS`, by primitive, give the function that makes
an operation's expression; all other operations are calls.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradscribe.codegen.booleans import is_and, is_not, is_or
from gradscribe.codegen.definitions import function_expression, generator_of
from gradscribe.codegen.rewriting import (
    call_method,
    difference_of,
    negation,
    same,
    sum_of,
)
from gradscribe.codegen.zeros_and_sums import add_items, zeros_like
from gradscribe.ir.core import CALL, IF, Method, Operation, Primitive
from gradscribe.ir.types import Array, Scalar, Tuple
from gradscribe.primitives import control, indexing, lists, shaping
from gradscribe.primitives.functions import FUNCTION
from gradscribe.primitives.members import is_lookup
from gradscribe.primitives.nonzero import NONZERO
from gradscribe.primitives.registry import PRIMITIVES

if TYPE_CHECKING:
    from gradscribe.codegen.expressions import Expressions

Spelling = Callable[["Expressions", Operation], ast.expr]

BINARY: dict[Any, type[ast.operator]] = {
    operator.add: ast.Add,
    operator.sub: ast.Sub,
    operator.mul: ast.Mult,
    operator.matmul: ast.MatMult,
    operator.truediv: ast.Div,
    operator.floordiv: ast.FloorDiv,
    operator.mod: ast.Mod,
    operator.pow: ast.Pow,
    operator.lshift: ast.LShift,
    operator.rshift: ast.RShift,
    operator.and_: ast.BitAnd,
    operator.or_: ast.BitOr,
    operator.xor: ast.BitXor,
}
COMPARISONS: dict[Any, type[ast.cmpop]] = {
    operator.lt: ast.Lt,
    operator.le: ast.LtE,
    operator.gt: ast.Gt,
    operator.ge: ast.GtE,
    operator.eq: ast.Eq,
    operator.ne: ast.NotEq,
    operator.is_: ast.Is,
    operator.is_not: ast.IsNot,
}
UNARY: dict[Any, type[ast.unaryop]] = {
    operator.neg: ast.USub,
    operator.pos: ast.UAdd,
    operator.invert: ast.Invert,
}


def _operands(write: Expressions, operation: Operation) -> list[ast.expr]:
    return write.arguments(operation)[0]


def _binary(write: Expressions, operation: Operation) -> ast.expr:
    left, right = _operands(write, operation)
    symbol = BINARY[write.callee(operation)]
    if operation.location is not None and operation.location.role != "primal":
        if symbol is ast.Add:
            return sum_of(left, right)
        if symbol is ast.Sub:
            return difference_of(left, right)
    return ast.BinOp(left, symbol(), right)


def _comparison(write: Expressions, operation: Operation) -> ast.expr:
    left, right = _operands(write, operation)
    return ast.Compare(left, [COMPARISONS[write.callee(operation)]()], [right])


def _unary(write: Expressions, operation: Operation) -> ast.expr:
    (operand,) = _operands(write, operation)
    return ast.UnaryOp(UNARY[write.callee(operation)](), operand)


def _not(write: Expressions, operation: Operation) -> ast.expr:
    (operand,) = _operands(write, operation)
    return negation(operand)


def _contains(write: Expressions, operation: Operation) -> ast.expr:
    container, item = _operands(write, operation)
    return ast.Compare(item, [ast.In()], [container])


def _builtin(function: str) -> Spelling:
    def spell(write: Expressions, operation: Operation) -> ast.expr:
        return ast.Call(write.scope.builtin(function), _operands(write, operation), [])

    return spell


OPERATORS: dict[Any, Spelling] = {
    **dict.fromkeys(BINARY, _binary),
    **dict.fromkeys(COMPARISONS, _comparison),
    **dict.fromkeys(UNARY, _unary),
    operator.not_: _not,
    operator.contains: _contains,
    operator.truth: _builtin("bool"),
    operator.abs: _builtin("abs"),
}


def _constant(write: Expressions, operation: Operation) -> ast.expr:
    return write.argument(operation, operation.attributes["value"])


def _items(attribute: str) -> Spelling:
    """An operation that is the display of its items."""

    def spell(write: Expressions, operation: Operation) -> ast.expr:
        items = [write.argument(operation, i) for i in operation.attributes[attribute]]
        if operation.result in write.uses.keys:
            return ast.Dict([*items], [ast.Constant(place) for place in range(len(items))])
        container = ast.List if operation.primitive is control.LIST else ast.Tuple
        return container(items, ast.Load())

    return spell


def _indexed(attribute: str) -> Spelling:
    """The item of the first operand at the position that an attribute gives."""

    def spell(write: Expressions, operation: Operation) -> ast.expr:
        index = write.argument(operation, operation.attributes[attribute])
        return ast.Subscript(write.value(operation.operands[0]), index, ast.Load())

    return spell


def _getitem(write: Expressions, operation: Operation) -> ast.expr:
    array = write.value(operation.operands[0])
    return write.subscript(operation, array, operation.attributes["index"])


def _repeat(write: Expressions, operation: Operation) -> ast.expr:
    count = write.argument(operation, operation.attributes["n"])
    return ast.BinOp(write.value(operation.operands[0]), ast.Mult(), count)


def _join(write: Expressions, operation: Operation) -> ast.expr:
    left, right = map(write.value, operation.operands)
    return ast.BinOp(left, ast.Add(), right)


def _section(write: Expressions, operation: Operation) -> ast.expr:
    owner = write.value(operation.operands[0])
    return write.subscript(operation, owner, (operation.attributes["index"],))


def _order(write: Expressions, operation: Operation) -> ast.expr:
    keys = write.argument(operation, operation.attributes["keys"])
    numbers = ast.Call(write.scope.builtin("len"), [keys], [])
    numbers = ast.Call(write.scope.builtin("range"), [numbers], [])
    by = [ast.keyword("key", ast.Attribute(keys, "__getitem__", ast.Load()))]
    if operation.attributes["reverse"]:
        by.append(ast.keyword("reverse", ast.Constant(True)))
    return ast.Call(write.scope.builtin("sorted"), [numbers], by)


def _nonzero(write: Expressions, operation: Operation) -> ast.expr:
    function = write.scope.reference(write.callee(operation))
    return ast.Call(function, [write.value(operation.operands[0])], [])


def _length(write: Expressions, operation: Operation) -> ast.expr:
    shape = ast.Attribute(write.value(operation.operands[0]), "shape", ast.Load())
    return ast.Subscript(shape, ast.Constant(operation.attributes["axis"]), ast.Load())


def _size(write: Expressions, operation: Operation) -> ast.expr:
    return ast.Attribute(write.value(operation.operands[0]), "size", ast.Load())


def _method_call(method: str) -> Spelling:
    def spell(write: Expressions, operation: Operation) -> ast.expr:
        return call_method(write.value(operation.operands[0]), method)

    return spell


def _same(write: Expressions, operation: Operation) -> ast.expr:
    if not operation.operands:
        return write.argument(operation, operation.attributes["x"])
    return write.value(operation.operands[0])


def _lent(write: Expressions, operation: Operation) -> ast.expr:
    """A copy whose axes lie in memory as before: compiled code may ask for that."""
    x, type_ = operation.operands[0], operation.result.type
    if isinstance(type_, Array) and type_.rank > 1:
        return call_method(write.value(x), "copy", ast.Constant("K"))
    return call_method(write.value(x), "copy")


def _renew(write: Expressions, operation: Operation) -> ast.expr:
    x, value = map(write.value, operation.operands)
    return ast.Call(write.scope.reference(write.callee(operation)), [x, value], [])


def _copy(write: Expressions, operation: Operation) -> ast.expr:
    """A copy. That of an argument, or of what unread code gives, keeps the order in which its axes
    lie in memory, so that sums over it are rounded alike; so does each where unread code may ask
    for that. `copy` makes an array in C order."""
    x = operation.operands[0]
    operand, type_ = write.value(x), x.type
    if isinstance(type_, (Scalar, Tuple)):
        return operand
    if operation.attributes.get("optional"):
        arguments = [operand, write.scope.numpy("ndarray")]
        is_array = ast.Call(write.scope.builtin("isinstance"), arguments, [])
        return ast.IfExp(is_array, call_method(operand, "copy"), operand)
    may_be_transposed = isinstance(type_, Array) and type_.rank > 1 and type_.module == "numpy"
    made = write.uses.producer.get(x)
    is_unread = made is not None and made.primitive in (control.EFFECT, control.RUN)
    is_asked = is_unread or write.uses.lends or x in write.uses.arguments
    if may_be_transposed and is_asked:
        return ast.Call(write.scope.numpy("array"), [operand], [])
    return call_method(operand, "copy")


def _effect(write: Expressions, operation: Operation) -> ast.expr:
    positional = [write.argument(operation, a) for a in operation.attributes["args"]]
    keywords = [
        ast.keyword(key, written_out(write, write.argument(operation, item)))
        for key, item in operation.attributes["keywords"].items()
    ]
    if isinstance(operation.callee, Method):
        if is_lookup(operation) and operation.operands[0] in write.uses.keys:
            return ast.Subscript(positional[0], positional[1], ast.Load())
        if operation.callee.name == "__call__":
            generator = generator_of(positional)
            if generator is not None:
                return generator
            return ast.Call(positional[0], _all_given(write, positional[1:]), keywords)
        function: ast.expr = ast.Attribute(positional[0], operation.callee.name, ast.Load())
        return ast.Call(function, _all_given(write, positional[1:]), keywords)
    if operation.callee is getattr and isinstance(positional[1], ast.Constant):
        return ast.Attribute(positional[0], str(positional[1].value), ast.Load())
    if operation.callee is operator.getitem:
        return ast.Subscript(positional[0], positional[1], ast.Load())
    if operation.callee in OPERATORS:
        return _applied(operation.callee, positional)
    given = _all_given(write, positional)
    return ast.Call(write.scope.reference(operation.callee), given, keywords)


def _all_given(write: Expressions, items: list[ast.expr]) -> list[ast.expr]:
    return [written_out(write, item) for item in items]


def written_out(write: Expressions, item: ast.expr) -> ast.expr:
    """An argument of a call: a slice is written out there."""
    if isinstance(item, ast.Slice):
        parts = [part or ast.Constant(None) for part in (item.lower, item.upper, item.step)]
        return ast.Call(write.scope.reference(slice), parts, [])
    if isinstance(item, ast.Tuple):
        return ast.Tuple([written_out(write, below) for below in item.elts], ast.Load())
    return item


def _applied(callee: Any, operands: list[ast.expr]) -> ast.expr:
    """An operator applied to operands that are not numbers or arrays."""
    if callee in BINARY:
        return ast.BinOp(operands[0], BINARY[callee](), operands[1])
    if callee in COMPARISONS:
        return ast.Compare(operands[0], [COMPARISONS[callee]()], [operands[1]])
    if callee in UNARY:
        return ast.UnaryOp(UNARY[callee](), operands[0])
    if callee is operator.contains:
        return ast.Compare(operands[1], [ast.In()], [operands[0]])
    return ast.UnaryOp(ast.Not(), operands[0])


def _manager(write: Expressions, operation: Operation) -> ast.expr:
    """The context manager that an ENTER enters."""
    if operation.callee is None:
        return write.argument(operation, operation.attributes["args"][0])
    return _effect(write, operation)


def _format(write: Expressions, operation: Operation) -> ast.expr:
    return _joined(write, operation, operation.attributes["parts"])


def _joined(write: Expressions, operation: Operation, parts: Any) -> ast.JoinedStr:
    values: list[ast.expr] = []
    for part in (parts,) if isinstance(parts, str) else parts:
        if isinstance(part, str):
            values.append(ast.Constant(part))
            continue
        value, conversion, spec = part
        code = ord(conversion) if isinstance(conversion, str) and conversion else conversion or -1
        nested = _joined(write, operation, spec) if spec else None
        values.append(ast.FormattedValue(write.argument(operation, value), code, nested))
    return ast.JoinedStr(values)


def _call(write: Expressions, operation: Operation) -> ast.expr:
    function = operation.attributes["function"]
    callee = write.scope.called(getattr(function, "name", function))
    return ast.Call(callee, write.values(operation.operands), [])


def _conditional(write: Expressions, operation: Operation) -> ast.expr:
    """`a if c else b`, or `c and a`, `c or b`, `not c`."""
    test = write.value(operation.operands[0])
    then, otherwise = (region.yields[0] for region in operation.regions)
    if is_not(operation, write.uses):
        return negation(test)
    if is_and(operation, write.uses):
        return _boolean(ast.And(), test, write.value(then))
    if is_or(operation, write.uses):
        return _boolean(ast.Or(), test, write.value(otherwise))
    return ast.IfExp(test, write.value(then), write.value(otherwise))


def _boolean(symbol: ast.boolop, left: ast.expr, right: ast.expr) -> ast.expr:
    """A chain of `and` or `or`; comparisons that meet in a variable are chained, too."""
    nested = isinstance(right, ast.BoolOp) and type(right.op) is type(symbol)
    values = right.values if isinstance(right, ast.BoolOp) and nested else [right]
    first = values[0]
    if (
        isinstance(symbol, ast.And)
        and isinstance(left, ast.Compare)
        and isinstance(first, ast.Compare)
        and isinstance(first.left, ast.Name)
        and same(left.comparators[-1], first.left)
    ):
        chained = ast.Compare(
            left.left, [*left.ops, *first.ops], [*left.comparators, *first.comparators]
        )
        return ast.BoolOp(symbol, [chained, *values[1:]]) if len(values) > 1 else chained
    return ast.BoolOp(symbol, [left, *values])


def _empty_list(write: Expressions, operation: Operation) -> ast.expr:
    return ast.List([], ast.Load())


SPELLINGS: dict[Primitive, Spelling] = {
    IF: _conditional,
    CALL: _call,
    control.CONSTANT: _constant,
    control.UNDEF: lambda expressions, operation: ast.Constant(None),
    control.TUPLE: _items("items"),
    control.LIST: _items("items"),
    control.ITEM: _indexed("position"),
    control.GET: _indexed("index"),
    lists.REPEAT: _repeat,
    lists.JOIN: _join,
    lists.SECTION: _section,
    lists.ORDER: _order,
    control.LEN: _builtin("len"),
    control.COPY: _copy,
    control.STOP_GRADIENT: _same,
    control.GIVEN: _same,
    control.KEPT: _same,
    control.LENT: _lent,
    control.LENT_ITSELF: _same,
    PRIMITIVES[shaping.respelled]: _same,
    control.ZEROS_LIKE: zeros_like,
    control.ADD_ITEMS: add_items,
    control.EFFECT: _effect,
    control.RENEW: _renew,
    control.RUN: _effect,
    control.ENTER: _manager,
    control.FORMAT: _format,
    control.FORMAT_NOW: _format,
    FUNCTION: function_expression,
    control.STACK: _empty_list,
    control.STACK_POP: _method_call("pop"),
    indexing.GETITEM: _getitem,
    indexing.GATHER: _getitem,
    NONZERO: _nonzero,
    indexing.LENGTH: _length,
    indexing.SIZE: _size,
}
