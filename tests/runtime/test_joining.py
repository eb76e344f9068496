"""Tensors that are joined: one node for all of them, one gradient for each."""

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import autograd, torchlike


def leaf(*shape):
    return gs.rand(*shape, requires_grad=True)


JOINS = {
    "cat": lambda parts: gs.cat(parts, 1),
    "cat of unequal": lambda parts: gs.cat([parts[0], parts[1][:, :1], parts[2]], -1),
    "stack": lambda parts: gs.stack(parts, -1),
    "stack first": lambda parts: gs.stack(parts),
    "hstack": torchlike.hstack,
    "block_diag": lambda parts: torchlike.block_diag(*parts),
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


def test_grids_and_blocks():
    a, b = gs.tensor([1, 2]), gs.tensor([3, 4, 5])
    assert [g.tolist() for g in torchlike.meshgrid(a, b)] == [[[1] * 3, [2] * 3], [[3, 4, 5]] * 2]
    assert [g.shape for g in torchlike.meshgrid(a, b, indexing="xy")] == [(3, 2), (3, 2)]
    assert torchlike.cartesian_prod(a, b)[3].tolist() == [2, 3]
    assert torchlike.block_diag(gs.ones(1, 2), gs.tensor([[7.0]])).tolist() == [
        [1, 1, 0],
        [0, 0, 7],
    ]


def test_a_vector_without_elements_is_joined_with_anything():
    assert gs.cat([gs.zeros(0), gs.ones(2, 3)]).shape == (2, 3)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hstack", "Cat(x x)"),
        ("vstack", "Cat(Unsqueeze(x) Unsqueeze(x))"),
        ("dstack", "Cat(Unsqueeze(Unsqueeze(x)) Unsqueeze(Unsqueeze(x)))"),
        ("column_stack", "Cat(View(x) View(x))"),
    ],
)
def test_stacks_of_vectors_are_concatenations(name, expected):
    def told(node):
        inputs = " ".join(told(n) for n, _ in node.next_functions)
        return f"{node.name()[:-9]}({inputs})" if inputs else "x"

    x = gs.tensor([1.0, 2.0], requires_grad=True)
    stacked = getattr(torchlike, name)([x, x])
    assert told(stacked.grad_fn) == expected
    np.testing.assert_array_equal(
        stacked.detach().numpy(), getattr(np, name)([x.detach().numpy()] * 2)
    )
