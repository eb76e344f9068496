"""How many bits Python's integers may have, which native code has 64 of.

An integer that a loop carries may have any number of them after enough iterations. It is taken for
a counter, which grows by what is added in an iteration; a product with it, or a sum of two such,
may leave the 64 bits. NumPy's integers wrap around, natively as well.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable

import numpy as np

from gradscribe.ir.core import IF, LOOP, LoopShape, Operation, Value
from gradscribe.ir.types import is_integer

OF_ARGUMENTS = 31
"""The bits of an integer among the arguments; those of others are for the NumPy tier."""

_OF_LENGTHS = 40
_OF_COUNTERS = 62

_SUMS = (operator.add, operator.sub, operator.iadd, operator.isub)
_PRODUCTS = (operator.mul, operator.imul)
_SAME = (operator.neg, operator.pos, abs, min, max, operator.and_, operator.or_, operator.xor)
_DIVISIONS = (operator.floordiv, operator.ifloordiv, operator.mod, operator.imod)


class Bits:
    """The bits of each integer of a function, as far as it has been read. given: the arguments."""

    def __init__(self, given: Iterable[Value]) -> None:
        self._of: dict[Value, int] = {v: OF_ARGUMENTS for v in given if is_integer(v.type)}

    def of(self, value: Value) -> int:
        """The bits of an integer: those of a known one, of a length or index, or of a counter."""
        if value in self._of:
            return self._of[value]
        known = getattr(value.type, "value", None)
        if known is not None and known.known is not None:
            return int(known.known).bit_length()
        is_length = known is not None and all(
            symbol.minimum is not None for symbol, _ in known.terms
        )
        return _OF_LENGTHS if is_length else _OF_COUNTERS

    def enter_loop(self, operation: Operation, shape: LoopShape) -> None:
        """Note the bits of what counts the iterations: no more than those of the ends."""
        items = operation.regions[0].parameters
        for kind, part, item in zip(
            shape.iterables, shape.iterable_slices(), items[: len(shape.iterables)], strict=True
        ):
            if kind == "range":
                self._of[item] = max(map(self.of, operation.operands[part]))

    def fit(self, operation: Operation) -> bool:
        """Note the bits of an operation's result; False where they may be more than 64."""
        if operation.primitive in (IF, LOOP):
            self._note_joined(operation)
            return True
        for result in operation.results:
            if is_integer(result.type) and result.type.weak:
                bits = self._of_result(operation)
                if bits > _OF_COUNTERS:
                    return False
                self._of[result] = bits
        return True

    def _note_joined(self, operation: Operation) -> None:
        if operation.primitive is IF:
            for number, result in enumerate(operation.results):
                if is_integer(result.type):
                    sides = [region.yields[number] for region in operation.regions]
                    self._of[result] = max(map(self.of, sides))

    def _of_result(self, operation: Operation) -> int:
        callee = operation.callee
        if callee is sum:
            return 1 + _OF_COUNTERS
        if callee is None or operation.primitive.signature is None:
            return self.of(operation.results[0])
        given = [self.of(operand) for operand in operation.operands if is_integer(operand.type)]
        if not given or not _is_one_of(callee, (*_SUMS, *_PRODUCTS, *_SAME, *_DIVISIONS)):
            return self.of(operation.results[0]) if not given else 1 + _OF_COUNTERS
        if _is_one_of(callee, _PRODUCTS):
            return sum(given)
        if _is_one_of(callee, _SUMS):
            least, most = min(given), max(given)
            if most < _OF_COUNTERS:
                return most + 1
            return _OF_COUNTERS if least <= _OF_LENGTHS and len(given) > 1 else most + 1
        return max(given)


def _is_one_of(callee: object, functions: tuple[object, ...]) -> bool:
    return not isinstance(callee, np.ufunc) and any(callee is function for function in functions)
