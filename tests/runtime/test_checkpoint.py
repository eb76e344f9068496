"""`utils.checkpoint`: the part of a forward run that is run again in the backward."""

import contextlib
import gc
import warnings
import weakref

import pytest

import gradscribe as gs
from gradscribe import autograd
from gradscribe.autograd import Function
from gradscribe.utils.checkpoint import (
    CheckpointError,
    GraphExecGroup,
    checkpoint,
    checkpoint_sequential,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)


def leaf(*values):
    return gs.tensor(values, requires_grad=True)


def checkpointed(function):
    return lambda *args, **kwargs: checkpoint(function, *args, use_reentrant=False, **kwargs)


def gradient(function):
    """The derivative of a function of one number, recorded."""

    def derivative(x):
        with gs.enable_grad():
            return autograd.grad(function(x), x, create_graph=True)[0]

    return derivative


def counted(function):
    """The function, and a list of its calls."""
    calls = []

    def counting(*args):
        calls.append(args)
        return function(*args)

    return counting, calls


def one_then_other(one, other):
    """A function that is another one from its second call on."""
    function, calls = counted(lambda x: one(x) if len(calls) == 1 else other(x))
    return function


def test_how_to_run_again_should_be_said():
    x = leaf(1.0)
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint(gs.exp, x)
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint_sequential([gs.exp, gs.sin], 2, x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checkpoint(gs.exp, x, use_reentrant=False)
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        checkpoint(gs.exp, gs.ones(1), use_reentrant=True)


def test_unknown_options_are_refused():
    x = leaf(1.0)
    with pytest.raises(ValueError, match="determinism_check should be one of"):
        checkpoint(gs.exp, x, use_reentrant=False, determinism_check="strict")
    with pytest.raises(ValueError, match="Unexpected keyword arguments: a,b"):
        checkpoint(gs.exp, x, use_reentrant=True, a=1, b=2)
    with pytest.raises(ValueError, match="only supported when use_reentrant=False"):
        checkpoint(gs.exp, x, use_reentrant=True, debug=True)


@pytest.mark.parametrize(
    ("settings", "option", "runs"),
    [
        ([], None, 1),
        ([], False, 2),
        ([False], True, 2),
        ([True], False, 1),
        ([False, True], None, 1),
    ],
)
def test_the_second_run_stops_early_unless_told_otherwise(settings, option, runs):
    last, calls = counted(gs.clone)
    options = {} if option is None else {"early_stop": option}
    with contextlib.ExitStack() as stack:
        for setting in settings:
            stack.enter_context(set_checkpoint_early_stop(setting))
        out = checkpoint(lambda x: last(x.sin().cos()), leaf(1.0), use_reentrant=False, **options)
    out.backward()
    assert len(calls) == runs


def test_nothing_is_run_again_for_a_function_that_saves_nothing():
    function, calls = counted(gs.clone)
    checkpoint(function, leaf(1.0), use_reentrant=False).backward()
    assert len(calls) == 1


@pytest.mark.parametrize("early_stop", [True, False])
def test_nested_checkpoints_and_gradients_agree_with_plain_code(early_stop):
    def f(x):
        return x.sin().exp().sin()

    def g(x):
        autograd.grad(f(x), x)
        return x.sin()

    c = checkpointed
    x = gs.tensor(0.3, requires_grad=True)
    with set_checkpoint_early_stop(early_stop):
        for h in (f, g):
            assert c(c(h))(x).item() == h(x).item()
            expected = gradient(h)(x)
            for actual in (gradient(c(h)), gradient(c(c(h)))):
                assert gs.allclose(actual(x), expected)
            expected = gradient(gradient(h))(x)
            for actual in (gradient(c(gradient(h))), c(gradient(gradient(c(h))))):
                assert gs.allclose(actual(x), expected)
            expected = gradient(gradient(gradient(h)))(x)
            assert gs.allclose(gradient(c(gradient(c(gradient(c(h))))))(x), expected)


def test_two_runs_that_differ_are_found():
    def three(x):
        return x.sin().exp().sin()

    def two(x):
        return x.sin().exp()

    def spread(x):
        return x.sin() * gs.ones(3, 1) * x

    x = leaf(1.0)
    with pytest.raises(CheckpointError, match="A different number of tensors was saved"):
        checkpoint(one_then_other(three, two), x, use_reentrant=False).backward()
    checkpoint(one_then_other(two, three), x, use_reentrant=False).backward()
    with (
        set_checkpoint_early_stop(False),
        pytest.raises(CheckpointError, match="trying to save more tensors"),
    ):
        checkpoint(one_then_other(two, three), x, use_reentrant=False).backward()
    differing = one_then_other(lambda x: x.sin() * gs.ones(1) * x, spread)
    with pytest.raises(CheckpointError, match="tensors have different metadata"):
        checkpoint(differing, x, use_reentrant=False).backward()


def test_debugging_tells_the_nodes_of_both_runs():
    def differing():
        return one_then_other(lambda x: x.sin().exp(), gs.exp)

    x = leaf(1.0)
    with pytest.raises(CheckpointError, match=r"original forward: SinBackward0, ExpBackward0\n.*"):
        checkpoint(differing(), x, use_reentrant=False, debug=True).backward()
    with (
        set_checkpoint_debug_enabled(True),
        pytest.raises(CheckpointError, match="recomputation: ExpBackward0"),
    ):
        checkpoint(differing(), x, use_reentrant=False).backward()
    with (
        set_checkpoint_debug_enabled(False),
        pytest.raises(CheckpointError, match="Tip: "),
    ):
        checkpoint(differing(), x, use_reentrant=False, debug=True).backward()


def test_a_group_shares_the_second_run_of_disjoint_backwards():
    def run(group):
        def both(x):
            y = x.sin().cos()
            return y, y.sin().cos()

        function, calls = counted(both)
        x = leaf(1.0, 2.0)
        y, z = checkpoint(function, x, use_reentrant=False)
        with group:
            (d_y,) = autograd.grad(z, y, gs.ones(2))
            autograd.grad(y, x, d_y)
        return len(calls)

    assert run(GraphExecGroup()) == 2
    assert run(contextlib.nullcontext()) == 3
    out = checkpoint(gs.sin, leaf(1.0), use_reentrant=False)
    with GraphExecGroup():
        out.backward(retain_graph=True)
        with pytest.raises(CheckpointError, match="Performing two backward calls that overlap"):
            out.backward()


class Saves(Function):
    """Saves an input, an intermediate and an output."""

    seen = ()

    @staticmethod
    def forward(ctx, x, y):
        out = x * y
        ctx.save_for_backward(x, y, out)
        return out

    @staticmethod
    def backward(ctx, gradient):
        x, y, _ = Saves.seen = ctx.saved_tensors
        return gradient * y, gradient * x


def test_saved_tensors_of_a_custom_function_are_read_once():
    class Twice(Saves):
        @staticmethod
        def backward(ctx, gradient):
            assert len(ctx.saved_tensors) == 3
            with pytest.raises(CheckpointError, match="already unpacked once"):
                ctx.saved_tensors
            return None, None

    checkpoint(Twice.apply, leaf(1.0), leaf(2.0), use_reentrant=False).backward()


def test_a_saved_constant_is_the_same_tensor_again():
    x, y = leaf(2.0), gs.ones(1)
    checkpoint(Saves.apply, x, y, use_reentrant=False).backward()
    assert Saves.seen[1] is y
    assert x.grad.tolist() == [1]


def test_what_the_second_run_made_is_freed():
    made = []

    def function(x):
        y = x.sin()
        made.append(weakref.ref(y))
        return Saves.apply(y, y)

    def run():
        checkpoint(function, leaf(1.0), use_reentrant=False).backward()

    Saves.seen = ()
    run()
    Saves.seen = ()
    gc.collect()
    gc.disable()
    try:
        run()
        Saves.seen = ()
        assert [reference() for reference in made] == [None] * 4
    finally:
        gc.enable()


def test_a_hook_may_start_another_backward_through_the_checkpoint():
    def both(a):
        x = a.sin().cos()
        return x, x.sin()

    a = leaf(1.0)
    x, out = checkpoint(both, a, use_reentrant=False)
    out.grad_fn.register_hook(lambda *_: x.backward(retain_graph=True))
    out.backward()
    expected = leaf(1.0)
    sum(both(expected)).backward()
    assert gs.allclose(a.grad, expected.grad)


def test_a_saved_value_asked_for_outside_of_a_backward_is_made_each_time():
    function, calls = counted(lambda a: (a * a).exp())
    a = leaf(1.0)
    out = checkpoint(function, a, use_reentrant=False)
    for expected in (2, 3):
        assert out.grad_fn._saved_result.tolist() == out.tolist()
        assert len(calls) == expected
    out.backward()
    assert len(calls) == 4
    with pytest.raises(RuntimeError, match="already been freed"):
        out.grad_fn._saved_result


def test_two_contexts_are_entered_in_the_two_runs():
    entered = []

    @contextlib.contextmanager
    def context(name):
        entered.append(name)
        yield

    contexts = lambda: (context("first"), context("second"))
    out = checkpoint(gs.exp, leaf(1.0), use_reentrant=False, context_fn=contexts)
    assert entered == ["first"]
    out.backward()
    assert entered == ["first", "second"]


def test_the_reentrant_way_needs_a_whole_backward():
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match=r"incompatible with \.grad\(\)"):
        autograd.grad(checkpoint(gs.exp, x, use_reentrant=True), x)
    with pytest.raises(RuntimeError, match=r"incompatible with \.grad\(\)"):
        checkpoint(gs.exp, x, use_reentrant=True).backward(inputs=[x])
    checkpoint(gs.exp, x, use_reentrant=True).backward()
    assert gs.allclose(x.grad, x.exp())


@pytest.mark.parametrize("segments", [1, 2, 3, 4])
def test_each_function_is_in_one_of_the_segments(segments):
    x = leaf(1.0, 2.0)
    functions = [lambda v, k=k: v * k for k in (2, 3, 5, 7)]
    y = checkpoint_sequential(functions, segments, x, use_reentrant=False)
    assert y.tolist() == [210, 420]
    y.sum().backward()
    assert x.grad.tolist() == [210, 210]
