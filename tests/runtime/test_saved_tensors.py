"""Hooks on what is saved for a backward, `_saved_*`, and checkpoints."""

import gc
import weakref

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import autograd, torchlike
from gradscribe.autograd import Function, graph
from gradscribe.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential


def leaf(*values):
    return gs.tensor(values, requires_grad=True)


def test_nodes_tell_what_they_saved():
    a, b = leaf(1.0, 2.0), leaf(3.0, 4.0)
    product, power = a * b, a.pow(2)
    assert product.grad_fn._saved_self is a
    assert product.grad_fn._saved_other is b
    assert power.grad_fn._saved_exponent == 2
    result = a.exp()
    assert gs.equal(result.grad_fn._saved_result, result)
    assert a.sum(0, keepdim=True).grad_fn._saved_keepdim is True
    product.sum().backward()
    with pytest.raises(RuntimeError, match="directly access saved tensors after they have"):
        product.grad_fn._saved_self


def test_what_only_needs_shapes_saves_nothing():
    x = leaf(1.0, 2.0)
    total = (x + 1).sum()
    total.backward()
    total.backward()
    assert x.grad.tolist() == [2, 2]


def test_pack_and_unpack_hooks_stand_between():
    a, b = leaf(1.0, 1.0), leaf(2.0, 2.0)
    with graph.saved_tensors_hooks(lambda x: 2 * x, lambda x: 2 * x):
        product = a * b
    product.sum().backward()
    assert a.grad.tolist() == [8, 8]
    assert b.grad.tolist() == [4, 4]


def test_saved_tensors_may_be_packed_as_anything():
    x = leaf(1.0, 2.0)
    files = {}

    def pack(tensor):
        files[len(files)] = tensor.detach().numpy().copy()
        return len(files) - 1

    with graph.saved_tensors_hooks(pack, lambda name: gs.from_numpy(files[name])):
        y = (x * x).exp()
    y.sum().backward()
    assert np.allclose(x.grad.array, 2 * x.array * y.array)


def test_custom_and_compiled_functions_are_packed_too():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return 2 * x * gradient

    @gs.differentiable
    def square(x):
        return x * x

    for function in (Square.apply, square):
        x = leaf(3.0)
        with graph.saved_tensors_hooks(lambda t: t * 10, lambda t: t):
            y = function(x)
        y.backward(gs.ones(1))
        assert x.grad.tolist() == [60]


def test_packed_values_are_not_checked_for_changes():
    x = leaf(0.0)
    with graph.save_on_cpu():
        y = x.exp()
    y.add_(1)
    y.sum().backward()
    assert x.grad.tolist() == [1]


def test_one_saved_tensor_may_have_hooks_of_its_own():
    x = leaf(3.0)
    y = x**2
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t * 2, lambda t: t)
    y.backward(gs.ones(1))
    assert x.grad.tolist() == [12]


def test_hooks_that_do_not_fit_are_refused():
    x = leaf(3.0)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = x * x
    with pytest.raises(TypeError, match="unpack_hook expected to be a Tensor but got result of"):
        y.backward(gs.ones(1))
    with (
        pytest.raises(RuntimeError, match="pack hook is modifying its input in place"),
        graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t),
    ):
        x.exp()
    with graph.disable_saved_tensors_hooks("not here"), pytest.raises(RuntimeError, match="not he"):
        graph.save_on_cpu().__enter__()


def sines(a, b):
    sines.runs += 1
    return (a * b).exp().sin()


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_a_checkpoint_runs_the_function_again(use_reentrant):
    x = leaf(0.5, 1.0)
    sines.runs = 0
    y = checkpoint(sines, x, x, use_reentrant=use_reentrant)
    assert sines.runs == 1
    y.sum().backward()
    assert sines.runs == 2
    square = x.array**2
    assert np.allclose(x.grad.array, np.cos(np.exp(square)) * np.exp(square) * 2 * x.array)


def test_a_checkpoint_keeps_nothing_of_its_inside():
    kept = []

    def inside(x):
        y = x * x
        kept.append(y.array)
        return (y.exp() * y).sum()

    x = gs.ones(10, requires_grad=True)
    y = checkpoint(inside, x, use_reentrant=False)
    inner = weakref.ref(kept.pop())
    gc.collect()
    assert inner() is None
    y.backward()
    assert np.allclose(x.grad.array, 4 * np.e)


def test_a_checkpoint_can_be_run_backward_twice_and_by_grad():
    x = leaf(0.5)
    sines.runs = 0
    y = checkpoint(sines, x, x, use_reentrant=False)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    (first,) = gs.autograd.grad(checkpoint(sines, x, x, use_reentrant=False), x, create_graph=True)
    assert gs.allclose(first * 2, x.grad)
    assert gs.autograd.grad(first, x)[0].shape == (1,)
    with pytest.raises(RuntimeError, match=r"use_reentrant=True, .* is incompatible with .grad"):
        gs.autograd.grad(checkpoint(sines, x, x, use_reentrant=True), x)


def test_a_checkpoint_draws_the_same_random_numbers_again():
    x = gs.ones(5, requires_grad=True)
    y = checkpoint(lambda a: a * gs.randn(5), x, use_reentrant=False)
    after = gs.randn(1)
    y.sum().backward()
    assert gs.equal(x.grad, y.detach())
    assert not gs.equal(gs.randn(1), after)


def test_a_second_run_that_saves_less_is_an_error():
    runs = []

    def changing(x):
        runs.append(1)
        return x.exp() * x if len(runs) == 1 else x * 2

    y = checkpoint(changing, leaf(1.0), use_reentrant=False)
    with pytest.raises(CheckpointError, match="A different number of tensors was saved"):
        y.backward()


def test_checkpoint_sequential_applies_one_after_the_other():
    x = leaf(0.5)
    y = checkpoint_sequential([gs.sin, gs.cos, gs.exp], 2, x, use_reentrant=False)
    assert gs.equal(y, x.sin().cos().exp())


def test_each_saved_operand_is_packed_by_itself():
    packed = []
    with autograd.graph.saved_tensors_hooks(lambda t: (packed.append(t), t)[1], lambda t: t):
        x, w = leaf(3.0), gs.ones(1) * 2
        x * x
        assert len(packed) == 2
        x * w  # only w is needed
        assert [t.tolist() for t in packed[2:]] == [[2]]
        x * 3  # a number is no Tensor
        assert len(packed) == 3


def test_hooks_of_one_operand_leave_the_other_alone():
    x = leaf(3.0)
    y = x * x
    y.grad_fn._raw_saved_self.register_hooks(lambda t: 2 * t, lambda t: t)
    assert (y.grad_fn._saved_self.tolist(), y.grad_fn._saved_other.tolist()) == ([6], [3])
    y.backward()
    assert x.grad.tolist() == [9]


def test_what_a_recorded_backward_saves_is_packed_too():
    x = leaf(3.0)
    (before,) = autograd.grad((x**3).sum(), x, create_graph=True)
    with autograd.graph.saved_tensors_hooks(lambda t: 2 * t, lambda t: t):
        (within,) = autograd.grad((x**3).sum(), x, create_graph=True)
    assert autograd.grad(before.sum(), x)[0].tolist() == [18]
    assert autograd.grad(within.sum(), x)[0].tolist() == [18 * 8]


def test_hooks_of_saved_tensors_are_checked():
    x = leaf(1.0)
    saved = x.exp().grad_fn._raw_saved_result
    for hooks in ((print,), (1, 1)):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            saved.register_hooks(*hooks)
    unpack = lambda t: t
    saved.register_hooks(lambda t: "packed", unpack)
    assert (saved.data, saved.unpack_hook) == ("packed", unpack)
    with pytest.raises(RuntimeError, match="hooks have already been set"):
        saved.register_hooks(unpack, unpack)
    y = x * x
    saved = y.grad_fn._raw_saved_self
    y.backward()
    with pytest.raises(RuntimeError, match="after it has been freed"):
        saved.register_hooks(unpack, unpack)
    with pytest.raises(RuntimeError, match="from Python is forbidden"):
        type(saved)()


def test_a_saved_result_shares_the_version_of_the_result():
    y = leaf(1.0).exp()
    saved = y.grad_fn._saved_result
    with gs.no_grad():
        y += 1
    assert saved._version == y._version == 1


def test_results_without_axes_are_packed_and_told_of():
    x = gs.tensor(0.5, requires_grad=True)
    packed = []
    with autograd.graph.saved_tensors_hooks(lambda t: (packed.append(t.item()), t)[1], lambda t: t):
        y = x.exp()
    assert packed[-1] == y.item()
    y.backward()
    assert x.grad.item() == y.item()
    saved = x.exp().grad_fn._raw_saved_result
    assert saved.data.item() == y.item()
    saved.register_hooks(lambda t: t * 2, lambda t: t)
    assert saved.data.item() == 2 * y.item()


KEPT_ARRAYS = {
    "x": (
        "F.silu(x)",
        "F.elu(x)",
        "F.celu(x)",
        "F.selu(x)",
        "F.glu(x)",
        "F.hardtanh(x)",
        "F.hardswish(x)",
        "F.leaky_relu(x)",
        "F.softshrink(x)",
        "F.softsign(x)",
        "F.tanhshrink(x)",
        "F.layer_norm(x, (6,))",
        "F.batch_norm(x, None, None, training=True)",
        "torchlike.logit(x)",
        "gs.logsumexp(x, 0)",
    ),
    "x, t": (
        "x / t.requires_grad_()",
        "torchlike.fmax(x, t.requires_grad_())",
        "torchlike.xlogy(x, t.requires_grad_())",
        "F.binary_cross_entropy(x, t)",
        "F.mse_loss(x, t)",
        "F.huber_loss(x, t)",
    ),
    "t": ("F.kl_div(x, t, reduction='sum')",),
    "out": ("gs.sigmoid(x)", "torchlike.rsqrt(x)", "gs.softmax(x, 0)"),
}


@pytest.mark.parametrize(
    ("kept", "text"), [(kept, text) for kept, texts in KEPT_ARRAYS.items() for text in texts]
)
def test_a_composite_keeps_operands_or_its_result(kept, text):
    rng = np.random.default_rng(0)
    x = gs.tensor(rng.uniform(0.1, 0.9, (6, 6)), requires_grad=True)
    t = gs.tensor(rng.uniform(0.1, 0.9, (6, 6)))
    run = {"gs": gs, "torchlike": torchlike, "F": torchlike.nn.functional, "x": x, "t": t}
    eval(text, run)
    packed = {}

    def pack(tensor):
        if tensor.numel() > 6:
            packed[tensor.data_ptr()] = tensor
        return tensor

    with autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        out = eval(text, run)
    expected = {"x": x, "t": t, "out": out}
    assert sorted(packed) == sorted(expected[name].data_ptr() for name in kept.split(", "))


@pytest.mark.parametrize("name", ["relu", "rsqrt", "sigmoid", "softmax", "log_softmax"])
def test_operations_that_keep_their_result_alone(name):
    function = {
        "relu": lambda x: x.relu(),
        "rsqrt": lambda x: x.exp().rsqrt(),
        "sigmoid": lambda x: x.sigmoid(),
        "softmax": lambda x: x.softmax(0),
        "log_softmax": lambda x: x.log_softmax(0),
    }[name]
    x = gs.tensor([0.5, -1.0, 2.0], requires_grad=True)
    assert autograd.gradcheck(function, (x,))
    expected = autograd.grad(function(x)[0], x)[0]
    changed = x * 1
    y = function(changed)
    changed.zero_()
    assert autograd.grad(y[0], x, retain_graph=True)[0].tolist() == expected.tolist()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_pack_hooks_see_operands_in_their_place_in_the_graph():
    seen = []
    x = gs.ones(2, requires_grad=True)
    with gs.autograd.graph.saved_tensors_hooks(
        lambda t: seen.append((t.requires_grad, t.is_leaf, t.grad_fn)) or t, lambda t: t
    ):
        y = x * x
        y.sin()
    assert seen == [(True, True, None)] * 2 + [(True, False, y.grad_fn)]


def test_what_was_unpacked_in_place_of_a_leaf_is_a_leaf_that_leads_to_the_same_end():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    with gs.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t):
        y = x * x * x
    saved = y.grad_fn._saved_other
    assert saved is not x and saved.is_leaf and saved.requires_grad and saved.grad_fn is None
    (first,) = gs.autograd.grad(y.sum(), x, create_graph=True)
    first.sum().backward()
    assert x.grad.tolist() == [6, 12]


def test_a_custom_function_gets_a_leaf_back_as_a_leaf():
    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            assert x.is_leaf and x.requires_grad and x.grad_fn is None
            return gradient * 3 * x * x

    x = gs.tensor(2.0, requires_grad=True)
    with graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        (first,) = autograd.grad(Cube.apply(x), x, create_graph=True)
    first.backward()
    assert x.grad.item() == 12


class _Exponential(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = gs.exp(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, gradient):
        (y,) = ctx.saved_tensors
        return gradient * y


class Note:
    pass


RESULTS = {
    "ExpBackward0": gs.exp,
    "SigmoidBackward0": gs.sigmoid,
    "TanhBackward0": gs.tanh,
    "SqrtBackward0": gs.sqrt,
    "ReluBackward0": gs.relu,
    "SoftmaxBackward0": lambda x: gs.softmax(x, 0),
    "ProdBackward0": gs.prod,
    "_ExponentialBackward": _Exponential.apply,
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_packed_in_its_place_and_keeps_no_node_alive(name):
    x, kept, packed, unpacked = gs.tensor([0.3, 0.5], requires_grad=True), Note(), [], []
    gone = weakref.ref(kept)

    def pack(tensor):
        packed.append(tensor.grad_fn and tensor.grad_fn.name())
        return tensor

    def unpack(tensor):
        unpacked.append(tensor.grad_fn and tensor.grad_fn.name())
        return tensor

    gc.collect()
    gc.disable()
    try:
        with autograd.graph.saved_tensors_hooks(pack, unpack):
            y = RESULTS[name](x)
        y.grad_fn.metadata["kept"] = kept
        (first,) = autograd.grad(y.sum(), x, create_graph=True)
        (second,) = autograd.grad(first.sum(), x, retain_graph=True)
        assert name in packed
        assert {*unpacked} == {*packed}
        del kept, y, first
        assert gone() is None
    finally:
        gc.enable()
    (plain,) = autograd.grad(RESULTS[name](x).sum(), x, create_graph=True)
    assert autograd.grad(plain.sum(), x)[0].tolist() == second.tolist()
