"""Stores into Tensors, `y[i] = x`: they are recorded."""

import gradscribe as gs


def leaf(*data):
    return gs.tensor(list(data), requires_grad=True)


def test_stores_are_recorded():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 2
    y[0] = 7
    (y * gs.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert y.tolist() == [7, 4, 6]
    assert x.grad.tolist() == [0, 20, 200]


def test_stored_values_get_gradients():
    w = leaf(2.0)
    out = gs.zeros(3)
    out[1] = w[0] * 3
    out[2] = w * 1
    assert out.grad_fn.name() == "torch::autograd::CopySlices"
    (out * gs.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert w.grad.tolist() == [130]


def test_broadcast_stores_sum_their_gradients():
    w = leaf(2.0)
    out = gs.zeros(2, 3)
    out[:, 1:] = w
    (out * gs.arange(6).view(2, 3)).sum().backward()
    assert w.grad.tolist() == [1 + 2 + 4 + 5]


def test_stores_at_arrays_of_indices_and_masks():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    y[gs.tensor([0, 2])] = x[1] * 5
    y[y > 12] = 0
    assert y.tolist() == [10, 2, 10]
    y.sum().backward()
    assert x.grad.tolist() == [0, 11, 0]


def test_the_second_derivative_through_a_store():
    from gradscribe import autograd

    x = leaf(2.0, 3.0)
    y = x * x
    y[0] = x[1] * x[1]
    (d_x,) = autograd.grad((y * x).sum(), x, create_graph=True)
    assert d_x.tolist() == [9, 2 * 3 * 2 + 27]
    (d_xx,) = autograd.grad(d_x.sum(), x)
    # L = x0 x1**2 + x1**3
    assert d_xx.tolist() == [2 * 3, 2 * 3 + 2 * 2 + 6 * 3]


def test_stores_into_transposed_and_reshaped_views():
    x = gs.ones(2, 3, requires_grad=True)
    y = x * 1
    y.t()[0] = 5
    y.view(-1)[5] = 7
    y.sum().backward()
    assert y.tolist() == [[5, 1, 1], [5, 1, 7]]
    assert x.grad.tolist() == [[0, 1, 1], [0, 1, 0]]
