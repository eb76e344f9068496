"""Derivatives that a custom Function gives: right to the second order, given once only, None for
some arguments, or an error."""

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import autograd
from gradscribe.autograd import Function
from gradscribe.autograd.function import Function as FunctionOfItsModule
from gradscribe.autograd.function import once_differentiable
from tests.runtime.custom_functions import MulConstant, Sigmoid, Square


def leaf(*data):
    return gs.tensor(list(data), requires_grad=True)


def test_double_backward():
    x = leaf(0.3, -1.0)
    y = Sigmoid.apply(x)
    (d_x,) = autograd.grad(y.sum(), x, create_graph=True)
    (d_xx,) = autograd.grad(d_x.sum(), x)
    s = 1 / (1 + np.exp(-x.array))
    assert d_x.detach().array == pytest.approx(s * (1 - s))
    assert d_xx.array == pytest.approx(s * (1 - s) * (1 - 2 * s))


def test_gradcheck_of_a_sigmoid():
    gs.manual_seed(0)
    x = gs.randn(3, 4, requires_grad=True)
    assert autograd.gradcheck(Sigmoid.apply, (x,), eps=1e-3)


def test_once_differentiable():
    class Numeric(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once_differentiable
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return gs.from_numpy(2 * x.detach().numpy() * grad_output.numpy())

    x = leaf(3.0)
    Numeric.apply(x).backward()
    assert x.grad.tolist() == [6]
    y = Square.apply(x)
    z = Numeric.apply(y)
    (d_x,) = autograd.grad(z * z, x, create_graph=True)
    with pytest.raises(RuntimeError) as error:
        d_x.backward()
    assert str(error.value) == (
        "trying to differentiate twice a function that was marked with @once_differentiable"
    )


def test_the_node_of_gradients_for_once_tells_of_leaves_of_its_own():
    class Scaled(Function):
        @staticmethod
        def forward(ctx, x, factor):
            return x * factor

        @staticmethod
        @once_differentiable
        def backward(ctx, d_out):
            return d_out * 2, None

    x, seed = leaf(1.0), leaf(1.0)
    (d_x,) = autograd.grad(Scaled.apply(x, 2), x, seed, create_graph=True)
    names = [n and n.name() for n, _ in d_x.grad_fn.next_functions]
    assert names == ["torch::autograd::AccumulateGrad", None]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        autograd.grad(d_x, seed)


def test_once_differentiable_opens_numpy_and_ends_the_graph():
    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return gs.from_numpy(x.detach().numpy() ** 3)

        @staticmethod
        @gs.autograd.function.once_differentiable
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return gs.from_numpy(3 * x.detach().numpy() ** 2 * grad_output.numpy())

    x = gs.tensor([2.0], requires_grad=True)
    (first,) = gs.autograd.grad(Cube.apply(x) ** 2, x, create_graph=True)
    assert first.tolist() == [2 * 8 * 12]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gs.autograd.grad(first, x)


def test_a_function_with_a_flag():
    class Mul(Function):
        @staticmethod
        def forward(ctx, w, x, b, x_requires_grad=True):
            ctx.x_requires_grad = x_requires_grad
            ctx.save_for_backward(w, x)
            return w * x + b

        @staticmethod
        def backward(ctx, grad_output):
            w, x = ctx.saved_tensors
            grad_x = grad_output * w if ctx.x_requires_grad else None
            return grad_output * x, grad_x, grad_output * 1, None

    x, w, b = gs.ones(1), gs.rand(1, requires_grad=True), gs.rand(1, requires_grad=True)
    Mul.apply(w, x, b, False).backward()
    assert (x.grad, w.grad.tolist(), b.grad.tolist()) == (None, [1], [1])
    Mul.apply(w, x, b).backward()
    assert w.grad.tolist() == [2]


def test_a_backward_that_leaves_out_the_factor():
    assert FunctionOfItsModule is Function
    a = gs.rand(3, 3, requires_grad=True)
    b = MulConstant.apply(a, 5)
    assert ("b:" + str(b)).endswith("grad_fn=<MulConstantBackward>)")
    assert b.tolist() == (a * 5).tolist()
    b.backward(gs.ones_like(a))
    assert repr(a.grad) == "tensor([[1., 1., 1.],\n        [1., 1., 1.],\n        [1., 1., 1.]])"


def test_an_error_in_backward_is_raised_as_it_is():
    class Sigmoid(Function):
        @staticmethod
        def forward(ctx, x):
            output = 1 / (1 + gs.exp(-x))
            ctx.save_for_backward(output)
            return output

        @staticmethod
        def backward(ctx, grad_output):
            output, _ = ctx, saved_tensors  # noqa: F821  (no such name)
            return output * (1 - output) * grad_output

    x = gs.ones(1, requires_grad=True)
    with pytest.raises(NameError, match="saved_tensors"):
        Sigmoid.apply(x).backward()
    assert x.grad is None
