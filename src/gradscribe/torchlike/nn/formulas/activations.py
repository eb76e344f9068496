"""Activation functions over arrays. Where a function has a corner, its derivative is PyTorch's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradscribe.runtime.arrays.composites import sigmoid


def between(x: Any, low: float, high: float) -> Any:
    """x limited to [low, high]; with derivative 0 at the ends."""
    return np.where(x <= low, low, np.where(x >= high, high, x))


def elu(x: Any, alpha: float) -> Any:
    """x above 0, alpha * (exp(x) - 1) below."""
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, 0, x)))


def gelu_of_tanh(x: Any) -> Any:
    """The approximation of GELU by tanh (Hendrycks and Gimpel, 2016)."""
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def glu(x: Any, axis: int) -> Any:
    """The first half along an axis times the sigmoid of the second."""
    first, second = np.split(x, 2, axis)
    return first * sigmoid(second)


def hardsigmoid(x: Any) -> Any:
    """A line from 0 at -3 to 1 at 3."""
    return np.where(x <= -3, 0, np.where(x >= 3, 1, x / 6 + 0.5))


def hardswish(x: Any) -> Any:
    """x * hardsigmoid(x)."""
    return np.where(x <= -3, 0, np.where(x >= 3, x, x * (x + 3) / 6))


def mish(x: Any) -> Any:
    """x * tanh(softplus(x))."""
    return x * np.tanh(np.logaddexp(0, x))


def silu(x: Any) -> Any:
    """x * sigmoid(x)."""
    return x * sigmoid(x)


def softplus(x: Any, beta: float, threshold: float) -> Any:
    """log(1 + exp(beta * x)) / beta; x itself where beta * x is above the threshold."""
    return np.where(beta * x > threshold, x, np.logaddexp(0, beta * x) / beta)


def softshrink(x: Any, lambd: float) -> Any:
    """x nearer to 0 by lambd, and 0 from -lambd to lambd."""
    return np.where(x > lambd, x - lambd, np.where(x < -lambd, x + lambd, 0 * x))


def softsign(x: Any) -> Any:
    """x / (1 + |x|)."""
    return x / (1 + np.abs(x))


def tanhshrink(x: Any) -> Any:
    """x - tanh(x)."""
    return x - np.tanh(x)
