"""`gs.autograd.forward_ad`: dual Tensors."""

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.autograd import Function, forward_ad


def tangent_of(tensor):
    return forward_ad.unpack_dual(tensor).tangent


def test_a_dual_tensor_has_a_primal_and_a_tangent():
    x, v = gs.arange(3.0), gs.ones(3)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, v)
        primal, tangent = forward_ad.unpack_dual(dual)
        assert primal.tolist() == [0, 1, 2]
        assert tangent is v
        assert repr(dual) == "tensor([0., 1., 2.], tangent=tensor([1., 1., 1.]))"
        assert forward_ad.unpack_dual(x) == (x, None)
    assert tangent_of(dual) is None


def test_operations_carry_tangents_along():
    x, v = gs.tensor([0.5, 1.5]), gs.tensor([1.0, -2.0])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, v)
        out = (dual * 2).sin() * dual + dual**2
        t = x.array
        expected = v.array * (2 * np.cos(2 * t) * t + np.sin(2 * t) + 2 * t)
        assert np.allclose(tangent_of(out).array, expected)
        assert not tangent_of(out).requires_grad
        assert tangent_of(dual @ dual).item() == pytest.approx(2 * (x.array @ v.array))
        assert tangent_of(gs.cat([dual, x])).tolist() == [1, -2, 0, 0]
        assert tangent_of(gs.where(dual > 1, dual * 3, x)).tolist() == [0, -6]
        assert tangent_of(dual > 1) is None
        assert tangent_of(dual.detach()) is None


def test_no_grad_leaves_forward_mode_on():
    with forward_ad.dual_level(), gs.no_grad():
        assert tangent_of(forward_ad.make_dual(gs.ones(1), gs.ones(1)) * 3).tolist() == [3]


def test_views_and_in_place_operations_change_the_tangent():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(gs.ones(3), gs.ones(3)).clone()
        dual[1:].mul_(2)
        assert tangent_of(dual).tolist() == [1, 2, 2]
        dual[0] = 7
        assert tangent_of(dual).tolist() == [0, 2, 2]
        plain = gs.zeros(3)
        plain[:2] = dual[1:]
        assert tangent_of(plain).tolist() == [2, 2, 0]


def test_a_tangent_can_be_differentiated_backward():
    x = gs.tensor([2.0], requires_grad=True)
    with forward_ad.dual_level():
        tangent = tangent_of(forward_ad.make_dual(x, gs.ones(1)) ** 3)
    assert gs.autograd.grad(tangent, x)[0].tolist() == [12]


def test_a_compiled_function_carries_tangents_along():
    @gs.differentiable
    def cube(x):
        return x**3

    x = gs.tensor([2.0], requires_grad=True)
    with forward_ad.dual_level():
        assert tangent_of(cube(forward_ad.make_dual(x, gs.ones(1)))).tolist() == [12]
        assert tangent_of(cube(forward_ad.make_dual(x.detach(), gs.ones(1)))).tolist() == [12]


class Exponential(Function):
    @staticmethod
    def forward(ctx, x):
        result = gs.exp(x)
        ctx.save_for_forward(result)
        return result

    @staticmethod
    def jvp(ctx, tangent):
        (result,) = ctx.saved_tensors
        return tangent * result


def test_a_custom_function_gives_its_own_jvp():
    with forward_ad.dual_level():
        out = Exponential.apply(forward_ad.make_dual(gs.zeros(2), gs.tensor([1.0, 2.0])))
        assert tangent_of(out).tolist() == [1, 2]


def test_a_custom_function_without_jvp_is_refused():
    class Plain(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    with forward_ad.dual_level(), pytest.raises(NotImplementedError, match="implement the jvp"):
        Plain.apply(forward_ad.make_dual(gs.ones(1), gs.ones(1)))


def test_levels_do_not_nest_and_duals_need_one():
    with pytest.raises(RuntimeError, match="no level exists"):
        forward_ad.make_dual(gs.ones(1), gs.ones(1))
    with forward_ad.dual_level() as level:
        assert level == 0
        with pytest.raises(RuntimeError, match="Nested forward mode AD is not supported"):
            forward_ad.enter_dual_level()
        with pytest.raises(ValueError, match=r"primal to be floating .* got: torch.int64"):
            forward_ad.make_dual(gs.tensor([1]), gs.ones(1))
        with pytest.raises(RuntimeError, match=r"of size \[3\] while the given .* of size \[2\]"):
            forward_ad.make_dual(gs.ones(3), gs.ones(2))
    with pytest.raises(RuntimeError, match="not the last one"):
        forward_ad.exit_dual_level()


def test_forward_mode_over_a_recorded_backward_gives_second_derivatives():
    x, v = gs.tensor([1.0, 2.0], requires_grad=True), gs.tensor([1.0, -1.0])

    def function(t):
        return (t**3 * t.sin()).sum()

    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, v)
        (gradient,) = gs.autograd.grad(function(dual), dual, create_graph=True)
        second = tangent_of(gradient)
        with pytest.raises(NotImplementedError, match="needs create_graph=True"):
            gs.autograd.grad(function(dual), dual)
    assert np.allclose(second.array, gs.autograd.functional.hvp(function, x, v)[1].array)
