"""Sets as sorted arrays: distinct elements, unions, intersections, differences.

The derivative follows the elements to their places; of equal elements it is that of the first.
"""

from __future__ import annotations

import numpy as np

from gradscribe.primitives.registry import class_of_results, composition


@composition(np.unique)
def unique(
    ar,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    *,
    equal_nan=True,
    sorted=True,
):
    flat = np.ravel(ar) if axis is None else _rows(ar, axis)
    order = np.argsort(flat, kind="stable") if axis is None else np.lexsort(flat.T[::-1])
    elements = flat[order]
    first = _differ_from_the_last(elements, equal_nan)
    found = elements[first]
    if axis is not None:
        rest = np.moveaxis(ar, axis, 0).shape[1:]
        found = np.moveaxis(np.reshape(found, (found.shape[0], *rest)), 0, axis)
    results = (found,)
    if return_index:
        results = (*results, order[first])
    if return_inverse:
        places = np.zeros(flat.shape[0], dtype=np.int64)
        places[order] = np.cumsum(first) - 1
        results = (*results, np.reshape(places, np.shape(ar)) if axis is None else places)
    if return_counts:
        starts = np.concatenate((np.flatnonzero(first), np.array([flat.shape[0]])))
        results = (*results, np.diff(starts))
    return results[0] if len(results) == 1 else results


@composition(np.unique_all)
def unique_all(x):
    return _ALL(*unique(x, True, True, True, equal_nan=False))


@composition(np.unique_counts)
def unique_counts(x):
    return _COUNTS(*unique(x, return_counts=True, equal_nan=False))


@composition(np.unique_inverse)
def unique_inverse(x):
    return _INVERSE(*unique(x, return_inverse=True, equal_nan=False))


_ALL, _COUNTS, _INVERSE = map(
    class_of_results, (np.unique_all, np.unique_counts, np.unique_inverse)
)
"""The namedtuples that these give: NumPy has no public names for them."""


def _rows(ar, axis):
    """What lies at each place along an axis, as a row."""
    ar = np.moveaxis(ar, axis, 0)
    return np.reshape(ar, (ar.shape[0], -1))


def _differ_from_the_last(elements, equal_nan):
    """Whether each of the sorted elements is another than the one before it."""
    change = elements[1:] != elements[:-1]
    if np.ndim(elements) == 2:
        change = np.any(change, axis=1)
    elif equal_nan and elements.dtype.kind in "fc":
        change = change & ~(np.isnan(elements[1:]) & np.isnan(elements[:-1]))
    return np.concatenate((np.ones(np.minimum(elements.shape[0], 1), dtype=bool), change))


@composition(np.union1d)
def union1d(ar1, ar2):
    return unique(np.concatenate((np.ravel(ar1), np.ravel(ar2))))


@composition(np.intersect1d)
def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    first, of_first = _distinct(ar1, assume_unique)
    second, of_second = _distinct(ar2, assume_unique)
    both = np.concatenate((first, second))
    order = np.argsort(both, kind="stable")
    both = both[order]
    twice = both[1:] == both[:-1]
    if not return_indices:
        return both[:-1][twice]
    places = of_second[order[1:][twice] - first.shape[0]]
    return both[:-1][twice], of_first[order[:-1][twice]], places


def _distinct(ar, assume_unique):
    """The distinct elements of an array, and where each is first."""
    if assume_unique:
        return np.ravel(ar), np.arange(np.size(ar))
    return unique(ar, return_index=True)


@composition(np.setdiff1d)
def setdiff1d(ar1, ar2, assume_unique=False):
    elements = np.ravel(ar1) if assume_unique else unique(ar1)
    return elements[~np.isin(elements, ar2)]


@composition(np.setxor1d)
def setxor1d(ar1, ar2, assume_unique=False):
    first = np.ravel(ar1) if assume_unique else unique(ar1)
    second = np.ravel(ar2) if assume_unique else unique(ar2)
    both = np.sort(np.concatenate((first, second)))
    ends = np.ones(np.minimum(both.shape[0], 1), dtype=bool)
    change = np.concatenate((ends, both[1:] != both[:-1], ends))
    return both[change[1:] & change[:-1]]
