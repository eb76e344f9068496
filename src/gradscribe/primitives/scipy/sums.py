"""Sums of exponentials: `logsumexp`, `softmax` and `log_softmax` of `scipy.special`."""

from __future__ import annotations

import numpy as np
import scipy.special as sp

from gradscribe.ir.types import Array, Tuple, is_complex
from gradscribe.primitives.reductions import reduction_type
from gradscribe.primitives.registry import HOLOMORPHIC, PRIMITIVES, adjoint
from gradscribe.primitives.typing import (
    TypeRuleError,
    dims_of,
    elementwise_type,
    like_first,
    number_type,
    result_of,
)
from gradscribe.primitives.ufunc_methods import powers_of_sum


def _each_type(facts, callee, x, axis=None):
    x = number_type(x)
    result = result_of(callee, x, axis=axis)
    return like_first(result, dims_of(x), x) if isinstance(result, Array) else result


def _softmax_tangent(out, x, axis=None, *, d_x):
    return out * (d_x - np.sum(out * d_x, axis=axis, keepdims=True))


@adjoint(sp.softmax, type=_each_type, tangent=_softmax_tangent)
def softmax(out, x, axis=None, *, d_out):
    return _softmax_tangent(out, x, axis, d_x=d_out)


def _log_softmax_tangent(out, x, axis=None, *, d_x):
    return d_x - np.sum(np.exp(out) * d_x, axis=axis, keepdims=True)


@adjoint(sp.log_softmax, type=_each_type, tangent=_log_softmax_tangent)
def log_softmax(out, x, axis=None, *, d_out):
    return d_out - np.exp(out) * np.sum(d_out, axis=axis, keepdims=True)


# -- logsumexp -----------------------------------------------------------------------------------


def _sum_type(facts, callee, a, axis=None, b=None, keepdims=False, return_sign=False):
    whole = a if b is None else elementwise_type(facts, np.multiply, a=a, b=b)
    each = reduction_type(facts, np.mean, whole, axis, keepdims)
    if return_sign and is_complex(each):
        raise TypeRuleError(
            "of complex numbers `return_sign` has no rule",
            "leave it out: the imaginary part of the result is the angle of the sum",
        )
    return Tuple((each, each)) if return_sign else each


def _shares(out, a, axis, b, keepdims, return_sign):
    """The exponentials, divided by the sum of all, each times its weight."""
    value = out[0] if return_sign else out
    value = _along(np.where(value == -np.inf, 0, value), axis, keepdims)
    powers = powers_of_sum(np.exp, value, a)
    weighted = powers if b is None else powers * b
    total = _along(np.sum(weighted, axis=axis, keepdims=keepdims), axis, keepdims)
    return powers / np.where((powers == 0) & (total == 0), 1, total)


def _along(reduced, axis, keepdims):
    return reduced if keepdims or axis is None else np.expand_dims(reduced, axis)


def _logsumexp_tangent(
    out, a, axis=None, b=None, keepdims=False, return_sign=False, *, d_a, d_b=None
):
    shares = _shares(out, a, axis, b, keepdims, return_sign)
    change = 0.0
    if d_a is not None:
        change = change + shares * d_a * (1 if b is None else b)
    if d_b is not None:
        change = change + shares * d_b
    d_value = np.sum(change, axis=axis, keepdims=keepdims)
    return (d_value, np.zeros_like(d_value)) if return_sign else d_value


@adjoint(
    sp.logsumexp,
    type=_sum_type,
    tangent=_logsumexp_tangent,
    static=("keepdims", "return_sign"),
)
def logsumexp(out, a, axis=None, b=None, keepdims=False, return_sign=False, *, d_out):
    d_value = d_out[0] if return_sign else d_out
    d_b = _along(d_value, axis, keepdims) * _shares(out, a, axis, b, keepdims, return_sign)
    return (d_b, None, None) if b is None else (d_b * b, None, d_b)


for _function in (sp.softmax, sp.log_softmax, sp.logsumexp):
    HOLOMORPHIC.add(PRIMITIVES[_function])
