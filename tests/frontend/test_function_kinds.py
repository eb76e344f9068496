"""`F.apply(…)` in compiled code, of values that are of one kind or of another, and with what is
called at run time: derivatives are those of eager mode, the second ones, too."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import torchlike
from gradscribe.autograd import Function

MATRIX = np.array([[3.0, 1.0], [1.0, 2.0]])
X = np.array([0.3, -0.7, 1.2])


class Solve(Function):
    """What `solve` gives is of one kind or of another."""

    @staticmethod
    def forward(ctx, a, b):
        x = torchlike.linalg.solve(a, b)
        ctx.save_for_backward(a, x)
        return x

    @staticmethod
    def backward(ctx, g):
        a, x = ctx.saved_tensors
        d_b = torchlike.linalg.solve(a.transpose(-1, -2), g)
        return -gs.outer(d_b, x), d_b


class Powers(Function):
    """It saves its result, on two paths."""

    @staticmethod
    def forward(ctx, x):
        if x[0] > 0:
            y = x.exp()
            ctx.save_for_backward(y)
            return y
        y = (2 * x).exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y * 3


class Detached(Powers):
    """What it saves is no result."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y.detach())
        return y


class Masked(Function):
    @staticmethod
    def forward(ctx, x, mask):
        ctx.save_for_backward(x, mask)
        return x * 2 if mask is None else x * mask

    @staticmethod
    def backward(ctx, g):
        x, mask = ctx.saved_tensors
        if mask is None:
            return g * 3, None
        return g * mask, g * x * 7


class AtRunTime(Function):
    """A backward that is called: attributes of `ctx` are Tensors there."""

    @staticmethod
    def forward(ctx, x):
        ctx.x, ctx.held = x, {"doubled": [x * 2]}
        return x * 2

    @staticmethod
    def backward(ctx, g):
        os.getpid()
        return g * ctx.x.std() * ctx.held["doubled"][0].std()


class OfAnotherShape(AtRunTime):
    @staticmethod
    def backward(ctx, g):
        os.getpid()
        return g[:2]


class OfNoShape(Function):
    @staticmethod
    def forward(ctx, x):
        return x.sum()

    @staticmethod
    def backward(ctx, g):
        return g


def solved(a, b):
    return (Solve.apply(a, b) ** 2).sum()


def saved_results(x):
    return (Powers.apply(x) * Powers.apply(-x)).sum()


def saved_without_place(x):
    return (Detached.apply(x) * Detached.apply(-x) * x).sum()


def perhaps_masked(x):
    mask = x * 2 if x[0] > 0 else None
    return (Masked.apply(x, mask) ** 2).sum()


def gradients_of(called: Any, *arguments: Any) -> list[Any]:
    """The gradients, and where they have any those of the sum of their squares."""
    tensors = [gs.tensor(given, requires_grad=True) for given in arguments]
    gradients = gs.autograd.grad(called(*tensors), tensors, create_graph=True)
    total = sum((g * g).sum() for g in gradients)
    second = gs.autograd.grad(total, tensors)
    return [g.detach().numpy() for g in (*gradients, *second)]


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (solved, (MATRIX, np.array([1.0, -1.0]))),
        (saved_results, (X,)),
        (saved_without_place, (X,)),
        (perhaps_masked, (X,)),
        (perhaps_masked, (-X,)),
    ],
)
def test_derivatives_are_those_of_eager_mode(function, arguments):
    eager = gradients_of(function, *arguments)
    for given, wanted in zip(
        gradients_of(gs.differentiable(function), *arguments), eager, strict=True
    ):
        np.testing.assert_allclose(given, wanted, rtol=1e-12)


def test_attributes_of_ctx_are_tensors_at_run_time():
    found = []
    for called in (AtRunTime.apply, gs.differentiable(lambda x: AtRunTime.apply(x))):
        x = gs.tensor(X, requires_grad=True)
        called(x).sum().backward()
        found.append(x.grad.numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-14)


@pytest.mark.parametrize(("function", "shape"), [(OfAnotherShape, "2"), (OfNoShape, "")])
def test_a_wrong_shape_is_told_by_its_numbers(function, shape):
    wrong = rf"an invalid gradient at index 0 - got \[{shape}\] but expected .* with \[3\]"
    for called in (function.apply, gs.differentiable(lambda x: function.apply(x))):
        with pytest.raises(RuntimeError, match=wrong):
            called(gs.tensor(X, requires_grad=True)).sum().backward()
