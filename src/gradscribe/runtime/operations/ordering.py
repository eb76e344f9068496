"""The table of eager operations, continued: order. Sorting, extrema, order statistics, counting.

The indices are found on the arrays; the values are taken at them, which is the operation that is
recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import composites
from gradscribe.runtime.arrays.node_names import taken_along
from gradscribe.runtime.arrays.operand_checks import extremum, not_complex, not_implemented
from gradscribe.runtime.arrays.rows import BOTH, FUNCTION, OUT, operation
from gradscribe.runtime.arrays.size import returned
from gradscribe.runtime.operations.adaptors import KEPT, axes_of
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.operations.elementwise import maximum, minimum
from gradscribe.runtime.operations.reductions import MAX, MIN
from gradscribe.runtime.operations.shaping import axis_of, flatten
from gradscribe.runtime.tensors.promotion import only_floating
from gradscribe.runtime.tensors.tensor import Array, Tensor, wrap


def _taking(name: str, saved: str = "dim:axis picked sizes", **about: Any) -> Operation:
    return Operation(name, composites.taken_along, KEPT, saved=(saved, saved), **about)


# --- extrema ----------------------------------------------------------------------------------

_PICKED = "dim:axis keepdim:keepdims picked sizes"
_SELECT_MAX, _SELECT_MIN = (
    _taking(name.title(), _PICKED, check=extremum(name)) for name in ("max", "min")
)
_CUMMAX, _CUMMIN = (
    _taking(name.title(), "", check=not_implemented(name)) for name in ("cummax", "cummin")
)
_Max, _Min, _Aminmax = returned("max"), returned("min"), returned("aminmax", ("min", "max"))
_Cummax, _Cummin = returned("cummax"), returned("cummin")


@operation(
    BOTH | OUT,
    shapes="(…) -> (), or values and indices without the axis named",
    dtypes="that of input, and int64",
)
def max(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """The greatest element; with dim, `(values, indices)`; with a Tensor, `maximum`."""
    dim = other if dim is None else dim
    if isinstance(dim, Tensor):
        return maximum(input, dim)
    if dim is None:
        return apply(MAX, (input,))
    check_filled(input, dim, "max")
    index = np.argmax(_lined(input), axis=axis_of(dim, input.array.ndim), keepdims=True)
    return _chosen(_SELECT_MAX, _Max, input, index, dim, keepdim)


@operation(
    BOTH | OUT,
    shapes="(…) -> (), or values and indices without the axis named",
    dtypes="that of input, and int64",
)
def min(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """The least element; with dim, `(values, indices)`; with a Tensor, `minimum`."""
    dim = other if dim is None else dim
    if isinstance(dim, Tensor):
        return minimum(input, dim)
    if dim is None:
        return apply(MIN, (input,))
    check_filled(input, dim, "min")
    index = np.argmin(_lined(input), axis=axis_of(dim, input.array.ndim), keepdims=True)
    return _chosen(_SELECT_MIN, _Min, input, index, dim, keepdim)


def check_filled(input: Any, dim: int, name: str) -> None:
    """Raise PyTorch's error for an extremum along an axis of length zero."""
    axis = axis_of(dim, input.array.ndim)
    if input.array.ndim and not input.array.shape[axis]:
        raise IndexError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")


@operation(BOTH | OUT, shapes="(…) -> (), (), or (…), (…) without the axis named")
def aminmax(input: Any, *, dim: Any = None, keepdim: bool = False) -> Any:
    """The least and the greatest elements."""
    return _Aminmax(input.amin(dim, keepdim), input.amax(dim, keepdim))


@operation(BOTH | OUT, shapes="(…) -> (…), (…)", dtypes="that of input, and int64")
def cummax(input: Any, dim: int) -> Any:
    """The greatest element so far, and where it is."""
    return _so_far(_CUMMAX, _Cummax, input, dim, np.maximum)


@operation(BOTH | OUT, shapes="(…) -> (…), (…)", dtypes="that of input, and int64")
def cummin(input: Any, dim: int) -> Any:
    """The least element so far, and where it is."""
    return _so_far(_CUMMIN, _Cummin, input, dim, np.minimum)


def _so_far(row: Operation, returned: Any, input: Any, dim: int, extremum: Any) -> Any:
    array, axis = _lined(input), axis_of(dim, input.array.ndim)
    extreme = extremum.accumulate(array, axis=axis)
    shape = (-1,) + (1,) * (array.ndim - 1 - axis)
    place = np.arange(array.shape[axis]).reshape(shape)
    is_extreme = (array == extreme) | (array != array)
    index = np.maximum.accumulate(np.where(is_extreme, place, 0), axis=axis)
    return _chosen(row, returned, input, index, dim, True)


def _chosen(
    row: Operation, returned: Any, input: Any, index: Array, dim: int, keepdim: bool
) -> Any:
    """Values and indices, of an index that has the axis still."""
    if not input.array.ndim:
        return returned(input.clone(), wrap(np.zeros((), np.int64)))
    axis = axis_of(dim, input.array.ndim)
    values = apply(row, (input, index), (axis, keepdim))
    return returned(values, wrap(index if keepdim else np.squeeze(index, axis)))


def _lined(input: Any) -> Array:
    """The array, with an axis at least."""
    array: Array = input.array
    return array if array.ndim else array.reshape(1)


# --- sorting ----------------------------------------------------------------------------------

_SORT, _TOPK = (
    _taking(
        name.title(), check=not_complex(RuntimeError, f"{name} does not support complex dtypes")
    )
    for name in ("sort", "topk")
)
_KTHVALUE = _taking("Kthvalue", _PICKED, check=not_implemented("kthvalue"))
_MODE = _taking("Mode", "")
_MEDIAN = _taking("Median", number=taken_along, check=not_implemented("median"))
_NANMEDIAN = _taking("Nanmedian", "", number=taken_along)
_EVENLY = {
    "Median": Operation(
        "Median", composites.taken_evenly, saved=("self=0 result",), check=not_implemented("median")
    ),
    "Nanmedian": Operation("Nanmedian", composites.taken_evenly),
}
_Sort, _Topk, _Kthvalue, _Mode = map(returned, ("sort", "topk", "kthvalue", "mode"))
_Median, _Nanmedian = returned("median"), returned("nanmedian")


@operation(BOTH | OUT, shapes="(…) -> (…), (…)", dtypes="that of input, and int64")
def sort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The elements in order along an axis, and where they were; NaN counts as greatest."""
    index = _order(_lined(input), dim, descending)
    return _chosen(_SORT, _Sort, input, index, dim, True)


@operation(BOTH | OUT, shapes="(…) -> (…)", dtypes="int64")
def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """Where the elements are that `sort` gives."""
    return wrap(_order(_lined(input), dim, descending).reshape(input.array.shape))


@operation(BOTH | OUT, shapes="(…) -> (…)")
def msort(input: Any) -> Any:
    """The elements in order along the first axis."""
    return sort(input, 0)[0]


@operation(BOTH | OUT, shapes="(…, n) -> (…, k), (…, k)", dtypes="that of input, and int64")
def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The k greatest (or least) elements along an axis, and where they are."""
    array = _lined(input)
    if not 0 <= k <= array.shape[axis_of(dim, array.ndim)]:
        raise RuntimeError("selected index k out of range")
    index = np.take(_order(array, dim, largest), np.arange(k), axis=dim)
    return _chosen(_TOPK, _Topk, input, index, dim, True)


@operation(BOTH | OUT, shapes="(…, n) -> (…), (…)", dtypes="that of input, and int64")
def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The k-th least element along an axis (from 1), and where it is."""
    check_filled(input, dim, "kthvalue")
    array = _lined(input)
    if not 1 <= k <= array.shape[axis_of(dim, array.ndim)]:
        raise RuntimeError("kthvalue(): selected number k out of range for dimension " + str(dim))
    index = np.take(_order(array, dim), [k - 1], axis=dim)
    return _chosen(_KTHVALUE, _Kthvalue, input, index, dim, keepdim)


@operation(
    BOTH | OUT,
    shapes="(…) -> (), or values and indices without the axis named",
    dtypes="that of input, and int64",
)
def median(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The middle element (of two, the lower); with dim, `(values, indices)`."""
    return _middle(_MEDIAN, _Median, input, dim, keepdim, _index_of_median)


@operation(
    BOTH | OUT,
    shapes="(…) -> (), or values and indices without the axis named",
    dtypes="that of input, and int64",
)
def nanmedian(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """`median` of what is not NaN."""
    return _middle(_NANMEDIAN, _Nanmedian, input, dim, keepdim, _index_of_nanmedian)


def _middle(
    row: Operation,
    returned: Any,
    input: Any,
    dim: Any,
    keepdim: bool,
    find: Callable[[Array, int], Array],
) -> Any:
    if dim is None:
        flat = flatten(input)
        if not input.array.size:
            return input.mean()
        index = find(_lined(flat), 0)
        if input.array.dtype.kind not in "fc":
            return _chosen(row, returned, flat, index, 0, False)[0]
        return apply(_EVENLY[row.name], (flat, np.take(_lined(flat), index[0])))
    check_filled(input, dim, row.name.lower())
    return _chosen(row, returned, input, find(_lined(input), dim), dim, keepdim)


def _index_of_median(array: Array, dim: int) -> Array:
    order = _order(array, dim)
    middle = np.take(order, [(array.shape[dim] - 1) // 2], axis=dim)
    unordered = np.isnan(array) if array.dtype.kind in "fc" else np.zeros_like(array, bool)
    first = np.argmax(unordered, axis=dim, keepdims=True)
    found: Array = np.where(np.any(unordered, axis=dim, keepdims=True), first, middle)
    return found


def _index_of_nanmedian(array: Array, dim: int) -> Array:
    missing = np.isnan(array) if array.dtype.kind in "fc" else np.zeros_like(array, bool)
    count = np.sum(~missing, axis=dim, keepdims=True)
    return np.take_along_axis(_order(array, dim), np.maximum((count - 1) // 2, 0), axis=dim)


@operation(BOTH | OUT, shapes="(…, n) -> (…), (…)", dtypes="that of input, and int64")
def mode(input: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent element along an axis (of several, the least), and where it is last."""
    check_filled(input, dim, "mode")
    array = _lined(input)
    axis = axis_of(dim, array.ndim)
    rows = np.moveaxis(array, axis, -1)
    found = [_index_of_mode(row) for row in rows.reshape(-1, array.shape[axis])]
    index = np.expand_dims(np.array(found, np.int64).reshape(rows.shape[:-1]), axis)
    return _chosen(_MODE, _Mode, input, index, dim, keepdim)


def _index_of_mode(row: Array) -> Any:
    if row.dtype.kind in "fc" and np.isnan(row).any():
        return np.flatnonzero(np.isnan(row))[0]
    values, counts = np.unique(row, return_counts=True)
    return np.flatnonzero(row == values[np.argmax(counts)])[-1]


def _order(array: Array, dim: int, descending: bool = False) -> Array:
    """Where the elements are that stand at each place in order; equal ones in their own order."""
    axis = axis_of(dim, array.ndim)
    if not descending:
        return np.argsort(array, axis=axis, kind="stable")
    backwards = np.argsort(np.flip(array, axis), axis=axis, kind="stable")
    return np.flip(array.shape[axis] - 1 - backwards, axis)


_QUANTILE = Operation("Quantile", np.quantile, ("axis", "method", "keepdims"))
_NANQUANTILE = Operation("Nanquantile", np.nanquantile, ("axis", "method", "keepdims"))


_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _check_quantile(input: Any, q: Any, interpolation: str) -> None:
    """Raise PyTorch's errors for elements that have no quantiles, orders that are none, and ways
    between elements that there are not."""
    if not np.size(input):
        raise RuntimeError("quantile() input tensor must be non-empty")
    if np.ndim(q) > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    only_floating(input, "quantile() input tensor must be either float or double dtype")
    if isinstance(input, Tensor) and isinstance(q, Tensor) and q.array.dtype != input.array.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )
    if isinstance(q, (int, float)) and not 0 <= q <= 1:
        raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")


@operation(
    BOTH | OUT,
    shapes="(…), q (k) -> (k, …) without the axis named, or (k) of all; no k where q is a number",
)
def quantile(
    input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """The quantiles of order q, along an axis or of all elements."""
    _check_quantile(input, q, interpolation)
    return apply(_QUANTILE, (input, q), (axes_of(input, dim), interpolation, keepdim))


@operation(
    BOTH | OUT,
    shapes="(…), q (k) -> (k, …) without the axis named, or (k) of all; no k where q is a number",
)
def nanquantile(
    input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """The quantiles of order q of the elements that are not NaN."""
    _check_quantile(input, q, interpolation)
    return apply(_NANQUANTILE, (input, q), (axes_of(input, dim), interpolation, keepdim))


# --- counting ---------------------------------------------------------------------------------


@operation(BOTH | OUT, shapes="(…) -> (k, rank), or (k) for each axis", dtypes="int64")
def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """The indices of the elements that are not zero: a row for each, or an array for each axis."""
    if as_tuple:
        return tuple(wrap(index) for index in np.nonzero(_lined(input)))
    return wrap(np.argwhere(input.array))


@operation(BOTH | OUT, shapes="(…) -> (size, rank)", dtypes="int64")
def nonzero_static(input: Any, *, size: int, fill_value: int = -1) -> Tensor:
    """So many rows of `nonzero`, filled up with a value."""
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    found = np.argwhere(input.array)[:size]
    rows = np.full((size, input.array.ndim), fill_value, np.int64)
    rows[: len(found)] = found
    return wrap(rows)


@operation(BOTH, shapes="(…) -> (k, rank)", dtypes="int64")
def argwhere(input: Any) -> Any:
    """The indices of the elements that are not zero, a row for each."""
    return nonzero(input)


@operation(
    BOTH, shapes="(n) -> (max(greatest + 1, minlength))", dtypes="int64, or float64 with weights"
)
def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Tensor:
    """How often each integer occurs, or the sum of its weights."""
    given = None if weights is None else weights.array
    return wrap(np.bincount(input.array, given, minlength))


@operation(BOTH | OUT, shapes="(…) -> (bins)", dtypes="that of input")
def histc(input: Any, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many elements are in each of so many equal parts of [min, max]; where these are equal,
    between the least and the greatest element."""
    array = input.array
    if bins < 1:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if min > max:
        raise RuntimeError("torch.histc: max must be larger than min")
    bounds = (array.min(), array.max()) if min == max and array.size else (min, max)
    if bounds[0] == bounds[1]:
        bounds = bounds[0] - 1, bounds[1] + 1
    return wrap(np.histogram(array, bins, bounds)[0].astype(array.dtype))


_Histogram = returned("histogram", ("hist", "bin_edges"))


@operation(BOTH | OUT, shapes="(…) -> (bins), (bins + 1)", dtypes="that of input")
def histogram(
    input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    """How many elements are in each bin (or the sum of their weights), and where bins end."""
    array, weights = input.array.ravel(), None if weight is None else weight.array.ravel()
    ends = bins.array if isinstance(bins, Tensor) else bins
    counts, found = np.histogram(array, ends, range, weights=weights, density=density)
    return _Histogram(wrap(counts.astype(array.dtype)), wrap(found.astype(array.dtype)))


@operation(
    FUNCTION | OUT, shapes="(…, n), (…, k) -> (…, k)", dtypes="int64 (int32 where asked for)"
)
def searchsorted(
    sorted_sequence: Any,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: Any = None,
    sorter: Any = None,
) -> Tensor:
    """Where to insert elements in sorted rows so that they stay sorted; sorter: the order in which
    the rows are sorted."""
    rows, wanted = (getattr(v, "array", v) for v in (sorted_sequence, input))
    if sorter is not None:
        rows = np.take_along_axis(rows, sorter.array, -1)
    side = side or ("right" if right else "left")
    found: Any
    if rows.ndim == 1:
        found = np.searchsorted(rows, wanted, side)
    else:
        found = np.zeros(wanted.shape, np.int64)
        for place in np.ndindex(*wanted.shape[:-1]):
            found[place] = np.searchsorted(rows[place], wanted[place], side)
    return wrap(np.asarray(found, np.int32 if out_int32 else np.int64))


@operation(FUNCTION | OUT, shapes="(…), (n) -> (…)", dtypes="int64 (int32 where asked for)")
def bucketize(
    input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """In which of the intervals between sorted boundaries each element is."""
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


@operation(FUNCTION | OUT, shapes="(…), (…) -> that of elements", dtypes="bool")
def isin(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Whether each element is among others. assume_unique: that no element comes twice, which
    makes no difference here."""
    tested = [getattr(v, "array", v) for v in (elements, test_elements)]
    found = np.isin(tested[0], tested[1])
    return wrap(np.asarray(np.logical_not(found) if invert else found))
