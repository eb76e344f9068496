"""Strings that are known at run time only: letters of known strings, and what is made of them.

They decide between paths and are shown; nothing of them is differentiated.
"""

from __future__ import annotations

import operator
from typing import Any, TypeGuard

from gradscribe.frontend.values.values import FrontendValue, Static
from gradscribe.ir.core import Value
from gradscribe.ir.types import BOOL, INT, Opaque, Type

TEXT = Opaque(str)

_OPERATORS: dict[Any, Type] = {
    **dict.fromkeys((operator.add, operator.mul, operator.mod, operator.getitem), TEXT),
    **dict.fromkeys((operator.eq, operator.ne, operator.lt, operator.le), BOOL),
    **dict.fromkeys((operator.gt, operator.ge, operator.contains), BOOL),
}

_METHODS: dict[str, Type] = {
    **dict.fromkeys(("capitalize", "casefold", "center", "format", "join", "ljust"), TEXT),
    **dict.fromkeys(("lower", "lstrip", "replace", "rjust", "rstrip", "strip"), TEXT),
    **dict.fromkeys(("swapcase", "title", "upper", "zfill"), TEXT),
    **dict.fromkeys(("endswith", "isalnum", "isalpha", "isascii", "isdecimal"), BOOL),
    **dict.fromkeys(("isdigit", "islower", "isnumeric", "isspace", "isupper"), BOOL),
    **dict.fromkeys(("startswith",), BOOL),
    **dict.fromkeys(("count", "find", "index", "rfind", "rindex"), INT),
}


def is_text(item: object) -> TypeGuard[Static | Value]:
    """Whether this is a string, known or not."""
    if isinstance(item, Static):
        return isinstance(item.value, str)
    return isinstance(item, Value) and item.type == TEXT


def type_of_operation(callee: Any, operands: tuple[FrontendValue, ...]) -> Type | None:
    """What an operator gives, where it is one of strings."""
    others = operands[:1] if callee in (operator.mul, operator.mod, operator.getitem) else operands
    return _OPERATORS.get(callee) if all(map(is_text, others)) else None


def type_of_method(receiver: FrontendValue, name: str) -> Type | None:
    """What a method of a string gives."""
    return _METHODS.get(name) if is_text(receiver) else None
