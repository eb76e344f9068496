"""Histograms: counts have no derivative; sums of weights have one in the weights.

The edges of bins that are given by their number lie evenly between the smallest and the largest
element, which move them.
"""

from __future__ import annotations

import numpy as np

from gradscribe.primitives.registry import composition


@composition(np.histogram_bin_edges)
def histogram_bin_edges(a, bins=10, range=None, weights=None):
    if np.ndim(bins) == 1:
        return np.asarray(bins)
    low, high = _outer_edges(np.ravel(a), range)
    return np.linspace(low, high, bins + 1)


def _outer_edges(a, limits):
    low, high = (np.min(a), np.max(a)) if limits is None else limits
    if low == high:
        low, high = low - 0.5, high + 0.5
    return low, high


@composition(np.histogram)
def histogram(a, bins=10, range=None, density=None, weights=None):
    a = np.ravel(a)
    weights = None if weights is None else np.ravel(weights)
    edges = histogram_bin_edges(a, bins, range)
    if np.ndim(bins) == 1:
        sums = _between(a, edges, weights)
    else:
        sums = _in_even_bins(a, bins, edges, range, weights)
    if density:
        return sums / np.diff(edges) / np.sum(sums), edges
    return sums, edges


def _between(a, edges, weights):
    """The counts, or sums of weights, of the elements between edges; the last belongs to the last
    bin."""
    if weights is None:
        ordered = np.sort(a)
        inner = np.searchsorted(ordered, edges[:-1], "left")
        last = np.searchsorted(ordered, edges[-1:], "right")
        return np.diff(np.concatenate((inner, last)))
    order = np.argsort(a)
    ordered = a[order]
    sums = np.concatenate((np.zeros(1, dtype=weights.dtype), np.cumsum(weights[order])))
    inner = np.searchsorted(ordered, edges[:-1], "left")
    last = np.searchsorted(ordered, edges[-1:], "right")
    return np.diff(sums[np.concatenate((inner, last))])


def _in_even_bins(a, count, edges, limits, weights):
    low, high = _outer_edges(a, limits)
    inside = (a >= low) & (a <= high)
    a = a[inside]
    place = (((a - low) / (high - low)) * count).astype(np.int64)
    place = np.where(place == count, place - 1, place)
    place = place - (a < edges[place])
    place = place + ((a >= edges[place + 1]) & (place != count - 1))
    if weights is None:
        return np.bincount(place, None, count)
    return np.bincount(place, weights[inside], count).astype(weights.dtype)
