"""The cotangent of what is stored through indices that may repeat: the last writer gets it.

To find the writers whose values stay, their numbers are stored through the same indices:

    last = np.zeros(x.shape, dtype=int)
    last[idx] = order = np.arange(n)
    d_v = np.where(last[idx] == order, d_x[idx], 0)
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Value
from gradscribe.ir.types import Array
from gradscribe.primitives.indexing import LENGTH, SIZE, STORE
from gradscribe.transforms.adjoint.scopes import Scope
from gradscribe.transforms.building import view_at
from gradscribe.transforms.derivatives.cotangents import call, constant


def last_written(scope: Scope, d_x: Value, path: tuple[Any, ...]) -> Value:
    """The part of `d_x` that the path leads to, zero where a later item of it stays instead."""
    builder = scope.builder
    *views, gather = path
    target = view_at(builder, d_x, tuple(views))
    given = view_at(builder, target, (gather,))
    if not isinstance(given.type, Array):
        return given
    order = call(builder, np.arange, builder.call(SIZE, {"x": given}), name="order")
    if given.type.rank > 1:
        order = call(builder, np.reshape, order, shape=_shape(builder, given), name="order")
    last = call(builder, np.zeros, shape=_shape(builder, target), dtype=int, name="last")
    arguments = {"x": last, "value": order, "path": (gather,)}
    last = builder.call(STORE, arguments, name="last")
    stays = call(builder, operator.eq, view_at(builder, last, (gather,)), order)
    return call(builder, np.where, stays, given, constant(builder, 0))


def _shape(builder: Builder, x: Value) -> tuple[Any, ...]:
    assert isinstance(x.type, Array)
    return tuple(
        builder.call(LENGTH, {"x": x, "axis": axis}) if length.known is None else length.known
        for axis, length in enumerate(x.type.dims)
    )
