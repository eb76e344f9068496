"""Tensors that compiled code makes of NumPy's arrays and of numbers, and arrays of Tensors: what is
cut from the graph, and what is not."""

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import torchlike
from gradscribe.testing import check_grad

X = np.array([0.5, -1.5, 2.0])


@pytest.mark.parametrize(
    "made",
    [
        lambda a: gs.tensor(a),
        lambda a: gs.as_tensor(a),
        lambda a: gs.from_numpy(a),
        lambda a: torchlike.asarray(a),
        lambda a: gs.tensor(a, dtype=gs.float64),
        lambda a: gs.tensor([a[0], a[1], 2.0], dtype=gs.float64),
        lambda a: gs.full((3,), a[0], dtype=gs.float64),
        lambda a: gs.linspace(a[0], a[1], 3, dtype=gs.float64),
        lambda a: gs.tensor(a[1], dtype=gs.float64) * gs.from_numpy(a),
        lambda a: gs.from_numpy(a * gs.tensor(a).sum().item()),
    ],
)
def test_tensors_of_plain_values_are_differentiated(made):
    check_grad(lambda a: (made(a) ** 2).sum() * a[2], X)


def gradient(function):
    x = gs.tensor(X, requires_grad=True)
    return gs.autograd.grad(function(x), x)[0].tolist()


@pytest.mark.filterwarnings("ignore:To copy construct")
@pytest.mark.parametrize(
    "made",
    [
        lambda x: gs.tensor(x),
        lambda x: gs.tensor([x[0], x[1] * 2, x.sum()]),
        lambda x: gs.from_numpy(x.detach().numpy() * 2),
        lambda x: gs.tensor(x.data.numpy()) * x.sum(),
        lambda x: gs.as_tensor(x) * 2,
        lambda x: gs.linspace(0.0, x[2], 3),
        lambda x: gs.tensor(x[0].item() * np.ones(3)),
    ],
)
def test_what_eager_mode_cuts_from_the_graph_is_cut(made):
    def f(x):
        return (made(x) * x).sum()

    np.testing.assert_allclose(gradient(gs.differentiable(f)), gradient(f))


def test_no_derivative_gets_lost_where_eager_mode_refuses_an_array():
    def f(x):
        return (gs.tensor(np.tanh(x.numpy())) * x + gs.from_numpy(np.exp(x.numpy()))).sum()

    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        gradient(f)
    expected = np.tanh(X) + X / np.cosh(X) ** 2 + np.exp(X)
    np.testing.assert_allclose(gradient(gs.differentiable(f)), expected)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: gs.from_numpy(np.asarray(x.detach())) * x,
        lambda x: gs.from_numpy(np.array(x.detach(), dtype=float)) * x,
        lambda x: np.asarray(x.detach()).std() * x,
        lambda x: np.array(x.detach()).max(0) * x,
        lambda x: x * (2 if isinstance(np.ascontiguousarray(x.detach()), np.ndarray) else 3),
    ],
)
def test_arrays_of_tensors_are_arrays(function):
    compiled = gs.differentiable(function)
    np.testing.assert_allclose(
        gradient(lambda x: compiled(x).sum()), gradient(lambda x: function(x).sum())
    )


W = gs.tensor([1.0, 2.0])


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda a: W.sum() * a[0].item(), [3, 0, 0]),
        (lambda a: W.sum() * a.sum().item(), [3, 3, 3]),
        (lambda a: np.sum(W.numpy()) * a[0].item(), [3, 0, 0]),
        (lambda a: (float(W.sum()) * a[0]).item() * a[1], [-4.5, 1.5, 0]),
        (lambda a: (W.sum() * a[0]).item() * a[1], [0, 1.5, 0]),
        (lambda a: W.sum() * max(a[0], a[1]).item(), [3, 0, 0]),
        (lambda a: W.sum() * sum(v.item() ** 2 for v in a), [3, -9, 12]),
        (lambda a: (W.sum() * a[0]) * (W[1] * a[1] if a[0] > 0 else W[0]).item(), [-9, 0, 0]),
    ],
)
def test_numbers_of_arrays_keep_their_derivatives_beside_tensors(function, expected):
    """`.item()` of a Tensor takes a number out of the derivative, that of an array does not."""
    np.testing.assert_allclose(gs.grad(function)(X), expected)


@pytest.mark.parametrize(
    "made",
    [
        lambda x: sum(v * v for v in x),
        lambda x: sum([v * v for v in x]),
        lambda x: max(x[0], x[1]),
        lambda x: [x[0], x.sum()][1],
        lambda x: x[0] * 2 if x[1] < 0 else x.sum(),
    ],
)
def test_items_of_numbers_of_tensors_are_cut(made):
    def f(x):
        total = made(x)
        for v in x:
            total = total * 0.5 + v
        return (x * (total * 2).item()).sum() + made(x).item() * x[2]

    np.testing.assert_allclose(gradient(gs.differentiable(f)), gradient(f))


def test_under_no_grad_the_larger_of_two_is_the_number_that_it_was():
    def f(x):
        total = x.sum()
        with gs.no_grad():
            larger = max(total, x[0])
            doubled = max(total * 2, x[0])
        return larger * x[1] + doubled * x[2]

    np.testing.assert_allclose(gradient(gs.differentiable(f)), gradient(f))
