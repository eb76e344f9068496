"""Elementwise choices (maximum, where, clip) and conversions of numbers.

Where the derivative does not exist the rules give what PyTorch gives: equal operands of
`maximum` get one half each, `clip` passes the derivative at its bounds. Python's own `max` and
`min` return one of two objects, and it gets all.
"""

from __future__ import annotations

import builtins

import numpy as np

from gradscribe.ir.types import join
from gradscribe.primitives.registry import PRIMITIVES, adjoint, elementwise, variant
from gradscribe.primitives.typing import (
    TypeRuleError,
    conversion_type,
    elementwise_type,
    integer_value,
    number_type,
    refuse_arrays,
)

# -- the larger and the smaller --------------------------------------------------------------


@elementwise(np.maximum, masks=True)
def maximum(out, x, y):
    return _share(x > y, x == y), _share(y > x, x == y)


@elementwise(np.minimum, masks=True)
def minimum(out, x, y):
    return _share(x < y, x == y), _share(y < x, x == y)


@elementwise(np.fmax, masks=True)
def fmax(out, x, y):
    return _share(x == out, x == y), _share(y == out, x == y)


@elementwise(np.fmin, masks=True)
def fmin(out, x, y):
    return _share(x == out, x == y), _share(y == out, x == y)


def _share(wins, ties):
    """What part of the derivative an operand gets."""
    return np.where(ties, 0.5, wins)


def _one_of_type(facts, callee, x, y):
    """One of two numbers as it is: an int where that one is an int."""
    operands = number_type(x), number_type(y)
    refuse_arrays(operands, f"for arrays use `np.{callee.__name__}imum`")
    return integer_value(facts, callee, operands, join(*operands))


@elementwise(builtins.max, type=_one_of_type)
def larger(out, x, y):
    return not y > x, y > x


@elementwise(builtins.min, type=_one_of_type)
def smaller(out, x, y):
    return not y < x, y < x


# -- bounds and masks ------------------------------------------------------------------------


def _clip_type(facts, callee, x, min, max):
    if min is None and max is None:
        return elementwise_type(facts, np.positive, x=x)
    if min is None:
        return elementwise_type(facts, _clip_above, x=x, max=max)
    if max is None:
        return elementwise_type(facts, _clip_below, x=x, min=min)
    return elementwise_type(facts, np.clip, x=x, min=min, max=max)


def _clip_above(x, max):
    return np.clip(x, None, max)


def _clip_below(x, min):
    return np.clip(x, min, None)


@elementwise(np.clip, methods=("clip",), type=_clip_type, masks=True)
def clip(out, x, min, max):
    if min is None and max is None:
        return 1, None, None
    if min is None:
        return x <= max, None, x > max
    if max is None:
        return x >= min, x < min, None
    return (x >= min) & (x <= max), (x < min) & (min < max), (x > max) | (min > max)


@variant(np.clip, "clip")
def clip_at_one_side(a, min=None, max=None):
    return np.clip(a, min, max)


def _where_tangent(out, condition, x, y, *, d_x, d_y):
    return np.where(condition, d_x, d_y)


@adjoint(np.where, type=elementwise_type, tangent=_where_tangent, masks=True)
def where(out, condition, x, y, *, d_out):
    return None, np.where(condition, d_out, 0), np.where(condition, 0, d_out)


def _nan_to_num_type(facts, callee, x, copy=True, nan=0.0, posinf=None, neginf=None):
    if not copy:
        advice = "store the result: x[...] = np.nan_to_num(x)"
        raise TypeRuleError("`copy=False` changes the array that it is given", advice)
    return elementwise_type(facts, callee, x=x)


def _of_finite(x, d_x):
    """What is handed on of a derivative: of complex numbers, each part for itself."""
    if np.asarray(x).dtype.kind != "c":
        return np.where(np.isfinite(x), d_x, 0)
    by_real = np.where(np.isfinite(np.real(x)), np.real(d_x), 0)
    return by_real + 1j * np.where(np.isfinite(np.imag(x)), np.imag(d_x), 0)


def _nan_to_num_tangent(out, x, copy=True, nan=0.0, posinf=None, neginf=None, *, d_x):
    return _of_finite(x, d_x)


@adjoint(
    np.nan_to_num,
    type=_nan_to_num_type,
    tangent=_nan_to_num_tangent,
    masks=True,
    static=("copy", "nan", "posinf", "neginf"),
)
def nan_to_num(out, x, copy=True, nan=0.0, posinf=None, neginf=None, *, d_out):
    return _of_finite(x, d_out)


CHOICES = frozenset(
    PRIMITIVES[function]
    for function in (np.maximum, np.minimum, np.fmax, np.fmin, np.clip, np.where)
)
"""What hands on one of its operands: the others get no derivative, not even of an infinite one."""

# -- conversions of numbers ------------------------------------------------------------------


@elementwise(float, methods=("item", "__float__"), type=conversion_type, cheap=True)
def to_number(out, x):
    return 1


@variant("item")
def item_at(a, *args):
    """The element at a place in the flat array, or at an index of all axes."""
    place = args[0] if len(args) == 1 else args
    found = a[place] if isinstance(place, tuple) else np.ravel(a)[place]
    return found.item()


@elementwise(
    *(np.float64, np.float32, np.float16, np.longdouble),
    *(np.complex64, np.complex128, np.clongdouble),
)
def to_float(out, x):
    return 1
