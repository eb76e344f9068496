"""The chapter of pytorch-book on autograd; see `test_seed_documents.py`. What the tests of
`test_tutorials.py`, named alike, cover is not repeated.
"""

import re

import numpy as np
import pytest

import gradscribe as gs
import gradscribe as t
from gradscribe.autograd import Function

# -- book 3.2.1 ----------------------------------------------------------------------------------


def test_book_3_2_1_a_plain_sum_keeps_no_gradient_of_the_middle():
    a = t.randn(3, 4)
    a.requires_grad = True
    b = t.zeros(3, 4).requires_grad_()
    assert repr(b) == (
        "tensor([[0., 0., 0., 0.],\n        [0., 0., 0., 0.],\n        [0., 0., 0., 0.]], "
        "requires_grad=True)"
    )
    c = a.add(b)
    assert c.tolist() == (a + b).tolist()
    d = c.sum()
    d.backward()
    assert (d.requires_grad, c.grad) == (True, None)


def test_book_3_2_1_the_function_and_its_derivative_compiled():
    def f(x):
        y = x**2 * t.exp(x)
        return y

    def gradf(x):
        dx = 2 * x * t.exp(x) + x**2 * t.exp(x)
        return dx

    x = t.randn(3, 4, requires_grad=True)
    y = gs.differentiable(f)(x)
    y.backward(t.ones(y.size()))
    np.testing.assert_allclose(x.grad.numpy(), gradf(x).detach().numpy(), rtol=1e-12)


def test_book_3_2_1_a_leaf_that_requires_a_gradient_is_not_changed_in_place():
    a = t.randn(3, 4, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used"):
        a.add_(1)


# -- book 3.2.2 ----------------------------------------------------------------------------------


def test_book_3_2_2_branches_and_loops_compiled():
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
        x = (sign * t.ones(1)).requires_grad_()
        abs(x).backward()
        assert x.grad.tolist() == [sign]
    x = t.arange(-2, 4, requires_grad=True)
    f(x).backward()
    assert repr(x.grad) == "tensor([0., 0., 0., 6., 3., 2.])"


def test_book_3_2_2_no_grad_makes_results_that_need_no_gradient():
    with t.no_grad():
        x = t.ones(1)
        w = t.rand(1, requires_grad=True)
        y = x * w
    assert (x.requires_grad, w.requires_grad, y.requires_grad) == (False, True, False)


def test_book_3_2_2_set_grad_enabled_gives_an_object_back():
    restored = t.set_grad_enabled(True)
    assert type(restored).__name__ == "set_grad_enabled"


def test_book_3_2_2_the_gradients_of_a_product_and_none_between():
    x = t.ones(3, requires_grad=True)
    w = t.rand(3, requires_grad=True)
    y = x * w
    y.sum().backward()
    assert (x.grad.tolist(), w.grad.tolist(), y.grad) == (w.tolist(), [1, 1, 1], None)


def test_book_3_2_2_the_functions_of_w_x_plus_b():
    x, b, w = t.ones(1), t.rand(1, requires_grad=True), t.rand(1, requires_grad=True)
    y = w.mul(x)
    z = y.add(b)
    assert (x.requires_grad, b.requires_grad, w.requires_grad, y.requires_grad) == (
        False,
        True,
        True,
        True,
    )
    assert re.fullmatch(r"<AddBackward0 object at 0x\w+>", repr(z.grad_fn))
    names = [type(function).__name__ for function, _ in z.grad_fn.next_functions]
    assert names == ["MulBackward0", "AccumulateGrad"]


def test_book_3_2_2_the_features_of_the_graph():
    x = t.ones(2)
    assert not x.requires_grad
    w = t.ones(2, requires_grad=True)
    y = w * x
    (y * t.Tensor([1, 10])).sum().backward(retain_graph=True)
    assert (w.grad.shape, w.grad.tolist()) == (w.data.shape, [1, 10])
    w.data.mul_(2)  # unnoticed by the graph
    y.sum().backward()
    assert w.grad.tolist() == [2, 11]


# -- book 3.2.3 ----------------------------------------------------------------------------------


class MultiplyAdd(Function):
    @staticmethod
    def forward(ctx, w, x, b):
        ctx.save_for_backward(w, x)
        output = w * x + b
        return output

    @staticmethod
    def backward(ctx, grad_output):
        w, x = ctx.saved_tensors
        return grad_output * x, grad_output * w, grad_output * 1


def test_book_3_2_3_multiply_add():
    x = t.ones(1)
    w, b = t.rand(1, requires_grad=True), t.rand(1, requires_grad=True)
    MultiplyAdd.apply(w, x, b).backward()
    assert (x.grad, w.grad.tolist(), b.grad.tolist()) == (None, [1], [1])


def test_book_3_2_3_functions_are_not_instantiated():
    class Legacy(Function):
        def __init__(self, factor):
            self.factor = factor

        def forward(self, x):
            return x * self.factor

    with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward"):
        Legacy(2)(t.ones(1))


def test_book_3_2_3_apply_of_a_node_gives_all_gradients():
    x = t.ones(1)
    w, b = t.rand(1, requires_grad=True), t.rand(1, requires_grad=True)
    gradients = MultiplyAdd.apply(w, x, b).grad_fn.apply(t.ones(1))
    assert [g.tolist() for g in gradients] == [[1], w.tolist(), [1]]


def test_book_3_2_3_second_derivative_of_an_integer_tensor():
    x = t.tensor([5], requires_grad=True)
    y = x**2
    grad_x = t.autograd.grad(y, x, create_graph=True)
    grad_grad_x = t.autograd.grad(grad_x[0], x)
    assert (grad_x[0].tolist(), grad_grad_x[0].tolist()) == ([10], [2])


class Sigmoid(Function):
    @staticmethod
    def forward(ctx, x):
        output = 1 / (1 + t.exp(-x))
        ctx.save_for_backward(output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        (output,) = ctx.saved_tensors
        return output * (1 - output) * grad_output


def test_book_3_2_3_gradcheck_of_the_sigmoid():
    test_input = t.randn(3, 4, requires_grad=True)
    assert t.autograd.gradcheck(Sigmoid.apply, (test_input,), eps=1e-3)


def test_book_3_2_3_once_differentiable_opens_numpy_and_ends_the_graph():
    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return t.from_numpy(x.detach().numpy() ** 3)

        @staticmethod
        @t.autograd.function.once_differentiable
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return t.from_numpy(3 * x.detach().numpy() ** 2 * grad_output.numpy())

    x = t.tensor([2.0], requires_grad=True)
    (first,) = t.autograd.grad(Cube.apply(x) ** 2, x, create_graph=True)
    assert first.tolist() == [2 * 8 * 12]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        t.autograd.grad(first, x)


def test_book_3_2_3_three_sigmoids_compiled():
    def naive(x):
        return 1 / (1 + t.exp(-x))

    x = t.randn(10, 10, requires_grad=True)
    gradients = []
    for f in (naive, gs.differentiable(naive), gs.differentiable(lambda x: t.sigmoid(x))):
        f(x).backward(t.ones(x.size()))
        gradients.append(x.grad.numpy().copy())
        x.grad.data.zero_()
    np.testing.assert_allclose(gradients[1], gradients[0], rtol=1e-10)
    np.testing.assert_allclose(gradients[2], gradients[0], rtol=1e-10)


# -- book 3.2.4 ----------------------------------------------------------------------------------


def test_book_3_2_4_linear_regression_with_a_compiled_loss():
    t.manual_seed(1000)

    @gs.differentiable
    def forward(x, y, w, b):
        y_pred = x.mm(w) + b.expand_as(y)
        loss = 0.5 * (y_pred - y) ** 2
        return loss.sum()

    w = t.rand(1, 1, requires_grad=True)
    b = t.zeros(1, 1, requires_grad=True)
    for _ in range(500):
        x = t.rand(32, 1) * 5
        y = x * 2 + 3 + t.randn(32, 1)
        forward(x, y, w, b).backward()
        w.data.sub_(0.005 * w.grad.data)
        b.data.sub_(0.005 * b.grad.data)
        w.grad.data.zero_()
        b.grad.data.zero_()
    assert w.item() == pytest.approx(2, abs=0.2)
    assert b.item() == pytest.approx(3, abs=0.3)
