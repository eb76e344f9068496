"""Factors before the Tensors that they multiply, as in PyTorch's first versions."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import gradscribe as gs

X, Y = gs.tensor([1.0, 2.0]), gs.tensor([3.0, 4.0])
A, B = gs.tensor([[1.0, 2.0], [3.0, 4.0]]), gs.tensor([[0.0, 1.0], [2.0, 0.0]])
AS, BS = A[None], B[None]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (lambda: gs.add(X, 2, Y), lambda: gs.add(X, Y, alpha=2)),
        (lambda: X.clone().add_(-0.5, Y), lambda: gs.add(X, Y, alpha=-0.5)),
        (lambda: X.sub(2, Y), lambda: gs.sub(X, Y, alpha=2)),
        (lambda: gs.addcmul(X, 2.0, X, Y), lambda: gs.addcmul(X, X, Y, value=2)),
        (lambda: X.clone().addcdiv_(2.0, X, Y), lambda: gs.addcdiv(X, X, Y, value=2)),
        (lambda: gs.addmm(2, A, 3, A, B), lambda: gs.addmm(A, A, B, beta=2, alpha=3)),
        (lambda: gs.addmm(2, A, A, B), lambda: gs.addmm(A, A, B, beta=2)),
        (lambda: A.addmm(2, 3, A, B), lambda: gs.addmm(A, A, B, beta=2, alpha=3)),
        (lambda: A.clone().addmm_(2, A, B), lambda: gs.addmm(A, A, B, beta=2)),
        (lambda: X.addmv(2, A, Y), lambda: gs.addmv(X, A, Y, beta=2)),
        (lambda: A.addr(2, 3, X, Y), lambda: gs.addr(A, X, Y, beta=2, alpha=3)),
        (lambda: gs.baddbmm(2, AS, AS, BS), lambda: gs.baddbmm(AS, AS, BS, beta=2)),
        (lambda: A.addbmm(2, AS, BS), lambda: gs.addbmm(A, AS, BS, beta=2)),
    ],
)
def test_factors_come_first(older: Any, newer: Any) -> None:
    with pytest.warns(UserWarning, match="is deprecated: name") as caught:
        found = older()
    assert found.tolist() == newer().tolist()
    assert caught[0].filename == __file__


def test_the_order_of_today_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gs.add(X, Y, alpha=2)
        gs.addcmul(X, X, Y, value=2)
        A.addmm(A, B, beta=2, alpha=3)


def test_gradients_flow_through_an_older_order() -> None:
    x, y = X.clone().requires_grad_(), Y.clone().requires_grad_()
    with pytest.warns(UserWarning, match="This overload of add is deprecated"):
        (x * 1).add_(-0.5, y).sum().backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([1, 1], [-0.5, -0.5])


@pytest.mark.parametrize(
    "call",
    [
        lambda: gs.add(X, Y, 2),
        lambda: gs.add(X, "2", Y),
        lambda: gs.addcmul(X, 2, 3, X, Y),
        lambda: gs.addmm(A, B, A, B),
    ],
)
def test_other_calls_are_refused(call: Any) -> None:
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        call()
