"""Elementwise operations whose results have no derivative: comparisons, logic, integers."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import BOOL, Array, Opaque, Type
from gradscribe.primitives.registry import constant
from gradscribe.primitives.typing import (
    conversion_type,
    elementwise_type,
)


def _unary(x: Any) -> None:
    """Signature of an operation of one operand."""


def _binary(x: Any, y: Any) -> None:
    """Signature of an operation of two operands."""


UNARY: tuple[tuple[Any, ...], ...] = (
    (np.isnan, math.isnan),
    (np.isinf, math.isinf),
    (np.isfinite, math.isfinite),
    (np.signbit,),
    (np.isreal,),
    (np.iscomplex,),
    (np.isposinf,),
    (np.isneginf,),
    (np.logical_not,),
    (operator.not_,),
    (operator.invert, operator.inv, np.invert, np.bitwise_not),
    (math.floor,),
    (math.ceil,),
    (math.trunc,),
    (math.factorial,),
    (math.isqrt,),
)
BINARY: tuple[tuple[Any, ...], ...] = (
    (operator.lt, np.less),
    (operator.le, np.less_equal),
    (operator.gt, np.greater),
    (operator.ge, np.greater_equal),
    (operator.eq, np.equal),
    (operator.ne, np.not_equal),
    (operator.and_, np.bitwise_and),
    (operator.or_, np.bitwise_or),
    (operator.xor, np.bitwise_xor),
    (operator.lshift, np.left_shift),
    (operator.rshift, np.right_shift),
    (np.logical_and,),
    (np.logical_or,),
    (np.logical_xor,),
    (math.gcd, np.gcd),
    (math.comb,),
)

for _callables in UNARY:
    constant(*_callables, type=elementwise_type, signature=_unary)
for _callables in BINARY:
    constant(*_callables, type=elementwise_type, signature=_binary)


def _truth_type(facts: Facts, callee: Any, x: Any) -> Type:
    """`bool(x)`: also of an array, which must have one element when it is asked, and of objects."""
    is_other = isinstance(x, (Array, Opaque))
    return BOOL if is_other else conversion_type(facts, callee, x)


constant(int, type=conversion_type, name="int", signature=_unary)
constant(bool, type=_truth_type, name="bool", signature=_unary)

for _kind in (np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32, np.uint64):
    constant(_kind, type=elementwise_type, signature=_unary)


def _close(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> None:
    """Signature of np.isclose and np.allclose."""


def _equal(a1: Any, a2: Any, equal_nan: bool = False) -> None:
    """Signature of np.array_equal."""


def _close_numbers(a: Any, b: Any, *, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> None:
    """Signature of math.isclose."""


def _close_type(facts: Facts, callee: Any, a: Any, b: Any, **options: Any) -> Type:
    return elementwise_type(facts, callee, x=a, y=b)


def _one_bool(facts: Facts, callee: Any, **operands: Any) -> Type:
    return BOOL


constant(np.isclose, type=_close_type, signature=_close)
constant(np.allclose, type=_one_bool, signature=_close, cheap=False)
constant(np.array_equal, type=_one_bool, signature=_equal, cheap=False)
constant(math.isclose, type=_one_bool, signature=_close_numbers)
