"""Programs whose derivative is known, run eagerly and compiled."""

import numpy as np
import pytest

import gradscribe as gs
from tests.runtime.custom_functions import Sigmoid


def test_x_squared_times_exp_has_the_hand_derivative():
    def f(x):
        return x**2 * gs.exp(x)

    def gradf(x):
        return 2 * x * gs.exp(x) + x**2 * gs.exp(x)

    x = gs.randn(3, 4, requires_grad=True)
    y = f(x)
    y.backward(gs.ones(y.size()))
    assert x.grad.array == pytest.approx(gradf(x).detach().array)


def test_abs_with_a_branch():
    def abs(x):
        if x.data[0] > 0:
            return x
        else:
            return -x

    x = gs.ones(1, requires_grad=True)
    y = abs(x)
    y.backward()
    assert x.grad.tolist() == [1]
    x = -1 * gs.ones(1)
    x = x.requires_grad_()
    y = abs(x)
    y.backward()
    assert x.grad.tolist() == [-1]


def test_the_product_of_what_is_positive():
    def f(x):
        result = 1
        for ii in x:
            if ii.item() > 0:
                result = ii * result
        return result

    x = gs.arange(-2, 4, requires_grad=True)
    y = f(x)
    y.backward()
    assert repr(x.grad) == "tensor([0., 0., 0., 6., 3., 2.])"


def test_three_sigmoids_agree():
    gradients = []
    x = gs.randn(10, 10, requires_grad=True)
    for f in (Sigmoid.apply, lambda x: 1 / (1 + gs.exp(-x)), gs.sigmoid):
        y = f(x)
        y.backward(gs.ones(x.size()))
        gradients.append(x.grad.array.copy())
        x.grad.data.zero_()
    assert gradients[0] == pytest.approx(gradients[1])
    assert gradients[0] == pytest.approx(gradients[2])


def test_x_squared_times_exp_compiled():
    def f(x):
        y = x**2 * gs.exp(x)
        return y

    def gradf(x):
        dx = 2 * x * gs.exp(x) + x**2 * gs.exp(x)
        return dx

    x = gs.randn(3, 4, requires_grad=True)
    y = gs.differentiable(f)(x)
    y.backward(gs.ones(y.size()))
    np.testing.assert_allclose(x.grad.numpy(), gradf(x).detach().numpy(), rtol=1e-12)


def test_branches_and_loops_compiled():
    @gs.differentiable
    def abs(x):
        if x.data[0] > 0:
            return x
        else:
            return -x

    @gs.differentiable
    def f(x):
        result = 1
        for ii in x:
            if ii.item() > 0:
                result = ii * result
        return result

    for sign in (1, -1):
        x = (sign * gs.ones(1)).requires_grad_()
        abs(x).backward()
        assert x.grad.tolist() == [sign]
    x = gs.arange(-2, 4, requires_grad=True)
    f(x).backward()
    assert repr(x.grad) == "tensor([0., 0., 0., 6., 3., 2.])"


def test_three_sigmoids_compiled():
    def naive(x):
        return 1 / (1 + gs.exp(-x))

    x = gs.randn(10, 10, requires_grad=True)
    gradients = []
    for f in (naive, gs.differentiable(naive), gs.differentiable(lambda x: gs.sigmoid(x))):
        f(x).backward(gs.ones(x.size()))
        gradients.append(x.grad.numpy().copy())
        x.grad.data.zero_()
    np.testing.assert_allclose(gradients[1], gradients[0], rtol=1e-10)
    np.testing.assert_allclose(gradients[2], gradients[0], rtol=1e-10)
