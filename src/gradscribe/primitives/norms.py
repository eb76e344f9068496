"""Norms of vectors and matrices, of every order.

At a vector of zeros, where a norm has no derivative, the gradient is 0, as in PyTorch. Where
several elements are largest (or smallest), they share the derivative evenly.
"""

from __future__ import annotations

import numpy as np

from gradscribe.ir.types import Array
from gradscribe.primitives.equal_values import shared
from gradscribe.primitives.reductions import reduction_type
from gradscribe.primitives.registry import adjoint
from gradscribe.primitives.typing import TypeRuleError, normalize_axes, number_type

_LARGEST, _SMALLEST = np.inf, -np.inf


def _norm_type(facts, callee, x, ord=None, axis=None, keepdims=False):
    x = number_type(x)
    rank = x.rank if isinstance(x, Array) else 0
    if isinstance(ord, str):
        of_matrices = len(normalize_axes(axis, rank)) == 2
        if ord not in ("fro", "nuc") or not of_matrices:
            raise TypeRuleError(f"{ord!r} is the order of no norm here", "give a number, or 'fro'")
    if keepdims and axis is None:
        axis = tuple(range(rank))
    if len(normalize_axes(axis, rank)) > 2 and (ord is not None or axis is not None):
        raise TypeRuleError(
            "a norm of a given order is of vectors or matrices", "pass one or two axes: `axis=…`"
        )
    return reduction_type(facts, np.linalg.norm if ord is None else _euclidean, x, axis, keepdims)


def _euclidean(x, axis=None, keepdims=False):
    """What a norm is, as far as its type goes."""
    return np.sqrt(np.sum(np.abs(x) ** 2, axis=axis, keepdims=keepdims))


def _norm_tangent(out, x, ord=None, axis=None, keepdims=False, *, d_x):
    slope = np.conjugate(_slope(out, x, ord, axis, keepdims))
    return np.sum(np.real(slope * d_x), axis=axis, keepdims=keepdims)


@adjoint(np.linalg.norm, type=_norm_type, tangent=_norm_tangent, static=("ord", "axis", "keepdims"))
def norm(out, x, ord=None, axis=None, keepdims=False, *, d_out):
    if axis is not None and not keepdims:
        return np.expand_dims(d_out, axis) * _slope(out, x, ord, axis, keepdims)
    return d_out * _slope(out, x, ord, axis, keepdims)


def _slope(out, x, ord, axis, keepdims):
    """The partial derivatives of the norm by the elements of x."""
    if axis is not None and not keepdims:
        out = np.expand_dims(out, axis)
    axes = tuple(range(np.ndim(x))) if axis is None else axis
    if isinstance(axes, int):
        axes = (axes,)
    if ord is None or ord == "fro" or (ord == 2 and len(axes) < 2):
        return x / _nonzero(out)
    if len(axes) == 1:
        return _slope_of_vectors(out, x, ord, axes[0])
    return _slope_of_matrices(out, x, ord, axes[0], axes[1])


def _nonzero(out):
    """A divisor: 1 where the norm is 0, so that the gradient is 0 there."""
    if np.ndim(out) == 0:
        return out if out else 1.0
    return np.where(out == 0, 1, out)


def _direction(x):
    """The sign; of a complex number, the number of length one in its direction."""
    if x.dtype.kind != "c":
        return np.sign(x)
    return x / _nonzero(np.abs(x))


def _slope_of_vectors(out, x, ord, axis):
    if ord in (_LARGEST, _SMALLEST):
        return _shared(_direction(x), np.abs(x) == out, axis)
    if ord == 0:
        return np.zeros_like(x)
    if ord == 1:
        return _direction(x)
    if ord < 1:  # infinite at zeros: 0 there, as in PyTorch
        sizes = _nonzero(np.abs(x)) / _nonzero(out)
        return np.where(x == 0, 0, _direction(x) * sizes ** (ord - 1))
    return _direction(x) * (np.abs(x) / _nonzero(out)) ** (ord - 1)


def _slope_of_matrices(out, x, ord, rows, columns):
    if ord in (1, -1):
        sums = np.sum(np.abs(x), axis=rows, keepdims=True)
        return _shared(_direction(x), sums == out, columns)
    if ord in (_LARGEST, _SMALLEST):
        sums = np.sum(np.abs(x), axis=columns, keepdims=True)
        return _shared(_direction(x), sums == out, rows)
    matrices = np.moveaxis(x, (rows, columns), (-2, -1))
    u, s, vh = np.linalg.svd(matrices, full_matrices=False)
    weights = np.ones_like(s) if ord == "nuc" else np.zeros_like(s)
    if ord != "nuc":
        weights[..., 0 if ord == 2 else -1] = 1
    slope = (u * shared(weights, s, True)[..., None, :]) @ vh
    return np.moveaxis(slope, (-2, -1), (rows, columns))


def _shared(value, chosen, axis):
    """The value where `chosen`, divided by how many are chosen along the axis."""
    return np.where(chosen, value, 0) / np.sum(chosen, axis=axis, keepdims=True).astype(value.dtype)
