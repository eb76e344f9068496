"""NumPy's functions and methods that change an array, said in terms of stores.

They are lowered like helpers of the user's: what is known of their arguments is decided then.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradscribe.primitives.static import as_places


def as_often_as_needed(values: Any, shape: Any) -> Any:
    """The values in turn, in this shape, where there are more or fewer of them than one."""
    if np.ndim(values) == 0 or np.shape(values) == shape:
        return values
    count = 1
    for n in shape:
        count = count * n
    return np.reshape(np.ravel(values)[np.arange(count) % np.size(values)], shape)


def check_fits(result: Any, out: Any) -> None:
    """Only ufuncs repeat a result along the axes of `out`."""
    if np.shape(result) != np.shape(out):
        raise ValueError("the array given as `out` does not have the shape of the result")


def fill(a: Any, value: Any) -> None:
    """`a.fill(value)`."""
    if np.ndim(value):
        raise ValueError("setting an array element with a sequence.")
    a[...] = value


def sort(
    a: Any,
    axis: Any = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: Any = None,
    descending: Any = None,
) -> None:
    """`a.sort()`; descending is an option of recent NumPy."""
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    if descending:
        a[...] = np.flip(np.sort(a, axis, kind, stable=stable), axis)
    else:
        a[...] = np.sort(a, axis, kind, stable=stable)


def put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    """`np.put(a, ind, v)`."""
    ind = as_places(ind)
    if mode == "wrap":
        ind = np.mod(ind, np.size(a))
    if mode == "clip":
        ind = np.clip(ind, 0, np.size(a) - 1)
    if np.size(v):
        put_flat(a, ind, v)


def put_flat(a: Any, index: Any, v: Any) -> None:
    """`a.flat[index] = v`."""
    if np.ndim(a) == 1 and np.ndim(v) == 0:
        a[index] = v
    else:
        places = np.arange(np.size(a))[index]
        v = as_often_as_needed(v, np.shape(places))
        if np.ndim(a) == 1:
            a[index] = v
        else:
            a[np.unravel_index(places, np.shape(a))] = v


def put_values(a: Any, indices: Any, values: Any, mode: Any = "raise") -> None:
    """`a.put(indices, values)`."""
    put(a, indices, values, mode)


def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """`np.copyto(dst, src)`."""
    given, wanted = np.result_type(src), dst.dtype
    if not np.can_cast(given, wanted, casting):
        raise TypeError(
            f"Cannot cast array data from {given!r} to {wanted!r} according to the rule {casting!r}"
        )
    if where is True:
        dst[...] = src
    else:
        dst[...] = np.where(where, src, dst)


def fill_diagonal(a: Any, val: Any, wrap: Any = False) -> None:
    """`np.fill_diagonal(a, val)`. wrap: of a matrix, it begins again below, after a row."""
    if np.ndim(a) < 2:
        raise ValueError("array must be at least 2-d")
    rows, columns = a.shape[:2]
    if np.ndim(a) > 2:
        for n in a.shape:
            if n != rows:
                raise ValueError("All dimensions of input must be of equal length")
        i = np.arange(rows)
        a[(i,) * np.ndim(a)] = as_often_as_needed(val, np.shape(i))
    elif wrap:
        places = np.arange(0, np.size(a), columns + 1)
        a[places // columns, places % columns] = as_often_as_needed(val, np.shape(places))
    else:
        i = np.arange(min(rows, columns))
        a[i, i] = as_often_as_needed(val, np.shape(i))


def place(arr: Any, mask: Any, vals: Any) -> None:
    """`np.place(arr, mask, vals)`: the values in turn, as often as needed."""
    if np.asarray(mask).dtype != np.bool_:
        mask = np.not_equal(mask, 0)
    if np.ndim(vals) == 0:
        arr[mask] = vals
    else:
        arr[mask] = np.ravel(vals)[np.arange(np.sum(mask)) % np.size(vals)]


def putmask(a: Any, mask: Any, values: Any) -> None:
    """`np.putmask(a, mask, values)`: each value at its own place, those of fewer in turn."""
    if np.asarray(mask).dtype != np.bool_:
        mask = np.not_equal(mask, 0)
    if np.ndim(values) == 0:
        a[mask] = values
    else:
        a[mask] = as_often_as_needed(values, np.shape(a))[mask]


def change_each(x: Any, index: Any, values: Any, operation: Any) -> None:
    """`operation.at(x, index, values)`: item by item, for an index may come twice."""
    if isinstance(index, tuple) or np.ndim(index) > 1 or np.asarray(index).dtype == np.bool_:
        change_places(x, index, values, operation)
    elif np.ndim(index) == 0:
        x[index] = operation(x[index], values)
    elif np.ndim(values) == 0:
        for i in index:
            x[i] = operation(x[i], values)
    elif np.ndim(values) != np.ndim(x) or len(values) == 1:
        change_places(x, index, values, operation)
    else:
        if len(values) != len(index):
            raise ValueError("array is not broadcastable to correct shape")
        for i, value in zip(index, values):  # noqa: B905
            x[i] = operation(x[i], value)


def change_places(x: Any, index: Any, values: Any, operation: Any) -> None:
    """`change_each` for an index of any kind: by the places of the elements in the flat array."""
    places = np.reshape(np.arange(np.size(x)), np.shape(x))[index]
    given = np.ravel(np.broadcast_to(values, np.shape(places)))
    flat = np.ravel(np.copy(x))
    for place, value in zip(np.ravel(places), given):  # noqa: B905
        flat[place] = operation(flat[place], value)
    x[...] = np.reshape(flat, np.shape(x))


def change_each_alone(x: Any, index: Any, operation: Any) -> None:
    """`operation.at(x, index)`."""
    if isinstance(index, tuple) or np.ndim(index) > 1 or np.asarray(index).dtype == np.bool_:
        places = np.reshape(np.arange(np.size(x)), np.shape(x))[index]
        flat = np.ravel(np.copy(x))
        for place in np.ravel(places):
            flat[place] = operation(flat[place])
        x[...] = np.reshape(flat, np.shape(x))
    elif np.ndim(index) == 0:
        x[index] = operation(x[index])
    else:
        for i in index:
            x[i] = operation(x[i])


def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """`np.put_along_axis(arr, indices, values, axis)`."""
    if axis is None:
        put(arr, indices, values)
        return
    if np.ndim(indices) != np.ndim(arr):
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    if np.asarray(indices).dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    index: tuple[Any, ...] = ()
    for a, n in enumerate(np.shape(arr)):
        if a == axis % np.ndim(arr):
            index = (*index, indices)
        else:
            shape = (1,) * a + (n,) + (1,) * (np.ndim(arr) - a - 1)
            index = (*index, np.reshape(np.arange(n), shape))
    arr[index] = values


def partition(
    a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> None:
    """`a.partition(kth)`; there is one kind."""
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    a[...] = np.partition(a, kth, axis)


def by_position(
    change: Callable[..., None], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call, by their places as far as there is one at each: the first is the
    array that is changed, whatever the program gives by name. Raises what Python raises."""
    bound = inspect.signature(change).bind(*args, **kwargs)
    return bound.args, bound.kwargs


FUNCTIONS: dict[Any, Callable[..., None]] = {
    np.put: put,
    np.copyto: copyto,
    np.fill_diagonal: fill_diagonal,
    np.place: place,
    np.putmask: putmask,
    np.put_along_axis: put_along_axis,
}
METHODS: dict[str, Callable[..., None]] = {
    "fill": fill,
    "sort": sort,
    "put": put_values,
    "partition": partition,
}
