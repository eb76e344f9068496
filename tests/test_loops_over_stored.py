"""Loops over memory that they store to, under names that they bind anew."""

from __future__ import annotations

import numpy as np
import pytest

import gradscribe as gs

X = np.array([0.5, 1.0, 1.5, 0.7, 0.3])
CONSTANT = np.ones(5)


class Box:
    pass


def store(target, place, value):
    target[place] = value


def rebound(x):
    y, t = x * 1.0, 0.0
    for e in y:
        t = t + e
        y[1] = 5.0
        y = y * 2
    return t


def swapped(x):
    y, w, t = x * 1.0, x * 2.0, 0.0
    for e in y:
        t = t + e
        w[3] = 2.0
        y, w = w, y
    return t


def another_name(x):
    y, t = x * 1.0, 0.0
    z = y
    for e in z:
        t = t + e * e
        y = y[::-1]
        y[0] = 0.7
    return t


def enumerated(x):
    y, t = x * 1.0, 0.0
    for k, e in enumerate(y):
        t = t + e * (k + 1)
        y[1] = 5.0
        y = y * 2
    return t


def zipped(x):
    y, t = x * 1.0, 0.0
    for e, g in zip(y, x, strict=True):
        t = t + e * g
        y[2] = g * 3
        y = y + 1
    return t


def backwards(x):
    y, t = x * 1.0, 0.0
    for e in reversed(y):
        t = t + e
        y[1] = 5.0
        y = y * 2
    return t


def a_part(x):
    y, t = x * 1.0, 0.0
    for e in y[1:3]:
        t = t + e
        y[2] = 5.0
        y = y * 2
    return t


def a_list(x):
    y, t = list(x), 0.0
    for e in y:
        t = t + e
        y[1] = 5.0
        y = [0.0] * 5
    return t


def a_constant(x):
    y, t = CONSTANT * 1.0, 0.0
    for e in y:
        t = t + e * x[0]
        y[1] = 5.0
        y = y * 2
    return t


def by_a_helper(x):
    y, t = x * 1.0, 0.0
    for e in y:
        t = t + e
        store(y, 3, 2.0)
        y = y * 2
    return t


def in_place(x):
    y, t = x * 1.0, 0.0
    for e in y:
        t = t + e
        y += 1.0
        y = y + 0.0
    return t


def out(x):
    y, t = x * 1.0, 0.0
    for e in y:
        t = t + e
        np.add(y, 1.0, out=y)
        y = y.copy()
    return t


def by_a_nested_function(x):
    y = x * 1.0

    def taken(v):
        nonlocal y
        y[2] = v * 2
        y = y * 0.5
        return v

    a = [taken(v) for v in y]
    return a[0] + 2 * a[1] + 3 * a[2] + sum(taken(v) for v in y)


def an_attribute(x):
    box, t = Box(), 0.0
    box.y = x * 1.0
    for e in box.y:
        t = t + e
        box.y[1] = 5.0
        box.y = box.y * 2
    return t


def an_item(x):
    box, t = {"y": x * 1.0}, 0.0
    for e in box["y"]:
        t = t + e
        box["y"][1] = 5.0
        box["y"] = box["y"] * 2
    return t


def rows(x):
    y, t = np.outer(x, x), 0.0
    for row in y:
        t = t + row.sum()
        y[2] = 5.0
        y = y * 2
    return t


def under_a_condition(x):
    y, t = x * 1.0, 0.0
    for e in y:
        if e > 0.6:
            y[3] = e * e
            y = y * 2
        t = t + e
    return t


def nested(x):
    y, t = x * 1.0, 0.0
    for e in y:
        t = t + e
        for g in y:
            t = t + g * 0.1
            y[0] = g
            y = y * 1.5
    return t


def many(x):
    y, t = np.concatenate([x, x, x, x, x]), 0.0
    for e in y:
        t = t + e
        y[7] = 5.0
        y = y * 0.9
    return t


def counted(x):
    y, t = x * 1.0, 0.0
    for (k,), e in np.ndenumerate(y):
        t = t + e * (k + 1)
        y[1] = 5.0
        y = y * 2
    return t


def filtered(x):
    y, t = x * 1.0, 0.0
    for e in filter(lambda v: v > 0.4, y):
        t = t + e
        y[4] = e
        y = y * 0.5
    return t


def generated(x):
    y, t = x * 1.0, 0.0
    for e in (v * v for v in y):
        t = t + e
        y[1] = 5.0
        y = y * 2
    return t


PROGRAMS = [value for value in globals().values() if getattr(value, "__module__", "") == __name__]
PROGRAMS = [f for f in PROGRAMS if callable(f) and f not in (Box, store)]
REFUSED = {filtered, generated}
"""Programs that compiled code may refuse: their items are computed at once."""


@pytest.mark.parametrize("compile", [True, "auto", False])
@pytest.mark.parametrize("program", PROGRAMS)
def test_later_items_are_what_has_been_stored(program, compile):
    expected, step = program(X.copy()), 1e-6
    slopes = [
        (program(X + step * unit) - program(X - step * unit)) / (2 * step) for unit in np.eye(5)
    ]
    direction = np.arange(1.0, 6.0)
    try:
        value, gradient = gs.value_and_grad(program, compile=compile)(X.copy())
        same, tangent = gs.jvp(program, (X.copy(),), (direction,), compile=compile)
    except gs.errors.UnsupportedError:
        assert program in REFUSED and compile is True
        return
    assert value == pytest.approx(expected) == same
    np.testing.assert_allclose(gradient, slopes, atol=1e-6)
    assert tangent == pytest.approx(np.dot(slopes, direction), abs=1e-6)
