"""Functions applied along axes, over axes in turn, and to all pairs."""

from __future__ import annotations

import numpy as np

from gradscribe.primitives.registry import composition
from gradscribe.primitives.static import of_one_dtype


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
    for the first of them, of its own classes, to see what dtypes it gives."""
    if len(args) == 0:
        return function()
    arrays = np.broadcast_arrays(*args)
    shape = np.shape(arrays[0])
    if 0 in shape:
        raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    given = ()
    items = ()
    for array, arg in zip(arrays, args):  # noqa: B905
        given = (*given, np.ravel(array)[0])
        items = (*items, _objects(arg, array))
    first = function(*given)
    results = [function(*each) for each in zip(*items)]  # noqa: B905
    if not isinstance(first, tuple):
        return _as_first(results, first, shape)
    parts = ()
    for k, one in enumerate(first):
        parts = (*parts, _as_first([r[k] for r in results], one, shape))
    return parts


def _objects(arg, array):
    """The elements of an argument, broadcast to an array, as an array of objects has them: what an
    array holds as Python's numbers, others as they are."""
    if isinstance(arg, np.ndarray):
        return np.ravel(array).tolist()
    if not isinstance(arg, (list, tuple)):
        return [arg] * np.size(array) if np.ndim(arg) == 0 else np.ravel(array)
    places = np.reshape(np.arange(np.size(arg)), np.shape(arg))
    flat = _flat(arg)
    return [flat[k] for k in np.ravel(np.broadcast_to(places, np.shape(array)))]


def _flat(arg):
    if np.ndim(arg) == 0:
        return (arg,)
    if isinstance(arg, np.ndarray):
        return tuple(np.ravel(arg).tolist())
    flat = ()
    for item in arg:
        flat = (*flat, *_flat(item))
    return flat


def _as_first(results, first, shape):
    """Results as an array, of the dtype of the first one."""
    dtype = np.asarray(of_one_dtype(first)).dtype
    return np.reshape(np.array(results, dtype=dtype), shape)
