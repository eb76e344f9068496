"""Arguments that functions of Tensors understand, beyond those that everybody uses."""

import itertools

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import torchlike

X = gs.tensor([[1.0, 4.0, 2.0], [0.5, 3.0, 7.0]])
ROW, ONE = X[0], gs.tensor(3.0)

CASES = {
    "arange by name": (lambda: gs.arange(start=1, end=4), [1, 2, 3]),
    "arange end": (lambda: gs.arange(end=3), [0, 1, 2]),
    "arange step": (lambda: gs.arange(1, end=6, step=2), [1, 3, 5]),
    "atleast_1d of several": (lambda: torchlike.atleast_1d(ONE, ROW)[0], [3.0]),
    "atleast_2d of a list": (lambda: torchlike.atleast_2d([ONE, ROW])[0], [[3.0]]),
    "atleast_3d of a list": (lambda: torchlike.atleast_3d((ONE,))[0], [[[3.0]]]),
    "cdist": (
        lambda: torchlike.cdist(X, X, compute_mode="donot_use_mm_for_euclid_dist")[0, :1],
        [0.0],
    ),
    "cov": (
        lambda: torchlike.cov(
            X, fweights=gs.tensor([1, 2, 1]), aweights=gs.tensor([0.5, 1.0, 2.0])
        ),
        np.cov(X.numpy(), fweights=[1, 2, 1], aweights=[0.5, 1.0, 2.0]),
    ),
    "diff": (lambda: torchlike.diff(ROW, prepend=ROW[:1], append=ROW[:2]), [0, 3, -2, -1, 3]),
    "diff of order 0": (lambda: torchlike.diff(ROW, n=0, prepend=ROW), [1, 4, 2]),
    "einsum of numbers": (lambda: gs.einsum(X, [0, 1], ROW, [1], [0]), X.numpy() @ ROW.numpy()),
    "einsum of the rest": (lambda: gs.einsum(X, [..., 0], [...]), X.numpy().sum(1)),
    "flip": (lambda: gs.flip(ROW, dims=(0,)), [2, 4, 1]),
    "gather of nothing": (lambda: gs.gather(ROW, 0, gs.tensor(np.zeros((2, 0), int))), [[], []]),
    "gradient": (lambda: torchlike.gradient(ROW, spacing=None)[0], [3.0, 0.5, -2.0]),
    "histogram of a number": (lambda: torchlike.histogram(ONE, 1, range=(0.0, 5.0)).hist, [1.0]),
    "index_select of a number": (lambda: torchlike.index_select(ONE, 0, gs.tensor([0])), 3.0),
    "masked_select of a number": (lambda: torchlike.masked_select(ONE, gs.tensor(True)), [3.0]),
    "masked_scatter to more axes": (
        lambda: torchlike.masked_scatter(ROW, gs.tensor([[True, False, True]]), ROW + 10),
        [[11, 4, 14]],
    ),
    "nanquantile of a number": (lambda: torchlike.nanquantile(ONE, 0.5, 0), 3.0),
    "norm of a number": (lambda: gs.norm(-ONE, 2, 0, True), 3.0),
    "cosine of numbers": (lambda: torchlike.cosine_similarity(ONE, -ONE, 0), -1.0),
    "quantile of a number": (lambda: torchlike.quantile(ONE, 0.5, dim=-1), 3.0),
    "renorm of the greatest": (
        lambda: torchlike.renorm(X, np.inf, 0, 2.0),
        X.numpy() * np.array([[2 / 4], [2 / 7]]),
    ),
    "repeat_interleave": (
        lambda: torchlike.repeat_interleave(ROW, 2, output_size=6),
        [1, 1, 4, 4, 2, 2],
    ),
    "searchsorted by an order": (
        lambda: torchlike.searchsorted(ROW, gs.tensor([1.5]), sorter=gs.tensor([0, 2, 1])),
        [1],
    ),
    "searchsorted of nothing": (
        lambda: torchlike.searchsorted(gs.ones(2, 0), gs.ones(2, 1)),
        [[0], [0]],
    ),
    "squeeze of no axes": (lambda: gs.squeeze(gs.ones(1, 1), ()), [[1.0]]),
    "take_along_dim flat": (lambda: torchlike.take_along_dim(X, gs.tensor([[0], [4]])), [1.0, 3.0]),
    "unfold of a number": (lambda: ONE.unfold(0, 1, 1), [3.0]),
    "var_mean": (lambda: torchlike.var_mean(ROW, False)[0], np.var([1, 4, 2])),
    "std_mean": (lambda: torchlike.std_mean(X, 1, unbiased=False)[1], [7 / 3, 3.5]),
}


@pytest.mark.parametrize("name", CASES)
def test_arguments(name):
    call, expected = CASES[name]
    found = call()
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "function",
    [
        lambda out: gs.sum(X, 0, out=out),
        lambda out: gs.amax(X, 0, out=out),
        lambda out: gs.softmax(X[0], 0, out=out),
        lambda out: gs.cumsum(X[1], 0, out=out),
        lambda out: gs.cat((ROW[:1], ROW[1:]), out=out),
        lambda out: gs.stack((ONE, ONE, ONE), out=out),
    ],
)
def test_results_go_into_a_tensor_at_hand(function):
    out = gs.zeros(3)
    expected = function(None).tolist()
    assert function(out) is out
    assert out.tolist() == expected


def test_the_neighbour_of_a_number_moves_with_it():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    torchlike.nextafter(x, gs.zeros(2)).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_whole_quotients_have_the_derivative_zero():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    for y in (gs.div(x, 2, rounding_mode="floor"), gs.div(x, 2, rounding_mode="trunc"), x // 2):
        (gradient,) = gs.autograd.grad(y.sum(), x)
        assert gradient.tolist() == [0.0, 0.0]


def test_transforms_of_frames_may_be_parts_of_complex_numbers():
    signal = gs.tensor(np.sin(np.arange(32.0)))
    parts = torchlike.stft(signal, 8, return_complex=False)
    whole = torchlike.stft(signal, 8, return_complex=True)
    np.testing.assert_array_equal(parts[..., 0].numpy(), whole.real.numpy())
    np.testing.assert_array_equal(parts[..., 1].numpy(), whole.imag.numpy())


@pytest.mark.parametrize("needs", [*itertools.product((False, True), repeat=2)])
def test_products_at_repeated_indices_do_not_depend_on_what_is_recorded(needs):
    x, s = gs.ones((2, 2)), gs.tensor([[2.0, 3.0, 5.0], [7.0, 11.0, 13.0]])
    x.requires_grad_(needs[0]), s.requires_grad_(needs[1])
    y = torchlike.index_reduce(x, 1, gs.tensor([0, 0, 1]), s, "prod")
    assert y.tolist() == [[6.0, 5.0], [77.0, 13.0]]
    if all(needs):
        assert gs.autograd.gradcheck(
            lambda a, b: torchlike.index_reduce(a, 1, gs.tensor([0, 0, 1]), b, "prod"), (x, s)
        )


def test_the_second_derivative_of_digamma():
    pytest.importorskip("scipy")
    x = gs.tensor([0.3, 2.0], requires_grad=True)
    assert gs.autograd.gradgradcheck(torchlike.digamma, x)
