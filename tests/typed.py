"""A user's program for the type checker, which sees the names and methods that editors complete.

`make lint` checks it; it is not run.
"""

import numpy as np
from typing_extensions import assert_type

import gradscribe as gs
from gradscribe import torchlike


class Square(gs.autograd.Function):
    @staticmethod
    def forward(ctx: object, x: gs.Tensor) -> gs.Tensor:
        return x * x


@gs.differentiable
def total(x: np.ndarray) -> float:
    return float(np.sum(x))


x = gs.tensor([1.0, 2.0], dtype=gs.float32, requires_grad=True)
with gs.no_grad():
    assert_type(gs.sigmoid(x), gs.Tensor)
y = x.mm(x).softmax(0) + gs.zeros(2).add_(1)
assert_type(y.relu().T, gs.Tensor)
assert_type(y.is_leaf, bool)
assert_type(y.ndim, int)
assert_type(x.grad, gs.Tensor | None)
assert_type(torchlike.nn.functional.relu(x), gs.Tensor)
assert_type(torchlike.nn.functional.conv2d(x, x, padding="same"), gs.Tensor)
assert_type(torchlike.linalg.inv(x), gs.Tensor)
assert_type(torchlike.fft.fft(x), gs.Tensor)
assert_type(total.specialize("float64[:]").gradient_source, str)
gs.hessian(total)(np.ones(3))
y.sum().backward()
with gs.autograd.detect_anomaly(), gs.autograd.profiler.profile() as prof:
    Square.apply(x).backward(gs.ones_like(x), retain_graph=True)
assert_type(prof.self_cpu_time_total, float)
