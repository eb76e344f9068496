"""Zeros and sums of arrays, numbers and containers of those, as expressions: item by item."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from gradscribe.codegen.rewriting import call_method, fresh, name, names_in
from gradscribe.ir.affine import Affine
from gradscribe.ir.core import Operation
from gradscribe.ir.types import Array, Collected, Mapping, Scalar, Sequence, Tuple, Type

if TYPE_CHECKING:
    from gradscribe.codegen.expressions import Expressions


def zeros_like(write: Expressions, operation: Operation) -> ast.expr:
    """Zeros in the structure of the operand."""
    operand = operation.operands[0]
    type_ = operand.type
    if operation.attributes.get("optional"):
        if isinstance(type_, Array):  # of None, a zero without axes
            dtype = ast.keyword("dtype", write.scope.numpy(type_.dtype))
            return ast.Call(write.scope.numpy("zeros_like"), [write.value(operand)], [dtype])
        if isinstance(type_, Sequence):
            type_ = replace(type_, optional=True)
    return _zeros(write, type_, write.value(operand))


def _zeros(write: Expressions, type_: Type, like: ast.expr) -> ast.expr:
    """Zeros of a type, item by item in containers."""
    if isinstance(type_, Array):
        return ast.Call(write.scope.numpy("zeros_like"), [like], [])
    if isinstance(type_, Tuple):
        parts = [ast.Subscript(like, ast.Constant(n), ast.Load()) for n in range(len(type_.items))]
        zeros = [_zeros(write, item, part) for item, part in zip(type_.items, parts, strict=True)]
        return ast.Tuple(zeros, ast.Load())
    if isinstance(type_, Sequence) and type_.length == Affine.of(0):
        return ast.List([], ast.Load())
    if isinstance(type_, Sequence) and type_.optional:
        like = ast.BoolOp(ast.Or(), [like, ast.Tuple([], ast.Load())])
    if isinstance(type_, (Sequence, Collected)) and isinstance(type_.item, Scalar):
        length = ast.Call(write.scope.builtin("len"), [like], [])
        return ast.BinOp(ast.List([ast.Constant(0.0)], ast.Load()), ast.Mult(), length)
    if isinstance(type_, (Sequence, Collected)):
        item = name(fresh("a", {"np"}))
        return _comprehension(_zeros(write, type_.item, item), item, like)
    if isinstance(type_, Mapping):
        key, item = name("key"), name("a")
        pair = ast.Tuple([key, item], ast.Load())
        zero = _zeros(write, type_.item, item)
        return ast.DictComp(key, zero, [_generator(pair, call_method(like, "items"))])
    return ast.Constant(0.0)


def add_items(write: Expressions, operation: Operation) -> ast.expr:
    """The sum of two operands of one structure."""
    x, y = operation.operands
    return _sums(write, x.type, write.value(x), write.value(y))


def _sums(write: Expressions, type_: Type, x: ast.expr, y: ast.expr) -> ast.expr:
    """The sum of two values of a type, item by item in containers."""
    if isinstance(type_, Tuple):
        parts: list[ast.expr] = []
        for number, part in enumerate(type_.items):
            left, right = (ast.Subscript(v, ast.Constant(number), ast.Load()) for v in (x, y))
            parts.append(_sums(write, part, left, right))
        return ast.Tuple(parts, ast.Load())
    if isinstance(type_, (Sequence, Collected)):
        a, b = name("a"), name("b")
        pairs = ast.Call(write.scope.builtin("zip"), [x, y], [])
        return _comprehension(_sums(write, type_.item, a, b), ast.Tuple([a, b], ast.Load()), pairs)
    if isinstance(type_, Mapping):
        avoid = names_in(y)
        key, item = name(fresh("key", avoid)), name(fresh("a", avoid))
        other = ast.Subscript(y, key, ast.Load())
        total = _sums(write, type_.item, item, other)
        pair = ast.Tuple([key, item], ast.Load())
        return ast.DictComp(key, total, [_generator(pair, call_method(x, "items"))])
    return ast.BinOp(x, ast.Add(), y)


def _generator(target: ast.expr, iterable: ast.expr) -> ast.comprehension:
    return ast.comprehension(target, iterable, [], 0)


def _comprehension(item: ast.expr, target: ast.expr, iterable: ast.expr) -> ast.expr:
    return ast.ListComp(item, [_generator(target, iterable)])
