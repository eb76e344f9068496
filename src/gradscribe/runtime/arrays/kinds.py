"""Dtype and shape of an array as one object, by which calls of one kind are known."""

from __future__ import annotations

from typing import Any

import numpy as np


class Kind:
    """A dtype and a shape; there is one of each pair. (Its hash is its identity.)

    types: shape and dtype of the only output of a node whose result is of this kind. stand_in: an
        array of this kind that takes no memory.
    """

    __slots__ = ("dtype", "shape", "stand_in", "types")

    def __init__(self, dtype: Any, shape: tuple[int, ...]) -> None:
        self.dtype = dtype
        self.shape = shape
        self.types = ((shape, dtype),)
        self.stand_in = np.broadcast_to(np.zeros((), dtype), shape)


_KINDS: dict[tuple[Any, tuple[int, ...]], Kind] = {}
_MOST_KINDS = 1 << 14


def kind_for(dtype: Any, shape: tuple[int, ...]) -> Kind:
    """The kind of arrays of this dtype and shape."""
    place = dtype, shape
    kind = _KINDS.get(place)
    if kind is None:
        if len(_KINDS) >= _MOST_KINDS:
            _KINDS.clear()
        kind = _KINDS[place] = Kind(*place)
    return kind


def kind_of_array(array: Any) -> Kind:
    """The kind of an array."""
    return kind_for(array.dtype, array.shape)
