"""Functions of the module `math` that NumPy does not have.

Formulas: Abramowitz & Stegun, 6.1, 6.3.5 and 6.3.18.
"""

from __future__ import annotations

import math

import numpy as np

from gradscribe.ir.types import FLOAT, INT, Sequence, Tuple
from gradscribe.primitives.joining import to_each
from gradscribe.primitives.registry import LINEAR, adjoint, available, constant, elementwise
from gradscribe.primitives.typing import (
    dims_of,
    elementwise_type,
    length_of,
    number_type,
    refuse_arrays,
    same_length,
)

# -- of one number and of two ------------------------------------------------------------------


@elementwise(math.gamma)
def gamma(out, x):
    return out * _digamma(x)


@elementwise(math.lgamma)
def lgamma(out, x):
    return _digamma(x)


def _digamma(x):
    """By its asymptotic series, after steps to where that is exact."""
    steps = 0.0
    while x < 8:
        steps = steps + 1 / x
        x = x + 1
    w = 1 / (x * x)
    series = w * (1 / 12 - w * (1 / 120 - w * (1 / 252 - w * (1 / 240 - w / 132))))
    return math.log(x) - 0.5 / x - series - steps


@elementwise(math.remainder)
def remainder_to_nearest(out, x, y):
    return 1, -np.rint((x - out) / y)


def _ldexp_tangent(out, x, i, *, d_x):
    return np.ldexp(d_x, i)


@adjoint(math.ldexp, np.ldexp, type=elementwise_type, tangent=_ldexp_tangent)
def ldexp(out, x, i, *, d_out):
    return np.ldexp(d_out, i), None


def _parts_type(facts, callee, x):
    refuse_arrays((number_type(x),), f"for arrays use `np.{callee.__name__}`")
    return Tuple((FLOAT, INT if callee is math.frexp else FLOAT))


def _call_of_parts(x, /):
    """The parameters of both functions; `inspect` would parse their text."""


constant(math.frexp, type=_parts_type, signature=_call_of_parts)
constant(math.modf, type=_parts_type, signature=_call_of_parts)

# -- of several numbers ------------------------------------------------------------------------


def _count(items):
    """The number of items of a tuple, list or array with one axis."""
    if isinstance(items, (tuple, list, Tuple)):
        return length_of(len(getattr(items, "items", items)))
    if isinstance(items, Sequence):
        return items.length
    (length,) = dims_of(items) or (None,)
    return length


def _fsum_type(facts, callee, items):
    refuse_arrays(items if isinstance(items, (list, tuple)) else (), "use `np.sum`")
    return FLOAT


@adjoint(math.fsum, type=_fsum_type, tangent=LINEAR)
def fsum(out, items, *, d_out):
    return (to_each(d_out, items),)


def _dist_type(facts, callee, p, q):
    first, second = _count(p), _count(q)
    if first is not None and second is not None:
        same_length(facts, first, second, "two points have equally many coordinates")
    return FLOAT


def _dist_tangent(out, p, q, *, d_p, d_q):
    step = (0 if d_p is None else np.array(d_p)) - (0 if d_q is None else np.array(d_q))
    return np.dot(np.array(p) - np.array(q), step) / (out + (out == 0))


@adjoint(math.dist, type=_dist_type, tangent=_dist_tangent)
def dist(out, p, q, *, d_out):
    direction = (np.array(p) - np.array(q)) / (out + (out == 0))
    return in_form(d_out * direction, p), in_form(-d_out * direction, q)


def _sumprod_tangent(out, p, q, *, d_p, d_q):
    first = 0 if d_p is None else np.dot(np.array(d_p), np.array(q))
    return first + (0 if d_q is None else np.dot(np.array(p), np.array(d_q)))


@adjoint(*available(math, "sumprod"), type=_dist_type, tangent=_sumprod_tangent)
def sumprod(out, p, q, *, d_out):
    return in_form(d_out * np.array(q), p), in_form(d_out * np.array(p), q)


def in_form(d_x, x):
    """A vector in the form of x: a list, a tuple or an array."""
    if isinstance(x, list):
        return d_x.tolist()
    if isinstance(x, tuple):
        items = ()
        for i, _ in enumerate(x):
            items = (*items, d_x[i])
        return items
    return d_x
