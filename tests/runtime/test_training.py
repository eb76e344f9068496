"""Parameters that follow their gradients, step by step."""

import numpy as np
import pytest

import gradscribe as gs
from tests.runtime.graphs import two_layers


def test_linear_regression():
    gs.manual_seed(1000)

    def get_fake_data(batch_size=8):
        x = gs.rand(batch_size, 1) * 5
        y = x * 2 + 3 + gs.randn(batch_size, 1)
        return x, y

    w = gs.rand(1, 1, requires_grad=True)
    b = gs.zeros(1, 1, requires_grad=True)
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
    x = gs.arange(0, 6).view(-1, 1)
    y = x.mm(w.data) + b.data.expand_as(x)
    assert x.numpy().shape == y.numpy().shape == (6, 1)
    assert get_fake_data()[0].squeeze().numpy().shape == (8,)
    assert w.item() == pytest.approx(2, abs=0.2)
    assert b.item() == pytest.approx(3, abs=0.3)
    assert losses[-50:].mean() < losses[:5].mean()


def test_linear_regression_with_a_compiled_loss():
    gs.manual_seed(1000)

    @gs.differentiable
    def forward(x, y, w, b):
        y_pred = x.mm(w) + b.expand_as(y)
        loss = 0.5 * (y_pred - y) ** 2
        return loss.sum()

    w = gs.rand(1, 1, requires_grad=True)
    b = gs.zeros(1, 1, requires_grad=True)
    for _ in range(500):
        x = gs.rand(32, 1) * 5
        y = x * 2 + 3 + gs.randn(32, 1)
        forward(x, y, w, b).backward()
        w.data.sub_(0.005 * w.grad.data)
        b.data.sub_(0.005 * b.grad.data)
        w.grad.data.zero_()
        b.grad.data.zero_()
    assert w.item() == pytest.approx(2, abs=0.2)
    assert b.item() == pytest.approx(3, abs=0.3)


def test_linear_regression_by_broadcasting():
    x = gs.rand(8, 1)
    w, b = gs.rand(1, 1, requires_grad=True), gs.zeros(1, 1, requires_grad=True)
    assert (x * w + b).tolist() == (x.mm(w) + b.expand_as(x)).tolist()
    loss = (0.5 * (x * w + b - x * 2) ** 2).sum()
    loss.backward()
    before = w.item()
    w.data.sub_(w.grad.data * 0.1)
    assert w.item() == pytest.approx(before - 0.1 * w.grad.item())
    w.grad.data.zero_()
    assert w.grad.item() == 0
    assert not (w.data * x + b.data).requires_grad


def test_weights_are_updated_by_their_gradients():
    _, weights, _, _, _, loss = two_layers()
    loss.backward()
    learning_rate = 0.1
    w1 = weights[0] - (learning_rate) * weights[0].grad
    assert w1.item() == pytest.approx(2 + 0.1 * 36)
    assert w1.requires_grad
