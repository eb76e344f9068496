"""Histograms: counts have no derivative; sums of weights have one in the weights.

The edges of bins that are given by their number lie evenly between the smallest and the largest
element, which move them.
"""

from __future__ import annotations

import numpy as np

from gradscribe.primitives.registry import composition
from gradscribe.primitives.static import as_places


@composition(np.histogram_bin_edges)
def histogram_bin_edges(a, bins=10, range=None, weights=None):
    if np.ndim(bins) == 1:
        edges = np.asarray(bins)
        if np.any(edges[:-1] > edges[1:]):
            raise ValueError("`bins` must increase monotonically, when an array")
        return edges
    low, high = _outer_edges(np.ravel(a), range)
    limits = () if range is None else range
    return np.linspace(low, high, as_places(bins) + 1, dtype=np.result_type(a, 0.0, *limits))


def _outer_edges(a, limits):
    if limits is None and a.size == 0:
        return 0.0, 1.0
    low, high = (np.min(a), np.max(a)) if limits is None else limits
    if low == high:
        low, high = low - 0.5, high + 0.5
    return low, high


@composition(np.histogram)
def histogram(a, bins=10, range=None, density=None, weights=None):
    a, bins = np.ravel(a), as_places(bins) if np.ndim(bins) == 0 else bins
    weights = None if weights is None else np.ravel(weights)
    edges = histogram_bin_edges(a, bins, range)
    if np.ndim(bins) == 1:
        sums = _between(a, edges, weights)
    else:
        sums = _in_even_bins(a, bins, edges, weights)
    if density:
        return sums / np.asarray(np.diff(edges), float) / np.sum(sums), edges
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


def _in_even_bins(a, count, edges, weights):
    low, high = edges[0], edges[-1]
    inside = (a >= low) & (a <= high)
    a = a[inside]
    place = (((a - low) / (high - low)) * count).astype(np.int64)
    place = np.where(place == count, place - 1, place)
    place = place - (a < edges[place])
    place = place + ((a >= edges[place + 1]) & (place != count - 1))
    if weights is None:
        return np.bincount(place, None, count)
    return np.bincount(place, weights[inside], count).astype(weights.dtype)


# -- of several numbers ----------------------------------------------------------------------------


@composition(np.histogramdd)
def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    columns = (*sample,) if isinstance(sample, (list, tuple)) else (*sample.T,)
    each = (bins,) * len(columns) if np.ndim(bins) == 0 else (*bins,)
    limits = (None,) * len(columns) if range is None else (*range,)
    edges = [
        _edges_of_column(np.asarray(x), n, ends)
        for x, n, ends in zip(columns, each, limits, strict=True)
    ]
    return _joint(columns, edges, weights, density), edges


def _edges_of_column(x, bins, limits):
    """Limits that are Python's numbers give double precision here."""
    if np.ndim(bins) == 1 or limits is None:
        return histogram_bin_edges(x, bins)
    return np.linspace(*_outer_edges(x, limits), as_places(bins) + 1)


@composition(np.histogram2d)
def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    if np.ndim(bins) == 1 and len(bins) != 2:
        bins = (bins, bins)
    sums, (first, second) = histogramdd((x, y), bins, range, density, weights)
    return sums, first, second


def _joint(columns, edges, weights, density):
    """The sums of weights in the bins of all columns together; elements outside go nowhere."""
    place, inside, count, shape = 0, True, 1, ()
    for x, ends in zip(columns, edges, strict=True):
        x, n = np.asarray(x), ends.shape[0] - 1
        found = np.searchsorted(ends, x, side="right") - 1
        found = found - (x == ends[-1])
        inside = inside & (found >= 0) & (found < n)
        place, count, shape = place * n + found, count * n, (*shape, n)
    kept = None if weights is None else np.asarray(weights)[inside]
    sums = np.reshape(np.bincount(place[inside], kept, count), shape) * 1.0
    if density:
        for axis, ends in enumerate(edges):
            widths = np.reshape(np.diff(ends), (-1, *(1,) * (len(edges) - 1 - axis)))
            sums = sums / widths
        sums = sums / np.sum(_counted(columns, edges, weights))
    return sums


def _counted(columns, edges, weights):
    return _joint(columns, edges, weights, False)
