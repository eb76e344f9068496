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
        forward_ad.exit_dual_level(level=0)
    with pytest.raises(RuntimeError, match="Dual level must be a positive number"):
        forward_ad.exit_dual_level()


def test_forward_mode_over_a_recorded_backward_gives_second_derivatives():
    x, v = gs.tensor([1.0, 2.0], requires_grad=True), gs.tensor([1.0, -1.0])

    def function(t):
        return (t**3 * t.sin()).sum()

    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, v)
        (gradient,) = gs.autograd.grad(function(dual), dual, create_graph=True)
        second = tangent_of(gradient)
        (plain,) = gs.autograd.grad(function(dual), dual)
        of_plain = tangent_of(plain)
    expected = gs.autograd.functional.hvp(function, x, v)[1].array
    assert np.allclose(second.array, expected)
    assert np.allclose(of_plain.array, expected)
    assert gs.allclose(plain, gradient)
    assert (plain.requires_grad, of_plain.requires_grad) == (False, False)


def test_backward_through_dual_tensors_leaves_gradients_with_tangents():
    x, v = gs.tensor([1.0, 2.0], requires_grad=True), gs.tensor([1.0, -1.0])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, v)
        for _ in range(2):
            (dual**3).sum().backward()
        assert x.grad.tolist() == [6, 24]
        assert tangent_of(x.grad).tolist() == [12, -24]
        assert x.grad.is_leaf
    (x**2).sum().backward()
    assert x.grad.tolist() == [8, 28]


def test_the_tangent_of_a_gradient_by_way_of_what_requires_none():
    w, x = gs.tensor([2.0, 3.0], requires_grad=True), gs.tensor([1.0, 2.0])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, gs.tensor([1.0, 10.0]))
        (gradient,) = gs.autograd.grad((w * dual**2).sum(), w)
        assert gradient.tolist() == [1, 4]
        assert tangent_of(gradient).tolist() == [2, 40]


def test_the_tangent_of_a_seed_goes_through_linear_operations():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    with forward_ad.dual_level():
        seed = forward_ad.make_dual(gs.ones(2), gs.tensor([1.0, 2.0]))
        y = forward_ad.make_dual(x, gs.zeros(2)) * 3
        (gradient,) = gs.autograd.grad(y, x, seed)
        assert tangent_of(gradient).tolist() == [3, 6]


def test_a_tangent_may_have_none_itself():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(gs.ones(2), gs.ones(2))
        with pytest.raises(RuntimeError, match="has a forward gradient at the same level"):
            forward_ad.make_dual(gs.ones(2), dual)


def test_detach_in_place_takes_the_tangent_away():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(gs.ones(2), gs.ones(2)).clone()
        assert tangent_of(dual) is not None
        assert tangent_of(dual.detach_()) is None


def test_the_number_of_the_level():
    assert forward_ad._current_level == -1
    with forward_ad.dual_level() as level:
        assert forward_ad._current_level == level == 0


def jvp_of(forward, jvp):
    """A Function of these methods."""
    methods = {"forward": staticmethod(forward), "jvp": staticmethod(jvp)}
    return type("Custom", (gs.autograd.Function,), methods).apply


@pytest.mark.parametrize(
    ("forward", "jvp", "text"),
    [
        (lambda ctx, x: x * 1, lambda ctx, t: (t, t), r"(expected 1 but got 2)"),
        (lambda ctx, x: (x * 1, x * 2), lambda ctx, t: t, r"(expected 2 but got 1)"),
        (lambda ctx, x: x * 1, lambda ctx, t: 3, "expected Variable or None (got int)"),
        (lambda ctx, x: x * 1, lambda ctx, t: gs.ones(3), "has a different size than that of"),
        (lambda ctx, x: x.long(), lambda ctx, t: t, "You should return None at that position"),
        (lambda ctx, x: x, lambda ctx, t: t, "the jvp is not returning a view."),
        (lambda ctx, x: x[:2], lambda ctx, t: t[:2] * 1, "the jvp is not returning a view."),
        (lambda ctx, x: x[:2], lambda ctx, t: (t * 1)[:2], "a view of the given grad input."),
        (lambda ctx, x: (ctx.mark_dirty(x), x.mul_(2))[1], lambda ctx, t: t * 2, "gradients inpl"),
        (lambda ctx, x: (ctx.mark_dirty(x), x.mul_(2))[1], lambda ctx, t: t, "gradients inplace"),
    ],
)
def test_what_jvp_returns_is_checked(forward, jvp, text):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(gs.ones(4), gs.ones(4))
        with pytest.raises(RuntimeError) as error:
            jvp_of(forward, jvp)(dual)
    assert text in str(error.value)


def test_jvp_of_views_and_changes_in_place():
    with forward_ad.dual_level():
        tangent = gs.ones(4)
        dual = forward_ad.make_dual(gs.ones(4), tangent)
        part = jvp_of(lambda ctx, x: x[:2], lambda ctx, t: t[:2])(dual)
        assert tangent_of(part)._base is tangent
        same = jvp_of(lambda ctx, x: x, lambda ctx, t: t.view_as(t))(dual)
        assert tangent_of(same).tolist() == [1] * 4
        doubled = jvp_of(
            lambda ctx, x: (ctx.mark_dirty(x), x.mul_(2))[1], lambda ctx, t: t.mul_(2)
        )(dual)
        assert doubled is dual
        assert tangent_of(dual) is tangent
        assert tangent.tolist() == [2] * 4


def test_jvp_gets_what_was_saved_for_forward_and_no_tangent_for_integers():
    def forward(ctx, x, index):
        ctx.save_for_backward(x)
        return x * 1, index.clone()

    def jvp(ctx, tangent, of_index):
        assert (ctx.saved_tensors, of_index) == ((), None)
        return tangent, None

    with forward_ad.dual_level():
        dual = forward_ad.make_dual(gs.ones(1), gs.ones(1))
        out, index = jvp_of(forward, jvp)(dual, gs.tensor([3]))
        assert (tangent_of(out).tolist(), tangent_of(index)) == ([1], None)


def test_in_jvp_neither_primals_nor_tangents_have_tangents():
    seen = []

    def forward(ctx, x, y):
        ctx.save_for_forward(x, y)
        return x * y

    def jvp(ctx, of_x, of_y):
        x, y = ctx.saved_tensors
        result = of_x * y + x * of_y
        seen.extend(map(tangent_of, (x, y, of_x, of_y, result)))
        return result

    with forward_ad.dual_level():
        product = jvp_of(forward, jvp)
        dual = forward_ad.make_dual(gs.tensor([3.0]), gs.ones(1))
        out = product(product(dual, dual), dual)
        assert tangent_of(out).tolist() == [27]
        assert tangent_of(tangent_of(out)) is None
    assert seen == [None] * 10


def test_the_tangent_of_a_recorded_gradient_can_be_differentiated():
    x, v = gs.tensor([1.0, 2.0], requires_grad=True), gs.tensor([1.0, -1.0], requires_grad=True)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, v)
        (gradient,) = gs.autograd.grad((dual**3).sum(), dual, create_graph=True)
        second = tangent_of(gradient)
        assert second.tolist() == [6, -12]
        (second.sum() + gradient.sum()).backward()
    assert x.grad.tolist() == [6 + 6, -6 + 12]
    assert v.grad.tolist() == [6, 12]


def test_a_tangent_follows_axes_exchanged_in_place():
    with forward_ad.dual_level():
        y = forward_ad.make_dual(gs.ones(2, 3), gs.arange(6.0).reshape(2, 3)) * 1
        y.t_()
        y.diagonal().mul_(2)
        assert forward_ad.unpack_dual(y).tangent.tolist() == [[0, 3], [1, 8], [2, 5]]


def test_results_of_a_function_of_several_have_tangents():
    with forward_ad.dual_level():
        x = forward_ad.make_dual(gs.eye(2), gs.tensor([[1.0, 2.0], [3.0, 4.0]]))
        sign, size = np.linalg.slogdet(x)
        assert forward_ad.unpack_dual(sign).tangent.item() == 0
        assert forward_ad.unpack_dual(size).tangent.item() == 5


def test_a_tangent_follows_the_conversion_to_a_common_dtype():
    x, z = gs.tensor([1.0, 2.0]), gs.tensor([1 + 1j, 2])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, gs.tensor([1.0, 0.0]))
        assert tangent_of(gs.cat([dual, z])).tolist() == [1, 0, 0, 0]
        assert tangent_of(gs.stack([dual, z])).tolist() == [[1, 0], [0, 0]]
        single = gs.ones(1, dtype=gs.float32)
        assert tangent_of(gs.cat([dual.to(gs.float32), single, x])).tolist() == [1, 0, 0, 0, 0]


def test_forward_mode_can_be_switched_off():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(gs.ones(2), gs.ones(2))
        with forward_ad._set_fwd_grad_enabled(False):
            assert not forward_ad._is_fwd_grad_enabled()
            assert tangent_of(dual) is None
            result = dual * 2
        assert forward_ad._is_fwd_grad_enabled()
        assert tangent_of(result) is None
        assert tangent_of(dual * 2).tolist() == [2, 2]


def test_out_is_refused_where_there_is_a_tangent():
    with forward_ad.dual_level():
        dual, plain = forward_ad.make_dual(gs.ones(2), gs.ones(2)), gs.ones(2)
        for first, out in ((plain, dual), (dual, plain)):
            with pytest.raises(NotImplementedError, match="forward AD with add_out"):
                gs.add(first, plain, out=out)


@gs.differentiable
def filled(x, factor):
    out = np.empty(2)
    for i in range(2):
        out[i] = x[i] * x[i] * factor
    return out, np.sum(out)


@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_compiled_function_passes_tangents_on(requires_grad):
    x = gs.tensor([1.0, 2.0], requires_grad=requires_grad)
    with forward_ad.dual_level():
        array, total = filled(forward_ad.make_dual(x, gs.tensor([1.0, 10.0])), 3.0)
        assert tangent_of(array).tolist() == [6, 120]
        assert tangent_of(total).tolist() == 126
        assert total.requires_grad == requires_grad
        if requires_grad:
            assert gs.autograd.grad(total, x, retain_graph=True)[0].tolist() == [6, 12]
            assert gs.autograd.grad(tangent_of(total), x)[0].tolist() == [6, 60]
        with gs.no_grad():
            _, unrecorded = filled(forward_ad.make_dual(x, gs.ones(2)), 3.0)
        assert (tangent_of(unrecorded).tolist(), unrecorded.requires_grad) == (18, False)


def test_a_compiled_function_of_what_has_no_tangent_runs_once():
    runs = []

    @gs.differentiable
    def f(x):
        runs.append(1)
        return np.sin(x)

    with forward_ad.dual_level():
        assert tangent_of(f(gs.ones(1))) is None
        assert len(runs) == 1
        assert tangent_of(f(forward_ad.make_dual(gs.zeros(1), gs.ones(1)))).tolist() == [1]
        assert len(runs) == 2


def test_a_view_has_the_tangent_that_its_base_has_come_by():
    with forward_ad.dual_level():
        base = gs.zeros(3)
        view = base[1:]
        base.add_(forward_ad.make_dual(gs.ones(3), gs.tensor([1.0, 2.0, 3.0])))
        assert tangent_of(view).tolist() == [2, 3]
        base.mul_(2)
        assert tangent_of(view).tolist() == [4, 6]
        primal = forward_ad.unpack_dual(base).primal
        assert tangent_of(primal) is None
        assert tangent_of(primal[1:]) is None


def test_what_has_a_tangent_gets_no_other_one_at_the_same_level():
    x = gs.tensor([1.0, 2.0])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, gs.ones(2))
        for tensor in (dual, dual * 2):
            with pytest.raises(RuntimeError, match="already has a forward gradient at the same"):
                forward_ad.make_dual(tensor, gs.ones(2))


def test_inference_mode_knows_no_tangents():
    with forward_ad.dual_level():
        x = forward_ad.make_dual(gs.tensor([1.0, 2.0]), gs.tensor([1.0, -2.0]))
        with gs.inference_mode():
            y = x * 2
            assert tangent_of(y) is None
        assert tangent_of(x + y).tolist() == [1.0, -2.0]


def test_stores_in_a_recorded_backward_change_the_tangent_of_what_they_store_to_alone():
    def f(x, w):
        y = x * 1
        y[1] = y[0] * w
        y *= x
        return y.sum()

    v = gs.tensor([1.0, 2.0, -3.0])
    x = gs.tensor([0.5, -1.5, 2.0], requires_grad=True)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, v)
        (gradient,) = gs.autograd.grad(f(dual, 0.7), dual, create_graph=True)
        found = tangent_of(gradient)
    (gradient,) = gs.autograd.grad(f(x, 0.7), x, create_graph=True)
    (expected,) = gs.autograd.grad((gradient * v).sum(), x)
    assert found.tolist() == pytest.approx(expected.tolist())


@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_change_of_a_primal_gives_it_a_tangent_of_its_own(requires_grad):
    x = gs.tensor([1.0, 2.0], requires_grad=requires_grad)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x * 1, gs.tensor([2.0, 2.0]))
        primal = forward_ad.unpack_dual(dual).primal
        primal.mul_(forward_ad.make_dual(gs.tensor([3.0, 4.0]), gs.tensor([5.0, 6.0])))
        assert (primal.tolist(), tangent_of(primal).tolist()) == ([3, 8], [5, 12])
        assert (dual.tolist(), tangent_of(dual).tolist()) == ([3, 8], [2, 2])


def test_a_change_of_a_view_that_is_older_than_its_bases_tangent_changes_that():
    with forward_ad.dual_level():
        base = gs.tensor([1.0, 2.0])
        view, later = base[:1], base[1:]
        later.mul_(forward_ad.make_dual(gs.tensor([3.0]), gs.tensor([0.5])))
        view.mul_(forward_ad.make_dual(gs.tensor([3.0]), gs.tensor([5.0])))
        assert (base.tolist(), tangent_of(base).tolist()) == ([3, 6], [5, 1])


def test_tangents_are_shared_with_views_taken_before_axes_were_exchanged():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(gs.ones(2, 2), gs.tensor([[1.0, 2.0], [3.0, 4.0]]))
        older = dual.t()
        dual.t_()
        older[0] = 0.5
        assert tangent_of(dual).tolist() == [[0, 0], [2, 4]]
        dual.mul_(2)
        assert tangent_of(older).tolist() == [[0, 0], [4, 8]]
        dual.unsqueeze_(0).zero_()
        assert tangent_of(older).tolist() == [[0, 0], [0, 0]]


WRONG_LEVELS = {
    1: (RuntimeError, "Invalid level given to _make_dual"),
    -1: (RuntimeError, "no level exists, make sure to enter_dual_level"),
    1.5: (TypeError, r"_make_dual\(\): argument 'level' must be int, not float"),
    "0": (TypeError, r"_make_dual\(\): argument 'level' must be int, not str"),
}


@pytest.mark.parametrize("level", WRONG_LEVELS)
def test_there_is_one_level_to_make_duals_at(level):
    kind, text = WRONG_LEVELS[level]
    with forward_ad.dual_level(), pytest.raises(kind, match=text):
        forward_ad.make_dual(gs.ones(2), gs.ones(2), level=level)


def test_a_dual_is_unpacked_at_its_level():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(gs.ones(2), gs.ones(2))
        assert forward_ad.unpack_dual(dual, level=0).tangent.tolist() == [1.0, 1.0]
        assert forward_ad.unpack_dual(dual, level=-1).primal is dual
        assert forward_ad.unpack_dual(gs.ones(2), level=1).tangent is None
        with pytest.raises(RuntimeError, match="Invalid level given to _fw_primal"):
            forward_ad.unpack_dual(dual, level=1)
        with pytest.raises(TypeError, match=r"_unpack_dual\(\): argument 'level' must be int"):
            forward_ad.unpack_dual(dual, level=True)


def test_no_dual_is_made_at_a_level_that_has_been_left():
    with forward_ad.dual_level() as level:
        pass
    with pytest.raises(RuntimeError, match="Trying to access a forward AD level with an invalid"):
        forward_ad.make_dual(gs.ones(2), gs.ones(2), level=level)
