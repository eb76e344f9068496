"""In which order hooks run, what they see, and what they may return."""

import pytest

import gradscribe as gs
from gradscribe import autograd
from gradscribe.autograd import Function


def leaf(*values):
    return gs.tensor(values, requires_grad=True)


class Doubled(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


class Lost(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return None


def test_hooks_of_a_leaf_run_before_the_hooks_of_its_accumulator():
    x = leaf(1.0)
    accumulator = (x * 1).grad_fn.next_functions[0][0]
    seen = []
    accumulator.register_prehook(lambda gs: seen.append(("prehook", gs[0].item())))
    x.register_post_accumulate_grad_hook(lambda t: seen.append(("accumulated", t.grad.item())))
    accumulator.register_hook(lambda ins, outs: seen.append(("hook", len(ins), outs[0].item())))
    x.register_hook(lambda g: g * 3)
    x.sum().backward()
    assert seen == [("prehook", 3), ("accumulated", 3), ("hook", 0, 3)]


def test_grad_runs_the_hooks_of_a_tensor_but_not_of_its_node():
    x = leaf(1.0)
    y = x * 2
    seen = []
    y.register_hook(lambda g: seen.append("tensor"))
    y.grad_fn.register_prehook(lambda gs: seen.append("prehook"))
    y.grad_fn.register_hook(lambda ins, outs: seen.append("hook"))
    z = y * 2
    autograd.grad(z, y, retain_graph=True)
    assert seen == ["tensor"]
    autograd.grad(z, (x, y), retain_graph=True)
    assert seen == ["tensor"] + ["tensor", "prehook", "hook"]


def test_backward_with_inputs_runs_the_nodes_of_the_inputs():
    x = leaf(1.0)
    y = x * 2
    seen = []
    y.grad_fn.register_prehook(lambda gs: seen.append("prehook"))
    y.grad_fn.register_hook(lambda ins, outs: seen.append("hook"))
    (y * 3).backward(inputs=[y])
    assert seen == ["prehook", "hook"]
    assert (y.grad.item(), x.grad, y.retains_grad) == (3, None, True)


@pytest.mark.parametrize("double", [Doubled.apply, lambda x: x * 2], ids=["custom", "eager"])
def test_hooks_see_none_where_no_gradient_arrives(double):
    y = double(leaf(1.0))
    seen = []
    y.register_hook(seen.append)
    y.grad_fn.register_prehook(lambda gs: seen.append(gs))
    Lost.apply(y).sum().backward()
    assert seen == [None, (None,)]


def test_a_hook_that_is_registered_while_its_node_runs_is_run():
    x = leaf(2.0)
    with autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: (register(), t)[1]):
        y = x.exp()

    def register():
        y.grad_fn.register_hook(lambda ins, outs: (ins[0] * 0 + 7,))

    y.backward()
    assert x.grad.tolist() == [7]


@pytest.mark.parametrize(
    ("result", "kind", "text"),
    [
        (1, TypeError, "expected tuple, but hook returned 'int'"),
        (gs.ones(1), TypeError, "expected tuple, but hook returned 'Tensor'"),
        ((), RuntimeError, "returned an incorrect number of values (got 0, but expected 1)"),
        ((gs.ones(3),), RuntimeError, "has changed the size of value"),
        ((gs.ones(1, dtype=gs.float32),), RuntimeError, "has changed the type of value"),
        ((1,), TypeError, "expected Variable, but hook returned 'int'"),
    ],
)
def test_what_a_hook_of_a_node_returns_is_checked(result, kind, text):
    for register in ("register_prehook", "register_hook"):
        y = leaf(1.0).exp()
        getattr(y.grad_fn, register)(lambda *_: result)
        with pytest.raises(kind) as error:
            y.backward()
        assert text in str(error.value)


@pytest.mark.parametrize(
    ("result", "kind", "text"),
    [
        (lambda t: t.grad, RuntimeError, "hooks should return None"),
        (lambda t: 3, TypeError, "expected Variable, but hook returned 'int'"),
    ],
)
def test_what_a_hook_on_accumulation_returns_must_be_none(result, kind, text):
    x = leaf(1.0)
    x.register_post_accumulate_grad_hook(result)
    with pytest.raises(kind, match=text):
        x.sum().backward()


def test_a_retained_gradient_is_that_of_the_latest_value():
    x = leaf(1.0)
    y = x.clone()
    y.retain_grad()
    y.mul_(2).mul_(3)
    y.sum().backward()
    assert (y.grad.tolist(), x.grad.tolist()) == ([1], [6])


def test_a_view_and_its_base_retain_gradients_through_changes_in_place():
    base = leaf(1.0, 2.0).clone()
    view, other = base[:], base[:]
    for tensor in (base, view, other):
        tensor.retain_grad()
    view.mul_(2)
    (view * 3 + other + base).sum().backward()
    assert view.grad.tolist() == [3, 3]
    assert other.grad.tolist() == [1, 1]
    assert base.grad.tolist() == [5, 5]


def test_a_leaf_gets_its_gradient_as_soon_as_all_of_it_is_there():
    order = []
    leaves = [gs.ones(2, requires_grad=True) for _ in range(4)]
    for i, leaf in enumerate(leaves):
        leaf.register_hook(lambda gradient, i=i: order.append(("hook", i)))
        leaf.register_post_accumulate_grad_hook(lambda leaf, i=i: order.append(i))
    y = leaves[0]
    for leaf in leaves[1:]:
        y = (y * leaf).sin()
    (y + leaves[3]).sum().backward()
    assert order == [("hook", 3), 3, ("hook", 2), 2, ("hook", 0), 0, ("hook", 1), 1]
    assert leaves[3].grad.tolist() != [1, 1]
    assert leaves[0].grad_fn is None
    assert (leaves[0] * 1).grad_fn.next_functions[0][0]._sequence_nr() == 2**64 - 1


def test_hooks_of_the_root_are_called_where_nothing_that_is_wanted_depends_on_it():
    x, other = gs.ones(2, requires_grad=True), gs.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    seen = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.grad_fn.register_hook(lambda *_: seen.append("run"))
    seed = gs.tensor([1.0, 2.0])
    assert gs.autograd.grad(y, other, seed, allow_unused=True) == (None,)
    assert seen == [[1, 2]]
    y.backward(seed, inputs=[other])
    assert (seen, y.grad.tolist(), other.grad) == ([[1, 2], [1, 2]], [2, 4], None)
    gs.autograd.backward([y, other * 1], [seed, seed], inputs=[other])
    assert len(seen) == 2
