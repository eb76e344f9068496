"""`gs.autograd.functional`, as its documentation in PyTorch describes it."""

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp


def exp_reducer(x):
    return x.exp().sum(dim=1)


def exp_adder(x, y):
    return 2 * x.exp() + 3 * y


def pow_reducer(x):
    return x.pow(3).sum()


def test_jacobian_has_the_shape_of_output_and_input():
    x = gs.rand(2, 2)
    found = jacobian(exp_reducer, x)
    assert found.shape == (2, 2, 2)
    assert np.allclose(found.array, np.einsum("ij,ik->ikj", np.exp(x.array), np.eye(2)))
    assert not found.requires_grad
    assert jacobian(exp_reducer, x.requires_grad_(), create_graph=True).requires_grad


def test_jacobian_nests_as_outputs_and_inputs_do():
    a, b = gs.ones(2), gs.full((2,), 2.0)
    by_a, by_b = jacobian(exp_adder, (a, b))
    assert np.allclose(by_a.array, np.diag(2 * np.exp(a.array)))
    assert by_b.tolist() == [[3, 0], [0, 3]]
    (first,), (second,) = jacobian(lambda x: (x, x * 2), (a,))
    assert first.tolist() == [[1, 0], [0, 1]]
    assert second.tolist() == [[2, 0], [0, 2]]


def test_jacobian_in_forward_mode_is_the_same():
    x = gs.rand(2, 3)
    found = jacobian(exp_reducer, x, vectorize=True, strategy="forward-mode")
    assert np.allclose(found.array, jacobian(exp_reducer, x).array)


def test_hessian_of_one_and_of_several_inputs():
    x = gs.tensor([1.0, 2.0])
    assert hessian(pow_reducer, x).tolist() == [[6, 0], [0, 12]]
    ((aa, ab), (ba, bb)) = hessian(lambda a, b: (a * a * b).sum(), (x, x))
    assert aa.tolist() == [[2, 0], [0, 4]]
    assert ab.tolist() == ba.tolist() == [[2, 0], [0, 4]]
    assert bb.tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("product", [vhp, hvp])
def test_products_with_the_hessian(product):
    x, v = gs.tensor([1.0, 2.0]), gs.tensor([1.0, -1.0])
    value, found = product(pow_reducer, x, v)
    assert value.item() == 9
    assert found.tolist() == [6, -12]


def test_products_with_the_jacobian():
    x, v = gs.rand(4, 4), gs.ones(4)
    value, found = vjp(exp_reducer, x, v)
    assert np.allclose(value.array, np.exp(x.array).sum(1))
    assert np.allclose(found.array, np.exp(x.array))
    value, found = jvp(exp_reducer, x, gs.ones(4, 4))
    assert np.allclose(found.array, np.exp(x.array).sum(1))


def test_the_vector_may_be_left_out_where_it_is_one_element():
    assert vjp(lambda x: x.sum(), gs.ones(2))[1].tolist() == [1, 1]
    assert jvp(lambda x: x * 3, gs.ones(1))[1].tolist() == [3]
    with pytest.raises(RuntimeError, match="vector v can only be None if the user-provided"):
        vjp(lambda x: x * 2, gs.ones(2))
    with pytest.raises(RuntimeError, match="vector v can only be None if the input"):
        jvp(lambda x: x * 2, gs.ones(2))


def test_create_graph_leads_back_to_the_inputs():
    x = gs.tensor([2.0], requires_grad=True)
    for product in (vjp, jvp):
        _, found = product(lambda t: t**3, x, gs.ones(1), create_graph=True)
        assert gs.autograd.grad(found, x)[0].tolist() == [12]
    for product in (vhp, hvp):
        _, found = product(lambda t: (t**4).sum(), x, gs.ones(1), create_graph=True)
        assert gs.autograd.grad(found, x)[0].tolist() == [48]
    second = hessian(lambda t: (t**4).sum(), x, create_graph=True)
    assert gs.autograd.grad(second.sum(), x)[0].tolist() == [48]


def test_an_independent_output_gives_zeros():
    assert jacobian(lambda x: x.detach(), gs.ones(2)).tolist() == [[0, 0], [0, 0]]
    assert hessian(lambda x: x.sum(), gs.ones(2)).tolist() == [[0, 0], [0, 0]]


def unrelated(x):
    return x.long().to(gs.float64).requires_grad_().clone()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: vjp(gs.Tensor.detach, gs.ones(2), gs.ones(2), strict=True), "Output 0 of the"),
        (lambda: vjp(unrelated, gs.ones(2), gs.ones(2), strict=True), "is independent of input 0"),
        (lambda: jvp(unrelated, gs.ones(2), gs.ones(2), strict=True), "is independent of input 0"),
        (lambda: jacobian(unrelated, gs.ones(2), strict=True), "Output 0 of the .* input 0"),
        (lambda: hessian(lambda x: x.sum(), gs.ones(2), strict=True), "While computing the hess"),
        (
            lambda: vhp(lambda x: x.sum(), gs.ones(2), gs.ones(2), strict=True),
            "found that the jacobian of the user-provided function with respect to input 0",
        ),
    ],
)
def test_strict_refuses_what_does_not_depend_on_an_input(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: vjp(exp_adder, (gs.ones(2), 2)),
            "The inputs given to vjp must be either a Tensor or a tuple of Tensors but the value "
            "at index 1 has type <class 'int'>.",
        ),
        (
            lambda: jacobian(lambda x: "text", gs.ones(2)),
            "The outputs of the user-provided function given to jacobian must be either a Tensor "
            "or a tuple of Tensors but the given outputs of the user-provided function has type "
            "<class 'str'>.",
        ),
        (
            lambda: vjp(exp_reducer, gs.ones(2, 2), gs.ones(3)),
            "v has invalid size: should be torch.Size([2]) but got torch.Size([3]).",
        ),
        (
            lambda: vjp(exp_reducer, gs.ones(2, 2), (gs.ones(2), gs.ones(2))),
            "The given v should contain a single Tensor.",
        ),
        (
            lambda: hessian(lambda x: x * 2, gs.ones(2)),
            "The Tensor returned by the function given to hessian should contain a single element",
        ),
        (
            lambda: hvp(lambda x: (x.sum(),), gs.ones(2), gs.ones(2)),
            "The function given to hvp should return a single Tensor",
        ),
    ],
)
def test_what_does_not_fit_is_refused_in_these_words(call, message):
    with pytest.raises((RuntimeError, TypeError)) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize("product", [vhp, hvp])
def test_products_with_a_hessian_whose_gradients_depend_on_each_other(product):
    inputs = gs.tensor([0.0, 0.5]), gs.tensor([0.0, 0.5, 1.0])
    direction = gs.ones(2), gs.ones(3)
    _, found = product(lambda a, b: (a + 3 * b[:2]).exp().sum(), inputs, direction)
    e = np.exp([0.0, 2.0])
    np.testing.assert_allclose(found[0].numpy(), 4 * e)
    np.testing.assert_allclose(found[1].numpy(), [*(12 * e), 0.0])


def test_the_vector_is_checked_before_the_function_is_called():
    def never(*_):
        raise AssertionError

    x = gs.ones(2)
    for product in (jvp, vhp, hvp):
        with pytest.raises(RuntimeError, match="v is a tuple of invalid length: should be 2"):
            product(never, (x, x), x)


def test_strict_refuses_a_linear_function_in_jvp_with_create_graph():
    x = gs.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"The jacobian of .* is independent of input 0"):
        jvp(lambda x: 3 * x, x, gs.ones(2), create_graph=True, strict=True)
    assert not jvp(lambda x: 3 * x, x, gs.ones(2), create_graph=True)[1].requires_grad


@pytest.mark.parametrize("product", [vhp, hvp])
def test_strict_refuses_the_hessian_of_a_linear_function(product):
    x = gs.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="While computing the hessian"):
        product(lambda x: (3 * x).sum(), x, gs.ones(2), create_graph=True, strict=True)


def test_forward_mode_wants_vectorize():
    for derivative, option in ((jacobian, "strategy"), (hessian, "outer_jacobian_strategy")):
        with pytest.raises(NotImplementedError, match="only implemented for `vectorize=True`"):
            derivative(pow_reducer, gs.ones(2), **{option: "forward-mode"})
        with pytest.raises(AssertionError, match="Expected strategy to be either"):
            derivative(pow_reducer, gs.ones(2), **{option: "sideways"})


def test_jacobian_of_complex_outputs_is_refused_and_not_cut_to_its_real_part():
    with pytest.raises(RuntimeError, match="only for real scalar outputs but got"):
        jacobian(lambda x: (1j * x).exp(), gs.rand(2))
    z = gs.tensor([1 + 2j, 3j])
    assert jacobian(lambda z: z.abs() ** 2, z).tolist() == [[2 + 4j, 0], [0, 6j]]
