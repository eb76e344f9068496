"""A function of one array in each way in which it is differentiated, beside differences of it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

import gradscribe as gs

MODES = ["gradient", "tangent", "cotangent", "tensor", "auto", "recorded"]


def _gradient_of_tensor(function: Any, x: Any) -> tuple[Any, Any]:
    given = gs.tensor(x, requires_grad=True)
    value = gs.differentiable(function)(given)
    value.backward()
    return value.item(), given.grad.numpy()


def _cotangent(function: Any, x: Any) -> tuple[Any, Any]:
    value, pullback = gs.vjp(function, x)
    (found,) = pullback(1.0)
    return value, found


def _tangent(function: Any, x: Any) -> tuple[Any, Any]:
    columns = [gs.jvp(function, (x,), (e,)) for e in np.eye(len(x))]
    return columns[0][0], np.array([tangent for _, tangent in columns])


BY: dict[str, Callable[[Any, Any], tuple[Any, Any]]] = {
    "gradient": lambda f, x: gs.value_and_grad(f)(x),
    "tangent": _tangent,
    "cotangent": _cotangent,
    "tensor": _gradient_of_tensor,
    "auto": lambda f, x: gs.value_and_grad(f, compile="auto")(x),
    "recorded": lambda f, x: gs.value_and_grad(f, compile=False)(x),
}


def differences(function: Any, x: Any) -> Any:
    """The gradient by central differences."""
    step = 1e-6
    return np.array([function(x + d) - function(x - d) for d in step * np.eye(len(x))]) / 2 / step


def check_mode(mode: str, function: Any, x: Any, outside: Any = None) -> None:
    """The value and the derivative are the function's, twice; and what it leaves outside."""
    before = copy.deepcopy(outside)

    def reset() -> None:
        if outside is not None:
            outside[:] = copy.deepcopy(before)

    expected, left = function(x.copy()), copy.deepcopy(outside)
    reset()
    gradient = differences(function, x)
    for _ in range(2):
        reset()
        given = x.copy()
        value, found = BY[mode](function, given)
        np.testing.assert_allclose(value, expected, rtol=1e-12)
        np.testing.assert_allclose(found, gradient, rtol=1e-5, atol=1e-7)
        np.testing.assert_array_equal(given, x)
        if outside is not None and mode not in ("tangent",):
            np.testing.assert_equal(outside, left)
