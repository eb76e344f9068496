"""Static values as expressions: numbers, strings, dtypes, containers, objects by name."""

from __future__ import annotations

import ast
import enum
import math
from collections import OrderedDict
from functools import singledispatch
from typing import Any

import numpy as np

from gradscribe.codegen.namespace import Scope
from gradscribe.ir.probing import plain_number
from gradscribe.ir.trees import Node, is_made_of_fields, with_attributes

_NAMED = {math.inf: "inf", math.pi: "pi"}
"""Numbers that people write by name."""


def literal(value: Any, scope: Scope) -> ast.expr:
    """The expression of a static value; an object of no literal form is named."""
    if isinstance(value, enum.Enum) and isinstance(value, str):
        value = str.__str__(value)
    return _literal(plain_number(value), scope)


@singledispatch
def _literal(value: Any, scope: Scope) -> ast.expr:
    return scope.reference(value)


@_literal.register(str)
@_literal.register(bytes)
def _text(value: Any, scope: Scope) -> ast.expr:
    return ast.Constant(value) if type(value) in (str, bytes) else scope.reference(value)


@_literal.register(bool)
@_literal.register(int)
@_literal.register(type(None))
@_literal.register(type(...))
def _plain(value: Any, scope: Scope) -> ast.expr:
    return ast.Constant(value)


@_literal.register
def _float(value: float, scope: Scope) -> ast.expr:
    if math.isnan(value):
        return scope.numpy("nan")
    name = _NAMED.get(abs(value))
    if name is None:
        return ast.Constant(value)
    return scope.numpy(name) if value > 0 else ast.UnaryOp(ast.USub(), scope.numpy(name))


@_literal.register
def _complex(value: complex, scope: Scope) -> ast.expr:
    if math.isfinite(value.real) and math.isfinite(value.imag):
        return ast.Constant(value)
    parts: list[ast.expr] = [_float(value.real, scope), _float(value.imag, scope)]
    return ast.Call(scope.builtin("complex"), parts, [])


@_literal.register
def _numpy_scalar(value: np.generic, scope: Scope) -> ast.expr:
    return ast.Call(scope.reference(type(value)), [literal(value.item(), scope)], [])


@_literal.register
def _long_double(value: np.longdouble, scope: Scope) -> ast.expr:
    """Of a text: Python's literals have fewer digits."""
    return ast.Call(scope.reference(np.longdouble), [ast.Constant(str(value))], [])


@_literal.register
def _long_complex(value: np.clongdouble, scope: Scope) -> ast.expr:
    imaginary = ast.BinOp(_long_double(value.imag, scope), ast.Mult(), ast.Constant(1j))
    return ast.BinOp(_long_double(value.real, scope), ast.Add(), imaginary)


@_literal.register(np.dtype)
def _dtype(value: Any, scope: Scope) -> ast.expr:
    """Its class, if that says all: not the order of bytes, fields, or a length."""
    is_plain = np.dtype(value.type) == value and not value.metadata
    return scope.reference(value.type if is_plain else value)


@_literal.register
def _tuple(value: tuple, scope: Scope) -> ast.expr:  # type: ignore[type-arg]
    return ast.Tuple([literal(item, scope) for item in value], ast.Load())


@_literal.register
def _list(value: list, scope: Scope) -> ast.expr:  # type: ignore[type-arg]
    return ast.List([literal(item, scope) for item in value], ast.Load())


@_literal.register
def _set(value: set, scope: Scope) -> ast.expr:  # type: ignore[type-arg]
    items = [literal(item, scope) for item in value]
    return ast.Set(items) if items else ast.Call(scope.builtin("set"), [], [])


@_literal.register
def _dict(value: dict, scope: Scope) -> ast.expr:  # type: ignore[type-arg]
    keys: list[ast.expr | None] = [exact_literal(key, scope) for key in value]
    return ast.Dict(keys, [literal(item, scope) for item in value.values()])


def exact_literal(value: Any, scope: Scope) -> ast.expr:
    """The same, of what is kept, or a key: a dtype is not its class there, as it is where NumPy
    takes either."""
    if isinstance(value, np.dtype):
        return ast.Call(scope.numpy("dtype"), [literal(value, scope)], [])
    if isinstance(value, tuple):
        return ast.Tuple([exact_literal(item, scope) for item in value], ast.Load())
    return literal(value, scope)


@_literal.register
def _slice(value: slice, scope: Scope) -> ast.expr:
    parts = [literal(part, scope) for part in (value.start, value.stop, value.step)]
    return ast.Call(scope.builtin("slice"), parts, [])


def display(node: Node, children: list[ast.expr], scope: Scope) -> ast.expr:
    """The expression that builds a container of these children."""
    if node.cls is tuple:
        return ast.Tuple(children, ast.Load())
    if node.cls is list:
        return ast.List(children, ast.Load())
    keys = node.keys or ()
    if node.cls is dict:
        made: ast.expr = ast.Dict([exact_literal(key, scope) for key in keys], children)
        is_ordered = node.derived is OrderedDict
        return ast.Call(scope.reference(OrderedDict), [made], []) if is_ordered else made
    keywords = [ast.keyword(key, child) for key, child in zip(keys, children, strict=True)]
    cls = scope.reference(node.cls)
    if is_made_of_fields(node.cls, keys):
        return ast.Call(cls, [], keywords)
    return ast.Call(scope.reference(with_attributes), [cls], keywords)


def part_of(container: ast.expr, node: Node, number: int, scope: Scope) -> ast.expr:
    """The expression that takes one child out of a container."""
    if node.keys is None:
        return ast.Subscript(container, ast.Constant(number), ast.Load())
    if node.cls is dict:
        return ast.Subscript(container, exact_literal(node.keys[number], scope), ast.Load())
    return ast.Attribute(container, node.keys[number], ast.Load())
