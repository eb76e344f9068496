"""Normalization over arrays."""

from __future__ import annotations

from typing import Any

import numpy as np


def normalized(
    x: Any, *parameters: Any, axes: Any, eps: float, shape: Any, has_weight: bool
) -> Any:
    """x, of mean 0 and variance 1 over some axes, then times a weight and plus a bias, as far as
    they are given, in a shape that broadcasts."""
    centred = x - np.mean(x, axis=axes, keepdims=True)
    variance = np.mean(centred * centred, axis=axes, keepdims=True)
    return scaled(centred / np.sqrt(variance + eps), parameters, shape, has_weight)


def grouped(x: Any, *parameters: Any, groups: int, eps: float, has_weight: bool) -> Any:
    """x, of mean 0 and variance 1 in each group of channels of a sample."""
    parts = np.reshape(x, (x.shape[0], groups, x.shape[1] // groups, *x.shape[2:]))
    within = tuple(range(2, parts.ndim))
    whole = np.reshape(
        normalized(parts, axes=within, eps=eps, shape=None, has_weight=False), x.shape
    )
    return scaled(whole, parameters, (1, -1, *(1,) * (x.ndim - 2)), has_weight)


def standardized(
    x: Any, mean: Any, variance: Any, *parameters: Any, eps: float, shape: Any, has_weight: bool
) -> Any:
    """(x - mean) / sqrt(variance + eps), of a mean and a variance for each channel."""
    centred = x - np.reshape(mean, shape)
    return scaled(
        centred / np.sqrt(np.reshape(variance, shape) + eps), parameters, shape, has_weight
    )


def root_mean_square(x: Any, *weight: Any, axes: Any, eps: float, shape: Any) -> Any:
    """x over the root of the mean of its squares."""
    whole = x / np.sqrt(np.mean(x * x, axis=axes, keepdims=True) + eps)
    return scaled(whole, weight, shape, True)


def scaled(x: Any, parameters: Any, shape: Any, has_weight: bool) -> Any:
    """x times the weight, plus the bias; the bias is the last, and a weight, if any, the first."""
    if has_weight and len(parameters) > 0:
        x = x * np.reshape(parameters[0], shape)
    if len(parameters) > (1 if has_weight else 0):
        x = x + np.reshape(parameters[-1], shape)
    return x
