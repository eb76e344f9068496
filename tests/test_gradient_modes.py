"""Gradient modes and random numbers of the package mean in compiled code what they mean eagerly."""

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import torchlike
from gradscribe.autograd import forward_ad


def for_a_stretch(x):
    gs.set_grad_enabled(False)
    y = x * 2
    gs.set_grad_enabled(True)
    return x * y


def as_it_was_before(x):
    before = gs.is_grad_enabled()
    gs.set_grad_enabled(False)
    try:
        y = x * x
    finally:
        gs.set_grad_enabled(before)
    return y * x


def in_inference_mode(x):
    with gs.inference_mode():
        y = x * 2
    return x + y


def out_of_inference_mode(x):
    with gs.inference_mode(False):
        y = x * 2
    return y * x


def returned_from_inference_mode(x):
    with gs.inference_mode():
        return x * 2


@gs.inference_mode()
def doubled_in_inference_mode(x):
    return x * 2


@gs.no_grad()
def doubled(x):
    return x * 2


def by_decorated_helpers(x):
    return doubled(x) * x + doubled_in_inference_mode(x) + x


def asks_for_the_mode(x):
    with gs.no_grad():
        k = 2.0 if gs.is_grad_enabled() else 3.0
    if gs.is_grad_enabled():
        return x**3 * k
    return x**2


def one_in_the_other(x):
    with gs.no_grad():
        with gs.enable_grad():
            y = x * x
        z = x * 3
    with gs.autograd.set_grad_enabled(mode=False):
        z = z * x
    return y + z


def in_a_loop(x):
    for k in range(2):
        with gs.no_grad():
            y = x * k
        x = x + y * x
    return x


@pytest.mark.parametrize(
    "function",
    [
        for_a_stretch,
        as_it_was_before,
        in_inference_mode,
        out_of_inference_mode,
        returned_from_inference_mode,
        by_decorated_helpers,
        asks_for_the_mode,
        one_in_the_other,
        in_a_loop,
    ],
)
def test_gradient_modes(function):
    def found(function):
        x = gs.tensor([1.0, 2.0], requires_grad=True)
        out = function(x)
        arrays = [out.detach().numpy()]
        while out.requires_grad and len(arrays) < 4:
            (out,) = gs.autograd.grad(out.sum(), x, create_graph=True)
            arrays.append(out.detach().numpy())
        while len(arrays) < 4:
            arrays.append(np.zeros(2))
        with forward_ad.dual_level():
            out = function(forward_ad.make_dual(x.detach(), gs.tensor([1.0, -2.0])))
            tangent = forward_ad.unpack_dual(out).tangent
        return [*arrays, np.zeros(2) if tangent is None else tangent.numpy()]

    np.testing.assert_allclose(found(gs.differentiable(function)), found(function))


def test_the_recorded_run_shows_the_branch_that_was_taken_whatever_the_mode_is():
    x = gs.tensor([1.0], requires_grad=True)
    out = gs.differentiable(asks_for_the_mode)(x)
    with gs.no_grad():
        shown = str(out.grad_fn.run())
    assert "enabled" not in shown


def seeded_anew(x):
    gs.manual_seed(0)
    a = gs.rand(3)
    gs.manual_seed(0)
    return x * (a - gs.rand(3)) + x * a


def seeded_in_a_loop(x):
    for k in range(3):
        if x[0] > 0:
            gs.manual_seed(k)
        x = x * gs.randn(3)
    return x * torchlike.initial_seed()


def set_back(x):
    state = torchlike.get_rng_state()
    a = gs.rand(3)
    torchlike.set_rng_state(state)
    return x * a - gs.rand(3)


@pytest.mark.parametrize("function", [seeded_anew, seeded_in_a_loop, set_back])
def test_seeds(function):
    def found(function):
        x = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
        gs.manual_seed(11)
        outs = [function(x), function(x), gs.rand(3)]
        (gradient,) = gs.autograd.grad(sum(out.sum() for out in outs), x)
        return [t.detach().numpy() for t in (*outs, gradient)]

    np.testing.assert_array_equal(found(gs.differentiable(function)), found(function))


class Layer:
    def __init__(self, weight):
        self.weight = weight

    def __call__(self, x):
        return (self.weight * x).sum()


@pytest.mark.parametrize("requires_grad", [False, True])
def test_what_a_function_captures_may_have_a_tangent(requires_grad):
    with forward_ad.dual_level():
        weight = forward_ad.make_dual(
            gs.ones(2, requires_grad=requires_grad), gs.tensor([1.0, 10.0])
        )
        x = forward_ad.make_dual(gs.ones(2), gs.tensor([1.0, 10.0]))
        layer = Layer(weight)
        for function in (lambda x: (x * weight).sum(), layer):
            compiled = gs.differentiable(function)
            assert forward_ad.unpack_dual(compiled(x)).tangent.item() == 22
            assert forward_ad.unpack_dual(compiled(gs.ones(2))).tangent.item() == 11


def test_an_argument_that_comes_back_is_itself():
    with forward_ad.dual_level():
        x = forward_ad.make_dual(gs.ones(2), gs.tensor([1.0, 10.0]))
        same, double = gs.differentiable(lambda x: (x, x * 2))(x)
        assert same is x
        assert forward_ad.unpack_dual(double).tangent.tolist() == [2.0, 20.0]


def test_forward_mode_does_not_heed_the_mode_around_a_call():
    with gs.no_grad(), forward_ad.dual_level():
        x = forward_ad.make_dual(gs.ones(2), gs.ones(2))
        out = gs.differentiable(lambda x: (x * x).sum())(x)
        assert forward_ad.unpack_dual(out).tangent.item() == 4
