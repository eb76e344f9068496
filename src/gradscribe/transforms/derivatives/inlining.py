"""What inlines derivative rules, as the transforms are handed it.

Rules are Python functions, and who reads Python (the frontend) stands beside the transforms, not
below them: who calls the transforms knows both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Location, Operation, Value
from gradscribe.ir.types import Array, Scalar
from gradscribe.transforms.derivatives.cotangents import converted


class Inline(Protocol):
    """Appends the operations of `rule(**arguments)`, each with this location, and returns what the
    rule does: IR values, static numbers (or None), and tuples of these, which its arguments are
    too."""

    def __call__(
        self,
        builder: Builder,
        rule: Callable[..., Any],
        arguments: Mapping[str, Any],
        location: Location | None = None,
    ) -> Any: ...


def inline_exactly(
    inline: Inline,
    builder: Builder,
    rule: Callable[..., Any],
    arguments: Mapping[str, Any],
    location: Location | None,
) -> Any:
    """Inline a rule, to which small and unsigned integers are integers: in their own types, in
    which `n - 1` or `-n` may not be there, it does not compute."""
    arguments = map_values(_number, arguments)
    with builder.block() as made:
        given = inline(builder, rule, arguments, location)
    if any(map(_may_wrap, made)):
        with builder.block() as made:
            exact = map_values(lambda item: _converted(builder, item), arguments)
            given = inline(builder, rule, exact, location)
    for operation in made:
        builder.append(operation)
    return given


def map_values(function: Callable[[Any], Any], item: Any) -> Any:
    """What a function makes of each value and number in the arguments of a rule."""
    if isinstance(item, Mapping):
        return {key: map_values(function, below) for key, below in item.items()}
    if type(item) in (tuple, list):
        return type(item)([map_values(function, below) for below in item])
    return function(item)


def _number(item: Any) -> Any:
    return item.item() if isinstance(item, np.integer) else item


def _may_wrap(operation: Operation) -> bool:
    """Whether an operation computes in a type of small or unsigned integers."""
    results = (result.type for result in operation.results)
    is_small = any(isinstance(t, (Array, Scalar)) and t.dtype in _SMALL for t in results)
    return is_small and not operation.primitive.view


def _converted(builder: Builder, item: Any) -> Any:
    is_number = isinstance(item, Value) and isinstance(item.type, (Array, Scalar))
    if is_number and item.type.dtype in _SMALL:
        return converted(builder, item, np.dtype(np.int64))
    return item


_SMALL = frozenset({"int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64"})
