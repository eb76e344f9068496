"""create_graph: gradients of gradients, to any order."""

import numpy as np
import pytest

from gradscribe import autograd
from gradscribe.runtime import namespace as gs


def leaf(*data):
    return gs.tensor(list(data), requires_grad=True)


def derivative(y, x):
    return autograd.grad(y.sum(), x, create_graph=True)[0]


def test_powers_to_the_third_order():
    x = leaf(1.0, 2.0, 3.0)
    first = derivative(x**4, x)
    second = derivative(first, x)
    third = derivative(second, x)
    assert first.tolist() == [4, 32, 108]
    assert second.tolist() == [12, 48, 108]
    assert third.tolist() == [24, 48, 72]


def test_products_of_exponentials_to_the_third_order():
    x = leaf(0.5, -1.0)
    third = derivative(derivative(derivative(x * x * x.exp(), x), x), x)
    v = x.array
    assert third.array == pytest.approx((v * v + 6 * v + 6) * np.exp(v))


def test_mixed_second_derivatives():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = (x * x * w).sum()
    d_x, d_w = autograd.grad(y, (x, w), create_graph=True)
    d_xw, d_xx = autograd.grad(d_x.sum(), (w, x), retain_graph=True)
    assert d_xw.tolist() == [2, 4]
    assert d_xx.tolist() == [6, 8]
    (d_wx,) = autograd.grad(d_w.sum(), x)
    assert d_wx.tolist() == [2, 4]


def test_second_derivatives_through_matrix_products():
    a = gs.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    x = gs.tensor([[1.0], [2.0]], requires_grad=True)
    y = (a.mm(x) * a.mm(x)).sum()
    (d_x,) = autograd.grad(y, x, create_graph=True)
    (d_a,) = autograd.grad(d_x.sum(), a)
    eps, checked = 1e-6, a.array
    for i in np.ndindex(2, 2):
        sides = []
        for step in (eps, -eps):
            moved = checked.copy()
            moved[i] += step
            sides.append((2 * moved.T @ moved @ x.array).sum())
        assert d_a.array[i] == pytest.approx((sides[0] - sides[1]) / (2 * eps), rel=1e-6)


def test_backward_with_create_graph_leaves_a_gradient_with_history():
    x = leaf(3.0)
    (x * x).backward(create_graph=True)
    assert x.grad.requires_grad
    first = x.grad
    x.grad = None
    first.backward()
    assert x.grad.tolist() == [2]


def test_a_recorded_gradient_is_copied_into_the_leaf():
    x = gs.ones(2, requires_grad=True)
    (x * x).sum().backward(create_graph=True)
    node = x.grad.grad_fn
    assert type(node).__name__ == "CopyBackwards"
    assert node.next_functions[0] == (None, 0)


def test_gradient_penalty():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (d_x,) = autograd.grad((w * w * x).sum(), x, create_graph=True)
    (d_x * d_x).sum().backward()
    assert w.grad.tolist() == [4 * 27, 4 * 64]
    assert x.grad is None or x.grad.tolist() == [0, 0]


def test_the_derivative_with_respect_to_grad_outputs():
    x, seed = leaf(2.0), leaf(1.0)
    (d_x,) = autograd.grad(x * x, x, seed, create_graph=True)
    assert autograd.grad(d_x, seed)[0].tolist() == [4]


def test_gradients_of_linear_functions_have_no_history():
    x = leaf(2.0)
    (d_x,) = autograd.grad(x * 3, x, create_graph=True)
    assert not d_x.requires_grad


def graph(node):
    """A graph as text: names of nodes, each with those of its inputs; `x` for leaves."""
    if node is None:
        return "-"
    if node.name() == "torch::autograd::AccumulateGrad":
        return "x"
    return (
        f"{node.name()[: -len('Backward0')]}({' '.join(graph(n) for n, _ in node.next_functions)})"
    )


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x * 3, "-"),
        (lambda x: x.exp(), "Mul(- Exp(x))"),
        (lambda x: x.sin(), "Mul(- Cos(x))"),
        (lambda x: x.log(), "Div(- x)"),
        (lambda x: x**3, "Mul(- Mul(Pow(x) -))"),
        (lambda x: x.sqrt(), "Mul(- Div(- Sqrt(x)))"),
        (lambda x: x.tanh(), "Mul(- Rsub(Mul(Tanh(x) Tanh(x))))"),
        (lambda x: x.sigmoid(), "SigmoidBackward(- Sigmoid(x))"),
        (lambda x: x.relu(), "ThresholdBackward(- Relu(x))"),
        (lambda x: x.softmax(0), "SoftmaxBackwardData(- Softmax(x))"),
        (lambda x: x.logsumexp(0), "LogsumexpBackward(- x)"),
        (lambda x: x.sum(), "-"),
        (lambda x: gs.maximum(x, 1.0 * x.detach()), "-"),
    ],
)
def test_the_graph_of_a_gradient_leads_to_what_the_derivative_reads(function, expected):
    x = leaf(0.5, 0.25, 2.0, 1.0)
    assert graph(derivative(function(x), x).grad_fn) == expected


OPERATIONS = [
    lambda x, y: x * y / (x + 2),
    lambda x, y: (x - y) ** 3 + 2**x - x**y,
    lambda x, y: y**2.5 * abs(x - 1) + 1 / x - (-y),
    lambda x, y: x.exp() * y.log() + x.sqrt() + y.rsqrt() + x.reciprocal(),
    lambda x, y: x.exp2() + x.expm1() * y.log1p() + x.log2() * y.log10() + x.square(),
    lambda x, y: (
        x.sin() * y.cos() + x.tan() + x.sinh() * y.cosh() + (x / 4).asin() + (y / 4).acos()
    ),
    lambda x, y: x.tanh() * y.sigmoid() + (x - 1).relu() ** 2 + y.atan(),
    lambda x, y: x.softmax(0) * y.log_softmax(1) + x.logsumexp(0) * y.logsumexp(1, keepdim=True),
    lambda x, y: x.sum(0) * y.mean() + (x * y).mean(1, keepdim=True) + (x * x).sum(),
    lambda x, y: x.var(0) * y.std() + x.std(1, keepdim=True, correction=0) + (x * y).var(),
    lambda x, y: x @ y.T + x.mm(y.t()) * (x @ y[0]).unsqueeze(1) + x[0].dot(y[1]),
    lambda x, y: gs.stack([x, y]).bmm(gs.stack([y, x]).transpose(1, 2)),
    lambda x, y: gs.addmm(x[:, :2], x, y.t(), beta=2, alpha=3) ** 2,
    lambda x, y: gs.where(x > y, x * x, y**3) + gs.maximum(x, y) ** 2 * gs.minimum(x, y),
    lambda x, y: (
        x.clamp(0.6, 1.5) ** 2 + (x * x).max() * (y * y).min() + x.masked_fill(x > y, 2) ** 2
    ),
    lambda x, y: gs.cat([x, y], 1) ** 2 + gs.stack([x, y], -1).reshape(2, -1) ** 3,
    lambda x, y: (
        x.expand(2, 2, 3) ** 2 + y.permute(1, 0).reshape(2, 3) ** 3 + x.swapaxes(0, 1).T ** 2
    ),
    lambda x, y: x.unsqueeze(1).squeeze(1) ** 2 * x.flip(0) + y.roll(1, 0) * y.roll((1, 2), (0, 1)),
    lambda x, y: (x.repeat(2, 1, 2) * y.repeat(2, 1, 2)).cumsum(1) + x.tril().triu()[0].sum() ** 2,
    lambda x, y: (x.clone() * y.to(gs.float32)).to(gs.float64) ** 2,
    lambda x, y: gs.outer(x[0], y[1]) ** 2 + x.cumsum(1).sum() ** 2,
]


@pytest.mark.parametrize("number", range(len(OPERATIONS)))
def test_recorded_gradients_equal_those_that_are_not_and_differences_of_them(number):
    gs.manual_seed(number)
    x, y = (gs.tensor(0.5 + gs.rand(2, 3).numpy(), requires_grad=True) for _ in "xy")
    function = OPERATIONS[number]
    out = function(x, y)
    weight = gs.rand(*out.shape)
    plain = autograd.grad(out, (x, y), weight, retain_graph=True, materialize_grads=True)
    recorded = autograd.grad(
        out, (x, y), weight, create_graph=True, allow_unused=True, materialize_grads=True
    )
    for first, second in zip(plain, recorded, strict=True):
        assert second.array == pytest.approx(first.array, rel=1e-6)
    tolerances = {"atol": 1e-2, "eps": 1e-3} if number == 19 else {"atol": 1e-5}
    assert autograd.gradgradcheck(function, (x, y), **tolerances)


def test_second_derivatives_that_are_zero_are_unused():
    x, y = leaf(2.0), leaf(3.0)
    (d_x,) = autograd.grad(x * y, x, create_graph=True)
    assert autograd.grad(d_x, x, allow_unused=True) == (None,)
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        autograd.grad(d_x, x)


def test_a_derivative_of_the_result_does_not_read_the_operand():
    leaf_of = leaf(2.0)
    x = leaf_of * 1
    y = x.exp()
    (d_x,) = autograd.grad(y, leaf_of, create_graph=True)
    x.zero_()
    assert autograd.grad(d_x, leaf_of)[0].tolist() == y.tolist()


def test_operands_that_no_derivative_reads_are_not_kept():
    kept = []
    x = leaf(2.0)
    with autograd.graph.saved_tensors_hooks(lambda t: kept.append(t.item()), lambda t: t):
        (x * 1).exp()
    assert kept == [x.exp().item()]


def test_nodes_of_compiled_derivatives_are_named_after_the_operation():
    x = leaf(2.0)
    first = derivative(x.logit(), x)
    assert first.grad_fn.name() == "LogitBackwardBackward0"
    assert derivative(first, x).grad_fn.name() == "LogitBackwardBackwardBackward0"


def test_a_freed_gradient_graph_is_refused():
    x = leaf(2.0)
    first = derivative(x**3, x)
    first.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        first.backward()


def test_an_input_changed_before_the_second_backward_is_noticed():
    x = leaf(2.0)
    y = x * 1
    (d_y,) = autograd.grad(y**3, y, create_graph=True)
    y.detach().zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        d_y.backward()


def test_the_gradient_of_a_product_without_axes_is_a_product():
    x, y = (gs.tensor(number, requires_grad=True) for number in (0.5, 2.0))
    (d_x,) = autograd.grad(x * y, x, create_graph=True)
    assert graph(d_x.grad_fn) == "Mul(- x)"


@pytest.mark.parametrize("choose", [gs.max, gs.min, gs.amax, gs.median])
def test_the_only_element_is_its_own_extremum_to_the_second_order(choose):
    x = gs.tensor(3.0, requires_grad=True)
    (first,) = autograd.grad(choose(x * x), x, create_graph=True)
    assert (first.item(), autograd.grad(first, x)[0].item()) == (6, 2)


def test_the_second_derivative_of_a_square_of_an_integer():
    x = gs.tensor([5], requires_grad=True)
    y = x**2
    grad_x = autograd.grad(y, x, create_graph=True)
    assert grad_x[0].tolist() == [10]
    assert repr(autograd.grad(grad_x[0], x)) == "(tensor([2.]),)"
