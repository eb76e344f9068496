"""`a[i] op= value`: the item is read before the value is computed, which may change it."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

import gradscribe as gs

X = np.array([0.9, 1.3, 0.6])
OUTSIDE = np.ones(3)


class Holder:
    items: Any


def changed_by_unread_code(x):
    w = np.ones(3)
    w[1] += struct.pack_into("d", w, 8, 5.0) or 1.0
    return np.sum(w * x)


def element(x):
    w = x * 1.0

    def other():
        w[1] = 7.0
        return x[0]

    w[1] += other()
    w[1] *= other()
    return np.sum(w * x)


def gathered(x):
    w = x * 1.0

    def other():
        w[1] = 7.0
        return x[0]

    w[[0, 1]] -= other()
    w[w > 0.0] /= other()
    return np.sum(w * x)


def view(x):
    w = x * 1.0

    def other():
        w[1] = 7.0
        return x[0]

    w[0:2] += other()
    w[...] **= other()
    return np.sum(w * x)


def of_two_axes_in_a_loop(x):
    w = np.outer(x, x)

    def other(i):
        w[0, i] = 7.0 * x[0]
        return x[1]

    for i in range(2):
        w[0, i] += other(i) if x[i] > 1.0 else 2.0
    return np.sum(w)


def held(x):
    holder, table = Holder(), {"a": x * 2.0}
    holder.items = x * 1.0

    def other():
        holder.items[1] = 7.0
        table["a"][1] = x[2]
        return x[0]

    holder.items[1] += other()
    table["a"][1] /= other()
    return np.sum(holder.items * table["a"])


def outside(x):
    OUTSIDE[:] = 1.0

    def other():
        OUTSIDE[1] = 5.0
        return 1.0

    OUTSIDE[1] += other()
    return np.sum(OUTSIDE * x)


PROGRAMS = [
    *(changed_by_unread_code, element, gathered, view, of_two_axes_in_a_loop, held, outside),
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_an_item_is_read_before_what_it_is_changed_by(program: Any) -> None:
    steps = np.eye(3) * 1e-6
    differences = [(program(X + s) - program(X - s)) / 2e-6 for s in steps]
    for how in ({}, {"compile": False}):
        value, gradient = gs.value_and_grad(program, **how)(X)
        assert value == program(X)
        np.testing.assert_allclose(gradient, differences, rtol=1e-6)
    tangents = [gs.jvp(program, (X,), (s,))[1] for s in np.eye(3)]
    np.testing.assert_allclose(tangents, differences, rtol=1e-6)
