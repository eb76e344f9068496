"""Joining arrays, and making arrays of numbers: concatenate, stack, array.

What is joined is a tuple (or list) of known structure or a list of unknown length. The rule
returns the parts of d_out in the same form; for a tuple, `for` is unrolled when it is
compiled.
"""

from __future__ import annotations

import builtins
import operator
from dataclasses import replace

import numpy as np

from gradscribe.ir.affine import Affine
from gradscribe.ir.types import Array, Sequence, Tuple
from gradscribe.primitives.registry import LINEAR, adjoint, available, variant
from gradscribe.primitives.typing import (
    ONE,
    TypeRuleError,
    dims_of,
    elementwise_type,
    like_first,
    normalize_axes,
    number_type,
    product,
    result_of,
    row_type,
    same_length,
    type_of,
    unknown_length,
)

# -- types -----------------------------------------------------------------------------------


def joined_items(arrays):
    """The types of what is joined (of a list: of one item), and how often each is there."""
    if isinstance(arrays, Sequence):
        return (number_type(arrays.item),), arrays.length
    if isinstance(arrays, Tuple):
        arrays = arrays.items
    if not isinstance(arrays, (tuple, list)):
        raise TypeRuleError("expected a tuple or list of arrays")
    if not arrays:
        raise TypeRuleError("there is nothing to join")
    if any(item is None for item in arrays):
        raise TypeRuleError("expected a number or an array")
    return tuple(map(number_type, arrays)), Affine.of(1)


def _total(facts, items, count, axis):
    """The length of all items together along an axis."""
    lengths = [dims_of(item)[axis] for item in items]
    total = Affine.of(0)
    for length in lengths:
        total = total + length
    if count is None:
        return unknown_length()
    if count.known is not None:
        return total * count.known
    return count * total.known if total.known is not None else facts.derived("joined", total, count)


def _joined_dims(facts, items, count, axis):
    """The dims of a concatenation along an axis; the other axes are equally long."""
    first = dims_of(items[0])
    for item in items[1:]:
        for i, (a, b) in enumerate(zip(first, dims_of(item), strict=True)):
            if i != axis:
                same_length(facts, a, b, "arrays that are joined agree in all other axes")
    return (*first[:axis], _total(facts, items, count, axis), *first[axis + 1 :])


def _concatenate_type(facts, callee, arrays, axis=0):
    items, count = joined_items(arrays)
    if axis is None:
        items = tuple(_flat(facts, item) for item in items)
    result = result_of(callee, items, axis=axis)
    (along,) = normalize_axes(axis or 0, len(dims_of(items[0])))
    return like_first(result, _joined_dims(facts, items, count, along), *items)


def _flat(facts, item):
    dims = (product(facts, dims_of(item)),)
    return replace(item, dims=dims) if isinstance(item, Array) else Array(item.dtype, dims)


def _stack_type(facts, callee, arrays, axis=0):
    items, count = joined_items(arrays)
    result = result_of(callee, items, axis=axis)
    (along,) = normalize_axes(axis, len(dims_of(result)))
    return like_first(result, _stacked_dims(facts, items, count, along), *items)


def _stacked_dims(facts, items, count, axis):
    first = dims_of(items[0])
    for item in items[1:]:
        for a, b in zip(first, dims_of(item), strict=True):
            same_length(facts, a, b, "arrays that are stacked have one shape")
    number = unknown_length() if count is None else count * len(items)
    return (*first[:axis], number, *first[axis:])


def _hstack_type(facts, callee, arrays):
    items, count = joined_items(arrays)
    items = tuple(_at_least(item, 1) for item in items)
    axis = 0 if len(dims_of(items[0])) == 1 else 1
    dims = _joined_dims(facts, items, count, axis)
    return like_first(result_of(callee, items), dims, *items)


def _vstack_type(facts, callee, arrays):
    items, count = joined_items(arrays)
    items = tuple(_at_least(item, 2) for item in items)
    return like_first(result_of(callee, items), _joined_dims(facts, items, count, 0), *items)


def _column_stack_type(facts, callee, arrays):
    items, count = joined_items(arrays)
    columns = tuple(map(_column, items))
    return like_first(result_of(callee, items), _joined_dims(facts, columns, count, 1), *items)


def _column(item):
    dims = dims_of(item)
    if len(dims) != 1:
        return _at_least(item, 2)
    return Array(item.dtype, (*dims, ONE), item.module, item.spelling)


def _at_least(item, rank):
    dims = dims_of(item)
    padded = (ONE,) * (rank - len(dims)) + dims
    return Array(item.dtype, padded, *((item.module, item.spelling) if dims else ()))


# -- rules -----------------------------------------------------------------------------------


@adjoint(np.concatenate, type=_concatenate_type, tangent=LINEAR)
def concatenate(out, arrays, axis=0, *, d_out):
    return (_sections(d_out, arrays, None if axis is None else axis % np.ndim(out)),)


def _sections(d_out, arrays, axis):
    if isinstance(arrays, list):
        items = []
        start = 0
        for x in arrays:
            stop = start + _extent(x, axis)
            items.append(_section(d_out, x, axis, start, stop))
            start = stop
        return items
    sections = ()
    start = None
    for x in arrays[:-1]:
        stop = _extent(x, axis) if start is None else start + _extent(x, axis)
        sections = (*sections, _section(d_out, x, axis, start, stop))
        start = stop
    return (*sections, _section(d_out, arrays[-1], axis, start, None))


def _extent(x, axis):
    return np.size(x) if axis is None else x.shape[axis]


def _section(d_out, x, axis, start, stop):
    if axis is None:
        return np.reshape(d_out[start:stop], np.shape(x))
    return d_out[(slice(None),) * axis + (slice(start, stop),)]


@adjoint(np.stack, type=_stack_type, tangent=LINEAR)
def stack(out, arrays, axis=0, *, d_out):
    return (_slices(d_out, arrays, axis % np.ndim(out)),)


def _slices(d_out, arrays, axis):
    if isinstance(arrays, list):
        return _list_like(d_out if axis == 0 else np.moveaxis(d_out, axis, 0), arrays)
    parts = ()
    for i, _ in enumerate(arrays):
        parts = (*parts, d_out[(slice(None),) * axis + (i,)])
    return parts


def _list_like(d_out, x):
    """d_out in the form of the list x: of numbers, of arrays, or of lists of those."""
    if _is_of_numbers(x):
        return d_out.tolist()
    return [_list_like(d_row, x[0]) for d_row in d_out] if isinstance(x[0], list) else list(d_out)


def _is_of_numbers(x):
    return _is_of_numbers(x[0]) if isinstance(x, list) else isinstance(x, float)


def _pieces(d_out, arrays, axis):
    """The sections of arrays that are joined along an axis; those with fewer axes than the whole
    (a row under matrices) take one place along it."""
    parts = ()
    start = None
    for x in arrays[:-1]:
        count = x.shape[axis] if np.ndim(x) == np.ndim(d_out) else 1
        stop = count if start is None else start + count
        parts = (*parts, _piece(d_out, x, axis, start, stop))
        start = stop
    return (*parts, _piece(d_out, arrays[-1], axis, start, None))


def _piece(d_out, x, axis, start, stop):
    if np.ndim(x) == np.ndim(d_out):
        return _section(d_out, x, axis, start, stop)
    place = 0 if start is None else start
    if np.ndim(d_out) - np.ndim(x) == 2:
        return d_out[place, 0] if axis == 0 else d_out[0, place]
    return d_out[(slice(None),) * axis + (place,)]


@adjoint(np.column_stack, type=_column_stack_type, tangent=LINEAR)
def column_stack(out, arrays, *, d_out):
    return (_pieces(d_out, arrays, 1),)


@adjoint(np.hstack, type=_hstack_type, tangent=LINEAR)
def hstack(out, arrays, *, d_out):
    if isinstance(arrays, list) and np.ndim(arrays[0]) == 0:
        return (_slices(d_out, arrays, 0),)
    if isinstance(arrays, list):
        return (_sections(d_out, arrays, 0 if np.ndim(out) == 1 else 1),)
    return (_pieces(d_out, arrays, 0 if np.ndim(out) == 1 else 1),)


@adjoint(np.vstack, *available(np, "row_stack"), type=_vstack_type, tangent=LINEAR)
def vstack(out, arrays, *, d_out):
    if isinstance(arrays, list) and np.ndim(arrays[0]) == 0:
        return (_slices(d_out[:, 0], arrays, 0),)
    if isinstance(arrays, list) and np.ndim(arrays[0]) == 1:
        return (_slices(d_out, arrays, 0),)
    if isinstance(arrays, list):
        return (_sections(d_out, arrays, 0),)
    return (_pieces(d_out, arrays, 0),)


# -- of another dtype ------------------------------------------------------------------------


def _of_dtype(arrays, dtype, casting):
    """The arrays, each of this dtype, as NumPy casts them before it joins them."""
    if dtype is None:
        return arrays
    for x in arrays:
        if not np.can_cast(np.asarray(x).dtype, dtype, casting):
            raise TypeError(f"Cannot cast array data to {np.dtype(dtype)} according to '{casting}'")
    return [np.asarray(x).astype(dtype) for x in arrays]


@variant(np.concatenate)
def concatenate_as(arrays, axis=0, *, dtype=None, casting="same_kind"):
    return np.concatenate(_of_dtype(arrays, dtype, casting), axis)


@variant(np.stack)
def stack_as(arrays, axis=0, *, dtype=None, casting="same_kind"):
    return np.stack(_of_dtype(arrays, dtype, casting), axis)


@variant(np.hstack)
def hstack_as(tup, *, dtype=None, casting="same_kind"):
    return np.hstack(_of_dtype(tup, dtype, casting))


@variant(np.vstack, *available(np, "row_stack"))
def vstack_as(tup, *, dtype=None, casting="same_kind"):
    return np.vstack(_of_dtype(tup, dtype, casting))


# -- arrays of numbers -----------------------------------------------------------------------


def _array_type(facts, callee, x, dtype=None):
    x = number_type(x)
    result = result_of(callee, x, dtype=dtype)
    dims = _nested_dims(facts, x)
    return like_first(result, dims, *(_leaves(x)))


def _leaves(x):
    if isinstance(x, Tuple):
        x = x.items
    if isinstance(x, (tuple, list)):
        return [leaf for item in x for leaf in _leaves(item)]
    return _leaves(x.item) if isinstance(x, Sequence) else [x]


def _nested_dims(facts, x):
    """The shape of `np.array(x)` for numbers, arrays, and tuples and lists of them."""
    if isinstance(x, Sequence):
        length, below = x.length, _nested_dims(facts, x.item)
        if below and length is not None and facts.at_least(length, 1) is False:
            return (Affine.of(0),)  # no item tells of more axes
        return (unknown_length() if length is None else length, *below)
    if isinstance(x, Tuple):
        x = x.items
    if not isinstance(x, (tuple, list)):
        return dims_of(number_type(x))
    if not x:
        return (Affine.of(0),)
    first, *others = (_nested_dims(facts, item) for item in x)
    for other in others:
        for a, b in zip(first, other, strict=True):
            same_length(facts, a, b, "the items of an array have one shape")
    return (Affine.of(len(x)), *first)


@adjoint(np.array, type=_array_type, tangent=LINEAR)
def array(out, x, dtype=None, *, d_out):
    return (_like(d_out, x),)


def _like(d_out, x):
    if isinstance(x, list):
        return _list_like(d_out, x)
    return (
        tuple([_like(d_out[i], row) for i, row in enumerate(x)]) if isinstance(x, tuple) else d_out
    )


# -- Python's sum ----------------------------------------------------------------------------


def _sum_type(facts, callee, items, start=0):
    total = type_of(start) if isinstance(start, (int, float)) else start
    for item in _summands(items):
        total = elementwise_type(facts, operator.add, x=total, y=item)
    return total


def _summands(items):
    if isinstance(items, (tuple, list)):
        return items
    if isinstance(items, Sequence):
        return (items.item,)
    return (row_type(items),)


@adjoint(builtins.sum, type=_sum_type, tangent=LINEAR)
def sum_of_items(out, items, start=0, *, d_out):
    return to_each(d_out, items), d_out


def to_each(d_out, items):
    """A number for each item, in their form."""
    if isinstance(items, list):
        return [d_out] * len(items)
    if isinstance(items, tuple):
        return tuple([d_out] * len(items))
    return np.broadcast_to(d_out, np.shape(items))
