"""What operations cost at run time, as far as the choice between keeping and recomputing asks."""

from __future__ import annotations

import math
import operator

from gradscribe.ir.affine import Affine
from gradscribe.ir.core import CALL, Operation
from gradscribe.ir.types import Array, Scalar, is_integer
from gradscribe.primitives.control import CONSTANT, UNDEF
from gradscribe.primitives.registry import PRIMITIVES

MOST_EFFORT = 4
"""How many arithmetic operations computing a value again may take, rather than keep it."""

_ARITHMETIC = frozenset({operator.add, operator.sub, operator.mul, operator.truediv, operator.neg})


def is_cheap(operation: Operation) -> bool:
    """Whether computing the operation again costs no more than reading a record: what its
    primitive says is cheap (views, lengths, comparisons), and arithmetic on single numbers."""
    if operation.primitive.cheap:
        return True
    is_number = isinstance(operation.result.type, Scalar)
    return is_number and (operation.callee in _ARITHMETIC or operation.callee is operator.pow)


def effort_of(operation: Operation) -> float:
    """How much it takes to compute an operation again, in arithmetic operations (of numbers or
    arrays); infinite if it should rather be kept. Whole numbers, indices mostly, cost nothing."""
    if operation.primitive in (CONSTANT, UNDEF):
        return 0
    if operation.regions or operation.primitive is CALL:
        return math.inf
    if is_cheap(operation):
        is_free = operation.primitive.cheap or is_integer(operation.result.type)
        return 0 if is_free else 1
    return 1 if _is_arithmetic(operation) else math.inf


def _is_arithmetic(operation: Operation) -> bool:
    """Whether an operation adds, subtracts, multiplies, divides or squares arrays."""
    if not isinstance(operation.result.type, Array):
        return False
    if operation.primitive is PRIMITIVES[operator.pow]:
        exponent = operation.operands[-1].type
        return isinstance(exponent, Scalar) and exponent.value == Affine.of(2)
    return any(operation.primitive is PRIMITIVES[function] for function in _ARITHMETIC)
