"""Hooks on Tensors, leaves and nodes."""

import pytest

from gradscribe import autograd
from gradscribe.runtime import namespace as gs


def leaf(*data):
    return gs.tensor(list(data), requires_grad=True)


def test_a_hook_sees_the_gradient_of_an_intermediate_result():
    seen = []
    x, w = leaf(1.0, 1.0, 1.0), leaf(0.1, 0.2, 0.3)
    y = x * w
    handle = y.register_hook(lambda grad: seen.append(grad.tolist()))
    y.sum().backward(retain_graph=True)
    handle.remove()
    y.sum().backward()
    assert seen == [[1, 1, 1]]


def test_gradients_of_intermediate_results_by_grad_and_by_a_hook(capsys):
    x = gs.ones(3, requires_grad=True)
    w = gs.rand(3, requires_grad=True)
    y = x * w
    z = y.sum()
    assert repr(autograd.grad(z, y)) == "(tensor([1., 1., 1.]),)"

    def variable_hook(grad):
        print("y:", grad)

    y = x * w
    hook_handle = y.register_hook(variable_hook)
    z = y.sum()
    z.backward()
    hook_handle.remove()
    assert capsys.readouterr().out == "y: tensor([1., 1., 1.])\n"
    assert y.grad is None


def test_an_error_in_a_hook_leaves_the_graph_usable():
    x = gs.ones(2, requires_grad=True)
    y = x * 3
    z = y.sum()
    assert autograd.grad(z, y)[0].tolist() == [1, 1]

    def variable_hook(hook):
        print("gradient of y:", grad)  # noqa: F821  (no such name)

    y = x * 3
    hook_handle = y.register_hook(variable_hook)
    with pytest.raises(NameError, match="grad"):
        y.sum().backward()
    hook_handle.remove()
    y.sum().backward()
    assert (x.grad.tolist(), y.grad) == ([3, 3], None)


def test_a_removed_hook_is_not_run_by_the_next_backward(capsys):
    x, w = gs.ones(3, requires_grad=True), gs.rand(3, requires_grad=True)
    y = x * w
    z = y.sum()
    z.backward()
    assert y.grad is None
    assert repr(autograd.grad(z, y)) == "(tensor([1., 1., 1.]),)"

    def variable_hook(grad):
        print("gradient of y:", grad)

    y = x * w
    hook_handle = y.register_hook(variable_hook)
    for _ in range(2):
        y.sum().backward(retain_graph=True)
        hook_handle.remove()
    assert capsys.readouterr().out == "gradient of y: tensor([1., 1., 1.])\n"


def test_a_hook_may_replace_the_gradient():
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda grad: grad * 10)
    y.register_hook(lambda grad: grad + 1)
    y.backward()
    assert x.grad.tolist() == [22]


def test_hooks_of_leaves():
    x = leaf(1.0)
    handle = x.register_hook(lambda grad: grad * 2)
    (x * 3).backward()
    assert x.grad.tolist() == [6]
    handle.remove()
    (x * 3).backward()
    assert x.grad.tolist() == [9]


def test_hooks_act_on_what_grad_returns():
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda grad: grad * 5)
    assert autograd.grad(y * 1, y)[0].tolist() == [5]


def test_a_leaf_hook_runs_once_on_the_sum():
    calls = []
    x = leaf(1.0)
    x.register_hook(lambda grad: calls.append(grad.item()))
    (x + x * 2).backward()
    assert calls == [3]


def test_hooks_need_a_tensor_that_requires_grad():
    with pytest.raises(RuntimeError) as error:
        gs.ones(1).register_hook(print)
    assert str(error.value) == ("cannot register a hook on a tensor that doesn't require gradient")


def test_what_a_hook_returns_must_fit():
    x = leaf(1.0)

    def wrong_size(grad):
        return gs.ones(2)

    y = x * 2
    y.register_hook(wrong_size)
    with pytest.raises(RuntimeError, match="hook 'wrong_size' has changed the size of value"):
        y.backward()

    def wrong_type(grad):
        return 1.0

    y = x * 2
    y.register_hook(wrong_type)
    with pytest.raises(TypeError, match="expected Variable, but hook returned 'float'"):
        y.backward()


def test_node_hooks_see_inputs_and_outputs():
    seen = []
    x = leaf(3.0)
    y = x * 2

    def hook(grad_inputs, grad_outputs):
        seen.append((grad_inputs[0].item(), grad_outputs[0].item()))
        assert grad_inputs[1] is None  # of the number 2
        return grad_inputs[0] * 10, None

    y.grad_fn.register_hook(hook)
    y.backward()
    assert seen == [(2, 1)]
    assert x.grad.tolist() == [20]


def test_node_prehooks_run_before_the_node():
    x = leaf(3.0)
    y = x * 2
    y.grad_fn.register_prehook(lambda grad_outputs: (grad_outputs[0] * 7,))
    y.backward()
    assert x.grad.tolist() == [14]


def test_post_accumulate_hooks_see_the_leaf():
    seen = []
    x = leaf(1.0)
    handle = x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.item()))
    (x * 2).backward()
    (x * 2).backward()
    handle.remove()
    (x * 2).backward()
    assert seen == [2, 4]
    with pytest.raises(RuntimeError, match="cannot be registered on non-leaf tensors"):
        (x * 2).register_post_accumulate_grad_hook(print)


def test_a_hook_may_remove_itself():
    calls = []
    x = leaf(1.0)

    def once(grad):
        calls.append(1)
        handle.remove()

    handle = x.register_hook(once)
    (x * 1).backward()
    (x * 1).backward()
    assert calls == [1]


def test_handles_are_context_managers():
    x = leaf(1.0)
    with x.register_hook(lambda grad: grad * 2):
        (x * 1).backward()
    (x * 1).backward()
    assert x.grad.tolist() == [3]


def test_hooks_are_recorded_under_create_graph():
    x = leaf(2.0)
    y = x * x
    y.register_hook(lambda grad: grad * x)
    (d_x,) = autograd.grad(y, x, create_graph=True)
    assert d_x.tolist() == [8]
    assert autograd.grad(d_x, x)[0].tolist() == [8]


def test_a_retained_gradient_comes_after_the_hooks():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda grad: grad * 3)
    (y * 1).backward()
    assert y.grad.tolist() == [3]


def test_hooks_of_a_node_see_no_gradients_that_the_run_is_not_for():
    x, y = gs.ones(2, requires_grad=True), gs.ones(2, requires_grad=True)
    z = x * y
    seen = []
    z.grad_fn.register_hook(lambda inputs, _: seen.append([g is not None for g in inputs]))
    z.sum().backward(inputs=[y], retain_graph=True)
    z.sum().backward()
    assert seen == [[False, True], [True, True]]


def test_inputs_of_backward_must_require_gradients():
    x = gs.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad"):
        (x * 2).sum().backward(inputs=[gs.ones(2)])


def test_a_retained_gradient_is_added_to_out_of_place():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    z = x * 1
    z.retain_grad()
    (d_x,) = autograd.grad((z**3).sum(), x, create_graph=True)
    first = z.grad
    assert first.requires_grad
    (d_x * d_x).sum().backward()
    assert (first.tolist(), z.grad.tolist()) == ([3, 12], [39, 300])
    assert not z.grad.requires_grad


def _leaf_hook(x, held):
    x.register_hook(lambda g: held)
    return x * 2


def _prehook_of_the_leaf(x, held):
    y = x * 2
    y.grad_fn.next_functions[0][0].register_prehook(lambda grads: (held,))
    return y


def _hook_of_a_node(x, held):
    y = x * 1
    y.grad_fn.register_hook(lambda grads, outputs: (held, None))
    return y


@pytest.mark.parametrize("hooked", [_leaf_hook, _prehook_of_the_leaf, _hook_of_a_node])
def test_what_a_hook_returns_stays_the_users(hooked):
    held = gs.full((2,), 3.0)
    x = gs.ones(2, requires_grad=True)
    y = hooked(x, held)
    for _ in range(3):
        y.sum().backward(retain_graph=True)
    assert held.tolist() == [3, 3]
    assert x.grad.tolist() == [9, 9]


def test_what_a_hook_has_seen_is_not_added_to():
    seen = []
    x = gs.ones(2, requires_grad=True)
    x.register_hook(lambda g: seen.append(g))
    for _ in range(2):
        (x * 2).sum().backward()
    assert [g.tolist() for g in seen] == [[2, 2], [2, 2]]
