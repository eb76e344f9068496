"""Powers of Python's numbers, whose kind depends on values: `(-2.0) ** 0.5` is complex, and
`2 ** -1` is a float. Where neither types nor constants nor the operations that made base and
exponent tell the kind, a check says so at run time (`primitives/real_numbers.py`).
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue
from gradscribe.ir.core import Operand, Operation, Value
from gradscribe.ir.types import Scalar
from gradscribe.primitives.control import CONSTANT
from gradscribe.primitives.real_numbers import check_integer, check_real
from gradscribe.primitives.registry import PRIMITIVES

POWERS = frozenset({operator.pow, builtins.pow})

_NONNEGATIVE = frozenset(
    {abs, len, np.abs, np.exp, np.sqrt, math.fabs, math.exp, math.sqrt, math.hypot, math.dist}
    | {math.cosh, math.acos}
)
"""Functions whose results are not negative."""

_KEEPING = frozenset({operator.add, operator.mul, operator.truediv, operator.floordiv, max, min})
"""Functions that are not negative of numbers that are not."""

_STEPS = 6
"""From how many operations, one after the other, a number is told not to be negative."""


def check_kind(lowering: Lowering, tree: Mapping[str, Any], result: Any) -> None:
    """Emit a check that a power is of the kind that its type says, where it may not be."""
    base, exponent = (_constant(lowering, item) for item in tree.values())
    kinds = _kind(base) + _kind(exponent)
    if len(kinds) < 2 or "c" in kinds or lowering.frame.is_of_package:
        return
    if kinds[1] in "bi":
        if kinds[0] in "bi" and not _is_nonnegative(lowering, exponent):
            lowering.plain(PRIMITIVES[check_integer], {"x": result})
    elif not (_is_whole(exponent) or _is_nonnegative(lowering, base)):
        lowering.plain(PRIMITIVES[check_real], {"x": result})


def _is_whole(exponent: Any) -> bool:
    return isinstance(exponent, float) and exponent.is_integer()


def _kind(item: Any) -> str:
    """The kind of one of Python's numbers, as NumPy names it; nothing of whatever else."""
    if type(item) in (bool, int, float, complex):
        return np.dtype(type(item)).kind
    type_ = item.type if isinstance(item, Value) else None
    return np.dtype(type_.dtype).kind if isinstance(type_, Scalar) and type_.weak else ""


def _is_nonnegative(lowering: Lowering, item: FrontendValue, steps: int = _STEPS) -> bool:
    """Whether a number is known not to be negative."""
    if not isinstance(item, Value):
        return isinstance(item, (int, float)) and item >= 0
    value = item.type.value if isinstance(item.type, Scalar) else None
    if value is not None and lowering.builder.facts.is_nonnegative(value):
        return True
    made = lowering.builder.definition(item)
    if made is None or not steps:
        return False
    if made.callee in _NONNEGATIVE:
        return True
    given = [_given(lowering, made, part) for part in made.attributes.values()]
    if made.callee in POWERS:
        is_even = isinstance(given[1], int) and given[1] % 2 == 0
        return is_even or _is_nonnegative(lowering, given[0], steps - 1)
    if made.callee is operator.mul and given[0] is given[1]:
        return True
    return made.callee in _KEEPING and all(
        _is_nonnegative(lowering, part, steps - 1) for part in given
    )


def _given(lowering: Lowering, made: Operation, part: Any) -> FrontendValue:
    """What an operation is given: a value, or a number that is known."""
    given = made.operands[part.index] if isinstance(part, Operand) else part
    return _constant(lowering, given)


def _constant(lowering: Lowering, item: FrontendValue) -> FrontendValue:
    """The number that a value is, where the program says so; else the value."""
    made = lowering.builder.definition(item) if isinstance(item, Value) else None
    return made.attributes["value"] if made and made.primitive is CONSTANT else item
