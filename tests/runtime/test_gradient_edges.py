"""Edges in place of Tensors: `GradientEdge` in `grad` and `backward`."""

import pytest

import gradscribe as gs
from gradscribe import autograd
from gradscribe.autograd.graph import GradientEdge, get_gradient_edge


def steps(x, reduce=True):
    """A result, and the edge of what it was computed of."""
    middle = x.sin().sum() if reduce else x.sin()
    return middle.exp().sum(), get_gradient_edge(middle)


def leaf(*values):
    return gs.tensor(values, requires_grad=True)


def test_a_backward_in_two_steps_over_an_edge():
    x = leaf(1.0, 2.0)
    out, edge = steps(x)
    (through,) = autograd.grad(out, edge)
    (found,) = autograd.grad(edge, x, through)
    assert gs.allclose(found, autograd.grad(steps(x)[0], x)[0])


def test_an_edge_of_one_element_needs_no_gradient():
    x = leaf(1.0, 2.0)
    _, edge = steps(x)
    (found,) = autograd.grad(edge, x, retain_graph=True)
    assert gs.allclose(found, x.cos())
    autograd.backward((edge,))
    assert gs.allclose(x.grad, x.cos())


def test_the_gradient_of_an_edge_is_checked():
    x = leaf(1.0, 2.0)
    _, edge = steps(x, reduce=False)
    with pytest.raises(RuntimeError, match="implicitly created only for scalar outputs"):
        autograd.grad(edge, x)
    with pytest.raises(RuntimeError, match="Mismatch in shape: grad_output"):
        autograd.backward(edge, gs.ones(4))
    with pytest.raises(RuntimeError, match="required to have the same dtype"):
        autograd.grad(edge, x, gs.ones(2, dtype=gs.complex128))


def test_a_complex_gradient_for_a_real_output_is_refused():
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match="required to have the same dtype"):
        (x * 2).backward(gs.ones(1, dtype=gs.complex128))


def test_edges_may_be_inputs_of_backward():
    x = leaf(1.0).clone()
    y = leaf(1.0).clone()
    (x * y).sum().backward(inputs=[GradientEdge(x.grad_fn, 0), y])
    assert (x.retains_grad, y.grad.tolist()) == (False, [1])


def test_an_edge_to_the_value_before_a_change_in_place():
    x = leaf(1.0, 2.0).clone()
    before = get_gradient_edge(x)
    x *= 2
    old, new = autograd.grad(x.sum(), (before, x))
    assert (old.tolist(), new.tolist()) == ([2, 2], [1, 1])


def test_zeros_are_not_made_for_an_edge():
    x, unused = leaf(1.0), leaf(1.0).clone()
    with pytest.raises(RuntimeError, match="materialize_grads cannot be used when"):
        autograd.grad(x * 2, (x, get_gradient_edge(unused)), materialize_grads=True)


def test_zeros_for_unused_inputs_can_be_differentiated_under_create_graph():
    x, unused = leaf(1.0), leaf(2.0)
    _, zeros = autograd.grad(x * 2, (x, unused), materialize_grads=True, create_graph=True)
    assert zeros.requires_grad
    assert not autograd.grad(x * 2, (x, unused), materialize_grads=True)[1].requires_grad


@pytest.mark.parametrize("index", [0, 1])
def test_a_node_tells_the_types_of_its_outputs(index):
    class Pair(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:1], x.sum()

        @staticmethod
        def backward(ctx, *gradients):
            return None

    node = Pair.apply(leaf(1.0, 2.0))[0].grad_fn
    metadata = node._input_metadata[index]
    assert metadata[:2] == (((1,), gs.float64), ((), gs.float64))[index]
    assert (str(metadata.device), metadata.is_nested_tensor) == ("cpu", False)
    assert [m[:2] for m in leaf(1.0).exp().grad_fn._input_metadata] == [((1,), gs.float64)]


def test_batches_of_gradients_are_checked():
    x = leaf(1.0, 2.0)
    for batch in (gs.ones(2), gs.ones(2, 3)):
        with pytest.raises(RuntimeError, match="we interpret the first dimension of each"):
            autograd.grad(x * 2, x, batch, is_grads_batched=True)


def test_what_is_no_tensor_is_refused():
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match="have to be Tensors or GradientEdges, but got int"):
        autograd.grad(x * 2, [3])
    with pytest.raises(TypeError, match="but got int"):
        autograd.grad([3], x)


def test_no_inputs_are_refused_under_both_classes_of_error():
    for kind in (ValueError, RuntimeError):
        with pytest.raises(kind, match="grad requires non-empty inputs"):
            autograd.grad(leaf(1.0), [])
