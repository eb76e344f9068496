"""Small facts about expressions as syntax trees: equality, negation, the names they read."""

from __future__ import annotations

import ast
from typing import Any


def same(a: Any, b: Any) -> bool:
    """Whether two expressions are the same text (contexts aside)."""
    if type(a) is not type(b):
        return False
    if isinstance(a, ast.AST):
        return all(
            same(getattr(a, field, None), getattr(b, field, None))
            for field in a._fields
            if field not in ("ctx", "kind")
        )
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def names_in(node: ast.AST) -> set[str]:
    """The names that occur in a tree."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def without_minus(node: ast.expr) -> ast.expr | None:
    """The expression whose negation, bit for bit, this is; None where no minus leads it."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return node.operand
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        left = without_minus(node.left)
        if left is not None:
            return ast.BinOp(left, node.op, node.right)
        right = without_minus(node.right)
        if right is not None:
            return ast.BinOp(node.left, node.op, right)
    return None


def sum_of(left: ast.expr, right: ast.expr) -> ast.expr:
    """left + right, as a difference where right has a leading minus."""
    positive = without_minus(right)
    if positive is not None:
        return ast.BinOp(left, ast.Sub(), positive)
    return ast.BinOp(left, ast.Add(), right)


def difference_of(left: ast.expr, right: ast.expr) -> ast.expr:
    """left - right, as a sum where right has a leading minus."""
    positive = without_minus(right)
    if positive is not None:
        return ast.BinOp(left, ast.Add(), positive)
    return ast.BinOp(left, ast.Sub(), right)


def negation(node: ast.expr) -> ast.expr:
    """`not node`; the negation of `not x` is x, of `x in y`, `x is y`, `x == y` the other one."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return node.operand
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OPPOSITE:
        return ast.Compare(node.left, [_OPPOSITE[type(node.ops[0])]()], node.comparators)
    return ast.UnaryOp(ast.Not(), node)


_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}


def name(identifier: str) -> ast.expr:
    return ast.Name(identifier, ast.Load())


def call_method(owner: ast.expr, method: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(owner, method, ast.Load()), list(arguments), [])


def fresh(wanted: str, taken: set[str]) -> str:
    """A name that is not taken."""
    found, number = wanted, 0
    while found in taken:
        number += 1
        found = f"{wanted}_{number}"
    return found
