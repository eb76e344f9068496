"""What goes into code in C is not differentiated, though loops and branches have handed it on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs

native = pytest.importorskip("tests.border.compiled_code").native
X = np.linspace(0.5, 1.5, 4)


def read_beside(r, unit=np.eye(3)):
    return np.tanh(r) * unit[0, 0]


def number_of_a_loop(x):
    held = np.cos(np.arange(3.0))
    for _ in x:
        rate = 0.5
        native.apply(lambda v: 0.5 * v + rate, held)
    if x[0] > 0:
        native.scale(held, 0.5)
    return read_beside(x[0])


def number_of_a_branch(x):
    held = np.cos(np.arange(3.0))
    rate = 0.5 if x[0] > 0 else 0.25
    if x[1] > 0:
        native.apply(lambda v: 0.5 * v + rate, held)
    return read_beside(x[0])


def number_of_loops_in_loops(x):
    held = np.cos(np.arange(3.0))
    rate = 0.25
    for _ in x:
        for _ in range(2):
            rate = 0.5
    if x[1] > 0:
        native.apply(lambda v: 0.5 * v + rate, held)
    return read_beside(x[0])


@pytest.mark.parametrize(
    "function", [number_of_a_loop, number_of_a_branch, number_of_loops_in_loops]
)
def test_what_is_found_outside_may_be_read_after_the_call(function: Any) -> None:
    value, gradient = gs.value_and_grad(function)(X)
    assert value == function(X)
    assert gradient == pytest.approx([1 / np.cosh(X[0]) ** 2, 0, 0, 0])
