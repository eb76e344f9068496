"""What operations cost at run time, as far as the choice between keeping and recomputing asks."""

from __future__ import annotations

import operator

from gradscribe.ir.core import Operation
from gradscribe.ir.types import Scalar

_ARITHMETIC = frozenset({operator.add, operator.sub, operator.mul, operator.truediv, operator.neg})


def is_cheap(operation: Operation) -> bool:
    """Whether computing the operation again costs no more than reading a record: what its
    primitive says is cheap (views, lengths, comparisons), and arithmetic on single numbers."""
    if operation.primitive.cheap:
        return True
    return operation.callee in _ARITHMETIC and isinstance(operation.result.type, Scalar)
