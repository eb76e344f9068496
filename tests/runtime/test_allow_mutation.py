"""`allow_mutation_on_saved_tensors`: changes in place of what a backward needs."""

import pytest

import gradscribe as gs
from gradscribe import autograd
from gradscribe.autograd import Function
from gradscribe.autograd.graph import allow_mutation_on_saved_tensors


def leaf(*values):
    return gs.tensor(values, requires_grad=True)


def test_a_backward_sees_what_was_saved():
    x = leaf(1.0, 2.0)
    with allow_mutation_on_saved_tensors():
        y = x.clone()
        out = (y**2).sum()
        y.sin_()
        out.backward()
    assert x.grad.tolist() == [2, 4]


@pytest.mark.parametrize("changes_view", [True, False])
def test_views_and_bases_are_the_same_memory(changes_view):
    x = leaf(1.0, 2.0)
    with allow_mutation_on_saved_tensors():
        base = x.clone()
        view = base[:1]
        if changes_view:
            out = (base**2).sum()
            view *= 10
        else:
            out = (view**2).sum() + (base**2)[1]
            base *= 10
        out.backward()
    assert x.grad.tolist() == [2, 4]


def test_a_saved_tensor_of_a_custom_function():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return 2 * x * gradient

    x = leaf(3.0)
    with allow_mutation_on_saved_tensors():
        y = x.clone()
        out = Square.apply(y)
        y.zero_()
        out.backward()
    assert x.grad.tolist() == [6]


def test_what_is_saved_is_copied_once_and_freed():
    with allow_mutation_on_saved_tensors() as mutations:
        y = leaf(1.0).clone()
        first, second = y**2, y**2
        assert len(mutations.cloned) == 0
        y.sin_()
        assert len(mutations.cloned) == 1
        third = y**2
        y.sin_()
        assert len(mutations.cloned) == 2
        del first, second
        assert len(mutations.cloned) == 1
        del third
        assert len(mutations.cloned) == 0
        y.sin_()
        assert len(mutations.cloned) == 0


def test_second_derivatives():
    x = leaf(3.0)
    with allow_mutation_on_saved_tensors():
        y = x.clone()
        out = (y**3).sum()
        y.zero_()
        (first,) = autograd.grad(out, x, create_graph=True)
        assert autograd.grad(first, x)[0].tolist() == [18]


def test_the_backward_must_be_run_within():
    with allow_mutation_on_saved_tensors():
        out = leaf(1.0) ** 2
    with pytest.raises(AssertionError, match="Trying to backward outside of the 'allow_mutation"):
        out.backward()
    with (
        allow_mutation_on_saved_tensors(),
        pytest.raises(RuntimeError, match="contexts cannot be nested"),
        allow_mutation_on_saved_tensors(),
    ):
        pass


def test_the_handles_of_what_is_saved_can_be_counted():
    with allow_mutation_on_saved_tensors() as mutations:
        x = gs.ones(2, requires_grad=True).clone()
        y = x**2
        assert len(mutations.tid_to_weakhandle) == 1
        x.sin_()
        assert len(mutations.cloned) == 1
        del y
        assert len(mutations.cloned) == 0
