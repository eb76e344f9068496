"""`with`: managers that are kept in the emitted code, and gradient modes."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError
from tests.frontend.oracles import agrees, tensors_agree

x5 = np.linspace(0.5, 2.0, 5)


def logarithm(x):
    with np.errstate(all="ignore"):
        y = np.log(x)
    return y.sum()


def masked_pole(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x > 1, x / (x - 0.5), 0.0).sum()


def left_by_break(x, n):
    s = 0.0
    for _ in range(n):
        with np.errstate(over="ignore"):
            if s > 100:
                break
            y = np.exp(x) * (s + 1)
        s = s + np.sum(y) + x[0]
    return s


def returns_inside(x):
    if x.sum() > 100:
        with np.errstate(all="ignore"):
            return x.sum()
    with contextlib.nullcontext(3.0) as c, np.errstate(all="ignore"):
        y = c * x
        if y.sum() > 3:
            return (y * x).sum()
    return y.sum()


def kept_in_a_name(x):
    quiet = np.errstate(all="ignore")
    total = 0.0
    with quiet:
        for i in range(len(x)):
            total += np.sqrt(x[i]) * x[0]
    return total


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (logarithm, (x5,)),
        (masked_pole, (x5,)),
        (left_by_break, (x5, 4)),
        (returns_inside, (x5,)),
        (returns_inside, (x5 / 100,)),
        (kept_in_a_name, (x5,)),
    ],
)
def test_error_states_are_transparent_to_derivatives(function: Any, args: Any) -> None:
    agrees(function, *args)


def test_error_state_surrounds_its_statements_and_their_adjoint() -> None:
    compiled = gs.differentiable(logarithm).specialize(x5)
    assert compiled.forward_source.splitlines()[1:3] == [
        '    with np.errstate(all="ignore"):',
        "        y = np.log(x)",
    ]
    assert compiled.gradient_source.splitlines()[1:3] == [
        '    with np.errstate(all="ignore"):',
        "        d_x = d_result / x  # y = np.log(x)",
    ]


def test_no_warning_comes_from_the_adjoint_either() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value, gradient = gs.value_and_grad(logarithm)(np.array([0.0, 1.0]))
    assert value == -np.inf
    assert gradient.tolist() == [np.inf, 1.0]


def cut_in_block(x):
    with gs.no_grad():
        y = x * 2
        z = x[1:]
        w = x
    return (x * y).sum() + (z * z).sum() + w.sum()


def enabled_again(x):
    with gs.no_grad():
        m = x.max()
        with gs.enable_grad():
            q = (x * x).sum()
    return q * m


@gs.no_grad()
def norm(x):
    return np.sqrt((x * x).sum())


def by_decorated_helper(x):
    return (x / norm(x)).sum()


def filled_in_block(x):
    with gs.set_grad_enabled(False):
        scale = np.zeros(len(x))
        for i in range(len(x)):
            scale[i] = x[i] * 2
    return (scale * x).sum()


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (cut_in_block, 2 * x5 + 1),
        (enabled_again, 2 * x5 * x5.max()),
        (by_decorated_helper, np.full(5, 1 / np.sqrt((x5 * x5).sum()))),
        (filled_in_block, 2 * x5),
    ],
)
def test_what_is_computed_under_no_grad_passes_no_derivative(function: Any, expected: Any) -> None:
    agrees(function, x5, differences=False)
    np.testing.assert_allclose(gs.grad(function)(x5), expected, rtol=1e-14)
    u, v = 0.7, np.linspace(-1, 1, 5)
    assert np.isclose(gs.jvp(function, (x5,), (v,))[1] * u, u * expected @ v)
    tensors_agree(function, x5)


def stored_under_no_grad(w, x):
    y = w * x
    with gs.no_grad():
        y[0] = 0.0
    return y.sum()


def test_store_from_under_no_grad_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="`y` from outside is stored to under `no_grad`"):
        gs.grad(stored_under_no_grad)(x5, x5)


def quiet(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = np.log(x - 2)
        for _ in range(3):
            y = np.where(y > 0, y, x) * np.sqrt(x)
    return y.sum()


def recorded(x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("slow", stacklevel=1)
        y = x * len(caught)
    return x.sum() * len(caught) + y[-1]


@pytest.mark.parametrize("function", [quiet, recorded])
def test_warnings_are_caught_where_the_function_says(function: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agrees(function, np.array([0.5, 1.5, 2.5, 3.5]))
