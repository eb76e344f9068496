"""`gs._C`: what programs ask PyTorch's engine under private names."""

import gc
import weakref

import pytest

import gradscribe as gs
from gradscribe import autograd


def leaf(*values):
    return gs.tensor(list(values), requires_grad=True)


def test_the_number_of_a_backward_and_the_node_that_is_run():
    seen = []
    x = leaf(1.0)
    y = x.exp()
    y.register_hook(
        lambda _: seen.append((gs._C._current_autograd_node(), gs._C._current_graph_task_id()))
    )
    y.backward(retain_graph=True)
    y.backward()
    (first, number), (_, next_number) = seen
    assert first is y.grad_fn
    assert next_number == number + 1
    assert (gs._C._current_autograd_node(), gs._C._current_graph_task_id()) == (None, -1)


def test_what_a_backward_will_run():
    found = []
    x, w = leaf(1.0), leaf(2.0)
    y = x * w
    z, other = y.sin(), y.cos()
    nodes = [z.grad_fn, y.grad_fn, other.grad_fn]
    z.register_hook(lambda _: found.append([*map(gs._C._will_engine_execute_node, nodes)]))
    z.backward(retain_graph=True)
    autograd.grad(z, y)
    assert found == [[True, True, False], [True, True, False]]
    with pytest.raises(RuntimeError, match="should only be called during the backward pass"):
        gs._C._will_engine_execute_node(y.grad_fn)
    with pytest.raises(RuntimeError, match="expects an grad_fn, but got Tensor"):
        gs._C._will_engine_execute_node(y)


def test_leaves_cannot_be_asked_for_while_gradients_are_returned():
    x = leaf(1.0)
    y = x * 2
    accumulator = y.grad_fn.next_functions[0][0]
    found = []
    y.register_hook(lambda _: found.append(gs._C._will_engine_execute_node(accumulator)))
    y.backward(retain_graph=True)
    assert found == [True]
    with pytest.raises(RuntimeError, match=r"we are currently running autograd\.grad"):
        autograd.grad(y, x)


def test_the_order_of_a_backward_is_that_of_its_hooks():
    a, b = leaf(1.0), leaf(2.0)
    c, d = b.sin(), a.cos()
    out = c * d
    ran, predicted = [], []
    out.register_hook(lambda _: predicted.extend(gs._C._current_graph_task_execution_order()))
    for tensor in (a, b, c, d, out):
        node = tensor.grad_fn or tensor.view_as(tensor).grad_fn.next_functions[0][0]
        tensor.register_hook(lambda _, node=node: ran.append(node))
    with autograd.set_multithreading_enabled(False):
        out.backward(retain_graph=True)
    assert predicted == ran
    with pytest.raises(RuntimeError, match="multithreading disabled"):
        out.backward()


def test_gradients_that_are_undefined_or_errors():
    x = leaf(1.0)
    passed = gs._C._functions.UndefinedGrad()(x * 2)
    passed.backward()
    assert (passed.tolist(), x.grad) == ([2.0], None)
    failing = gs._C._functions.DelayedError("not now", 1)(x * 2)
    with pytest.raises(RuntimeError, match="not now"):
        failing.backward()
    assert isinstance((x * 2).grad_fn.next_functions[0][0], gs._C._functions.AccumulateGrad)


def test_versions_are_set_and_references_expire():
    x = gs.ones(2)
    x.add_(1)
    gs._C._autograd._unsafe_set_version_counter((x,), (0,))
    assert x._version == 0
    with pytest.raises(RuntimeError, match="below 0: -1"):
        gs._C._autograd._unsafe_set_version_counter((x,), (-1,))
    gs._C._autograd._unsafe_set_version_counter(x, 3)
    assert x._version == 3
    reference = gs._C._WeakTensorRef(x)
    alive = weakref.ref(x)
    assert not reference.expired()
    del x
    gc.collect()
    assert reference.expired()
    assert alive() is None


def test_a_backward_can_ask_whether_the_graph_is_kept():
    kept = []

    class Asking(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            kept.append(gs._C._autograd._get_current_graph_task_keep_graph())
            return gradient

    y = Asking.apply(gs.ones(1, requires_grad=True)).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert kept == [True, False]


def test_of_the_nodes_that_are_ready_the_one_of_the_greatest_number_runs_first():
    x = gs.ones(2, requires_grad=True)
    a, b = x * 2, x * 3
    c = a + b
    order = []
    for tensor, name, number in ((a, "a", 100), (b, "b", 99), (c, "c", 98)):
        tensor.register_hook(lambda _, name=name: order.append(name))
        tensor.grad_fn._set_sequence_nr(number)
        assert tensor.grad_fn._sequence_nr() == number
    c.sum().backward()
    assert order == ["c", "a", "b"]


def test_whether_saved_tensors_may_have_hooks_can_be_asked():
    assert gs._C._autograd._saved_tensors_hooks_is_enabled()
    with gs.autograd.graph.disable_saved_tensors_hooks("not here"):
        assert not gs._C._autograd._saved_tensors_hooks_is_enabled()
    assert gs._C._autograd._saved_tensors_hooks_is_enabled()
    x = gs.ones(1, requires_grad=True)
    assert isinstance((x * x).grad_fn._raw_saved_self, gs._C._autograd.SavedTensor)
