"""Which Tensors require a gradient, and which of them keep one."""

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.autograd import Variable
from tests.runtime.graphs import two_layers


def leaf(*data):
    return gs.tensor(list(data), requires_grad=True)


def test_requires_grad_rules_of_leaves():
    x = gs.zeros(2)
    assert not x.requires_grad
    assert x.is_leaf
    assert x.requires_grad_() is x
    assert x.requires_grad
    x.requires_grad = False
    assert not x.requires_grad
    y = gs.ones(2, requires_grad=True) * 2
    assert not y.is_leaf
    with pytest.raises(RuntimeError) as error:
        y.requires_grad = False
    assert str(error.value).startswith("you can only change requires_grad flags of leaf variables.")
    with pytest.raises(RuntimeError, match="only Tensors of floating point"):
        gs.tensor([1]).requires_grad_()


def test_contagion_and_leaf_rules():
    x, w = gs.ones(1), leaf(0.5)
    y = w * x
    z = y + leaf(1.0)
    assert (x.requires_grad, w.requires_grad, y.requires_grad) == (False, True, True)
    assert (x.is_leaf, w.is_leaf, y.is_leaf, z.is_leaf) == (True, True, False, False)
    assert w.grad_fn is None


def test_intermediate_results_keep_no_gradient():
    x = leaf(1.0)
    y = x * 2
    (y * y).backward()
    assert y.grad is None


def test_retain_grad():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    assert y.retains_grad
    assert not x.retains_grad
    (y * y).backward()
    assert y.grad.tolist() == [4]
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad"):
        gs.ones(1).retain_grad()


def test_a_gradient_is_required_in_three_ways():
    a = gs.randn(3, 4, requires_grad=True)
    b = gs.randn(3, 4).requires_grad_()
    c = gs.randn(3, 4)
    c.requires_grad = True
    assert a.requires_grad and b.requires_grad and c.requires_grad


def test_what_is_made_of_leaves_of_all_three_ways_requires_a_gradient():
    a, b, c = gs.randn(3, 4, requires_grad=True), gs.randn(3, 4), gs.randn(3, 4)
    b = b.requires_grad_()
    c.requires_grad = True
    for leaf in (a, b, c):
        assert (leaf.requires_grad, (leaf * 2).requires_grad, leaf.grad_fn) == (True, True, None)


def test_requires_grad_is_contagious():
    a, w = gs.ones(1), gs.ones(1, requires_grad=True)
    assert not Variable(gs.ones(1)).requires_grad
    assert ((a * w).requires_grad, (a * a).requires_grad, (a * w + a).requires_grad) == (
        True,
        False,
        True,
    )


def test_what_was_detached_passes_no_gradient_on():
    a, w1, w2 = gs.ones(1), gs.ones(1, requires_grad=True), gs.ones(1, requires_grad=True)
    b = (w1 * a).detach()
    ((b * 3) + (w2 * a)).backward()
    assert (w1.grad, w2.grad.tolist()) == (None, [1])


def test_leaves_keep_what_backward_computes():
    x, y = (gs.rand(5, 5, requires_grad=True) for _ in range(2))
    z = x**2 + y**3
    z.backward(gs.ones_like(x))
    np.testing.assert_allclose(x.grad.numpy(), 2 * x.detach().numpy())
    np.testing.assert_allclose(y.grad.numpy(), 3 * y.detach().numpy() ** 2)
    assert z.grad is None


def test_retain_grad_keeps_the_gradients_of_several_results():
    _, _, b, c, d, loss = two_layers()
    for middle in (b, c, d):
        middle.retain_grad()
    loss.backward()
    assert [middle.grad.item() for middle in (b, c, d)] == [-9, -7, -1]


def test_a_plain_sum_keeps_no_gradient_of_the_middle():
    a = gs.randn(3, 4)
    a.requires_grad = True
    b = gs.zeros(3, 4).requires_grad_()
    assert repr(b) == (
        "tensor([[0., 0., 0., 0.],\n        [0., 0., 0., 0.],\n        [0., 0., 0., 0.]], "
        "requires_grad=True)"
    )
    c = a.add(b)
    assert c.tolist() == (a + b).tolist()
    d = c.sum()
    d.backward()
    assert (d.requires_grad, c.grad) == (True, None)


def test_the_gradients_of_a_product_and_none_between():
    x = gs.ones(3, requires_grad=True)
    w = gs.rand(3, requires_grad=True)
    y = x * w
    y.sum().backward()
    assert (x.grad.tolist(), w.grad.tolist(), y.grad) == (w.tolist(), [1, 1, 1], None)


def test_a_sum_of_a_sum_leaves_gradients_with_the_leaves():
    a = gs.randn(3, 4, requires_grad=True)
    b = gs.zeros(3, 4).requires_grad_()
    c = a.add(b)
    d = c.sum()
    d.backward()
    assert d.requires_grad
    assert a.grad.tolist() == [[1.0] * 4] * 3
    assert (a.requires_grad, b.requires_grad, c.requires_grad) == (True, True, True)
    assert (a.is_leaf, b.is_leaf, c.is_leaf) == (True, True, False)
    assert c.grad is None
