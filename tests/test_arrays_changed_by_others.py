"""Arrays from outside that code which cannot be read changes before the program reads them: every
transform computes with what they hold then, or refuses that."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError

X = np.array([1.0, 2.0, 3.0])
ALL = np.array([4.0, 1.0, 2.0, 3.0, 5.0])
W, TURNED = ALL[1:4], ALL[::-1][:3]
OTHER = np.array([2.0, 3.0, 4.0])
SPREAD = np.broadcast_to(ALL[:1], 3)
BYTES = bytearray(ALL.tobytes())
OF_BYTES = np.frombuffer(BYTES)[:3]
START = ALL.copy()
DATABASE = sqlite3.connect(":memory:", check_same_thread=False)


class Model:
    weights = W


MODEL = Model()


def halve() -> int:
    ALL.__imul__(0.5)
    BYTES[6] = 0  # 4.0 is 2.0 then
    return 1


DATABASE.create_function("halve", 0, halve)


@gs.primitive
def add(v):
    ALL[:] += v
    return float(ALL.sum())


@add.like
def _(v):
    return 0.0


def run():
    DATABASE.execute("select halve()").fetchall()


def reads_a_view(x):
    run()
    return np.sum(W * x**2)


def reads_two_views(x):
    run()
    return np.sum(W * TURNED * x**2)


def reads_what_is_spread(x):
    run()
    return np.sum(SPREAD * np.exp(x))


def reads_the_memory_of_an_object(x):
    run()
    return np.sum(OF_BYTES * x**2)


def reads_an_attribute(x):
    run()
    return np.sum(MODEL.weights * x**2)


def reads_another_array_before(x):
    before = np.sum(OTHER * x)
    run()
    return before + np.sum(W * OTHER * x**2)


def reads_after_two_calls(x):
    run()
    run()
    return np.sum(W * x**2)


def reads_after_one_path(x):
    if x[0] > 0.0:
        run()
    total = 0.0
    for k in range(3):
        total += W[k] * x[k] ** 2
    return total


def reads_after_a_primitive(x):
    found = add(1.0)
    return found * np.sum(x**2) + W @ x


def stores_afterwards(x):
    run()
    MODEL.weights[0] += 2.0
    return np.sum(MODEL.weights * x**2)


def stores_to_another(x):
    found = add(1.0)
    OTHER[0] = found
    return np.sum(W * x**2) * OTHER[0]


def _closure():
    weights = W

    def reads_a_variable_around(x):
        run()
        return np.sum(weights * x**2)

    return reads_a_variable_around


RIGHT = [
    *(reads_a_view, reads_two_views, reads_what_is_spread, reads_the_memory_of_an_object),
    *(reads_an_attribute, reads_another_array_before, reads_after_two_calls, reads_after_one_path),
    *(reads_after_a_primitive, stores_afterwards, stores_to_another, _closure()),
]


def reads_before(x):
    before = np.sum(W * x**2)
    run()
    return before + np.sum(W * x)


def reads_in_a_loop(x):
    total = 0.0
    for k in range(3):
        total += np.sum(W * x) * k
        run()
    return total


def reads_another_view_before(x):
    before = np.sum(TURNED * x**2)
    run()
    return before + np.sum(W * x)


def _with_tensors(function: Any) -> Any:
    x = gs.tensor(X, requires_grad=True)
    out = gs.differentiable(function)(x)
    out.backward()
    return out.item(), x.grad.numpy()


def _by_a_pullback(function: Any) -> Any:
    """The cotangent is that of the call, whatever becomes of the arrays."""
    out, pullback = gs.vjp(function, X)
    held = ALL.copy(), OTHER.copy(), bytes(BYTES)
    ALL[:], OTHER[:], BYTES[:] = -7.0, -8.0, bytes(len(BYTES))
    found = pullback(1.0)[0]
    ALL[:], OTHER[:], BYTES[:] = held
    return out, found


MODES: dict[str, Callable[[Any], Any]] = {
    "reverse": lambda f: gs.value_and_grad(f)(X),
    "pullback": _by_a_pullback,
    "forward": lambda f: gs.jvp(f, (X,), (np.array([1.0, 0.0, 0.0]),)),
    "in part": lambda f: gs.value_and_grad(f, compile="auto")(X),
    "pullback in part": lambda f: (lambda out, pull: (out, pull(1.0)[0]))(
        *gs.vjp(f, X, compile="auto")
    ),
    "as it is": lambda f: gs.value_and_grad(f, compile=False)(X),
    "tensors": _with_tensors,
}


def _twice(run_one: Callable[[], Any]) -> list[Any]:
    """What two calls give, and leave outside."""
    ALL[:], OTHER[:], BYTES[:] = START, [2.0, 3.0, 4.0], START.tobytes()
    found = []
    for _ in range(2):
        value = run_one()
        found.append((value, ALL.tolist(), OTHER.tolist(), bytes(BYTES)))
    return found


def _check(function: Any, mode: str) -> None:
    plain = _twice(lambda: function(X))
    found = _twice(lambda: MODES[mode](function))
    for call, (of_call, expected) in enumerate(zip(found, plain, strict=True)):
        value, derivative = of_call[0]
        assert float(value) == pytest.approx(float(expected[0]))
        assert of_call[1:] == expected[1:]
        for place in range(3 if np.ndim(derivative) else 1):
            step = np.zeros(3)
            step[place] = 1e-6
            ends = [_twice(lambda at=X + d: function(at))[call][0] for d in (step, -step)]
            slope = (ends[0] - ends[1]) / 2e-6
            assert float(np.ravel(derivative)[place]) == pytest.approx(slope, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize(("function", "mode"), list(itertools.product(RIGHT, MODES)))
def test_what_is_read_after_the_call_is_what_is_there_then(function: Any, mode: str) -> None:
    if mode != "tensors":
        _check(function, mode)
        return
    _twice(lambda: None)
    with pytest.raises(UnsupportedError, match="has changed what is read outside"):
        _with_tensors(function)


@pytest.mark.parametrize("mode", ["reverse", "pullback", "forward", "tensors"])
@pytest.mark.parametrize("function", [reads_before, reads_in_a_loop, reads_another_view_before])
def test_what_was_read_before_the_call_is_refused(function: Any, mode: str) -> None:
    _twice(lambda: None)
    with pytest.raises(UnsupportedError, match="has changed what is read outside"):
        MODES[mode](function)
