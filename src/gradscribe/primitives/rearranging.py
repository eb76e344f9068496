"""Arrays turned, cut, tiled and put together, by views and joins.

Each is what NumPy's own function does: its results are views where those of NumPy are.
"""

from __future__ import annotations

import numpy as np

from gradscribe.primitives.registry import available, composition
from gradscribe.primitives.static import as_places

# -- turned ----------------------------------------------------------------------------------


@composition(np.flipud)
def flipud(m):
    return np.asarray(m)[::-1]


@composition(np.fliplr)
def fliplr(m):
    return np.asarray(m)[:, ::-1]


@composition(np.rot90)
def rot90(m, k=1, axes=(0, 1)):
    first, second = axes
    m = np.asarray(m)
    if k % 4 == 0:
        return m[:]
    if k % 4 == 2:
        return np.flip(np.flip(m, first), second)
    if k % 4 == 1:
        return np.swapaxes(np.flip(m, second), first, second)
    return np.flip(np.swapaxes(m, first, second), second)


@composition(np.rollaxis, static=("start",))
def rollaxis(a, axis, start=0):
    rank = np.ndim(a)
    if not -rank <= axis < rank or not -rank <= start <= rank:
        raise ValueError(f"axis {axis} or start {start} is out of bounds for {rank} axes")
    source, target = axis % rank, start + rank if start < 0 else start
    return np.moveaxis(a, source, target - 1 if source < target else target)


@composition(np.linalg.matrix_transpose)
def matrix_transpose(x):
    return np.swapaxes(x, -1, -2)


@composition(np.linalg.diagonal)
def diagonal(x, *, offset=0):
    return np.diagonal(x, offset, axis1=-2, axis2=-1)


# -- with more axes ----------------------------------------------------------------------------


@composition(np.atleast_1d)
def atleast_1d(*arys):
    return _of_each(arys, _vector)


@composition(np.atleast_2d)
def atleast_2d(*arys):
    return _of_each(arys, _matrix)


@composition(np.atleast_3d)
def atleast_3d(*arys):
    return _of_each(arys, _stack)


def _of_each(arrays, function):
    results = ()
    for x in arrays:
        results = (*results, function(x))
    return results[0] if len(results) == 1 else results


def _vector(x):
    x = np.asarray(x)
    return np.reshape(x, (1,)) if np.ndim(x) == 0 else x


def _matrix(x):
    x = np.asarray(x)
    if np.ndim(x) == 0:
        return np.reshape(x, (1, 1))
    return x[None, :] if np.ndim(x) == 1 else x


def _stack(x):
    x = np.asarray(x)
    if np.ndim(x) == 0:
        return np.reshape(x, (1, 1, 1))
    if np.ndim(x) == 1:
        return x[None, :, None]
    return x[:, :, None] if np.ndim(x) == 2 else x


@composition(np.broadcast_arrays)
def broadcast_arrays(*args):
    shape = np.broadcast_shapes(*shapes_of(args))
    results = ()
    for x in args:
        results = (*results, np.broadcast_to(x, shape))
    return results


def shapes_of(arrays):
    shapes = ()
    for x in arrays:
        shapes = (*shapes, np.shape(x))
    return shapes


@composition(np.meshgrid)
def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    rank = len(xi)
    if indexing not in ("xy", "ij"):
        raise ValueError("`indexing` is 'xy' or 'ij'")
    grids = ()
    for i, x in enumerate(xi):
        axis = 1 - i if indexing == "xy" and i < 2 and rank > 1 else i
        grids = (*grids, np.reshape(x, (1,) * axis + (-1,) + (1,) * (rank - axis - 1)))
    if not sparse:
        grids = broadcast_arrays(*grids)
    return _of_all(grids, np.copy) if copy else grids


def _of_all(arrays, function):
    results = ()
    for x in arrays:
        results = (*results, function(x))
    return results


# -- cut into parts ----------------------------------------------------------------------------


@composition(np.array_split)
def array_split(ary, indices_or_sections, axis=0):
    if not isinstance(indices_or_sections, int):
        return np.split(ary, indices_or_sections, axis)
    if indices_or_sections < 1:
        raise ValueError("there is one section at least")
    each = ary.shape[axis] // indices_or_sections
    longer = ary.shape[axis] % indices_or_sections
    bounds = ()
    for i in tuple(range(1, indices_or_sections)):
        bounds = (*bounds, i * each + min(i, longer))
    return np.split(ary, bounds, axis)


@composition(np.hsplit)
def hsplit(ary, indices_or_sections):
    return np.split(ary, indices_or_sections, 0 if np.ndim(ary) == 1 else 1)


@composition(np.vsplit)
def vsplit(ary, indices_or_sections):
    return np.split(ary, indices_or_sections, 0)


@composition(np.dsplit)
def dsplit(ary, indices_or_sections):
    return np.split(ary, indices_or_sections, 2)


@composition(*available(np, "unstack"))
def unstack(x, *, axis=0):
    return tuple(np.moveaxis(x, axis, 0))


# -- put together ------------------------------------------------------------------------------


@composition(np.dstack)
def dstack(tup):
    return np.concatenate([_stack(x) for x in tup], axis=2)


@composition(np.append)
def append(arr, values, axis=None):
    if axis is None:
        return np.concatenate((np.ravel(arr), np.ravel(values)))
    return np.concatenate((arr, values), axis=axis)


@composition(np.block)
def block(arrays):
    if not isinstance(arrays, list):
        return np.copy(arrays)
    rank = _block_rank(arrays)
    return _joined_block(arrays, _block_depth(arrays), rank)


def _block_depth(arrays):
    return 1 + _block_depth(arrays[0]) if isinstance(arrays, list) else 0


def _block_rank(arrays):
    """How many axes a block of nested lists has."""
    if not isinstance(arrays, list):
        return np.ndim(arrays)
    rank = _block_depth(arrays)
    for below in arrays:
        rank = max(rank, _block_rank(below))
    return rank


def _joined_block(arrays, depth, rank):
    if not isinstance(arrays, list):
        x = np.asarray(arrays)
        return x[(None,) * (rank - np.ndim(x)) + (...,)]
    parts = ()
    for below in arrays:
        parts = (*parts, _joined_block(below, depth - 1, rank))
    return np.concatenate(parts, axis=-depth)


@composition(np.tile)
def tile(A, reps):
    counts = tuple(reps) if isinstance(reps, (tuple, list)) else (reps,)
    shape = (1,) * (len(counts) - np.ndim(A)) + np.shape(A)
    counts = (1,) * (len(shape) - len(counts)) + counts
    apart, repeated, joined = (), (), ()
    for n, count in zip(shape, counts):  # noqa: B905
        apart = (*apart, 1, n)
        repeated = (*repeated, as_places(count), n)
        joined = (*joined, count * n)
    return np.reshape(np.broadcast_to(np.reshape(A, apart), repeated), joined)


@composition(np.resize)
def resize(a, new_shape):
    flat = np.ravel(a)
    count = 1
    for n in new_shape if isinstance(new_shape, (tuple, list)) else (new_shape,):
        count = count * n
    return np.reshape(flat[np.arange(count) % flat.shape[0]], new_shape)


# -- spectra in order --------------------------------------------------------------------------


@composition(np.fft.fftshift)
def fftshift(x, axes=None):
    return _half_rolled(x, axes, 0)


@composition(np.fft.ifftshift)
def ifftshift(x, axes=None):
    return _half_rolled(x, axes, 1)


def _half_rolled(x, axes, up):
    """Rolled by half of the length, rounded down, or (backwards) up, along axes."""
    x = np.asarray(x)
    axes = tuple(range(np.ndim(x))) if axes is None else axes
    many = axes if isinstance(axes, (tuple, list)) else (axes,)
    if len(many) == 0:
        return np.copy(x)
    for axis in many:
        x = np.roll(x, (x.shape[axis] + up) // 2, axis)
    return x
