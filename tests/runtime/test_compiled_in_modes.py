"""Nodes of compiled functions under all that watches nodes: as those of the same operations run
one by one."""

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import autograd
from gradscribe.autograd import forward_ad, functional
from gradscribe.utils.checkpoint import checkpoint


@gs.differentiable
def compiled(x, w):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            u = np.tanh(w[i] * x[i])
            k = 0
            while k < 2:
                u = u * x[i] + w[i]
                k += 1
            total = total + u
        else:
            total = total - x[i] ** 2 * w[i]
    return total


def eager(x, w):
    u = gs.tanh(w * x)
    for _ in range(2):
        u = u * x + w
    return gs.where(x > 0, u, -(x**2) * w).sum()


def leaves():
    x = gs.tensor([0.5, -1.0, 2.0], requires_grad=True)
    return x, gs.tensor([1.0, 0.3, -0.7], requires_grad=True)


def flat(found):
    if isinstance(found, gs.Tensor):
        return [found.detach().numpy()]
    return [array for item in found for array in flat(item)]


def thrice(f):
    x, w = leaves()
    first = autograd.grad(f(x, w), (x, w), create_graph=True)
    second = autograd.grad(sum(g.sin().sum() for g in first), (x, w), create_graph=True)
    return autograd.grad(sum((g * g).sum() for g in second), (x, w))


def forward_over_reverse(f):
    x, w = leaves()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, gs.tensor([1.0, 2.0, 3.0]))
        gradients = autograd.grad(f(dual, w) * 2 + (dual * w).sum(), (dual, w), create_graph=True)
        tangents = [forward_ad.unpack_dual(g).tangent for g in gradients]
        return [*gradients, *tangents, autograd.grad(sum(t.sum() for t in tangents), (x, w))]


def packed(f):
    x, w = leaves()
    with autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), gs.tensor):
        result = f(x, w)
    return autograd.grad(result, (x, w))


def again(use_reentrant):
    def gradients(f):
        x, w = leaves()
        checkpoint(lambda x, w: f(gs.sin(x), w) * 2, x, w, use_reentrant=use_reentrant).backward()
        return x.grad, w.grad

    return gradients


def with_hooks(f):
    x, w = leaves()
    seen = []
    autograd.graph.register_multi_grad_hook((x, w), lambda g: seen.append(len(g)))
    middle = x * 1
    edge = autograd.graph.get_gradient_edge(middle)
    result = f(middle, w)
    result.retain_grad()
    result.register_hook(lambda g: g * 3)
    found = autograd.grad(result, (edge, w), retain_graph=True)
    result.backward(inputs=[w], retain_graph=True)
    assert x.grad is None
    result.grad = None
    result.backward()
    return *found, x.grad, w.grad, result.grad, gs.tensor(float(len(seen)))


def products(f):
    v = tuple(tensor.detach() for tensor in leaves())
    return [
        functional.hessian(f, leaves()),
        functional.hessian(f, leaves(), vectorize=True, outer_jacobian_strategy="forward-mode"),
        functional.hvp(f, leaves(), v),
        functional.vhp(f, leaves(), v),
        functional.jvp(f, leaves(), v),
    ]


WAYS = {
    "thrice": thrice,
    "forward over reverse": forward_over_reverse,
    "saved tensors": packed,
    "checkpoint": again(False),
    "reentrant checkpoint": again(True),
    "hooks": with_hooks,
    "products": products,
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_compiled_function_is_as_its_operations_one_by_one(way):
    for one, other in zip(flat(way(compiled)), flat(way(eager)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-13)


def test_gradcheck_of_a_compiled_function_in_all_its_modes():
    assert autograd.gradcheck(compiled, leaves(), check_forward_ad=True)
    assert autograd.gradgradcheck(compiled, leaves(), check_fwd_over_rev=True)


def test_a_compiled_function_sees_what_was_saved_although_it_was_changed():
    x, w = leaves()
    middle = x * 1
    with autograd.graph.allow_mutation_on_saved_tensors():
        result = compiled(middle, w)
        middle.mul_(100)
        result.backward()
    expected = autograd.grad(eager(x, w), (x, w))
    np.testing.assert_allclose(x.grad.numpy(), expected[0].numpy())


def test_an_inference_tensor_is_not_saved_by_a_compiled_function():
    _, w = leaves()
    with gs.inference_mode():
        x = gs.ones(3)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        compiled(x, w)


@gs.differentiable
def two_results(x, w, v):
    return x * 2 + w.detach(), w * len(v)


def test_what_a_result_does_not_depend_on_has_no_gradient():
    x, w, v = (gs.tensor([1.0, 2.0], requires_grad=True) for _ in range(3))
    first, second = two_results(x, w, v)
    assert first.grad_fn.next_functions[2] == (None, 0)
    found = [
        autograd.grad(out.sum(), (x, w, v), retain_graph=True, allow_unused=True)
        for out in (first, second)
    ]
    assert [[g is None for g in row] for row in found] == [[False, True, True], [True, False, True]]
    for out, unused in ((first, w), (second, x), (second, v)):
        with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
            autograd.grad(out.sum(), unused, retain_graph=True)
    (first.sum() + second.sum()).backward()
    assert (x.grad.tolist(), w.grad.tolist(), v.grad) == ([2, 2], [2, 2], None)


def test_a_function_of_no_argument_that_requires_a_gradient_gives_no_recorded_result():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    assert not gs.differentiable(lambda x: gs.ones(len(x)))(x).requires_grad
