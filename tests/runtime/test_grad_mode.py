"""no_grad and its relatives, as context managers, decorators and plain calls."""

import threading

import numpy as np
import pytest

from gradscribe.autograd import Function, grad
from gradscribe.runtime import namespace as gs


@pytest.fixture
def x():
    return gs.ones(2, requires_grad=True)


def test_no_grad_records_nothing_inside_its_block(x):
    with gs.no_grad():
        inside = x * 2
        w = gs.rand(1, requires_grad=True)
    assert not inside.requires_grad
    assert w.requires_grad
    assert (x * 2).requires_grad


def test_no_grad_makes_results_that_need_no_gradient():
    with gs.no_grad():
        x = gs.ones(1)
        w = gs.rand(1, requires_grad=True)
        y = x * w
    assert (x.requires_grad, w.requires_grad, y.requires_grad) == (False, True, False)


def test_a_sum_under_no_grad_requires_no_gradient(capsys):
    x, y = (gs.rand(5, 5, requires_grad=True) for _ in range(2))
    with gs.no_grad():
        print((x + y * 2).requires_grad)
    assert capsys.readouterr().out == "False\n"


def test_enable_grad_within_no_grad(x):
    with gs.no_grad():
        with gs.enable_grad():
            assert (x * 2).requires_grad
        assert not (x * 2).requires_grad


def test_modes_are_restored_after_an_exception():
    with pytest.raises(ValueError), gs.no_grad():
        raise ValueError
    assert gs.is_grad_enabled()


def test_set_grad_enabled_as_a_plain_call(x):
    gs.set_grad_enabled(False)
    assert not (x * 2).requires_grad
    gs.set_grad_enabled(True)
    assert (x * 2).requires_grad


def test_set_grad_enabled_for_good():
    gs.set_grad_enabled(False)
    x = gs.ones(1)
    w = gs.rand(1, requires_grad=True)
    y = x * w
    assert (x.requires_grad, w.requires_grad, y.requires_grad) == (False, True, False)
    gs.set_grad_enabled(True)


def test_set_grad_enabled_gives_an_object_back():
    restored = gs.set_grad_enabled(True)
    assert type(restored).__name__ == "set_grad_enabled"


def test_set_grad_enabled_as_a_context_manager(x):
    with gs.set_grad_enabled(False):
        assert not gs.is_grad_enabled()
    assert gs.is_grad_enabled()


def test_set_grad_enabled_as_a_decorator_does_not_change_the_mode_here(x):
    @gs.set_grad_enabled(False)
    def double(a):
        return a * 2

    assert gs.is_grad_enabled()
    assert not double(x).requires_grad


@pytest.mark.parametrize("decorator", [gs.no_grad, gs.no_grad()])
def test_no_grad_as_a_decorator_with_and_without_parentheses(decorator, x):
    @decorator
    def double(a):
        """Twice."""
        return a * 2

    assert not double(x).requires_grad
    assert double.__doc__ == "Twice."
    assert gs.is_grad_enabled()


def test_a_decorated_function_may_recurse(x):
    @gs.no_grad()
    def countdown(n):
        return gs.is_grad_enabled() if n == 0 else countdown(n - 1)

    assert countdown(3) is False
    assert gs.is_grad_enabled()


def test_generators_run_in_the_mode_and_their_consumers_do_not():
    @gs.no_grad()
    def steps():
        received = yield gs.is_grad_enabled()
        yield received

    generator = steps()
    assert next(generator) is False
    assert gs.is_grad_enabled()
    assert generator.send("sent") == "sent"


def test_inference_mode(x):
    with gs.inference_mode():
        assert gs.is_inference_mode_enabled()
        assert not (x * 2).requires_grad
    assert not gs.is_inference_mode_enabled()

    @gs.inference_mode
    def double(a):
        return a * 2

    assert not double(x).requires_grad


def test_threads_have_modes_of_their_own():
    seen = []
    with gs.no_grad():
        thread = threading.Thread(target=lambda: seen.append(gs.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_a_class_is_decorated_with_a_warning():
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @gs.no_grad()
        class Made:
            def __init__(self):
                self.recorded = gs.is_grad_enabled()

            def method(self):
                return gs.is_grad_enabled()

    assert (Made().recorded, Made().method()) == (False, True)


def test_a_generator_is_closed_in_its_mode():
    seen = []

    @gs.enable_grad()
    def generator():
        try:
            yield
        finally:
            seen.append(gs.is_grad_enabled())

    with gs.no_grad():
        running = generator()
        next(running)
        running.close()
    assert seen == [True]


def test_multithreading_is_a_setting():
    from gradscribe import autograd

    assert autograd.is_multithreading_enabled()
    with autograd.set_multithreading_enabled(False):
        assert not autograd.is_multithreading_enabled()
    assert autograd.is_multithreading_enabled()


def test_the_array_of_a_tensor_that_requires_gradients_is_given_where_nothing_is_recorded(x):
    with gs.no_grad():
        assert x.numpy().base is x.array
        assert np.asarray(x).base is x.array
    with gs.inference_mode():
        assert x.numpy().base is x.array
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\)"):
        x.numpy()


def test_forward_of_a_function_may_compute_with_numpy(x):
    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return gs.from_numpy(x.numpy() ** 3)

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return gs.from_numpy(3 * x.numpy() ** 2 * grad.numpy())

    Cube.apply(x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


@pytest.mark.parametrize("mode", [gs.no_grad, gs.inference_mode])
def test_a_view_of_what_requires_a_gradient_requires_one_in_every_mode(mode):
    x = gs.ones(2, requires_grad=True)
    with mode():
        view, result = x.view(2, 1), x + 1
    assert (view.requires_grad, view.is_leaf, view._is_view()) == (True, True, True)
    assert not result.requires_grad
    (view * 2).sum().backward()
    assert (view.grad, x.grad) == (None, None)
    with pytest.raises(RuntimeError, match="appears to not have been used"):
        grad((view * 2).sum(), view)
    view.requires_grad_()
    (view * 2).sum().backward()
    assert view.grad.tolist() == [[2], [2]]


@pytest.mark.parametrize("mode", [gs.no_grad, gs.inference_mode])
def test_axes_exchanged_in_place_in_a_mode_hinder_no_later_change(mode):
    x = gs.ones(2, 3, requires_grad=True).clone()
    with mode():
        x.transpose_(0, 1)
        x.transpose_(0, 1)
    x.transpose_(0, 1)
    x.mul_(2)
    assert x.shape == (3, 2)
    assert x.requires_grad


def test_a_view_taken_in_a_mode_is_refused_after_its_base_has_come_to_require_a_gradient():
    x = gs.ones(2, requires_grad=True)
    base = gs.zeros(2)
    with gs.no_grad():
        view = base[:1]
    base.add_(x)
    assert view.requires_grad
    for use in (lambda: view * 2, lambda: view.split(1), lambda: grad(base.sum(), view)):
        with pytest.raises(RuntimeError, match="A view was created in no_grad mode and its base"):
            use()


def test_a_root_that_no_gradient_flows_through_is_refused():
    x = gs.ones(2, requires_grad=True)
    with gs.no_grad():
        view = x[:1]
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
        view.backward()
