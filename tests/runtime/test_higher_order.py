"""create_graph: gradients of gradients, to any order, with one class of nodes."""

import numpy as np
import pytest

from gradscribe import autograd
from gradscribe.runtime import namespace as gs


def leaf(*data):
    return gs.tensor(list(data), requires_grad=True)


def derivative(y, x):
    return autograd.grad(y.sum(), x, create_graph=True)[0]


def test_powers_to_the_third_order():
    x = leaf(1.0, 2.0, 3.0)
    first = derivative(x**4, x)
    second = derivative(first, x)
    third = derivative(second, x)
    assert first.tolist() == [4, 32, 108]
    assert second.tolist() == [12, 48, 108]
    assert third.tolist() == [24, 48, 72]


def test_products_of_exponentials_to_the_third_order():
    x = leaf(0.5, -1.0)
    third = derivative(derivative(derivative(x * x * x.exp(), x), x), x)
    v = x.array
    assert third.array == pytest.approx((v * v + 6 * v + 6) * np.exp(v))


def test_mixed_second_derivatives():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = (x * x * w).sum()
    d_x, d_w = autograd.grad(y, (x, w), create_graph=True)
    d_xw, d_xx = autograd.grad(d_x.sum(), (w, x), retain_graph=True)
    assert d_xw.tolist() == [2, 4]
    assert d_xx.tolist() == [6, 8]
    (d_wx,) = autograd.grad(d_w.sum(), x)
    assert d_wx.tolist() == [2, 4]


def test_second_derivatives_through_matrix_products():
    a = gs.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    x = gs.tensor([[1.0], [2.0]], requires_grad=True)
    y = (a.mm(x) * a.mm(x)).sum()
    (d_x,) = autograd.grad(y, x, create_graph=True)
    (d_a,) = autograd.grad(d_x.sum(), a)
    eps, checked = 1e-6, a.array
    for i in np.ndindex(2, 2):
        sides = []
        for step in (eps, -eps):
            moved = checked.copy()
            moved[i] += step
            sides.append((2 * moved.T @ moved @ x.array).sum())
        assert d_a.array[i] == pytest.approx((sides[0] - sides[1]) / (2 * eps), rel=1e-6)


def test_backward_with_create_graph_leaves_a_gradient_with_history():
    x = leaf(3.0)
    (x * x).backward(create_graph=True)
    assert x.grad.requires_grad
    first = x.grad
    x.grad = None
    first.backward()
    assert x.grad.tolist() == [2]


def test_gradient_penalty():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (d_x,) = autograd.grad((w * w * x).sum(), x, create_graph=True)
    (d_x * d_x).sum().backward()
    assert w.grad.tolist() == [4 * 27, 4 * 64]
    assert x.grad is None or x.grad.tolist() == [0, 0]


def test_the_derivative_with_respect_to_grad_outputs():
    x, seed = leaf(2.0), leaf(1.0)
    (d_x,) = autograd.grad(x * x, x, seed, create_graph=True)
    assert autograd.grad(d_x, seed)[0].tolist() == [4]


def test_gradients_of_linear_functions_have_no_history():
    x = leaf(2.0)
    (d_x,) = autograd.grad(x * 3, x, create_graph=True)
    assert not d_x.requires_grad


def test_nodes_of_higher_order_are_named_after_the_operation():
    x = leaf(2.0)
    first = derivative(x.exp(), x)
    assert first.grad_fn.name() == "ExpBackwardBackward0"
    assert derivative(first, x).grad_fn.name() == "ExpBackwardBackwardBackward0"


def test_a_freed_gradient_graph_is_refused():
    x = leaf(2.0)
    first = derivative(x**3, x)
    first.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        first.backward()


def test_an_input_changed_before_the_second_backward_is_noticed():
    x = leaf(2.0)
    y = x * 1
    (d_y,) = autograd.grad(y**3, y, create_graph=True)
    y.detach().zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        d_y.backward()
