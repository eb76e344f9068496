"""NumPy's functions that give views, where they are made of others, on Tensors: the results are
views of the Tensor, recorded as such, so that a store to one of them is a store to the Tensor.

Those that are primitives (`np.moveaxis`, `np.flip`) are rows of their own in `numpy_protocol.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from gradscribe.primitives.registry import COMPOSITIONS, available
from gradscribe.runtime.operations import indexing, joining
from gradscribe.runtime.operations.viewing import places_between
from gradscribe.runtime.tensors.tensor import Tensor, wrap


def flipud(m: Tensor) -> Any:
    """The first axis backwards."""
    if not m.ndim:
        raise ValueError("Input must be >= 1-d.")
    return np.flip(m, 0)


def fliplr(m: Tensor) -> Any:
    """The second axis backwards."""
    if m.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return np.flip(m, 1)


def rot90(m: Tensor, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    """A plane turned by so many right angles."""
    np.rot90(np.broadcast_to(0, m.shape), k, axes)  # raises NumPy's errors
    first, second = axes
    flipped = {0: (), 1: (second,), 2: (first, second), 3: (first,)}[k % 4]
    turned: Any = np.flip(m, flipped) if flipped else m[...]
    return np.swapaxes(turned, first, second) if k % 2 else turned


def split(ary: Tensor, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Pieces of equal length along an axis, or between indices."""
    if isinstance(indices_or_sections, (int, np.integer)):
        length = ary.shape[normalize_axis_index(axis, ary.ndim)]
        if length % indices_or_sections:
            raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


def array_split(ary: Tensor, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Pieces of nearly equal length along an axis, or between indices."""
    axis = normalize_axis_index(axis, ary.ndim)
    ends = indices_or_sections
    if isinstance(ends, (int, np.integer)):
        if ends < 1:
            raise ValueError("number sections must be larger than 0.")
        places = places_between(ary.shape[axis], int(ends))
    else:
        places = places_between(ary.shape[axis], [int(end) for end in ends])
    return list(indexing.at_places(ary, axis, places))


def diag(v: Tensor, k: int = 0) -> Any:
    """The diagonal of a matrix, or the matrix of a diagonal."""
    if v.ndim not in (1, 2):
        raise ValueError("Input must be 1- or 2-d.")
    return np.diagonal(v, k) if v.ndim == 2 else np.diagflat(v, k)


def _of_tensors(composed: Callable[..., Any]) -> Callable[..., Any]:
    """A composition of NumPy's functions, on Tensors and arrays as Tensors."""

    @functools.wraps(composed)
    def function(*args: Any, **kwargs: Any) -> Any:
        tensors = (wrap(arg) if isinstance(arg, np.ndarray) else arg for arg in args)
        return composed(*tensors, **kwargs)

    return function


def _divided(splitting: Callable[..., Any]) -> Callable[..., list[Tensor]]:
    """NumPy's split along a certain axis."""

    @functools.wraps(splitting)
    def function(ary: Tensor, indices_or_sections: Any) -> list[Tensor]:
        splitting(np.broadcast_to(0, ary.shape), indices_or_sections)  # raises NumPy's errors
        parts: list[Tensor] = COMPOSITIONS[splitting](ary, indices_or_sections)
        return parts

    return function


_COMPOSED = (
    *(np.broadcast_arrays, np.linalg.diagonal, np.linalg.matrix_transpose, np.rollaxis),
    *available(np, "unstack"),
)

VIEWS: Mapping[Any, Callable[..., Any]] = {
    **{function: _of_tensors(COMPOSITIONS[function]) for function in _COMPOSED},
    np.atleast_1d: _of_tensors(joining.atleast_1d),
    np.atleast_2d: _of_tensors(joining.atleast_2d),
    np.atleast_3d: _of_tensors(joining.atleast_3d),
    **{function: _divided(function) for function in (np.dsplit, np.hsplit, np.vsplit)},
    np.split: split,
    np.array_split: array_split,
    np.diag: diag,
    np.flipud: flipud,
    np.fliplr: fliplr,
    np.rot90: rot90,
}
"""What each of the functions does with Tensors."""
