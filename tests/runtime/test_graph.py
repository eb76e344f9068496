"""`gs.autograd.graph`: edges as arguments, hooks on several Tensors, versions."""

import pytest

import gradscribe as gs
from gradscribe.autograd.graph import (
    get_gradient_edge,
    increment_version,
    register_multi_grad_hook,
)


def test_a_multi_grad_hook_waits_for_all_that_a_backward_computes():
    a, b = gs.rand(2, requires_grad=True), gs.rand(2, requires_grad=True)
    c, d = a * b, a * b
    seen = []
    handle = register_multi_grad_hook(
        (a, b, c, d), lambda grads: seen.append([g is not None for g in grads])
    )
    c.sum().backward(retain_graph=True)
    c.sum().backward(inputs=(a,), retain_graph=True)
    d.sum().backward(retain_graph=True)
    assert seen == [
        [True, True, True, False],
        [True, False, True, False],
        [True, True, False, True],
    ]
    handle.remove()
    c.sum().backward()
    assert len(seen) == 3


def test_a_multi_grad_hook_of_mode_any_takes_the_first():
    a, b = gs.rand(2, requires_grad=True), gs.rand(2, requires_grad=True)
    seen = []
    register_multi_grad_hook((a, b), seen.append, mode="any")
    (a * b).sum().backward()
    assert len(seen) == 1
    with pytest.raises(ValueError, match="Expects mode to be one of"):
        register_multi_grad_hook((a,), seen.append, mode="some")


def test_an_edge_stands_for_its_tensor():
    x = gs.ones(2, requires_grad=True)
    assert gs.autograd.grad((x * 2).sum(), get_gradient_edge(x))[0].tolist() == [2, 2]
    edge = get_gradient_edge(x * 3)
    assert edge.node.name() == "MulBackward0"
    assert gs.autograd.grad(edge, x, gs.ones(2))[0].tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="not possible to get the gradient edge"):
        get_gradient_edge(gs.ones(2))


def test_increment_version_tells_of_a_change():
    x = gs.ones(2, requires_grad=True)
    y = x * x
    increment_version(x)
    assert x._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_all_nodes_are_instances_of_a_class_that_is_none_of_their_bases():
    class Double(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            assert isinstance(ctx, Node)
            return 2 * x

    Node = gs.autograd.graph.Node
    x = gs.ones(2, requires_grad=True)
    for node in (x.exp().grad_fn, x.exp().grad_fn.next_functions[0][0], Double.apply(x).grad_fn):
        assert isinstance(node, Node)
        assert issubclass(type(node), Node)
        assert Node not in type(node).mro()
    assert issubclass(gs.autograd.function.BackwardCFunction, Node)
    assert issubclass(Node, Node)
    assert not isinstance(1, Node)
    assert not isinstance(Node, Node)
    with pytest.raises(TypeError, match="Can't instantiate abstract class Node"):
        Node()


def test_a_node_shows_what_a_node_of_pytorchs_shows():
    x = gs.ones(2, requires_grad=True)
    names = {
        *("_input_metadata", "_register_hook_dict", "_sequence_nr", "_set_sequence_nr"),
        *("metadata", "name", "next_functions", "register_hook", "register_prehook"),
        "requires_grad",
    }

    def shown(node):
        return {name for name in dir(node) if not name.startswith("__")}

    product = (x * x).grad_fn
    saved = {"_saved_self", "_saved_other", "_raw_saved_self", "_raw_saved_other"}
    assert shown(product) == names | saved
    assert shown(product.next_functions[0][0]) == names | {"variable"}
    assert shown((x + x).grad_fn) == names | {"_saved_alpha"}
    assert all(hasattr(product, name) for name in dir(product))
    assert "__call__" in dir(product)


def test_hooks_of_a_tensor_are_registered_with_its_node_by_their_table():
    x = gs.ones(2, requires_grad=True)
    y = x * 2
    seen = []
    y._backward_hooks = {0: seen.append}
    y.grad_fn._register_hook_dict(y)
    y.sum().backward()
    assert [each.tolist() for each in seen] == [[1.0, 1.0]]
    with pytest.raises(TypeError, match="_register_hook_dict expected a variable"):
        y.grad_fn._register_hook_dict(3)
