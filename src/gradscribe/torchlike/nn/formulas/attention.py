"""Attention and products with weights, over arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.api import stop_gradient
from gradscribe.runtime.arrays.composites import softmax


def linear(x: Any, weight: Any, *bias: Any) -> Any:
    """x @ weight.T + bias, of rows along all other axes at once."""
    rows = x if x.ndim <= 2 else np.reshape(x, (-1, x.shape[-1]))
    product = rows @ weight.T
    if len(bias) > 0:
        product = product + bias[0]
    if x.ndim <= 2:
        return product
    return np.reshape(product, (*x.shape[:-1], *weight.shape[:-1]))


def bilinear(first: Any, second: Any, weight: Any, *bias: Any) -> Any:
    """first @ weight[k] @ second for each k, plus a bias."""
    product = np.einsum("...i,kij,...j->...k", first, weight, second)
    return product + bias[0] if len(bias) > 0 else product


def attention_weights(query: Any, key: Any, *bias: Any, scale: float) -> Any:
    """The softmax of products of queries and keys, plus a bias if there is one. Queries whose bias
    is -inf for all keys have weights 0."""
    scores = scale * (query @ np.swapaxes(key, -1, -2))
    if len(bias) == 0:
        return softmax(scores, -1)
    scores = scores + bias[0]
    nothing = np.max(scores, axis=-1, keepdims=True) == -np.inf
    return np.where(nothing, 0, softmax(np.where(nothing, 0, scores), -1))


def taken_rows(
    weight: Any, index: Any, padding: int | None = None, by_frequency: bool = False
) -> Any:
    """The rows at these indices. padding: an index whose rows have no derivative. by_frequency:
    the derivative of a row is divided by how often its index is given."""
    rows = weight[index]
    if by_frequency:
        rows = _divided(rows, np.bincount(np.ravel(index))[index].astype(rows.dtype))
    if padding is None:
        return rows
    return np.where(np.expand_dims(index != padding, -1), rows, stop_gradient(rows))


def _divided(rows: Any, counts: Any) -> Any:
    """The rows as they are, with their derivatives divided by counts."""
    shares = rows / np.expand_dims(counts, -1)
    finite = stop_gradient(rows) + (shares - stop_gradient(shares))
    return np.where(np.isfinite(rows), finite, shares)
