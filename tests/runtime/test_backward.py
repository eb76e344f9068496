"""backward and autograd.grad: accumulation, freed graphs, what may be asked for."""

import gc
import weakref

import numpy as np
import pytest

from gradscribe import autograd
from gradscribe.runtime import namespace as gs
from tests.runtime.graphs import two_layers


def leaf(*data):
    return gs.tensor(list(data), requires_grad=True)


def test_gradients_arrive_at_the_leaves():
    a, b = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (a * b).sum().backward()
    assert a.grad.tolist() == [3, 4]
    assert b.grad.tolist() == [1, 2]


def test_gradients_accumulate_in_place():
    x = leaf(1.0)
    (x * 2).backward()
    first = x.grad
    (x * 3).backward()
    assert x.grad is first
    assert x.grad.tolist() == [5]
    x.grad.zero_()
    assert x.grad.tolist() == [0]


def test_a_leaf_used_twice_gets_both_contributions():
    x = leaf(3.0)
    (x * x + x).backward()
    assert x.grad.tolist() == [7]


def test_a_vector_needs_a_gradient_of_its_shape():
    x = leaf(1.0, 2.0)
    y = x * x
    with pytest.raises(RuntimeError) as error:
        y.backward()
    assert str(error.value) == "grad can be implicitly created only for scalar outputs"
    with pytest.raises(RuntimeError) as error:
        y.backward(gs.ones(3))
    assert str(error.value) == (
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([3]) and output[0] has a "
        "shape of torch.Size([2])."
    )
    with pytest.raises(TypeError) as error:
        y.backward(np.ones(2))
    assert str(error.value) == "gradients can be either Tensors or None, but got ndarray"
    y.backward(gs.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [2, 40]


def test_backward_of_a_scalar_is_backward_of_one():
    x, y = (gs.rand(5, requires_grad=True) for _ in range(2))
    (x * y).sum().backward(gs.tensor(1.0))
    assert x.grad.tolist() == y.tolist()


def test_backward_of_a_matrix_needs_a_gradient():
    x = gs.rand(5, 5, requires_grad=True)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar"):
        (x**2).backward()
    z = x**2
    z.backward(gs.ones_like(x))
    np.testing.assert_allclose(x.grad.numpy(), 2 * x.detach().numpy())


def test_a_gradient_of_another_shape_is_refused():
    x = gs.rand(2, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (x**2).backward(gs.ones(3))


def test_the_gradient_argument_is_that_of_the_chain_rule():
    x = gs.arange(0, 3, requires_grad=True)
    y = x**2 + x * 2
    z = y.sum()
    z.backward()
    assert x.grad.tolist() == [2, 4, 6]
    x = gs.arange(0, 3, requires_grad=True)
    y = x**2 + x * 2
    y.backward(gs.Tensor([1, 1, 1]))
    assert x.grad.tolist() == [2, 4, 6]


def test_the_gradient_argument_does_not_become_the_gradient():
    x = leaf(1.0, 2.0)
    seed = gs.ones(2)
    x.backward(seed)
    x.grad[0] = 7
    assert seed.tolist() == [1, 1]


def test_backward_of_what_requires_no_gradient():
    with pytest.raises(RuntimeError) as error:
        gs.ones(1).backward()
    assert str(error.value) == (
        "element 0 of tensors does not require grad and does not have a grad_fn"
    )


def test_a_second_backward_is_refused():
    x = leaf(2.0)
    y = x * x
    y.backward()
    with pytest.raises(RuntimeError) as error:
        y.backward()
    assert str(error.value) == (
        "Trying to backward through the graph a second time (or directly access saved tensors "
        "after they have already been freed). Saved intermediate values of the graph are freed "
        "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
        "backward through the graph a second time or if you need to access saved tensors after "
        "calling backward."
    )


def test_a_second_backward_through_two_layers_is_refused():
    *_, loss = two_layers()
    loss.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        loss.backward()


def test_forward_again_makes_a_new_graph():
    w = gs.ones(1, requires_grad=True)
    for count in (1, 2):
        (w * w).backward()
        assert w.grad.item() == 2 * count


def test_retain_graph_allows_a_second_backward():
    x = leaf(2.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [8]


def test_retain_graph_keeps_it_for_one_more_backward():
    x = gs.ones(1, requires_grad=True)
    v = x * x
    v.backward(retain_graph=True)
    v.backward()
    assert x.grad.tolist() == [4]
    with pytest.raises(RuntimeError, match="second time"):
        v.backward()


def test_several_roots():
    x = leaf(2.0)
    y, z = x * 3, x * x
    autograd.backward([y, z], [gs.ones(1), gs.tensor([10.0])])
    assert x.grad.tolist() == [43]
    with pytest.raises(RuntimeError, match="got 2 tensors and 1 gradients"):
        autograd.backward([y, z], [None])


def test_backward_into_chosen_inputs_only():
    x, w = leaf(2.0), leaf(3.0)
    y = x * w
    (y * y).backward(inputs=[x])
    assert x.grad.tolist() == [36]
    assert w.grad is None
    z = x * w
    (z * z).backward(inputs=[z])
    assert z.grad.tolist() == [12]
    with pytest.raises(RuntimeError, match="cannot be empty"):
        (x * 1).backward(inputs=[])


def test_grad_returns_gradients_and_leaves_leaves_alone():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = x * w
    z = y.sum()
    (d_y,) = autograd.grad(z, y, retain_graph=True)
    assert d_y.tolist() == [1, 1]
    d_x, d_w = autograd.grad(z, (x, w))
    assert (d_x.tolist(), d_w.tolist()) == ([3, 4], [1, 2])
    assert x.grad is None


def test_grad_with_grad_outputs():
    x = leaf(1.0, 2.0)
    (d_x,) = autograd.grad(x * x, x, gs.tensor([1.0, 10.0]))
    assert d_x.tolist() == [2, 40]


def test_the_arguments_of_grad():
    x = gs.ones(3, requires_grad=True)
    y = x * x * 2
    arguments = {"grad_outputs": gs.ones(3), "retain_graph": True, "create_graph": False}
    (first,) = autograd.grad(outputs=y, inputs=x, **arguments)
    (again,) = autograd.grad(y, x, gs.ones(3))
    assert first.tolist() == again.tolist() == [4, 4, 4]


def test_grad_of_an_unused_input():
    x, unused = leaf(1.0), leaf(1.0)
    with pytest.raises(RuntimeError) as error:
        autograd.grad(x * 2, (x, unused))
    assert str(error.value) == (
        "The differentiated Tensor at index 1 appears to not have been used in the graph. Set "
        "allow_unused=True if this is the desired behavior."
    )
    assert autograd.grad(x * 2, (x, unused), allow_unused=True)[1] is None
    assert autograd.grad(x * 2, (x, unused), materialize_grads=True)[1].tolist() == [0]


def test_grad_with_respect_to_what_requires_none():
    x = leaf(1.0)
    with pytest.raises(RuntimeError) as error:
        autograd.grad(x * 2, gs.ones(1))
    assert str(error.value) == "One of the differentiated Tensors does not require grad"


def test_outputs_are_looked_at_before_inputs():
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
        autograd.grad(gs.ones(1), gs.ones(1))


def test_grad_of_an_output_with_respect_to_itself():
    y = leaf(1.0) * 2
    assert autograd.grad(y, y)[0].tolist() == [1]


def test_grad_runs_only_the_nodes_that_lead_to_the_inputs():
    x, w = leaf(2.0), leaf(3.0)
    y = x * w
    side = w * w
    autograd.grad(y + side, x)
    side.backward()  # was not freed
    assert w.grad.tolist() == [6]


def test_batched_grad_outputs():
    x = leaf(1.0, 2.0)
    y = x * x
    (jacobian,) = autograd.grad(y, x, gs.eye(2), is_grads_batched=True)
    assert jacobian.tolist() == [[2, 0], [0, 4]]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.sum().backward()


def test_a_node_can_be_called():
    x, w = gs.ones(1), leaf(0.5)
    y = w * x
    d_w, d_x = y.grad_fn(gs.tensor([2.0]))
    assert (d_w.tolist(), d_x) == ([2], None)
    assert y.grad_fn.apply(gs.ones(1))[0].tolist() == [1]
    assert y.grad_fn(None) == (None, None)
    assert w.exp().grad_fn(gs.ones(1)).tolist() == w.exp().tolist()
    with pytest.raises(TypeError, match="expected 1 arguments, got 2"):
        y.grad_fn(gs.ones(1), gs.ones(1))


def test_broadcast_operands_get_gradients_of_their_own_shape():
    x, b = gs.ones(3, 2, requires_grad=True), leaf(1.0, 2.0)
    c = gs.tensor(2.0, requires_grad=True)
    ((x + b) * c).sum().backward()
    assert b.grad.tolist() == [6, 6]
    assert c.grad.item() == 15
    assert c.grad.shape == ()


def test_gradients_have_the_dtype_of_their_leaf():
    x = gs.ones(2, dtype=gs.float32, requires_grad=True)
    (x * gs.ones(2)).sum().backward()
    assert x.grad.dtype == gs.float32


def test_metadata_is_for_the_user():
    y = leaf(1.0) * 2
    y.grad_fn.metadata["note"] = 1
    assert y.grad_fn.metadata == {"note": 1}


def test_the_graph_dies_with_its_last_reference():
    x = leaf(1.0)
    y = x * 2
    z = y.sum()
    nodes = [weakref.ref(y.grad_fn), weakref.ref(z.grad_fn), weakref.ref(y)]
    gc.disable()
    try:
        del y, z
        assert [node() for node in nodes] == [None, None, None]
        leaf_itself = weakref.ref(x)
        (x * 1).backward()
        del x
        assert leaf_itself() is None
    finally:
        gc.enable()


def test_backward_frees_what_was_saved():
    x = leaf(1.0, 2.0)
    w = gs.ones(2)
    saved = weakref.ref(w.array)
    y = (x * w).sum()
    del w
    assert saved() is not None
    y.backward()
    gc.collect()
    assert saved() is None


def test_a_long_chain_neither_overflows_nor_loses_anything():
    x = leaf(1.0)
    y = x
    for _ in range(20_000):
        y = y + 1
    y.backward()
    assert x.grad.tolist() == [1]
    del y


def test_a_wide_graph_runs_each_node_once():
    x = leaf(1.0)
    y = x
    for _ in range(60):  # 2**60 paths
        y = y + y
    y.backward()
    assert x.grad.tolist() == [2.0**60]


def test_an_exception_in_a_hook_leaves_everything_usable():
    x = leaf(2.0)
    y = x * x

    def fail(grad):
        raise ValueError("hook")

    handle = y.register_hook(fail)
    with pytest.raises(ValueError, match="hook"):
        y.backward(retain_graph=True)
    assert gs.is_grad_enabled()
    handle.remove()
    y.backward()
    assert x.grad.tolist() == [4]


def test_backward_inside_a_hook():
    x, w = leaf(2.0), leaf(3.0)

    def inner(grad):
        with gs.enable_grad():
            (w * 5).backward()

    y = x * x
    y.register_hook(inner)
    y.backward()
    assert (x.grad.tolist(), w.grad.tolist()) == ([4], [5])


def test_legacy_grad_variables():
    x = leaf(1.0, 2.0)
    with pytest.warns(DeprecationWarning, match="`grad_variables` is deprecated"):
        autograd.backward(x * 2, grad_variables=gs.ones(2))
    assert x.grad.tolist() == [2, 2]
    with pytest.warns(DeprecationWarning):
        (x * 2).backward(grad_variables=gs.ones(2))
    assert x.grad.tolist() == [4, 4]


def test_grad_with_respect_to_a_dictionary():
    x, w = leaf(2.0), leaf(3.0)
    found = autograd.grad(x * w, {"x": x, "w": w})
    assert {name: g.tolist() for name, g in found.items()} == {"x": [3], "w": [2]}


class Widening(autograd.Function):
    """Gives gradients of float64."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient.to(gs.float64)


def test_the_dtype_of_a_gradient_may_be_chosen():
    def gradient_of(grad_dtype):
        x = gs.tensor([1.0], dtype=gs.float32, requires_grad=True)
        x.grad_dtype = grad_dtype
        for _ in range(2):
            Widening.apply(x).backward()
        return x.grad

    x = gs.tensor([1.0], dtype=gs.float32, requires_grad=True)
    assert x.grad_dtype == gs.float32
    for chosen, found in ((gs.float32,) * 2, (gs.float16,) * 2, (None, gs.float64)):
        assert (gradient_of(chosen).dtype, gradient_of(chosen).tolist()) == (found, [2])


def test_a_gradient_that_is_assigned_has_the_chosen_dtype():
    x = gs.tensor([1.0], requires_grad=True)
    x.grad_dtype = gs.float32
    with pytest.raises(RuntimeError, match="dtype 'double' to a tensor with grad_dtype 'Float'"):
        x.grad = gs.ones(1)
    x.grad = gs.ones(1, dtype=gs.float32)
    with pytest.raises(RuntimeError, match="because there is already a gradient with dtype"):
        x.grad_dtype = gs.float64
    x.grad_dtype = None
    assert x.grad_dtype is None
    x.grad = gs.ones(1)
    with pytest.raises(RuntimeError, match="grad_dtype can only be accessed on leaf tensors"):
        (x * 2).grad_dtype
    with pytest.raises(RuntimeError, match="grad_dtype can only be set on leaf tensors"):
        (x * 2).grad_dtype = None


@pytest.mark.parametrize(
    ("call", "may_be_repeated"),
    [
        (lambda x: x * 2, False),
        (lambda x: x / 2, False),
        (lambda x: x[gs.tensor([0, 1])], False),
        (lambda x: x.exp(), False),
        (lambda x: x + 2, True),
        (lambda x: x[0], True),
        (lambda x: x[:1], True),
        (lambda x: x.unbind()[0], True),
        (lambda x: x.sum(), True),
    ],
)
def test_a_second_backward_is_refused_where_values_were_kept(call, may_be_repeated):
    y = call(gs.tensor([1.0, 2.0], requires_grad=True))
    seed = gs.ones_like(y)
    y.backward(seed)
    if may_be_repeated:
        y.backward(seed)
    else:
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second"):
            y.backward(seed)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_outputs_that_are_computed_from_other_outputs_pass_their_gradients_on(order):
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    z = 3 * y
    outputs = [(y, z, z * x)[position] for position in order]
    seeds = [gs.ones(2)] * 3
    # y + z + z x = x**2 + 3 x**2 + 3 x**3
    expected = [8.0 + 9.0, 16.0 + 36.0]
    (found,) = autograd.grad(outputs, x, seeds, retain_graph=True)
    assert found.tolist() == expected
    autograd.backward(outputs, seeds, inputs=[x])
    assert x.grad.tolist() == expected


def test_a_gradient_is_laid_out_as_its_leaf():
    transposed = gs.rand(3, 2).t().requires_grad_()
    (transposed * gs.rand(2, 3)).sum().backward()
    assert transposed.grad.stride() == transposed.stride() == (1, 2)
    gapped = gs.rand(4, 4)[::2, ::2].requires_grad_()
    gapped.sum().backward()
    assert gapped.grad.stride() == (2, 1)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((3,), r"The size of tensor a \(2\) must match the size of tensor b \(3\)"),
        ((3, 2), r"output with shape \[2\] doesn't match the broadcast shape \[3, 2\]"),
    ],
)
def test_a_gradient_of_another_shape_than_the_one_before_is_refused(shape, message):
    x = gs.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    x.data = gs.ones(*shape)
    with pytest.raises(RuntimeError, match=message):
        (x * 2).sum().backward()
