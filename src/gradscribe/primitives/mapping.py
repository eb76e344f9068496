"""Functions applied along axes, over axes in turn, and to all pairs."""

from __future__ import annotations

import numpy as np

from gradscribe.primitives.registry import composition
from gradscribe.primitives.static import is_integer, of_one_dtype


@composition(np.apply_along_axis)
def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    arr = np.asarray(arr)
    rows = np.moveaxis(arr, axis, -1)
    if 0 in rows.shape[:-1]:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    results = _of_rows(func1d, rows, args, kwargs)
    new = np.ndim(results) - np.ndim(arr) + 1
    first = axis % np.ndim(arr)
    places, targets = tuple(range(-new, 0)), tuple(range(first, first + new))
    return np.moveaxis(results, places, targets) if new > 0 else results


def _of_rows(function, rows, args, kwargs):
    """The results for all rows, in the form of the stack of rows. (NumPy casts all to the dtype of
    the first.)"""
    if np.ndim(rows) == 1:
        return np.array(of_one_dtype(function(rows, *args, **kwargs)))
    return np.array([_of_rows(function, row, args, kwargs) for row in rows])


@composition(np.apply_over_axes)
def apply_over_axes(func, a, axes):
    rank = a.ndim
    a = np.asarray(a)
    for axis in (axes,) if np.ndim(axes) == 0 else axes:
        axis = rank + axis if axis < 0 else axis
        result = func(a, axis)
        a = result if result.ndim == rank else np.expand_dims(result, axis)
        if a.ndim != rank:
            raise ValueError("function is not returning an array of the correct shape")
    return a


@composition(np.vectorize)
def vectorize(pyfunc):
    def of_each(*args):
        return vectorized(pyfunc, *args)

    return of_each


def vectorized(function, *args):
    """The results of a function of numbers for all elements of arrays. NumPy calls it once more,
    for the first of them, to see what it gives."""
    arrays = np.broadcast_arrays(*args)
    flat = ()
    for x in arrays:
        flat = (*flat, np.ravel(x))
    first = function(*[x[0] for x in flat])
    results = [function(*items) for items in zip(*flat)]  # noqa: B905
    if isinstance(first, tuple):
        parts = ()
        for k in range(len(first)):
            parts = (*parts, np.reshape(np.array([r[k] for r in results]), np.shape(arrays[0])))
        return parts
    if is_integer(first):  # NumPy makes an array of its dtype
        results = [int(r) for r in results]
    return np.reshape(np.array(results), np.shape(arrays[0]))
