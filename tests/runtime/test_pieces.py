"""Functions of several results with one node: their outputs share it, each under its number."""

import pytest

import gradscribe as gs
from gradscribe import autograd, torchlike


def leaf(*shape):
    return gs.rand(*shape, requires_grad=True)


SEVERAL = {
    "Unbind": lambda x: x.unbind(1),
    "Split": lambda x: x.split(2, 1),
    "SplitWithSizes": lambda x: x.split([1, 3], 1),
    "VarMean": lambda x: torchlike.var_mean(x, 1),
    "StdMean": lambda x: torchlike.std_mean(x, [0, 1], correction=0, keepdim=True),
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
    first, second = torchlike.tensor_split(x, 2)
    assert (first.grad_fn.name(), second.output_nr) == ("SliceBackward0", 0)
    first.mul_(2)
    assert autograd.grad(x.sum(), second.grad_fn and x)[0].tolist() == [1, 1, 1, 1]


def test_what_a_node_of_pieces_has_saved():
    node = leaf(2, 6).split(4, 1)[0].grad_fn
    saved = node._saved_dim, node._saved_split_size, tuple(node._saved_self_sym_sizes)
    assert saved == (1, 4, (2, 6))
    with pytest.raises(AttributeError, match="has no attribute '_saved_self'"):
        node._saved_self


def test_parts_with_sizes():
    x = gs.arange(10)
    assert [p.tolist() for p in x.tensor_split(3)] == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert [len(p) for p in x.tensor_split([2, 5])] == [2, 3, 5]
    assert gs.ones(2, 6).hsplit(3)[0].shape == (2, 2)


@pytest.mark.parametrize("name", ["split", "unbind"])
def test_gradients_of_pieces_keep_single_precision(name):
    x = gs.ones(4, 2, dtype=gs.float32, requires_grad=True)
    first, *_ = x.split(2) if name == "split" else x.unbind()
    (gradient,) = gs.autograd.grad((first * 2).sum(), x)
    assert gradient.dtype == gs.float32
