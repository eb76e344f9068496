"""How tightly Python's operators bind."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

from gradscribe.codegen.user_text import UserLambda

(
    BARE,
    TEST,
    OR,
    AND,
    NOT,
    COMPARE,
    BIT_OR,
    BIT_XOR,
    BIT_AND,
    SHIFT,
    SUM,
    PRODUCT,
    UNARY,
    POWER,
    ATOM,
) = range(15)

BINARY: dict[type[ast.operator], tuple[str, int]] = {
    ast.Add: ("+", SUM),
    ast.Sub: ("-", SUM),
    ast.Mult: ("*", PRODUCT),
    ast.MatMult: ("@", PRODUCT),
    ast.Div: ("/", PRODUCT),
    ast.Mod: ("%", PRODUCT),
    ast.FloorDiv: ("//", PRODUCT),
    ast.LShift: ("<<", SHIFT),
    ast.RShift: (">>", SHIFT),
    ast.BitOr: ("|", BIT_OR),
    ast.BitXor: ("^", BIT_XOR),
    ast.BitAnd: ("&", BIT_AND),
    ast.Pow: ("**", POWER),
}
UNARY_SYMBOLS: dict[type[ast.unaryop], tuple[str, int]] = {
    ast.Not: ("not ", NOT),
    ast.USub: ("-", UNARY),
    ast.UAdd: ("+", UNARY),
    ast.Invert: ("~", UNARY),
}


def _constant_level(node: ast.Constant) -> int:
    """Negative numbers bind like the unary minus that they are written with."""
    value = node.value
    if isinstance(value, float):
        return UNARY if math.copysign(1, value) < 0 else ATOM
    negative = isinstance(value, int) and value < 0
    return UNARY if negative else ATOM


_LEVELS: dict[type[ast.expr], Callable[..., int]] = {
    ast.Tuple: lambda node: BARE if node.elts else ATOM,
    ast.Lambda: lambda node: TEST,
    UserLambda: lambda node: TEST,
    ast.IfExp: lambda node: TEST,
    ast.BoolOp: lambda node: OR if isinstance(node.op, ast.Or) else AND,
    ast.Compare: lambda node: COMPARE,
    ast.BinOp: lambda node: BINARY[type(node.op)][1],
    ast.UnaryOp: lambda node: UNARY_SYMBOLS[type(node.op)][1],
    ast.Constant: _constant_level,
}


def level(node: ast.expr) -> int:
    """How tightly the outermost operator of an expression binds."""
    rule = _LEVELS.get(type(node))
    return ATOM if rule is None else rule(node)
