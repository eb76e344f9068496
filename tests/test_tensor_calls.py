"""Inside compiled functions, the Tensor API means what it means eagerly."""

from dataclasses import dataclass

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors, torchlike
from tests.frontend.oracles import tensors_agree

x0 = np.array([0.3, -1.2, 2.0, 0.7])
A0 = np.array([[0.3, -1.2, 0.5], [1.5, 0.2, -0.7]])


def relu_sigmoid(x):
    return gs.sum(gs.relu(x) * gs.sigmoid(x))


def exp_method(x):
    return (x.exp() + x.tanh()).mean()


def unbiased_deviation(x):
    return x.std() + x.var(unbiased=False)


def softmax_by_dim(x):
    return gs.sum(gs.softmax(x, 0) ** 2)


def where_on_tensors(x):
    return gs.where(x > 0, x, 2 * x).sum()


def clamped(x):
    return gs.clamp(x, -1.0, 1.0).sum()


def scaled_addition(x):
    return gs.add(x, x * x, alpha=3).sum()


def greatest(x):
    return x.max() - x.min()


@pytest.mark.parametrize(
    "f",
    [
        relu_sigmoid,
        exp_method,
        unbiased_deviation,
        softmax_by_dim,
        where_on_tensors,
        clamped,
        scaled_addition,
        greatest,
    ],
)
def test_compiled_and_eager_agree(f):
    compiled, eager = (gs.tensor(x0, requires_grad=True) for _ in range(2))
    out, expected = gs.differentiable(f)(compiled), f(eager)
    assert out.item() == pytest.approx(expected.item(), rel=1e-14)
    out.backward()
    expected.backward()
    np.testing.assert_allclose(compiled.grad.numpy(), eager.grad.numpy(), rtol=1e-12)


def sum_by_dim(A):
    return (A.sum(dim=1) ** 2).sum() + A.mean(0, keepdim=True).sum()


def matrix_products(A):
    return gs.mm(A, A.t()).sum() + (A @ A.T).sum()


@pytest.mark.parametrize("f", [sum_by_dim, matrix_products])
def test_compiled_and_eager_agree_on_matrices(f):
    compiled, eager = (gs.tensor(A0, requires_grad=True) for _ in range(2))
    gs.differentiable(f)(compiled).backward()
    f(eager).backward()
    np.testing.assert_allclose(compiled.grad.numpy(), eager.grad.numpy(), rtol=1e-12)


# -- the node of a call --------------------------------------------------------------------------


@dataclass
class Layer:
    weight: object
    bias: object


def leaf(*values):
    return gs.tensor(list(values), requires_grad=True)


captured = leaf(5.0, 6.0)


class Model:
    def __init__(self):
        self.weight = leaf(1.0, 2.0)
        self.layers = [Layer(leaf(0.5, 0.25), gs.tensor(0.5, requires_grad=True))]

    @gs.differentiable
    def forward(self, x):
        layer = self.layers[0]
        return (self.weight * x * captured * layer.weight).sum() + layer.bias


def test_the_node_leads_to_all_tensors_that_the_function_reads():
    model, x = Model(), leaf(3.0, 4.0)
    captured.grad = None
    out = model.forward(x)
    ends = [node.variable for node, _ in out.grad_fn.next_functions]
    read = [x, model.weight, captured, model.layers[0].weight, model.layers[0].bias]
    assert {id(end) for end in ends} == {id(tensor) for tensor in read}
    assert out.grad_fn.name() == "ForwardBackward"
    out.backward()
    assert captured.grad.tolist() == [1.5, 2.0]
    assert model.layers[0].bias.grad.item() == 1


def test_inputs_without_gradient_have_no_next_function():
    @gs.differentiable
    def loss(w, x):
        return (w * x).sum()

    w, x = leaf(1.0, 2.0), gs.tensor([3.0, 4.0])
    (first, _), second = loss(w, x).grad_fn.next_functions
    assert first.variable is w
    assert second == (None, 0)
    assert repr(loss(w, x)) == "tensor(11., grad_fn=<LossBackward>)"


def test_one_tensor_for_two_parameters():
    w = leaf(1.0, 2.0)
    gs.differentiable(lambda a, b: (a * b * b).sum())(w, w).backward()
    assert w.grad.tolist() == [3, 12]


@gs.differentiable
def nested(layer, data):
    h = data["x"] * layer.weight + layer.bias
    return {"h": h, "list": [h.sum(), h * 2], "pair": (h.mean(), 3)}


def test_nested_arguments_and_results():
    layer = Layer(leaf(1.0, 2.0), leaf(0.5, 0.25))
    out = nested(layer, {"x": leaf(3.0, 4.0)})
    assert out["pair"][1] == 3
    doubled = out["list"][1]
    doubled.retain_grad()
    seen = []
    out["h"].register_hook(lambda gradient: seen.append(gradient.tolist()))
    (out["h"].sum() + (doubled * doubled).sum()).backward()
    assert doubled.grad.tolist() == [14, 33]
    assert seen == [[1, 1]]
    assert layer.bias.grad.tolist() == [29, 67]
    assert layer.weight.grad.tolist() == [87, 268]


def test_compiled_functions_call_compiled_functions():
    @gs.differentiable
    def inner(x):
        return x.exp() * 2

    @gs.differentiable
    def outer(x, y):
        return (inner(x) * inner(y)).sum()

    x, y = leaf(0.1, 0.2), leaf(0.3, 0.4)
    out = outer(x, y)
    assert len(out.grad_fn.next_functions) == 2
    out.backward()
    np.testing.assert_allclose(x.grad.numpy(), 4 * np.exp(x.array + y.array))


def test_third_derivatives_through_compiled_and_eager_operations():
    @gs.differentiable
    def quartic(x):
        return (x**4).sum()

    def derivatives(f):
        x = leaf(0.3, 0.7)
        value, found = (f(x * x).exp() * x.sum()).sin(), []
        for _ in range(3):
            (value,) = gs.autograd.grad(value.sum(), x, create_graph=True)
            found.append(value.detach().numpy())
        return found

    for found, expected in zip(
        derivatives(quartic), derivatives(lambda x: (x**4).sum()), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_a_second_backward_through_a_freed_compiled_node_raises():
    @gs.differentiable
    def f(x):
        return (x**3).sum()

    x = leaf(1.0, 2.0)
    out = f(x)
    out.backward(retain_graph=True)
    out.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        out.backward()
    assert x.grad.tolist() == [6, 24]


def test_a_changed_argument_is_noticed():
    @gs.differentiable
    def f(x, y):
        return (x * y).sum()

    x, y = leaf(1.0, 2.0), gs.tensor([3.0, 4.0])
    out = f(x, y)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_under_no_grad_the_function_just_runs():
    @gs.differentiable
    def f(x):
        return (x**3).sum()

    with gs.no_grad():
        out = f(leaf(1.0, 2.0))
    assert not out.requires_grad
    assert out.item() == 9


def test_advanced_indices_have_gradients_eagerly_and_compiled():
    def f(x):
        picked = x[[0, 2, 2]] * x[x > 2.5].sum()
        return (picked * x[gs.tensor([1, 0, 1])]).sum()

    compiled, eager = leaf(2.0, 3.0, 4.0), leaf(2.0, 3.0, 4.0)
    f(eager).backward()
    gs.differentiable(f)(compiled).backward()
    np.testing.assert_allclose(compiled.grad.numpy(), eager.grad.numpy(), rtol=1e-14)
    assert gs.autograd.gradcheck(f, [eager])


def test_generated_code_and_errors_show_the_lines_of_the_user():
    @gs.differentiable
    def f(x):
        y = gs.sigmoid(x)
        return gs.softmax(y, 0)[0]

    source = f.specialize(leaf(1.0, 2.0)).gradient_source
    assert "# y = gs.sigmoid(x)" in source
    assert "apply(" not in source and "tanh(0.5 * x) + 0.5  #" not in source

    @gs.differentiable
    def g(x):
        return x * gs.rand(3, generator=torchlike.Generator())

    with pytest.raises(errors.UnsupportedError) as refused:
        g(leaf(1.0, 2.0, 3.0))
    assert "return x * gs.rand(3, generator=torchlike.Generator())" in str(refused.value)


def test_indices_from_where_with_one_argument():
    def f(x):
        i, j = gs.where(x > 1.5)
        return (x[i, j] * x[gs.where(x > 2.5)].sum()).sum()

    compiled, eager = (gs.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True) for _ in range(2))
    f(eager).backward()
    gs.differentiable(f)(compiled).backward()
    np.testing.assert_allclose(compiled.grad.numpy(), eager.grad.numpy(), rtol=1e-14)


@pytest.mark.parametrize("first", ["y[0, 0]", "y.sum()"])
def test_a_number_that_eager_tensors_would_change_under_two_names_is_refused(first):
    def element(y):
        r = y[0, 0]
        r += 1
        return (y * y).sum() * r

    def shared(y):
        r = y.sum()
        s = r
        s *= 2
        return r * s

    function = gs.differentiable(element if first == "y[0, 0]" else shared)
    with pytest.raises(gs.errors.AliasingError, match="for Tensors this changes"):
        function(gs.ones(2, 2, requires_grad=True))
    assert gs.grad(function)(np.ones((2, 2))).shape == (2, 2)


class Holder:
    def __init__(self, item):
        self.item = item


def under_two_names(y):
    z = y
    z += 1
    return y * z


def item_of_a_list(y):
    items = [y]
    first = items[0]
    first += 1
    return items[0] * first


def attribute(y):
    holder = Holder(y)
    item = holder.item
    item += 1
    return holder.item * item


def in_a_helper(y):
    return y * one_more(y)


def one_more(y):
    y += 1
    return y


def before_a_loop(y):
    best = y
    for k in range(3):
        y += k
    return best * y


def one_of_two(y):
    double = y * 2
    item = double if y > 1 else y
    item += 1
    return double * item


def place_of_a_list(y):
    items = [y * 1]
    first = items[0]
    items[0] += 1
    return items[0] * first


@pytest.mark.parametrize(
    "changed",
    [
        under_two_names,
        item_of_a_list,
        attribute,
        in_a_helper,
        before_a_loop,
        one_of_two,
        place_of_a_list,
    ],
)
def test_a_number_that_something_else_holds_is_not_changed_for_tensors(changed):
    def of_a_number(x):
        return changed(x * 2)

    def of_an_array(x):
        return changed(x.sum())

    with pytest.raises(gs.errors.AliasingError, match="as a number"):
        gs.differentiable(of_a_number)(gs.tensor(2.0, requires_grad=True))
    with pytest.raises(gs.errors.AliasingError, match="for Tensors this changes"):
        gs.differentiable(of_an_array)(gs.ones(3, requires_grad=True))
    assert gs.grad(of_a_number)(2.0) == pytest.approx(
        (of_a_number(2.0 + 1e-6) - of_a_number(2.0 - 1e-6)) / 2e-6
    )


def largest_so_far(y):
    total, best = y[0] * 0, y[0] * 0
    for k in range(3):
        total += y[k]
        if total > best:
            best = total
    return best


def test_a_number_that_two_names_stand_for_from_iteration_to_iteration() -> None:
    y = np.array([1.0, -2.0, 0.5])
    assert gs.grad(largest_so_far)(y).tolist() == [1.0, 0.0, 0.0]
    with pytest.raises(gs.errors.AliasingError, match="for Tensors this changes `best`"):
        gs.differentiable(largest_so_far)(gs.tensor(y, requires_grad=True))


def test_numbers_of_python_are_changed_beside_tensors():
    def counted(x, n):
        k, m = n, len(x)
        k += 1
        m += 1
        return x.sum() * k * n * m * len(x)

    x = gs.ones(3, requires_grad=True)
    assert gs.differentiable(counted)(x, 2).item() == counted(gs.ones(3), 2).item() == 216.0


def weighted(x, z):
    return (x * np.sin(z) * z).sum()


@pytest.mark.parametrize("f", [weighted, gs.differentiable(weighted)], ids=["eager", "compiled"])
def test_plain_arrays_may_be_changed_before_backward(f):
    x, z = leaf(1.0, 2.0), np.array([3.0, 4.0])
    expected = np.sin(z) * z
    out = f(x, z)
    z[:] = 0
    out.backward()
    np.testing.assert_array_equal(x.grad.numpy(), expected)


def test_plain_arrays_may_be_changed_before_a_second_derivative():
    @gs.differentiable
    def f(x, z):
        return (x**3 * np.sin(z)).sum()

    x, z = leaf(1.0, 2.0), np.array([3.0, 4.0])
    expected = 6 * np.array([1.0, 2.0]) * np.sin(z)
    (first,) = gs.autograd.grad(f(x, z), x, create_graph=True)
    z[:] = 0
    first.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-15)


def test_arrays_that_come_out_may_be_changed_before_backward():
    @gs.differentiable
    def f(x, z):
        e = np.exp(z)
        return (x * e).sum(), e

    x, z = leaf(1.0, 2.0), np.array([3.0, 4.0])
    out, e = f(x, z)
    e[:] = 0
    out.backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.exp(z))


def test_lists_of_plain_arrays_may_be_changed_before_backward():
    @gs.differentiable
    def f(x, rows):
        total = 0.0
        for row in rows:
            total = total + (x * row).sum()
        return total

    x, rows = leaf(1.0, 2.0), [np.array([3.0, 4.0]), np.array([5.0, 6.0])]
    out = f(x, rows)
    rows[0][:] = 0
    rows.pop()
    out.backward()
    assert x.grad.tolist() == [8, 10]


def copied_and_converted(x):
    y = x.copy().astype(float)
    y[0] = 3.0
    y.fill(x[1])
    return (y * x).sum() + x.take([0, 1, 1]).sum() * x.compress([True, False, True])[0]


def number_of_elements(x):
    if x.size == 0:
        return x.sum()
    return (x * x).sum() / x.size + len(x.size()) * x[0]


def axes_in_another_order(x):
    y = x.reshape(1, 2, 2).transpose(2, 0, 1)
    return (y[0] * y[1]).sum()


def variances(x):
    y = x.reshape(2, 2)
    return (y.var(axis=1, keepdims=True, ddof=0) * y).sum() + y.std(ddof=1)


@pytest.mark.parametrize("f", [copied_and_converted, axes_in_another_order, variances])
def test_what_tensors_do_not_have_means_what_it_means_for_arrays(f):
    tensors_agree(f, x0)


def test_size_is_the_number_of_elements_where_it_is_not_called():
    x = gs.tensor(x0, requires_grad=True)
    y = gs.differentiable(number_of_elements)(x)
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), x0 / 2 + [1.0, 0, 0, 0])


def sorted_by_a_statement(x):
    a = x * 1
    a.sort()
    return a[0]


def put_by_a_statement(x):
    a = x * 1
    a.put([0], 5.0)
    return a[0]


@pytest.mark.parametrize("function", [sorted_by_a_statement, put_by_a_statement])
def test_statements_that_change_arrays_and_not_tensors_are_refused(function):
    with pytest.raises(errors.UnsupportedError, match="gives another Tensor"):
        gs.differentiable(function)(gs.tensor([3.0, 1.0], requires_grad=True))


def weighed_at_random(x):
    return (np.random.rand(2) * x**3).sum()


def weighed_by_a_seed(x):
    return (np.random.default_rng(3).normal(size=2) * x**3).sum()


def twice_differentiated(function):
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    (gradient,) = gs.autograd.grad(gs.differentiable(function)(x), x, create_graph=True)
    return gs.autograd.grad(gradient.sum(), x)[0].numpy()


def test_random_numbers_are_not_drawn_anew_for_second_derivatives():
    with pytest.raises(errors.UnsupportedError, match="draws random numbers"):
        twice_differentiated(weighed_at_random)
    weights = np.random.default_rng(3).normal(size=2)
    np.testing.assert_allclose(twice_differentiated(weighed_by_a_seed), 6 * weights * [1, 2])


def test_lists_of_whole_numbers():
    @gs.differentiable
    def f(x):
        return (x * x.argsort().tolist()[0]).sum(), (x > 2).tolist()

    result, flags = f(gs.tensor([3.0, 1.0], requires_grad=True))
    assert (result.item(), flags) == (4.0, [True, False])
    assert type(f(gs.tensor([3.0, 1.0], requires_grad=True))[1][0]) is bool


def test_a_pair_that_a_tensor_gives_is_no_array():
    def shifted(x):
        s = np.outer(x, x)
        return np.sum(s - s.max(1))  # of Tensors, the pair of values and places

    with pytest.raises(gs.errors.UnsupportedError, match="for -: 'Tensor' and 'max'"):
        gs.differentiable(shifted)(gs.tensor([1.0, 2.0], requires_grad=True))


def test_a_method_that_means_another_thing_for_arrays_is_refused_where_it_raises():
    x = gs.tensor([[1.0, 2.0]], requires_grad=True)
    methods = [
        (lambda x: x.clip(), RuntimeError),
        (lambda x: x.imag, RuntimeError),
        (lambda x: x.T.flatten("F"), TypeError),
    ]
    for method, python in methods:
        with pytest.raises(python) as caught:
            gs.differentiable(lambda x, method=method: method(x).sum())(x)
        assert isinstance(caught.value, gs.errors.UnsupportedError)

    def waited_for(x):
        try:
            return x.clip().sum()
        except RuntimeError:
            return 2.0 * x.sum()

    assert gs.differentiable(waited_for)(x).item() == 6.0


def in_no_shape(x):
    v = x.view()
    return v.sum()


def in_no_shape_by_reshape(x):
    v = x.reshape()
    return v.sum()


def in_rows_of_four(x):
    v = x.view(3, 4)
    return (v * v)[0].sum()


def in_as_many_rows_as_fit(x):
    return (x * x).reshape(-1, 4)[0].sum()


def in_pairs(x):
    return x.view(len(x) // 2, 2)[0].sum() + x.view(-1).sum()


def where_numpy_s_error_is_expected(x):
    try:
        return x.view(3, 4)[0].sum()
    except ValueError:
        return x.sum()


def where_the_length_is_asked(x):
    return x.view(3, 4)[0].sum() if x.numel() == 12 else (x * x).sum()


@pytest.mark.parametrize("lengths", [(2, 12, 7, 4), (12, 2, 5, 12)])
@pytest.mark.parametrize(
    "function",
    [
        *(in_no_shape, in_no_shape_by_reshape, in_rows_of_four, in_as_many_rows_as_fit),
        *(in_pairs, where_numpy_s_error_is_expected, where_the_length_is_asked),
    ],
)
def test_a_shape_that_does_not_fit_is_no_error_of_numpy(function, lengths):
    compiled = gs.differentiable(function)
    for length in lengths:
        x, y = (gs.tensor(np.arange(1.0, length + 1), requires_grad=True) for _ in range(2))
        try:
            expected = function(x)
        except (RuntimeError, TypeError):
            with pytest.raises(errors.UnsupportedError, match=r"reshape|view\(\)"):
                compiled(y)
            continue
        found = compiled(y)
        found.backward()
        expected.backward()
        assert found.item() == expected.item()
        np.testing.assert_allclose(y.grad.numpy(), x.grad.numpy())


def test_a_view_of_no_shape_raises_what_pytorch_does():
    x = gs.tensor([1.0, 2.0])
    with pytest.raises(TypeError, match=r"view\(\) received an invalid combination"):
        x.view()
    with pytest.raises(TypeError, match=r"reshape\(\) missing 1 required positional arguments"):
        x.reshape()
