"""Constants: integer and boolean arithmetic as Python does it, lengths that are known, and numbers
that are converted to what they are.

Floating-point arithmetic of the user's is left to run time; that of derived operations is
folded.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gradscribe.ir.core import Operand, Operation, Value
from gradscribe.ir.types import Scalar
from gradscribe.primitives.control import LEN
from gradscribe.primitives.indexing import LENGTH, SIZE
from gradscribe.transforms.passes.simplify.table import derived, exact

if TYPE_CHECKING:
    from gradscribe.transforms.passes.simplify.rewriter import Rewriter

_FOLDED: frozenset[Callable[..., Any]] = frozenset(
    {
        operator.add,
        operator.sub,
        operator.mul,
        operator.floordiv,
        operator.mod,
        operator.neg,
        operator.pos,
        operator.lt,
        operator.le,
        operator.gt,
        operator.ge,
        operator.eq,
        operator.ne,
        operator.not_,
    }
)


_NUMPY_FLOATS = (np.float32, np.float64)


@exact(*_FOLDED)
def fold_integers(rewriter: Rewriter, operation: Operation) -> Value | None:
    """2 * 3 is 6. Python's integers have no overflow; what would raise is left to raise."""
    return _fold(rewriter, operation, _FOLDED, (bool, int))


@derived(operator.add, operator.sub, operator.mul, operator.neg)
def fold_floats(rewriter: Rewriter, operation: Operation) -> Value | None:
    """2 * 0.5 is 1.0. Quotients stay, for x * (1 / 3) is to become x / 3."""
    return _fold(rewriter, operation, _FOLDED, (bool, int, float, *_NUMPY_FLOATS))


@derived(operator.add, operator.sub, operator.mul, operator.truediv)
def weaken(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Of np.float64(2.0) * x make 2.0 * x, where x has that type anyway."""
    for position, value in enumerate(operation.operands):
        constant = rewriter.constant_of(value)
        if type(constant) in _NUMPY_FLOATS:
            others = list(operation.operands)
            others[position] = rewriter.constant(float(constant), operation)
            result = rewriter.again(operation, *others)
            if result is not None:
                return result
    return None


def _fold(
    rewriter: Rewriter,
    operation: Operation,
    callees: frozenset[Callable[..., Any]],
    classes: tuple[type, ...],
) -> Value | None:
    if operation.callee not in callees:
        return None
    values: list[Any] = []
    for operand in operation.operands:
        value = rewriter.constant_of(operand)
        if type(value) not in classes:
            return None
        values.append(value)
    if not values:
        return None
    try:
        return rewriter.constant(operation.callee(*values), operation)
    except ArithmeticError:
        return None


@exact(float, int, bool, complex)
def convert_once(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Of a number that is converted to what it was converted to before, make that."""
    number, *parts = operation.attributes.values()
    if not isinstance(number, Operand) or any(part != 0 for part in parts):
        return None
    x = operation.operands[number.index]
    made = rewriter.definitions.get(x)
    if made is None or (made.primitive, made.callee) != (operation.primitive, operation.callee):
        return None
    return x if rewriter.same_type(x, operation.result) else None


@exact(LENGTH, LEN, SIZE)
def known_length(rewriter: Rewriter, operation: Operation) -> Value | None:
    type_ = operation.result.type
    if isinstance(type_, Scalar) and type_.value is not None and type_.value.known is not None:
        return rewriter.constant(type_.value.known, operation)
    return None
