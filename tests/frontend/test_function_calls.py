"""`F.apply(…)` of an `autograd.Function` in compiled code: eager mode gives the same gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.autograd import Function
from gradscribe.autograd.function import once_differentiable

X = np.array([0.3, -0.7, 1.2])


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


class Exponential(Function):
    """It saves its result."""

    @staticmethod
    def forward(ctx, x):
        y = np.exp(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


class Product(Function):
    """Inputs that are no Tensors, attributes of ctx, gradients that are None, and one too many."""

    @staticmethod
    def forward(ctx, a, b, k, label="none"):
        ctx.save_for_backward(a, b)
        ctx.k, ctx.label = k, label
        return a * b * k

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        d_a = g * b * ctx.k if ctx.needs_input_grad[0] else None
        d_b = g * a * ctx.k if ctx.needs_input_grad[1] else None
        return d_a, d_b, None, None


class SinCos(Function):
    """Two results; each is read by the derivative of the other."""

    @staticmethod
    def forward(ctx, x):
        s, c = np.sin(x), np.cos(x)
        ctx.save_for_backward(s, c)
        return s, c

    @staticmethod
    def backward(ctx, g_s, g_c):
        s, c = ctx.saved_tensors
        return g_s * c - g_c * s


class Power(Function):
    """A forward without ctx."""

    @staticmethod
    def forward(x, n):
        return x**n

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.n = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.n * x ** (ctx.n - 1), None


class WithRank(Function):
    """A result without derivative."""

    @staticmethod
    def forward(ctx, x):
        rank = np.argsort(x)
        ctx.mark_non_differentiable(rank)
        return x * 2.0, rank

    @staticmethod
    def backward(ctx, g, _):
        return g * 2.0


class InTensors(Function):
    """Methods that mean another thing for Tensors than for arrays."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        spread = x.std()
        return (g.clone() * 3 * x * x * spread / spread).clone()


class InNumPy(Function):
    """A backward that is not compiled, but called."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.shape = x.shape
        return x * x * x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return gs.tensor(3 * x.detach().numpy() ** 2 * g.numpy())


def square(x):
    return (Square.apply(x) * x).sum()


def exponential(x):
    return (Exponential.apply(x) * x).sum()


def product(x, y):
    return (Product.apply(x, y, 2.0) * x).sum() + (Product.apply(x, y, 3, "label") ** 2).sum()


def sin_cos(x):
    s, c = SinCos.apply(x)
    return (s * c * c).sum() + (SinCos.apply(x * x)[0]).sum()


def power(x):
    return (Power.apply(x, 3) * x).sum()


def with_rank(x):
    doubled, rank = WithRank.apply(x)
    return (doubled * doubled[rank]).sum()


def in_tensors(x):
    return (InTensors.apply(x) * x).sum()


def in_a_loop(x):
    for _ in range(4):
        x = Square.apply(x) * 0.5 + Exponential.apply(x * 0.1)
    return x.sum()


def in_a_branch(x):
    if x[0] > 0:
        y = Square.apply(x)
    else:
        y = Exponential.apply(x)
    return (y * x).sum()


def in_numpy(x):
    return (InNumPy.apply(x) * x).sum()


def tensors_agree(function: Any, *args: Any) -> None:
    gradients = []
    for called in (function, gs.differentiable(function)):
        tensors = [gs.tensor(arg, requires_grad=True) for arg in args]
        called(*tensors).backward()
        gradients.append([tensor.grad.numpy() for tensor in tensors])
    for eager, compiled in zip(*gradients, strict=True):
        np.testing.assert_allclose(compiled, eager, rtol=1e-14)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (square, (X,)),
        (exponential, (X,)),
        (product, (X, X + 1)),
        (sin_cos, (X,)),
        (power, (X,)),
        (with_rank, (X,)),
        (in_tensors, (X,)),
        (in_a_loop, (X,)),
        (in_a_branch, (X,)),
        (in_a_branch, (-X,)),
    ],
)
def test_derivatives_to_second_order(function: Any, args: Any) -> None:
    value, _ = gs.vjp(function, *args)
    assert value == function(*args)
    gs.testing.check_grad(function, *args)
    tensors_agree(function, *args)


def test_a_backward_that_is_called():
    np.testing.assert_allclose(gs.grad(in_numpy)(X), 4 * X**3)
    tensors_agree(in_numpy, X)
    with pytest.raises(gs.errors.NoDerivativeError):
        gs.jvp(gs.grad(in_numpy), (X,), (X,))


def test_the_derivative_is_what_backward_says():
    class Reversed(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1.0

        @staticmethod
        def backward(ctx, g):
            return -5.0 * g

    def f(x):
        return (Reversed.apply(x) * 3.0).sum()

    np.testing.assert_array_equal(gs.grad(f)(X), [-15.0] * 3)
    tensors_agree(f, X)
    Reversed.backward = staticmethod(lambda ctx, g: 2.0 * g)
    np.testing.assert_array_equal(gs.grad(f)(X), [6.0] * 3)


def test_a_wrong_number_of_gradients():
    class Few(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return g

    with pytest.raises(RuntimeError, match=r"incorrect number of gradients \(expected 2, got 1\)"):
        gs.grad(lambda x: Few.apply(x, x).sum())(X)
