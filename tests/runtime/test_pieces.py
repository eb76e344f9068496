"""Functions of several results with one node: their outputs share it, each under its number."""

import pytest

from gradscribe import autograd
from gradscribe.runtime import namespace as gs


def leaf(*shape):
    return gs.rand(*shape, requires_grad=True)


SEVERAL = {
    "Unbind": lambda x: x.unbind(1),
    "Split": lambda x: x.split(2, 1),
    "SplitWithSizes": lambda x: x.split([1, 3], 1),
    "VarMean": lambda x: gs.var_mean(x, 1),
    "StdMean": lambda x: gs.std_mean(x, [0, 1], correction=0, keepdim=True),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_results_share_a_node(name):
    results = SEVERAL[name](leaf(3, 4))
    assert {r.grad_fn.name() for r in results} == {f"{name}Backward0"}
    assert len({r.grad_fn for r in results}) == 1
    assert [r.output_nr for r in results] == list(range(len(results)))


@pytest.mark.parametrize("name", SEVERAL)
def test_gradients_of_any_of_the_results(name):
    function = SEVERAL[name]
    x = leaf(3, 4)
    assert autograd.gradcheck(function, (x,))
    assert autograd.gradgradcheck(lambda x: [r**2 for r in function(x)], (x,))
    assert autograd.gradcheck(lambda x: function(x)[-1], (x,))
    assert autograd.gradgradcheck(lambda x: function(x)[0] ** 2, (x,))


@pytest.mark.parametrize("name", SEVERAL)
def test_forward_mode_through_several_results(name):
    assert autograd.gradcheck(SEVERAL[name], (leaf(3, 4),), check_forward_ad=True)


def test_hooks_of_pieces_are_told_that_there_is_no_gradient():
    seen = []
    first, second = leaf(2).unbind()
    first.register_hook(seen.append)
    second.backward(retain_graph=True)
    (first + second).backward()
    assert [None if g is None else g.tolist() for g in seen] == [None, 1.0]


def test_a_recorded_gradient_of_pieces_joins_them():
    x = leaf(4)
    seed = gs.ones(2, requires_grad=True)
    (d_x,) = autograd.grad(x.split(2)[1], x, seed, create_graph=True)
    assert d_x.grad_fn.name() == "CatBackward0"
    assert autograd.grad(d_x.sum(), seed)[0].tolist() == [1, 1]


def test_pieces_of_tensor_split_are_slices_that_may_be_changed():
    x = leaf(4) * 1
    first, second = gs.tensor_split(x, 2)
    assert (first.grad_fn.name(), second.output_nr) == ("SliceBackward0", 0)
    first.mul_(2)
    assert autograd.grad(x.sum(), second.grad_fn and x)[0].tolist() == [1, 1, 1, 1]


def test_what_a_node_of_pieces_has_saved():
    node = leaf(2, 6).split(4, 1)[0].grad_fn
    saved = node._saved_dim, node._saved_split_size, tuple(node._saved_self_sym_sizes)
    assert saved == (1, 4, (2, 6))
    with pytest.raises(AttributeError, match="has no attribute '_saved_self'"):
        node._saved_self


JOINS = {
    "cat": lambda parts: gs.cat(parts, 1),
    "cat of unequal": lambda parts: gs.cat([parts[0], parts[1][:, :1], parts[2]], -1),
    "stack": lambda parts: gs.stack(parts, -1),
    "stack first": lambda parts: gs.stack(parts),
    "hstack": gs.hstack,
    "block_diag": lambda parts: gs.block_diag(*parts),
    "twice the same": lambda parts: gs.cat([parts[0], parts[1], parts[0]]),
}


@pytest.mark.parametrize("name", JOINS)
def test_derivatives_of_joined_tensors(name):
    parts = tuple(leaf(2, 3) for _ in range(3))

    def joined(*parts):
        return JOINS[name](list(parts)) ** 2

    assert autograd.gradcheck(joined, parts, check_forward_ad=True, check_batched_grad=True)
    assert autograd.gradgradcheck(joined, parts, check_fwd_over_rev=True)


def test_a_node_of_joined_tensors_leads_to_each_of_them():
    x, y = leaf(2, 3), gs.ones(2, 3)
    node = gs.cat([x, y, x * 2], -1).grad_fn
    assert (node.name(), node._saved_dim) == ("CatBackward0", -1)
    assert [edge and edge.name() for edge, _ in node.next_functions] == [
        "torch::autograd::AccumulateGrad",
        None,
        "MulBackward0",
    ]
    assert gs.stack([x, y], 1).grad_fn.name() == "StackBackward0"


def test_hooks_of_a_node_of_joined_tensors_see_a_gradient_for_each():
    x, y, z = leaf(2), gs.ones(1), leaf(1)
    joined = gs.cat([x, y, z])
    seen = []
    joined.grad_fn.register_hook(lambda ins, outs: seen.append((ins, outs)))
    joined.grad_fn.register_hook(lambda ins, outs: (ins[0] * 2, None, ins[2]))
    joined.backward(gs.tensor([1.0, 2.0, 3.0, 4.0]))
    ((ins, outs),) = seen
    assert [None if g is None else g.tolist() for g in ins] == [[1, 2], None, [4]]
    assert [g.tolist() for g in outs] == [[1, 2, 3, 4]]
    assert (x.grad.tolist(), z.grad.tolist()) == ([2, 4], [4])


def test_gradients_of_joined_tensors_have_memory_of_their_own():
    x, y = leaf(2), leaf(2)
    seed = gs.ones(4)
    for create_graph in (False, True):
        d_x, d_y = autograd.grad(gs.cat([x, y]), (x, y), seed, create_graph=create_graph)
        d_x.mul_(5)
        assert (d_x.tolist(), d_y.tolist(), seed.tolist()) == ([5, 5], [1, 1], [1, 1, 1, 1])


def test_joined_tensors_of_several_dtypes():
    x, y = leaf(2).float().detach().requires_grad_(), leaf(2).double().detach().requires_grad_()
    k = gs.ones(2, dtype=gs.int64)
    joined = gs.cat([x, y, k])
    assert joined.dtype == gs.float64
    joined.sum().backward()
    assert (x.grad.dtype, y.grad.dtype) == (gs.float32, gs.float64)
    z = gs.ones(2, dtype=gs.complex128, requires_grad=True)
    gs.stack([y, z]).sum().abs().backward()
    assert (y.grad.dtype, z.grad.dtype) == (gs.float64, gs.complex128)


def test_a_view_that_was_changed_is_joined_as_it_is_now():
    x = leaf(4)
    y = x * 1
    part = y[:2]
    y.mul_(3)
    gs.cat([part, x]).sum().backward()
    assert x.grad.tolist() == [4, 4, 1, 1]
