"""Derivatives that are computed in a run of their own, after that of the function."""

from __future__ import annotations

import collections
import io
import random
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError

X = np.array([0.7, 1.3])


def of_a_seed(x):
    rng = np.random.default_rng(0)
    bias = rng.normal(size=2)
    return np.sum(rng.normal(size=2) * x**2 + bias)


def of_python_s_random(x):
    rng = random.Random(0)
    rng.random()
    return rng.random() * np.sum(x**2)


def of_a_stream(x):
    stream = io.StringIO()
    stream.write("3.5")
    return np.sum(x**2) * float(stream.getvalue())


def of_bytes(x):
    held = bytearray(b"aa")
    held.extend(b"bcd")
    return np.sum(x**2) * len(held)


def of_a_queue(x):
    queue = collections.deque([1.0])
    queue.append(2.0)
    return np.sum(x**2) * queue.index(2.0)


def by_a_method_of_it(x):
    rng = random.Random(0)
    draw = rng.random
    draw()
    return np.sum(x**2) * rng.random()


def in_a_loop(x):
    rng = random.Random(0)
    for _ in range(3):
        rng.random()
    return np.sum(x**2) * rng.random()


def one_of_two(x):
    rng, other = random.Random(0), random.Random(1)
    chosen = rng if x[0] > 0 else other
    chosen.random()
    return np.sum(x**2) * rng.random()


FUNCTIONS = [
    by_a_method_of_it,
    in_a_loop,
    of_a_seed,
    of_python_s_random,
    of_a_stream,
    of_bytes,
    of_a_queue,
]


def by_pullback(function: Any) -> Any:
    return gs.vjp(gs.grad(function), X)[1](np.ones(2))[0]


def by_tensors(function: Any) -> Any:
    t = gs.tensor(X, requires_grad=True)
    out = gs.differentiable(function)(t)
    (slope,) = gs.autograd.grad(out, t, create_graph=True)
    return gs.autograd.grad(slope.sum(), t)[0].numpy()


@pytest.mark.parametrize("derive", [by_pullback, by_tensors])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_the_run_makes_is_moved_on_as_in_the_first_run(function: Any, derive: Any) -> None:
    expected = np.diag(gs.hessian(function)(X))
    assert derive(function) == pytest.approx(expected)


def drawn(x):
    return np.sum(x**2) * np.random.rand()


def test_what_is_drawn_outside_is_not_drawn_anew() -> None:
    np.random.seed(0)
    state = np.random.get_state()[2]
    with pytest.raises(UnsupportedError, match="draws random numbers"):
        gs.vjp(gs.grad(drawn), X)
    assert np.random.get_state()[2] == state


@pytest.mark.parametrize("derive", [by_pullback, by_tensors])
def test_one_of_two_generators_is_refused(derive: Any) -> None:
    with pytest.raises(UnsupportedError, match="draws random numbers"):
        derive(one_of_two)


def test_a_file_that_is_only_written_to_is_written_once(tmp_path: Any) -> None:
    path = tmp_path / "told.txt"

    def function(x):
        told = open(path, "a")
        told.write("x")
        print("y", end="", file=told)
        told.close()
        return np.sum(x**2)

    for derive in (by_pullback, by_tensors):
        path.write_text("")
        assert derive(function) == pytest.approx([2.0, 2.0])
        assert path.read_text() == "xy"
