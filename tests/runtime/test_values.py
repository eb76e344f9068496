"""Values and dtypes of functions of Tensors, as PyTorch gives them."""

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import torchlike


@pytest.mark.parametrize(
    ("call", "dtype", "values"),
    [
        (lambda: gs.tensor([1.0, -1.2, 0.6]).hardshrink(), "float64", [1.0, -1.2, 0.6]),
        (lambda: torchlike.celu(gs.tensor([0.3, -1.2]), 1.5), "float64", [0.3, -0.826006553824]),
        (
            lambda: torchlike.selu(gs.tensor([0.3, -1.2])),
            "float64",
            [0.315210296207, -1.228569995417],
        ),
        (lambda: torchlike.rrelu(gs.tensor([1.0, -1.0]), 0.1, 0.3), "float64", [1.0, -0.2]),
        (
            lambda: torchlike.prelu(gs.tensor([[0.3, -1.2], [-1.0, 2.0]]), gs.tensor([0.25, 0.5])),
            "float64",
            [[0.3, -0.6], [-0.25, 2.0]],
        ),
        (lambda: gs.tensor([1, 2]).ldexp(gs.tensor([3])), "float64", [8.0, 16.0]),
        (lambda: gs.tensor([0.3, -1.2, 5.0]).frexp().exponent, "int32", [-1, 1, 3]),
        (
            lambda: gs.tensor([[3.0, 4.0], [0.1, 0.2]]).renorm(2, 0, 1.0),
            "float64",
            [[0.599999988, 0.799999984], [0.1, 0.2]],
        ),
        (lambda: gs.ones(2, 3).sum_to_size(3), "float64", [2.0, 2.0, 2.0]),
        (
            lambda: torchlike.histogram(gs.tensor([1.0, 2.0, 1.0, 4.0]), 4, range=(0.0, 4.0)).hist,
            "float64",
            [0.0, 2.0, 1.0, 1.0],
        ),
        (lambda: gs.tensor([0.0, 1.0, 2.0]).nonzero_static(size=3), "int64", [[1], [2], [-1]]),
        (
            lambda: gs.tensor([[1.0, 1.0, 0.5], [4.0, 3.0, 0.2], [0.5, 0.2, 2.0]]).lu()[0],
            "float64",
            [[4.0, 3.0, 0.2], [0.25, 0.25, 0.45], [0.125, -0.7, 2.29]],
        ),
        (
            lambda: gs.tensor([[1.0, 1.0, 0.5], [4.0, 3.0, 0.2], [0.5, 0.2, 2.0]]).lu()[1],
            "int32",
            [2, 2, 3],
        ),
        (
            lambda: gs.tensor([[0.0, 1.0], [-1.0, 0.0]]).matrix_exp(),
            "float64",
            [[0.540302305868, 0.841470984808], [-0.841470984808, 0.540302305868]],
        ),
        (
            lambda: gs.tensor([[0.0, 40.0], [-40.0, 0.0]]).matrix_exp(),
            "float64",
            [[-0.666938061652, 0.745113160479], [-0.745113160479, -0.666938061652]],
        ),
        (
            lambda: gs.tensor([[4.0, 9.0], [1.0, 3.0]]).cholesky(),
            "float64",
            [[2.0, 0.0], [0.5, 1.658312395178]],
        ),
        (
            lambda: torchlike.gradient(
                gs.tensor([1.0, 2.0, 4.0, 8.0]), spacing=(gs.tensor([0.0, 1.0, 3.0, 4.0]),)
            )[0],
            "float64",
            [1.0, 1.0, 3.0, 4.0],
        ),
        (
            lambda: torchlike.vander(gs.tensor([1, 2, 3]), 2, increasing=True),
            "int64",
            [[1, 1], [1, 2], [1, 3]],
        ),
        (
            lambda: torchlike.combinations(gs.tensor([1, 2, 3]), with_replacement=True),
            "int64",
            [[1, 1], [1, 2], [1, 3], [2, 2], [2, 3], [3, 3]],
        ),
        (lambda: torchlike.unravel_index(gs.tensor([5, 3]), (2, 3))[1], "int64", [2, 0]),
        (
            lambda: torchlike.hann_window(5),
            "float64",
            [0.0, 0.345491502813, 0.904508497187, 0.904508497187, 0.345491502813],
        ),
        (lambda: torchlike.kaiser_window(3, False), "float64", [5.2773441e-05, 1.0, 5.2773441e-05]),
        (lambda: torchlike.range(1, 2, 0.5), "float64", [1.0, 1.5, 2.0]),
        (
            lambda: torchlike.pixel_shuffle(gs.arange(8.0).reshape(4, 1, 2), 2),
            "float64",
            [[[0.0, 2.0, 1.0, 3.0], [4.0, 6.0, 5.0, 7.0]]],
        ),
        (
            lambda: torchlike.channel_shuffle(gs.arange(4.0).reshape(1, 4, 1), 2),
            "float64",
            [[[0.0], [2.0], [1.0], [3.0]]],
        ),
        (
            lambda: torchlike.istft(
                torchlike.stft(gs.arange(8.0), 4, 2, window=gs.ones(4), return_complex=True),
                4,
                2,
                window=gs.ones(4),
            ),
            "float64",
            [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
        ),
        (
            lambda: gs.ones(3, 2).index_reduce(0, gs.tensor([0, 0]), gs.full((2, 2), 3.0), "prod"),
            "float64",
            [[9.0, 9.0], [1.0, 1.0], [1.0, 1.0]],
        ),
        (
            lambda: gs.tensor([5, 6]).scatter_reduce(
                0, gs.tensor([0]), gs.tensor([2]), "amax", include_self=False
            ),
            "int64",
            [2, 6],
        ),
    ],
)
def test_values(call, dtype, values):
    found = call()
    assert str(found.dtype) == f"torch.{dtype}"
    assert found.tolist() == gs.tensor(values).tolist() or gs.allclose(
        found, gs.tensor(values, dtype=found.dtype), atol=1e-11
    )


def test_cross_products_are_along_the_first_axis_of_length_three():
    x, y = gs.rand(3, 3, 5), gs.rand(3, 3, 5)
    expected = np.cross(x.numpy(), y.numpy(), axis=0)
    np.testing.assert_array_equal(torchlike.cross(x, y).numpy(), expected)
    along_last = np.cross(x[..., 0], y[..., 0])
    np.testing.assert_array_equal(
        along_last.numpy(), np.cross(x[..., 0].numpy(), y[..., 0].numpy())
    )


@pytest.mark.parametrize("p", [0, 1, 2, 3, "fro", float("inf")])
def test_a_norm_of_all_elements_keeps_the_axes_if_asked_to(p):
    assert gs.norm(gs.ones(2, 3), p, keepdim=True).shape == (1, 1)
    assert gs.norm(gs.ones(2, 3), p).shape == ()


def test_where_is_a_method_too():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    y = x.where(x > 1.5, x * x)
    assert y.tolist() == [1.0, 2.0]
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 1.0]
    assert x.where(x > 1.5, 0.0).tolist() == [0.0, 2.0]


@pytest.mark.parametrize(
    ("mode", "expected"), [("floor", [3.0, -4.0]), ("trunc", [3.0, -3.0]), (None, [3.5, -3.5])]
)
def test_quotients_are_rounded(mode, expected):
    x = gs.tensor([7.0, -7.0])
    assert x.div(2, rounding_mode=mode).tolist() == expected
    whole = x.long().div(2, rounding_mode=mode)
    assert (whole.tolist(), whole.dtype) == (expected, gs.int64 if mode else gs.float64)
