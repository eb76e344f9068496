"""Values and derivatives at special points: ties, zeros, infinities, NaN."""

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import torchlike

NAN = float("nan")


@pytest.mark.parametrize(
    "function, at, expected",
    [
        (gs.relu, 0.0, 0.0),
        (gs.abs, 0.0, 0.0),
        (lambda x: gs.maximum(x, gs.zeros(())), 0.0, 0.5),
        (lambda x: x.clamp(0, 1), 0.0, 1.0),
        (gs.sign, 2.0, 0.0),
        (gs.floor, 2.5, 0.0),
        (gs.sigmoid, -800.0, 0.0),
        (torchlike.softplus, 800.0, 1.0),
        (gs.sqrt, 0.0, float("inf")),
    ],
)
def test_derivatives_at_special_points_are_pytorchs(function, at, expected):
    x = gs.tensor(at, requires_grad=True)
    with np.errstate(all="ignore"):
        function(x).backward()
    assert x.grad.item() == expected


def test_ties_of_a_full_maximum_share_the_gradient():
    x = gs.tensor([1.0, 3.0, 3.0], requires_grad=True)
    x.max().backward()
    assert x.grad.tolist() == [0, 0.5, 0.5]


def test_the_maximum_along_an_axis_gives_all_to_one():
    x = gs.tensor([[3.0, 3.0]], requires_grad=True)
    x.max(1).values.backward()
    assert x.grad.tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("function", "at", "value", "gradient"),
    [
        (gs.relu, [-np.inf, NAN, -1.0], [0.0, NAN, 0.0], [0.0, 1.0, 0.0]),
        (gs.sigmoid, [-40.0, 40.0], [np.exp(-40.0), 1.0], [np.exp(-40.0), 0.0]),
        (lambda x: x.norm(), [0.0, 0.0], 0.0, [0.0, 0.0]),
        (lambda x: x.logsumexp(0), [-np.inf, 0.0], 0.0, [0.0, 1.0]),
        (lambda x: x.logcumsumexp(0), [-800.0, 0.0], [-800.0, 0.0], [1.0, 1.0]),
        (lambda x: x.xlogy(x), [0.0, 1.0], [0.0, 0.0], None),
        (lambda x: x.cumprod(0), [0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [3.0, 0.0, 0.0]),
    ],
)
def test_values_and_derivatives_at_special_points(function, at, value, gradient):
    x = gs.tensor(at, requires_grad=True)
    with np.errstate(all="ignore"):
        y = function(x)
        y.sum().backward()
    np.testing.assert_allclose(y.detach().numpy(), value, rtol=1e-12)
    if gradient is not None:
        np.testing.assert_allclose(x.grad.numpy(), gradient, rtol=1e-12)


def test_the_logarithm_of_no_probability_is_minus_infinity():
    assert gs.tensor([-np.inf, -np.inf]).logsumexp(0).item() == -np.inf


def test_elements_that_are_the_median_share_its_gradient():
    x = gs.tensor([2.0, 1.0, 2.0, 5.0], requires_grad=True)
    x.median().backward()
    assert x.grad.tolist() == [0.5, 0, 0.5, 0]


@pytest.mark.parametrize("reduce", ["min", "max", "median"])
def test_what_is_nan_shares_the_gradient_of_a_nan(reduce):
    x = gs.tensor([NAN, 1.0, NAN], requires_grad=True)
    getattr(x, reduce)().backward()
    assert x.grad.tolist() == [0.5, 0, 0.5]


@pytest.mark.parametrize("at", [-np.inf, 0.0, np.inf])
def test_a_sigmoid_has_a_derivative_everywhere(at):
    x = gs.tensor(at, requires_grad=True)
    x.sigmoid().backward()
    assert x.grad.item() == (0.25 if at == 0 else 0.0)


def test_the_derivative_of_copysign_at_zero_is_zero():
    x = gs.zeros(2, requires_grad=True)
    torchlike.copysign(x, gs.tensor([1.0, -1.0])).sum().backward()
    assert x.grad.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (torchlike.addmm, ((2, 2), (2, 2), (2, 2))),
        (torchlike.addmv, ((2,), (2, 2), (2,))),
        (torchlike.addr, ((2, 2), (2,), (2,))),
        (torchlike.addbmm, ((2, 2), (3, 2, 2), (3, 2, 2))),
        (torchlike.baddbmm, ((3, 2, 2), (3, 2, 2), (3, 2, 2))),
    ],
)
def test_a_sum_with_none_of_its_input_has_none_of_its_nans(function, shapes):
    whole, first, second = (gs.full(shape, 2.0, requires_grad=True) for shape in shapes)
    unknown = gs.full(shapes[0], float("nan"), requires_grad=True)
    alone = function(unknown, first, second, beta=0, alpha=3)
    assert alone.tolist() == (function(whole, first, second, alpha=3) - 2).tolist()
    alone.sum().backward()
    assert unknown.grad.tolist() == gs.zeros(shapes[0]).tolist()


def test_signs_of_what_is_no_number_and_of_truth_values():
    nan = float("nan")
    assert gs.tensor([nan, -2.0, 0.0]).sign().tolist() == [0, -1, 0]
    assert gs.tensor([True, False]).sign().tolist() == [True, False]
    x = gs.tensor([nan, 3.0], requires_grad=True)
    x.sign().sum().backward()
    assert x.grad.tolist() == [0, 0]


def test_powers_of_zero_by_their_exponents():
    x = gs.tensor([-1.0, 0.0, 1.0], requires_grad=True)
    gs.sum(gs.zeros(3) ** x).backward()
    assert x.grad.tolist() == [-float("inf"), 0, 0]
