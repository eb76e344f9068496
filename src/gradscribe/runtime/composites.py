"""Operations that NumPy does not have, as plain functions over arrays.

The compiler differentiates them like a user's own functions; eager Tensors record each as one
node. They are written so that neither the value nor the derivative overflows.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x))."""
    return 0.5 * np.tanh(0.5 * x) + 0.5


def relu(x: Any) -> Any:
    """max(x, 0), with derivative 0 at 0."""
    return np.where(x > 0, x, 0.0 * x)


def softplus(x: Any) -> Any:
    """log(1 + exp(x))."""
    return np.logaddexp(0.0, x)


def logsigmoid(x: Any) -> Any:
    """log(sigmoid(x))."""
    return -np.logaddexp(0.0, -x)


def rsqrt(x: Any) -> Any:
    """1 / sqrt(x)."""
    return 1.0 / np.sqrt(x)


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """log(sum(exp(x))), shifted by the maximum."""
    highest = np.max(x, axis=axis, keepdims=True)
    total = np.sum(np.exp(x - highest), axis=axis, keepdims=True)
    result = np.log(total) + highest
    return result if keepdims else np.squeeze(result, axis=axis)


def softmax(x: Any, axis: Any = None) -> Any:
    """exp(x) / sum(exp(x))."""
    powers = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return powers / np.sum(powers, axis=axis, keepdims=True)


def log_softmax(x: Any, axis: Any = None) -> Any:
    """log(softmax(x))."""
    shifted = x - np.max(x, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def norm(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The Euclidean norm."""
    return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))


def flip(x: Any, axis: Any) -> Any:
    """A copy with these axes in the other direction."""
    return np.copy(np.flip(x, axis))


def clone(x: Any) -> Any:
    """A copy."""
    return x.copy()


def select_along(x: Any, index: Any, axis: int) -> Any:
    """The elements of x at one index along an axis, for each place in the other axes."""
    chosen = np.arange(x.shape[axis]).reshape((-1,) + (1,) * (x.ndim - 1 - axis)) == index
    return np.sum(np.where(chosen, x, 0.0), axis=axis, keepdims=True)


def to_dtype(x: Any, dtype: Any) -> Any:
    """The elements converted to a dtype."""
    return x.astype(dtype)
