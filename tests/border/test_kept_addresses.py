"""Code in C may have the address of an array from outside for longer than a function runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs

plain = pytest.importorskip("tests.border.compiled_code").plain
WEIGHTS = np.arange(1.0, 7.0)
X = np.linspace(0.5, 1.5, 6)


def kept(x):
    plain.remember(WEIGHTS, 6)
    return np.sum(WEIGHTS * x**2)


def kept_and_used(x):
    before = x * WEIGHTS
    plain.remember(WEIGHTS, 6)
    plain.scale_remembered(0.5)
    return np.sum(before * x * WEIGHTS)


def kept_after_a_store(x):
    WEIGHTS[0] = 7.0
    plain.remember(WEIGHTS, 6)
    plain.scale_remembered(2.0)
    return np.sum(WEIGHTS * x)


_MODES: dict[str, Callable[[Any], Any]] = {
    "reverse": lambda f: gs.value_and_grad(f)(X)[0],
    "pullback": lambda f: gs.vjp(f, X)[0],
    "forward": lambda f: gs.jvp(f, (X,), (X,))[0],
    "in part": lambda f: gs.value_and_grad(f, compile="auto")(X)[0],
    "as it is": lambda f: gs.value_and_grad(f, compile=False)(X)[0],
    "tensors": lambda f: gs.differentiable(f)(gs.tensor(X, requires_grad=True)).item(),
}


@pytest.mark.parametrize("mode", _MODES)
@pytest.mark.parametrize("function", [kept, kept_and_used, kept_after_a_store])
def test_what_has_the_address_finds_the_array_itself(mode: str, function: Any) -> None:
    found = []
    for run in (function, lambda x, call=_MODES[mode], f=function: call(f)):
        WEIGHTS[:] = np.arange(1.0, 7.0)
        value = run(X)
        plain.scale_remembered(3.0)
        found.append((pytest.approx(value), WEIGHTS.tolist()))
    assert found[1][1] == found[0][1]
    assert found[1][0].expected == found[0][0]


@pytest.mark.parametrize("function", [kept, kept_and_used, kept_after_a_store])
def test_the_derivative_is_of_what_it_held(function: Any) -> None:
    WEIGHTS[:] = np.arange(1.0, 7.0)
    gradient = gs.grad(function)(X)
    for place in range(3):
        step = np.zeros(6)
        step[place] = 1e-6
        ends = []
        for x in (X + step, X - step):
            WEIGHTS[:] = np.arange(1.0, 7.0)
            ends.append(function(x))
        assert gradient[place] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)


filled = gs.primitive(lambda out, number: out.fill(number), writes=("out",))


def written_to(x):
    filled(WEIGHTS, 3.0)
    return np.sum(WEIGHTS * x**2)


def test_what_is_only_written_to_is_not_read_by_a_pullback() -> None:
    _, pullback = gs.vjp(written_to, X)
    WEIGHTS[:] = 100.0
    np.testing.assert_allclose(pullback(1.0)[0], 6.0 * X)


def used_and_then_kept(x):
    plain.scale_remembered(2.0)
    total = np.sum(WEIGHTS * x**2)
    plain.remember(WEIGHTS, 6)
    return total


def test_what_had_the_address_before_is_not_missed() -> None:
    plain.remember(WEIGHTS, 6)
    WEIGHTS[:] = np.arange(1.0, 7.0)
    expected = used_and_then_kept(X)
    WEIGHTS[:] = np.arange(1.0, 7.0)
    try:
        value = gs.value_and_grad(used_and_then_kept)(X)[0]
    except gs.errors.UnsupportedError as refused:
        assert "has changed what is read outside" in str(refused)
    else:
        assert value == pytest.approx(expected)
