"""A decorated function computes the same of Tensors whether or not a gradient is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs

VALUES: list[int] = []
STORED: dict[str, Any] = {}


def item_of_what_is_stored_to(x):
    a = x * 1
    b = a[0]
    a[0] = 5.0
    return b * x[1]


def methods_of_arrays(x):
    return np.sum(x.copy().astype(np.float64))


def without_derivative(x):
    a = x * 1
    b = a[0]
    a[0] = 5.0
    VALUES.append(int(b))
    return 1.0


def stores_outside(x):
    STORED["x"] = x * 2
    return np.sum(STORED["x"])


def summed_and_told(x):
    return x.sum(), x.is_contiguous()


FUNCTIONS = [item_of_what_is_stored_to, methods_of_arrays, without_derivative, stores_outside]


@pytest.mark.parametrize("compiled", [True, "auto", False])
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("case", ["no gradient required", "no_grad"])
def test_the_value_is_that_of_arrays(
    function: Callable[..., Any], case: str, compiled: Any
) -> None:
    VALUES.clear()
    expected = function(np.array([1.0, 2.0]))
    x = gs.tensor([1.0, 2.0], requires_grad=case == "no_grad")
    with gs.set_grad_enabled(case != "no_grad"):
        found = gs.differentiable(function, compile=compiled)(x)
    assert float(found) == expected
    assert len(set(VALUES)) < 2
    assert not isinstance(found, gs.Tensor) or not found.requires_grad


def test_arguments_are_stored_to() -> None:
    def scaled(x):
        x *= 2
        return x.sum()

    x = gs.tensor([1.0, 2.0], requires_grad=True)
    with gs.no_grad():
        assert gs.differentiable(scaled)(x).item() == 6.0
    assert x.tolist() == [2.0, 4.0]
    assert x.is_leaf and x.requires_grad


@pytest.mark.parametrize("requires_grad", [True, False])
def test_what_cannot_be_compiled_is_refused(requires_grad: bool) -> None:
    with pytest.raises(gs.errors.UnsupportedError):
        gs.differentiable(summed_and_told)(gs.tensor([1.0, 2.0], requires_grad=requires_grad))


def test_forward_mode_is_wired_under_no_grad() -> None:
    with gs.no_grad(), gs.autograd.forward_ad.dual_level():
        x = gs.autograd.forward_ad.make_dual(gs.tensor([1.0, 2.0]), gs.tensor([1.0, 0.0]))
        out = gs.differentiable(lambda x: np.sum(x * x))(x)
        assert gs.autograd.forward_ad.unpack_dual(out).tangent.item() == 2.0
