"""Two short texts on pytorch-book, "notes" and "summary"; see `test_seed_documents.py`."""

import re

import numpy as np
import pytest

import gradscribe as t
import gradscribe as torch
from gradscribe.autograd import Function, Variable

# -- notes ---------------------------------------------------------------------------------------


def test_notes_variable_backward_with_grad_variables_weighs():
    v = Variable(t.Tensor([1.0, 2.0]), requires_grad=True)
    with pytest.warns(DeprecationWarning):
        (v * v).backward(grad_variables=t.Tensor([1.0, 10.0]))
    assert v.grad.data.tolist() == [2, 40]


def test_notes_linear_regression_by_broadcasting():
    x = t.rand(8, 1)
    w, b = t.rand(1, 1, requires_grad=True), t.zeros(1, 1, requires_grad=True)
    assert (x * w + b).tolist() == (x.mm(w) + b.expand_as(x)).tolist()
    loss = (0.5 * (x * w + b - x * 2) ** 2).sum()
    loss.backward()
    before = w.item()
    w.data.sub_(w.grad.data * 0.1)
    assert w.item() == pytest.approx(before - 0.1 * w.grad.item())
    w.grad.data.zero_()
    assert w.grad.item() == 0
    assert not (w.data * x + b.data).requires_grad


def test_dlpack_both_ways():
    x = t.ones(3)
    assert np.from_dlpack(x).tolist() == [1, 1, 1]
    shared = t.from_dlpack(np.arange(3.0))
    assert shared.tolist() == [0, 1, 2]
    with pytest.raises(BufferError, match="require gradient"):
        np.from_dlpack(t.ones(3, requires_grad=True))
    assert list(reversed(t.arange(3)).tolist()) == [2, 1, 0]


def test_notes_variable_gradients_accumulate_and_are_cleared():
    v = Variable(t.ones(2), requires_grad=True)
    for expected in (2.0, 4.0):
        (v * 2).sum().backward()
        assert v.grad.tolist() == [expected] * 2
    v.grad.data.zero_()
    assert v.grad.tolist() == [0, 0]
    with pytest.raises(AttributeError):  # as the text spells it
        v.grad.data.zeros_()


def test_notes_variable_volatile_has_given_way_to_no_grad():
    with pytest.warns(DeprecationWarning):
        v = Variable(t.ones(1), volatile=True)
    assert not (v * 2).requires_grad
    with t.no_grad():
        assert not (Variable(t.ones(1), requires_grad=True) * 2).requires_grad


def test_notes_graph_the_functions_of_both_kinds_of_leaves():
    x, w = Variable(t.ones(1)), Variable(t.ones(1), requires_grad=True)
    v = w * x
    assert (w.grad_fn, x.grad_fn) == (None, None)
    (function, number), without = v.grad_fn.next_functions
    assert (type(function).__name__, number, without) == ("AccumulateGrad", 0, (None, 0))
    assert v.grad_fn.next_functions[0][0] is function


def test_notes_graph_retain_graph_keeps_it_for_another_backward():
    x = t.ones(1, requires_grad=True)
    v = x * x
    v.backward(retain_graph=True)
    v.backward()
    assert x.grad.tolist() == [4]
    with pytest.raises(RuntimeError, match="second time"):
        v.backward()


def test_notes_graph_gradients_of_the_middle_by_grad_and_by_a_hook():
    x = t.ones(2, requires_grad=True)
    y = x * 3
    z = y.sum()
    assert t.autograd.grad(z, y)[0].tolist() == [1, 1]

    def variable_hook(hook):  # as the text has it
        print("y的梯度：\r\n", grad)  # noqa: F821

    y = x * 3
    hook_handle = y.register_hook(variable_hook)
    with pytest.raises(NameError, match="grad"):
        y.sum().backward()
    hook_handle.remove()
    y.sum().backward()
    assert (x.grad.tolist(), y.grad) == ([3, 3], None)


def test_notes_linear_regression_uniform_and_normal_numbers():
    t.manual_seed(0)
    uniform, normal = t.rand(1000), t.randn(1000)
    assert 0 <= uniform.min().item() < uniform.max().item() < 1
    assert abs(normal.mean().item()) < 0.1 > abs(normal.std().item() - 1)


# -- summary -------------------------------------------------------------------------------------


def test_summary_arguments_of_grad():
    x = torch.ones(3, requires_grad=True)
    y = x * x * 2
    arguments = {"grad_outputs": torch.ones(3), "retain_graph": True, "create_graph": False}
    (first,) = torch.autograd.grad(outputs=y, inputs=x, **arguments)
    (again,) = torch.autograd.grad(y, x, torch.ones(3))
    assert first.tolist() == again.tolist() == [4, 4, 4]


def test_summary_example_requires_grad_in_three_ways():
    a, b, c = torch.randn(3, 4, requires_grad=True), torch.randn(3, 4), torch.randn(3, 4)
    b = b.requires_grad_()
    c.requires_grad = True
    for leaf in (a, b, c):
        assert (leaf.requires_grad, (leaf * 2).requires_grad, leaf.grad_fn) == (True, True, None)


def test_summary_what_autograd_does_names_of_functions_end_with_backward():
    x = torch.ones(2, requires_grad=True)
    for result in (x + 1, x * x, x.exp(), x.sum(), x @ x, x.mean()):
        assert re.fullmatch(r"\w+Backward\d", result.grad_fn.name())


def test_summary_data_sigmoid_changes_the_tensor_itself():
    a = torch.zeros(2, requires_grad=True)
    d = a.data.sigmoid_()
    assert (a.tolist(), d.requires_grad, a.grad_fn, a.requires_grad) == (
        [0.5] * 2,
        False,
        None,
        True,
    )


def test_summary_grad_of_the_middle_also_after_backward(capsys):
    x, w = torch.ones(3, requires_grad=True), torch.rand(3, requires_grad=True)
    y = x * w
    z = y.sum()
    z.backward()
    assert y.grad is None
    assert repr(torch.autograd.grad(z, y)) == "(tensor([1., 1., 1.]),)"

    def variable_hook(grad):
        print("y的梯度:", grad)

    y = x * w
    hook_handle = y.register_hook(variable_hook)
    for _ in range(2):
        y.sum().backward(retain_graph=True)
        hook_handle.remove()
    assert capsys.readouterr().out == "y的梯度: tensor([1., 1., 1.])\n"


def test_summary_extending_autograd_an_error_in_backward_is_raised_as_it_is():
    class Sigmoid(Function):
        @staticmethod
        def forward(ctx, x):
            output = 1 / (1 + t.exp(-x))
            ctx.save_for_backward(output)
            return output

        @staticmethod
        def backward(ctx, grad_output):
            output, _ = ctx, saved_tensors  # noqa: F821  (as the text has it)
            return output * (1 - output) * grad_output

    x = t.ones(1, requires_grad=True)
    with pytest.raises(NameError, match="saved_tensors"):
        Sigmoid.apply(x).backward()
    assert x.grad is None
