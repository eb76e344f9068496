"""The code of the tutorials, with their results; see `test_seed_documents.py` for their names."""

import numpy as np
import pytest

from gradscribe import autograd
from gradscribe.autograd import Function, Variable
from gradscribe.runtime import namespace as t


def test_book_3_2_1_requires_grad_in_three_ways():
    a = t.randn(3, 4, requires_grad=True)
    b = t.randn(3, 4).requires_grad_()
    c = t.randn(3, 4)
    c.requires_grad = True
    assert a.requires_grad and b.requires_grad and c.requires_grad


def test_book_3_2_1_sum_of_a_sum():
    a = t.randn(3, 4, requires_grad=True)
    b = t.zeros(3, 4).requires_grad_()
    c = a.add(b)
    d = c.sum()
    d.backward()
    assert d.requires_grad
    assert a.grad.tolist() == [[1.0] * 4] * 3
    assert (a.requires_grad, b.requires_grad, c.requires_grad) == (True, True, True)
    assert (a.is_leaf, b.is_leaf, c.is_leaf) == (True, True, False)
    assert c.grad is None


def test_book_3_2_1_x_squared_times_exp_equals_the_hand_derivative():
    def f(x):
        return x**2 * t.exp(x)

    def gradf(x):
        return 2 * x * t.exp(x) + x**2 * t.exp(x)

    x = t.randn(3, 4, requires_grad=True)
    y = f(x)
    y.backward(t.ones(y.size()))
    assert x.grad.array == pytest.approx(gradf(x).detach().array)


def test_book_3_2_2_graph_of_w_x_plus_b():
    x = t.ones(1)
    b = t.rand(1, requires_grad=True)
    w = t.rand(1, requires_grad=True)
    y = w * x
    z = y + b
    assert (x.is_leaf, w.is_leaf, b.is_leaf) == (True, True, True)
    assert (y.is_leaf, z.is_leaf) == (False, False)
    assert z.grad_fn.next_functions[0][0] == y.grad_fn
    assert y.grad_fn.next_functions[1] == (None, 0)
    assert (w.grad_fn, x.grad_fn) == (None, None)
    z.backward(retain_graph=True)
    assert w.grad.tolist() == [1]
    z.backward()
    assert w.grad.tolist() == [2]


def test_book_3_2_2_abs_with_a_branch():
    def abs(x):
        if x.data[0] > 0:
            return x
        else:
            return -x

    x = t.ones(1, requires_grad=True)
    y = abs(x)
    y.backward()
    assert x.grad.tolist() == [1]
    x = -1 * t.ones(1)
    x = x.requires_grad_()
    y = abs(x)
    y.backward()
    assert x.grad.tolist() == [-1]


def test_book_3_2_2_product_of_the_positive():
    def f(x):
        result = 1
        for ii in x:
            if ii.item() > 0:
                result = ii * result
        return result

    x = t.arange(-2, 4, requires_grad=True)
    y = f(x)
    y.backward()
    assert repr(x.grad) == "tensor([0., 0., 0., 6., 3., 2.])"


def test_book_3_2_2_set_grad_enabled_for_good():
    t.set_grad_enabled(False)
    x = t.ones(1)
    w = t.rand(1, requires_grad=True)
    y = x * w
    assert (x.requires_grad, w.requires_grad, y.requires_grad) == (False, True, False)
    t.set_grad_enabled(True)


def test_book_3_2_2_data_is_independent_of_the_graph():
    a = t.ones(3, 4, requires_grad=True)
    b = t.ones(3, 4, requires_grad=True)
    a * b
    assert not a.data.requires_grad
    d = a.data.sigmoid_()
    assert not d.requires_grad
    assert repr(a) == (
        "tensor([[0.7311, 0.7311, 0.7311, 0.7311],\n"
        "        [0.7311, 0.7311, 0.7311, 0.7311],\n"
        "        [0.7311, 0.7311, 0.7311, 0.7311]], requires_grad=True)"
    )


def test_book_3_2_2_detach_and_statistics():
    a = t.ones(3, 4, requires_grad=True)
    b = t.ones(3, 4, requires_grad=True)
    c = a * b
    tensor = a.detach()
    assert not tensor.requires_grad
    assert (tensor.mean().item(), tensor.std().item(), tensor.max().item()) == (1, 0, 1)
    tensor[0] = 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        c.sum().backward()


def test_book_3_2_2_gradients_of_intermediate_results_by_grad_and_by_hook(capsys):
    x = t.ones(3, requires_grad=True)
    w = t.rand(3, requires_grad=True)
    y = x * w
    z = y.sum()
    assert repr(autograd.grad(z, y)) == "(tensor([1., 1., 1.]),)"

    def variable_hook(grad):
        print("y:", grad)

    y = x * w
    hook_handle = y.register_hook(variable_hook)
    z = y.sum()
    z.backward()
    hook_handle.remove()
    assert capsys.readouterr().out == "y: tensor([1., 1., 1.])\n"
    assert y.grad is None


def test_book_3_2_2_grad_variables_are_the_chain_rule():
    x = t.arange(0, 3, requires_grad=True)
    y = x**2 + x * 2
    z = y.sum()
    z.backward()
    assert x.grad.tolist() == [2, 4, 6]
    x = t.arange(0, 3, requires_grad=True)
    y = x**2 + x * 2
    y.backward(t.Tensor([1, 1, 1]))
    assert x.grad.tolist() == [2, 4, 6]


def test_book_3_2_3_second_derivative_of_x_squared():
    x = t.tensor([5], requires_grad=True)
    y = x**2
    grad_x = autograd.grad(y, x, create_graph=True)
    assert grad_x[0].tolist() == [10]
    assert repr(autograd.grad(grad_x[0], x)) == "(tensor([2.]),)"


def test_book_3_2_3_a_function_with_a_flag():
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

    x, w, b = t.ones(1), t.rand(1, requires_grad=True), t.rand(1, requires_grad=True)
    Mul.apply(w, x, b, False).backward()
    assert (x.grad, w.grad.tolist(), b.grad.tolist()) == (None, [1], [1])
    Mul.apply(w, x, b).backward()
    assert w.grad.tolist() == [2]


def test_book_3_2_3_three_sigmoids_agree():
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

    gradients = []
    x = t.randn(10, 10, requires_grad=True)
    for f in (Sigmoid.apply, lambda x: 1 / (1 + t.exp(-x)), t.sigmoid):
        y = f(x)
        y.backward(t.ones(x.size()))
        gradients.append(x.grad.array.copy())
        x.grad.data.zero_()
    assert gradients[0] == pytest.approx(gradients[1])
    assert gradients[0] == pytest.approx(gradients[2])


def test_book_3_2_4_linear_regression():
    t.manual_seed(1000)

    def get_fake_data(batch_size=8):
        x = t.rand(batch_size, 1) * 5
        y = x * 2 + 3 + t.randn(batch_size, 1)
        return x, y

    w = t.rand(1, 1, requires_grad=True)
    b = t.zeros(1, 1, requires_grad=True)
    losses = np.zeros(500)
    lr = 0.005
    for ii in range(500):
        x, y = get_fake_data(batch_size=32)
        y_pred = x.mm(w) + b.expand_as(y)
        loss = 0.5 * (y_pred - y) ** 2
        loss = loss.sum()
        losses[ii] = loss.item()
        loss.backward()
        w.data.sub_(lr * w.grad.data)
        b.data.sub_(lr * b.grad.data)
        w.grad.data.zero_()
        b.grad.data.zero_()
    x = t.arange(0, 6).view(-1, 1)
    y = x.mm(w.data) + b.data.expand_as(x)
    assert x.numpy().shape == y.numpy().shape == (6, 1)
    assert get_fake_data()[0].squeeze().numpy().shape == (8,)
    assert w.item() == pytest.approx(2, abs=0.2)
    assert b.item() == pytest.approx(3, abs=0.3)
    assert losses[-50:].mean() < losses[:5].mean()


def test_basics_autograd_sum_of_two_matrices():
    x = t.rand(5, 5, requires_grad=True)
    y = t.rand(5, 5, requires_grad=True)
    z = t.sum(x + y)
    assert repr(z).endswith(", grad_fn=<SumBackward0>)")
    z.backward()
    assert repr(x.grad).startswith("tensor([[1., 1., 1., 1., 1.],\n")


def test_basics_analysis_walk_to_the_leaf():
    x = t.rand(5, 5, requires_grad=True)
    y = t.rand(5, 5, requires_grad=True)
    z = x**2 + y**3
    assert str(z.size()) == "torch.Size([5, 5])"
    x1 = t.ones_like(x)
    z = x**2 + y**3 + x1
    z.backward(t.ones_like(x))
    assert z.grad_fn.next_functions[1] == (None, 0)
    xg = z.grad_fn.next_functions[0][0]
    x_leaf = xg.next_functions[0][0].next_functions[0][0]
    assert type(x_leaf).__name__ == "AccumulateGrad"
    assert id(x_leaf.variable) == id(x)
    names = dir(z.grad_fn)
    for name in ("metadata", "name", "next_functions", "register_hook", "requires_grad"):
        assert name in names


def test_notes_variable_attributes():
    var_ex = Variable(t.randn((4, 3)))
    assert not var_ex.requires_grad
    w = Variable(t.ones(1, 1), requires_grad=True)
    y = w * 3
    y.backward(t.ones(1, 1))
    w.data.sub_(w.grad.data * 0.1)
    w.grad.data.zero_()
    assert w.tolist() == [[pytest.approx(0.7)]]
