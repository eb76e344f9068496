"""`data` and `detach`: the memory of a Tensor outside of the graph."""

import numpy as np
import pytest

import gradscribe as gs


def leaf(*data):
    return gs.tensor(list(data), requires_grad=True)


def test_clone_detach_and_data():
    x = gs.tensor([1.0], requires_grad=True)
    assert x.clone().grad_fn.name() == "CloneBackward0"
    assert not np.shares_memory(x.clone().array, x.array)
    assert not x.detach().requires_grad
    assert np.shares_memory(x.detach().array, x.array)
    assert not x.data.requires_grad


def test_assigning_data_replaces_the_array():
    x = gs.tensor([1.0], requires_grad=True)
    x.data = gs.tensor([3.0])
    assert x.tolist() == [3]
    assert x.requires_grad


def test_data_of_what_requires_a_gradient_is_floating():
    x = gs.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="must be floating point or complex dtype"):
        x.data = gs.tensor([1])


def test_an_update_of_the_data_goes_unrecorded():
    w = leaf(1.0)
    (w * 3).backward()
    w.data.sub_(0.1 * w.grad.data)
    assert w.tolist() == pytest.approx([0.7])
    assert w.requires_grad
    assert w._version == 0


def test_a_saved_leaf_that_was_changed_through_detach_is_noticed():
    a, b = gs.ones(3, 4, requires_grad=True), gs.ones(3, 4, requires_grad=True)
    c = a * b
    a.detach()[0] = 1
    with pytest.raises(RuntimeError) as error:
        c.sum().backward()
    assert str(error.value).startswith(
        "one of the variables needed for gradient computation has been modified by an inplace "
        "operation: [torch.DoubleTensor [3, 4]] is at version 1; expected version 0 instead."
    )


def test_a_saved_leaf_that_was_changed_through_data_goes_unnoticed():
    a, b = leaf(1.0), leaf(1.0)
    c = a * b
    a.data.fill_(5)
    c.backward()
    assert b.grad.tolist() == [5]


def test_detach_in_place():
    y = leaf(1.0) * 2
    assert y.detach_() is y
    assert y.is_leaf
    assert not y.requires_grad
    with pytest.raises(RuntimeError, match="Can't detach views in-place"):
        (leaf(1.0, 2.0) * 1)[0].detach_()


def test_data_is_independent_of_the_graph():
    a = gs.ones(3, 4, requires_grad=True)
    b = gs.ones(3, 4, requires_grad=True)
    a * b
    assert not a.data.requires_grad
    d = a.data.sigmoid_()
    assert not d.requires_grad
    assert repr(a) == (
        "tensor([[0.7311, 0.7311, 0.7311, 0.7311],\n"
        "        [0.7311, 0.7311, 0.7311, 0.7311],\n"
        "        [0.7311, 0.7311, 0.7311, 0.7311]], requires_grad=True)"
    )


def test_statistics_of_what_was_detached_and_a_change_of_it():
    a = gs.ones(3, 4, requires_grad=True)
    b = gs.ones(3, 4, requires_grad=True)
    c = a * b
    tensor = a.detach()
    assert not tensor.requires_grad
    assert (tensor.mean().item(), tensor.std().item(), tensor.max().item()) == (1, 0, 1)
    tensor[0] = 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        c.sum().backward()


def test_data_that_is_changed_between_two_backwards():
    x = gs.ones(2)
    assert not x.requires_grad
    w = gs.ones(2, requires_grad=True)
    y = w * x
    (y * gs.Tensor([1, 10])).sum().backward(retain_graph=True)
    assert (w.grad.shape, w.grad.tolist()) == (w.data.shape, [1, 10])
    w.data.mul_(2)  # unnoticed by the graph
    y.sum().backward()
    assert w.grad.tolist() == [2, 11]


def test_a_sigmoid_of_the_data_changes_the_tensor_itself():
    a = gs.zeros(2, requires_grad=True)
    d = a.data.sigmoid_()
    assert (a.tolist(), d.requires_grad, a.grad_fn, a.requires_grad) == (
        [0.5] * 2,
        False,
        None,
        True,
    )
