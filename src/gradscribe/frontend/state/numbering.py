"""Value numbering: which IR values are computed alike, so that they are equal.

It is asked while a function is lowered, where equal masks have to be told from others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradscribe.ir.core import CALL, Operation, Value

_DEPTH = 100
"""How far back computations are compared."""


class Numbering:
    """definition: the operation that makes a value (None for a parameter)."""

    def __init__(self, definition: Callable[[Value], Operation | None]) -> None:
        self._definition = definition
        self._of_value: dict[Value, int] = {}
        self._of_computation: dict[Any, int] = {}

    def of(self, value: Value, depth: int = _DEPTH) -> int:
        """The number of a value: the same for values that are computed alike."""
        number = self._of_value.get(value)
        if number is None:
            number = self._number(self._computation(value, depth))
            self._of_value[value] = number
        return number

    def _number(self, computation: Any) -> int:
        try:
            return self._of_computation.setdefault(computation, len(self._of_computation))
        except TypeError:  # an attribute that cannot be hashed
            return self._of_computation.setdefault(object(), len(self._of_computation))

    def _computation(self, value: Value, depth: int) -> Any:
        made = self._definition(value)
        if made is None or not depth or made.regions or made.primitive.in_order:
            return value
        if made.primitive is CALL or len(made.results) != 1:
            return value
        operands = tuple([self.of(operand, depth - 1) for operand in made.operands])
        return made.primitive, made.callee, operands, _frozen(made.attributes)


def _frozen(tree: Any) -> Any:
    """A hashable form of attributes, in which numbers keep their types."""
    if isinstance(tree, dict):
        return tuple((key, _frozen(item)) for key, item in tree.items())
    if isinstance(tree, (tuple, list)):
        return type(tree), tuple(map(_frozen, tree))
    if isinstance(tree, float):
        return float, repr(tree)
    return type(tree), tree
