"""What an operation gives for given operands: a call of its callee, as emitted code calls it."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import Parameter
from typing import Any

from gradscribe.ir.core import Operand, Operation, SliceOf, map_operands
from gradscribe.primitives import typing
from gradscribe.primitives.indexing import GETITEM


def apply(operation: Operation, callee: Any, operands: Sequence[Any]) -> Any:
    """Call what an operation calls."""
    positional, keywords = _bind(operation, operands)
    return typing.call(callee, *positional, **keywords)


def item_at(x: Any, index: Sequence[Any], counts: Any = None, distinct: bool = False) -> Any:
    """`x[index]`, by the parameters of the operations that take items."""
    return x[index_of(index)]


def stored_at(x: Any, value: Any, path: Sequence[Any]) -> Any:
    """A copy of x with a value at an index, which is all that leads there. Raises a `LookupError`
    for another path."""
    ((primitive, step),) = path
    if primitive is not GETITEM:
        raise LookupError
    result = x.copy()
    result[index_of(step["index"])] = value
    return result


def index_of(index: Sequence[Any]) -> tuple[Any, ...]:
    """An index with Python's own slices."""
    return tuple(
        slice(item.start, item.stop, item.step) if isinstance(item, SliceOf) else item
        for item in index
    )


def _bind(operation: Operation, operands: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call: statics equal to their default are left out, those after them
    (and keyword-only ones) are given by keyword, the others by position."""
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    left_out = False
    signature = operation.primitive.signature
    parameters: dict[str, Any] = dict(signature.parameters) if signature else {}
    for name, attribute in operation.attributes.items():
        parameter = parameters.get(name)
        argument = map_operands(attribute, lambda operand: operands[operand.index])
        kind = parameter.kind if parameter else Parameter.POSITIONAL_OR_KEYWORD
        if kind is Parameter.VAR_POSITIONAL:
            positional += argument
        elif kind is Parameter.VAR_KEYWORD:
            keywords |= argument
        elif parameter and not _has_operands(attribute) and _is_default(parameter, attribute):
            left_out = True
        elif left_out or kind is Parameter.KEYWORD_ONLY:
            keywords[name] = argument
        else:
            positional.append(argument)
    return positional, keywords


def _is_default(parameter: Parameter, value: Any) -> bool:
    default = parameter.default
    return default is not Parameter.empty and type(default) is type(value) and default == value


def _has_operands(attribute: Any) -> bool:
    found: list[Operand] = []
    map_operands(attribute, found.append)
    return bool(found)
