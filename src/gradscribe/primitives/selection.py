"""Elements taken of arrays, repeated, left out, put in: by index, by condition, by choice."""

from __future__ import annotations

import warnings

import numpy as np

from gradscribe.ir.types import Array
from gradscribe.primitives.array_parts import section
from gradscribe.primitives.joining import joined_items
from gradscribe.primitives.registry import adjoint, composition, variant
from gradscribe.primitives.static import as_places, known
from gradscribe.primitives.typing import (
    TypeRuleError,
    dims_of,
    length_of,
    like_first,
    normalize_axes,
    number_type,
    product,
    result_of,
    unknown_length,
)

# -- by index ------------------------------------------------------------------------------------


@composition(np.take, "take")
def take(a, indices, axis=None, *, mode="raise"):
    a = np.ravel(a) if axis is None else np.asarray(a)
    along = 0 if axis is None else axis % np.ndim(a)
    indices = as_places(indices)
    if mode == "wrap":
        indices = np.mod(indices, a.shape[along])
    if mode == "clip":
        indices = np.clip(indices, 0, a.shape[along] - 1)
    taken = a[(slice(None),) * along + (indices,)]
    return np.copy(taken) if np.ndim(indices) == 0 and np.ndim(a) > 1 else taken


@composition(np.delete)
def delete(arr, obj, axis=None):
    arr = np.ravel(arr) if axis is None else arr
    along = 0 if axis is None else axis % np.ndim(arr)
    keep = np.ones(arr.shape[along], dtype=bool)
    keep[obj] = False
    return arr[(slice(None),) * along + (keep,)]


@composition(np.insert)
def insert(arr, obj, values, axis=None):
    arr = np.ravel(arr) if axis is None else arr
    along = 0 if axis is None else axis % np.ndim(arr)
    if np.asarray(obj).dtype == np.bool_ and MASKS_INSERT:
        obj = _places_of_mask(obj)
    obj = as_places(obj)
    if np.ndim(obj) > 0:
        return _inserted(arr, np.asarray(obj), values, along)
    length = arr.shape[along]
    if obj > length or obj < -length:
        raise IndexError("the place to insert at is outside of the array")
    at = obj + length if obj < 0 else obj
    head, tail = section(arr, along, None, at), section(arr, along, at, None)
    return np.concatenate((head, _fitting(values, head, along), tail), axis=along)


def _inserts_by_mask():
    """Whether this NumPy takes bools for a mask; before, they were the places 0 and 1."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return np.insert(np.zeros(1), np.zeros(1, dtype=bool), 1.0).shape == (1,)


MASKS_INSERT = _inserts_by_mask()


def _places_of_mask(mask):
    if isinstance(mask, (list, tuple)) or np.ndim(mask) != 1:
        raise ValueError("boolean array argument obj to insert must be one dimensional")
    return np.flatnonzero(mask)


def _inserted(arr, places, values, along):
    """An array with values put in before several places along an axis, one for each; all before
    the place, if it is one."""
    length = arr.shape[along]
    if len(places) == 1:
        values = np.array(values, ndmin=np.ndim(arr))
        places = np.repeat(places, values.shape[along])
    places = np.where(places < 0, places + length, places)
    rank = np.argsort(np.argsort(places, kind="stable"), kind="stable")
    places = places + rank
    kept = np.ones(length + len(places), dtype=bool)
    kept[places] = False
    shape = (*arr.shape[:along], length + len(places), *arr.shape[along + 1 :])
    result = np.empty(shape, dtype=arr.dtype)
    result[(slice(None),) * along + (places,)] = values
    result[(slice(None),) * along + (kept,)] = arr
    return result


def _fitting(values, part, axis):
    """Values to be put in at one place, with the axes and the precision of the array."""
    rank = np.ndim(part)
    values = np.asarray(values)
    values = np.reshape(values, (1,) * (rank - np.ndim(values)) + np.shape(values))
    values = np.moveaxis(values, 0, axis)
    shape = (*part.shape[:axis], values.shape[axis], *part.shape[axis + 1 :])
    values = np.broadcast_to(values, shape)
    return values if values.dtype == part.dtype else values.astype(part.dtype)


def _repeat_type(facts, callee, a, repeats, axis=None):
    a = number_type(a)
    dims = dims_of(a) if axis is not None else (product(facts, dims_of(a)),)
    (along,) = normalize_axes(0 if axis is None else axis, len(dims))
    length = unknown_length()
    if isinstance(repeats, Array) and np.dtype(repeats.dtype).kind not in "biu":
        raise TypeRuleError("expected integers, how often each is repeated")
    if not isinstance(repeats, Array):
        length = product(facts, (dims[along], length_of(repeats)))
    result = result_of(np.ravel, a)
    return like_first(result, (*dims[:along], length, *dims[along + 1 :]), a)


def _repeat_tangent(out, a, repeats, axis=None, *, d_a):
    return np.repeat(d_a, repeats, axis)


@adjoint(np.repeat, methods=("repeat",), type=_repeat_type, tangent=_repeat_tangent)
def repeat(out, a, repeats, axis=None, *, d_out):
    rows = np.ravel(a) if axis is None else a
    along = 0 if axis is None else axis % np.ndim(rows)
    if np.ndim(repeats) == 0:
        apart = np.reshape(d_out, (*rows.shape[: along + 1], repeats, *rows.shape[along + 1 :]))
        d_rows = np.sum(apart, axis=along + 1)
    else:
        d_rows = np.zeros_like(rows)
        index = np.repeat(np.arange(rows.shape[along]), repeats)
        np.add.at(d_rows, (*(slice(None),) * along, index), d_out)
    return np.reshape(d_rows, np.shape(a))


# -- by condition --------------------------------------------------------------------------------


@composition(np.compress)
def compress(condition, a, axis=None):
    return take(a, np.flatnonzero(np.asarray(condition)), axis)


@composition("compress")
def compressed(a, condition, axis=None):
    return compress(condition, a, axis)


@composition(np.extract)
def extract(condition, arr):
    return np.ravel(arr)[np.flatnonzero(np.ravel(condition))]


@composition(np.select)
def select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ValueError("there are as many conditions as choices")
    choices = _alike((*choicelist, default))
    result = choices[-1]
    for condition, choice in tuple(zip(condlist, choices))[::-1]:  # noqa: B905
        result = np.where(condition, choice, result)
    return result


def _alike(choices):
    """Arrays and numbers, the numbers of the dtype of the first array that there is."""
    arrays, alike = (), ()
    for choice in choices:
        arrays = (*arrays, choice) if np.ndim(choice) > 0 else arrays
    for choice in choices:
        if known(choice) and len(arrays) > 0 and arrays[0].dtype.kind == "f":
            choice = np.asarray(choice, dtype=arrays[0].dtype)
        alike = (*alike, choice)
    return alike


@composition(np.piecewise)
def piecewise(x, condlist, funclist, *args, **kw):
    x = np.asarray(x)
    if np.ndim(condlist) == 0 or (np.ndim(condlist[0]) == 0 and np.ndim(x) > 0):
        condlist = [condlist]
    conditions = tuple([np.asarray(condition, dtype=bool).copy() for condition in condlist])
    if len(conditions) == len(funclist) - 1:
        others = ~conditions[0]
        for condition in conditions[1:]:
            others = others & ~condition
        conditions = (*conditions, others)
    if len(conditions) != len(funclist):
        raise ValueError("there are as many functions as conditions, or one more")
    y = np.zeros_like(x)
    for condition, function in zip(conditions, funclist):  # noqa: B905
        if not callable(function):
            y[condition] = function
            continue
        taken = x[condition]
        if np.size(taken) > 0:
            y[condition] = function(taken, *args, **kw)
    return y


# -- by choice -----------------------------------------------------------------------------------


def _choose_type(facts, callee, a, arrays):
    items, _ = joined_items(arrays)
    result = result_of(callee, a, items)
    if not isinstance(result, Array):
        return result
    return like_first(result, facts.broadcast(map(dims_of, (a, *items))), a, *items)


def _choose_tangent(out, a, arrays, *, d_arrays):
    return np.choose(a, d_arrays)


@adjoint(np.choose, type=_choose_type, tangent=_choose_tangent, masks=True)
def choose(out, a, arrays, *, d_out):
    parts = ()
    for i, _ in enumerate(arrays):
        parts = (*parts, np.where(a == i, d_out, 0))
    return None, parts


@variant(np.choose)
def choose_within(a, choices, *, mode="raise"):
    if mode not in ("raise", "clip", "wrap"):
        raise TypeError("clipmode not understood")
    if mode == "clip":
        a = np.clip(a, 0, len(choices) - 1)
    if mode == "wrap":
        a = np.mod(a, len(choices))
    return np.choose(a, choices)


@variant("choose")
@composition("choose")
def chosen(a, choices, *, mode="raise"):
    return np.choose(a, choices) if mode == "raise" else choose_within(a, choices, mode=mode)


@composition(np.trim_zeros)
def trim_zeros(filt, trim="fb", axis=None):
    places = np.flatnonzero(filt)
    if len(places) == 0:
        return filt[:0]
    start = places[0] if "f" in trim.lower() else 0
    stop = places[-1] + 1 if "b" in trim.lower() else len(filt)
    return filt[start:stop]
