"""Inside compiled functions, the Tensor API means what it means eagerly."""

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors

x0 = np.array([0.3, -1.2, 2.0, 0.7])
A0 = np.array([[0.3, -1.2, 0.5], [1.5, 0.2, -0.7]])


def relu_sigmoid(x):
    return gs.sum(gs.relu(x) * gs.sigmoid(x))


def exp_method(x):
    return (x.exp() + x.tanh()).mean()


def unbiased_deviation(x):
    return x.std() + x.var(unbiased=False)


def softmax_by_dim(x):
    return gs.sum(gs.softmax(x, 0) ** 2)


def where_on_tensors(x):
    return gs.where(x > 0, x, 2 * x).sum()


def clamped(x):
    return gs.clamp(x, -1.0, 1.0).sum()


def scaled_addition(x):
    return gs.add(x, x * x, alpha=3).sum()


def greatest(x):
    return x.max() - x.min()


@pytest.mark.parametrize(
    "f",
    [
        relu_sigmoid,
        exp_method,
        unbiased_deviation,
        softmax_by_dim,
        where_on_tensors,
        clamped,
        scaled_addition,
        greatest,
    ],
)
def test_compiled_and_eager_agree(f):
    compiled, eager = (gs.tensor(x0, requires_grad=True) for _ in range(2))
    out, expected = gs.differentiable(f)(compiled), f(eager)
    assert out.item() == pytest.approx(expected.item(), rel=1e-14)
    out.backward()
    expected.backward()
    np.testing.assert_allclose(compiled.grad.numpy(), eager.grad.numpy(), rtol=1e-12)


def sum_by_dim(A):
    return (A.sum(dim=1) ** 2).sum() + A.mean(0, keepdim=True).sum()


def matrix_products(A):
    return gs.mm(A, A.t()).sum() + (A @ A.T).sum()


@pytest.mark.parametrize("f", [sum_by_dim, matrix_products])
def test_compiled_and_eager_agree_on_matrices(f):
    compiled, eager = (gs.tensor(A0, requires_grad=True) for _ in range(2))
    gs.differentiable(f)(compiled).backward()
    f(eager).backward()
    np.testing.assert_allclose(compiled.grad.numpy(), eager.grad.numpy(), rtol=1e-12)


def test_a_tensor_method_that_is_not_compiled_is_refused():
    @gs.differentiable
    def f(x):
        return x.max(0).values

    with pytest.raises(errors.UnsupportedError):
        f(gs.tensor(x0, requires_grad=True))
