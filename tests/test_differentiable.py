"""`@gs.differentiable`: plain calls, Tensors through one node, specializations."""

import functools
import inspect

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from gradscribe.utils.checkpoint import checkpoint
from tests.programs.targets import arrays

RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.normal(size=shape)


@gs.differentiable
def loss(w, x, y):
    """The logistic loss."""
    z = x @ w
    return np.sum(np.log(1 + np.exp(-z)) + (1 - y) * z)


def logistic_arguments():
    return normal(4), normal(9, 4), RNG.integers(0, 2, size=9)


def test_a_decorated_function_keeps_name_docstring_and_signature():
    assert loss.__name__ == "loss"
    assert loss.__doc__ == "The logistic loss."
    assert str(inspect.signature(loss)) == "(w, x, y)"


def test_plain_values_run_the_user_s_own_function():
    calls = []

    @gs.differentiable
    def f(x):
        calls.append(x)
        return x * 2

    assert f(2.0) == 4.0
    assert calls == [2.0]


def test_a_tensor_makes_one_node_whose_backward_is_the_compiled_adjoint():
    w, x, y = logistic_arguments()
    tensor = gs.tensor(w, requires_grad=True)
    out = loss(tensor, x, y)
    assert out.item() == loss(w, x, y)
    assert out.grad_fn.name() == "LossBackward"
    (edge,) = out.grad_fn.next_functions
    assert edge[0].variable is tensor
    out.backward()
    np.testing.assert_allclose(tensor.grad.numpy(), arrays.logistic_loss_gradient(w, x, y))


def test_without_grad_mode_nothing_is_recorded():
    w, x, y = logistic_arguments()
    with gs.no_grad():
        out = loss(gs.tensor(w, requires_grad=True), gs.tensor(x), gs.tensor(y))
    assert not out.requires_grad


def test_captured_tensors_and_attributes_are_inputs_of_the_node():
    weights = gs.tensor(normal(3), requires_grad=True)

    @gs.differentiable
    def f(x):
        return np.sum(weights * x)

    x = normal(3)
    f(x).backward()
    np.testing.assert_array_equal(weights.grad.numpy(), x)

    class Model:
        def __init__(self):
            self.w = gs.tensor(normal(3), requires_grad=True)

        @gs.differentiable
        def loss(self, x):
            return np.sum(self.w * x)

    model = Model()
    out = model.loss(x)
    assert out.grad_fn.name() == "LossBackward"
    out.backward()
    np.testing.assert_array_equal(model.w.grad.numpy(), x)


def test_lists_of_tensors_are_inputs_one_by_one():
    @gs.differentiable
    def total(xs, scale):
        result = 0.0
        for x in xs:
            result = result + np.sum(x * x) * scale
        return result

    first = gs.tensor([1.0, 2.0], requires_grad=True)
    second = gs.tensor([3.0, 4.0])
    third = gs.tensor([5.0, 6.0], requires_grad=True)
    total([first, second, third], 2.0).backward()
    np.testing.assert_array_equal(first.grad.numpy(), [4.0, 8.0])
    assert second.grad is None
    np.testing.assert_array_equal(third.grad.numpy(), [20.0, 24.0])


def test_lists_of_tensors_have_higher_derivatives():
    @gs.differentiable
    def total(xs, scale):
        result = 0.0
        for x in xs:
            result = result + np.sum(x**3) * scale
        return result

    a, b = (gs.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    s = gs.tensor(2.0, requires_grad=True)
    d_a, d_b, d_s = gs.autograd.grad(total([a, b], s), [a, b, s], create_graph=True)
    np.testing.assert_array_equal(d_a.detach().numpy(), [6.0, 24.0])
    second = gs.autograd.grad(d_a.sum() + 2 * d_b.sum() + d_s, [a, b, s])
    for found, expected in zip(second, ([15.0, 36.0], [27.0, 60.0], 45.0), strict=True):
        np.testing.assert_array_equal(found.numpy(), expected)


def test_a_list_that_comes_out_has_a_gradient_for_each_item():
    @gs.differentiable
    def running(x):
        sums, total = [], 0.0
        for v in x:
            total = total + v * v
            sums.append(total)
        return sums

    x = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
    first, _, last = running(x)
    (first + 3 * last).backward()
    np.testing.assert_array_equal(x.grad.numpy(), [8.0, 12.0, 18.0])


def test_a_gradient_may_be_decorated_itself():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    gs.differentiable(gs.grad(lambda x: np.sum(x**3)))(x).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [6.0, 12.0])


def test_nested_results_of_tensors():
    @gs.differentiable
    def f(x):
        return {"sum": np.sum(x), "square": x * x, "n": 3}

    x = gs.tensor([1.0, 2.0], requires_grad=True)
    out = f(x)
    assert out["n"] == 3
    (out["sum"] + out["square"].sum()).backward()
    np.testing.assert_array_equal(x.grad.numpy(), [3.0, 5.0])


def test_create_graph_goes_through_compiled_functions_to_third_order():
    @gs.differentiable
    def f(x):
        return np.sum(x**4)

    x = gs.tensor([2.0], requires_grad=True)
    first = gs.autograd.grad(f(x), x, create_graph=True)[0]
    second = gs.autograd.grad(first.sum(), x, create_graph=True)[0]
    third = gs.autograd.grad(second.sum(), x)[0]
    assert (first.item(), second.item(), third.item()) == (32.0, 48.0, 48.0)


def test_argnums_of_the_decorator_choose_what_is_differentiated():
    @functools.partial(gs.differentiable, argnums=1)
    def f(a, b):
        return np.sum(a * b)

    a, b = (gs.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    f(a, b).backward()
    assert a.grad is None
    np.testing.assert_array_equal(b.grad.numpy(), [1.0, 2.0])


def decorated_inside(x):
    @gs.differentiable
    def scaled(y):
        return y * y * x

    @gs.differentiable()
    def halved(y):
        return y / 2

    return halved(scaled(x)) + gs.differentiable(gs.tanh)(x)


def checkpointed_inside(x):
    def part(y, factor=2.0):
        return (y * y).sin() * factor

    y = checkpoint(part, x, factor=3.0, use_reentrant=False)
    return checkpoint(lambda y: y * y * x, y, use_reentrant=False, preserve_rng_state=False)


@pytest.mark.parametrize("function", [decorated_inside, checkpointed_inside])
def test_what_wraps_functions_may_be_used_inside(function):
    def outcome(function):
        x = gs.tensor([0.5, 1.5, -0.7], requires_grad=True)
        out = function(x)
        return out.tolist(), gs.autograd.grad(out.sum(), x)[0].tolist()

    np.testing.assert_allclose(outcome(gs.differentiable(function)), outcome(function))


def test_specializations_are_kept_and_the_latest_gives_the_sources():
    @gs.differentiable
    def f(x):
        return np.sum(x * x)

    one, two = f.specialize("float64[:]"), f.specialize("float64[:, :]")
    assert f.specializations == (one, two)
    assert f.gradient_source == two.gradient_source
    assert f.specialize(np.ones(3)).signature == "f(x: float64[:])"
    assert f.forward_source.startswith("def f_forward(x)")
    assert f.adjoint_source.startswith("def f_adjoint(record, ")
    assert f.tangent_source.startswith("def f_tangent(x, d_x)")


def test_calls_with_tensors_make_specializations():
    @gs.differentiable
    def f(x):
        return np.sum(x * x)

    f(gs.tensor([1.0, 2.0], requires_grad=True))
    (made,) = f.specializations
    assert f.gradient_source == made.gradient_source
    assert "return d_result * 2 * x" in made.gradient_source


def test_what_cannot_be_compiled_is_refused_when_specialized():
    @gs.differentiable
    def f(x):
        yield x

    with pytest.raises(errors.UnsupportedError):
        f.specialize(1.0)


def test_generated_functions_are_in_tracebacks_and_inspect():
    special = loss.specialize(*logistic_arguments(), argnums=0)
    function = special.generated_gradient.callable
    assert inspect.getsource(function) == special.gradient_source


def test_a_second_backward_through_numbers_raises() -> None:
    t = gs.tensor(2.0, requires_grad=True)
    y = gs.differentiable(lambda x: np.sin(x) * x)(t)
    y.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()


def test_a_slice_is_told_from_others_by_its_step():
    gradient = gs.grad(gs.differentiable(lambda x, rows: np.sum(x[rows] ** 2)))
    x = np.arange(6.0)
    assert gradient(x, slice(0, 6, 1)).tolist() == [0, 2, 4, 6, 8, 10]
    assert gradient(x, slice(0, 6, 2)).tolist() == [0, 0, 4, 0, 8, 0]


def test_what_was_compiled_for_c_order_is_not_run_for_a_transpose():
    @gs.value_and_grad
    def stored_flat(x):
        y = x.reshape(-1)
        y[0] = 5.0
        return np.sum(x * x)

    x = np.arange(1.0, 5.0).reshape(2, 2)
    value, gradient = stored_flat(x)
    assert (value, gradient.tolist()) == (54.0, [[0, 4], [6, 8]])
    value, gradient = stored_flat(x.T)  # there `reshape` copies
    assert (value, gradient.tolist()) == (30.0, [[2, 6], [4, 8]])
