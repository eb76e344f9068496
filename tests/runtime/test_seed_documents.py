"""The documents that users learn from, fragment by fragment, with `gradscribe` in place of torch.

Each test names its document and section: "autograd basics" is the notebook on Tensor.grad_fn and
MulConstant; "book 3.2.x" the chapter of pytorch-book; "notes" and "summary" the two short texts
on it; "building blocks" the article on how automatic differentiation works. What the older tests
of `test_tutorials.py` cover is not repeated.
"""

import re

import numpy as np
import pytest

import gradscribe as gs
import gradscribe as t
import gradscribe as torch
from gradscribe.autograd import Function, Variable
from gradscribe.autograd.function import Function as FunctionOfItsModule

# -- autograd basics -----------------------------------------------------------------------------


def test_basics_autograd_prints_what_requires_a_gradient():
    x = torch.rand(5, 5, requires_grad=True)
    text = repr(x)
    assert text.startswith("tensor([[0.")
    assert text.endswith("]], requires_grad=True)")
    assert len(text.splitlines()) == 5
    assert re.fullmatch(r"\d+\.\d+.*", torch.__version__)


def test_basics_simple_differentiation_prints_both_gradients(capsys):
    x, y = (torch.rand(5, 5, requires_grad=True) for _ in range(2))
    z = torch.sum(x + y)
    z.backward()
    print(x.grad, "\t", y.grad)
    ones = "tensor([" + ",\n        ".join(["[1., 1., 1., 1., 1.]"] * 5) + "])"
    assert capsys.readouterr().out == f"{ones} \t {ones}\n"


def test_basics_backward_of_a_scalar_is_backward_of_one():
    x, y = (torch.rand(5, requires_grad=True) for _ in range(2))
    (x * y).sum().backward(torch.tensor(1.0))
    assert x.grad.tolist() == y.tolist()


def test_basics_backward_of_a_matrix_needs_a_gradient():
    x = torch.rand(5, 5, requires_grad=True)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar"):
        (x**2).backward()
    z = x**2
    z.backward(torch.ones_like(x))
    np.testing.assert_allclose(x.grad.numpy(), 2 * x.detach().numpy())


def test_basics_a_gradient_of_another_shape_is_refused():
    x = torch.rand(2, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (x**2).backward(torch.ones(3))


def test_basics_no_grad(capsys):
    x, y = (torch.rand(5, 5, requires_grad=True) for _ in range(2))
    with torch.no_grad():
        print((x + y * 2).requires_grad)
    assert capsys.readouterr().out == "False\n"


TENSOR_NAMES = """
    T __abs__ __add__ __and__ __array__ __array_priority__ __array_wrap__ __bool__ __class__
    __complex__ __contains__ __deepcopy__ __dir__ __dlpack__ __dlpack_device__ __doc__ __eq__
    __float__ __floordiv__ __format__ __ge__ __getitem__ __gt__ __hash__ __iadd__ __iand__
    __ifloordiv__ __imod__ __imul__ __index__ __init__ __int__ __invert__ __ior__ __ipow__ __isub__
    __iter__ __itruediv__ __ixor__ __le__ __len__ __lt__ __matmul__ __mod__ __mul__ __ne__ __neg__
    __or__ __pos__ __pow__ __radd__ __rand__ __reduce__ __reduce_ex__ __repr__ __reversed__
    is_leaf grad grad_fn backward requires_grad register_hook retain_grad data detach
""".split()

NODE_NAMES = "__call__ metadata name next_functions register_hook requires_grad".split()


def test_basics_dir_of_a_tensor_and_of_its_node():
    x, y = (torch.rand(5, 5, requires_grad=True) for _ in range(2))
    z = x**2 + y**3
    assert set(TENSOR_NAMES) - set(dir(z)) == set()
    assert set(NODE_NAMES) - set(dir(z.grad_fn)) == set()


def test_basics_nodes_print_as_objects():
    x, y = (torch.rand(5, 5, requires_grad=True) for _ in range(2))
    z = x**2 + y**3
    assert ("x.is_leaf=" + str(x.is_leaf), "z.is_leaf=" + str(z.is_leaf)) == (
        "x.is_leaf=True",
        "z.is_leaf=False",
    )
    assert re.fullmatch(r"<AddBackward0 object at 0x[0-9a-f]+>", str(z.grad_fn))
    assert re.fullmatch(
        r"\(\(<PowBackward0 object at 0x\w+>, 0\), \(<PowBackward0 object at 0x\w+>, 0\)\)",
        str(z.grad_fn.next_functions),
    )


def test_basics_the_leaf_behind_the_node(capsys):
    x = torch.rand(5, 5, requires_grad=True)
    x_leaf = (x**2).grad_fn.next_functions[0][0]
    print(type(x_leaf))
    assert capsys.readouterr().out == "<class 'AccumulateGrad'>\n"
    assert x_leaf.variable is x


class MulConstant(Function):
    @staticmethod
    def forward(ctx, tensor, constant):
        ctx.constant = constant
        return tensor * constant

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, None


def test_basics_extending_autograd_mul_constant():
    assert FunctionOfItsModule is Function
    a = torch.rand(3, 3, requires_grad=True)
    b = MulConstant.apply(a, 5)
    assert ("b:" + str(b)).endswith("grad_fn=<MulConstantBackward>)")
    assert b.tolist() == (a * 5).tolist()
    b.backward(torch.ones_like(a))
    assert repr(a.grad) == "tensor([[1., 1., 1.],\n        [1., 1., 1.],\n        [1., 1., 1.]])"


# -- building blocks -----------------------------------------------------------------------------


def _graph_of_the_article():
    a = Variable(torch.Tensor([4.0]), requires_grad=True)
    weights = [Variable(torch.Tensor([float(i)]), requires_grad=True) for i in (2, 5, 9, 7)]
    b, c = weights[0] * a, weights[1] * a
    d = weights[2] * b + weights[3] * c
    return a, weights, b, c, d, 10 - d


def test_building_blocks_the_graph_and_its_gradients():
    a, weights, b, c, d, loss = _graph_of_the_article()
    assert type(d.grad_fn).__name__ == "AddBackward0"
    assert [type(n).__name__ for n, _ in d.grad_fn.next_functions] == ["MulBackward0"] * 2
    d.retain_grad()
    loss.backward()
    assert d.grad.tolist() == [-1]
    assert [w.grad.item() for w in weights] == [-9 * 4, -7 * 4, -b.item(), -c.item()]
    assert a.grad.tolist() == [-(9 * 2 + 7 * 5)]
    assert b.grad is None
    for w in weights:
        w.data = w.data - 0.1 * w.grad.data
    assert weights[0].item() == pytest.approx(5.6)


def test_building_blocks_a_second_backward_raises():
    *_, loss = _graph_of_the_article()
    loss.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        loss.backward()


def test_building_blocks_a_frozen_variable_gets_no_gradient():
    a, w1, w2 = torch.ones(1), torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    b = (w1 * a).detach()
    ((b * 3) + (w2 * a)).backward()
    assert (w1.grad, w2.grad.tolist()) == (None, [1])


def test_building_blocks_volatile_comes_before_requires_grad():
    """Since 0.4, says the text, `volatile` itself has gone; `no_grad` is what is contagious."""
    with pytest.warns(DeprecationWarning):
        b = Variable(torch.ones(1), requires_grad=True, volatile=True)
    assert not (b * 2).requires_grad
    w = Variable(torch.ones(1), requires_grad=True)
    with torch.no_grad():
        assert not ((w * b) + w * 2).requires_grad


def test_building_blocks_variable_of_data():
    var_ex = Variable(torch.randn((4, 3)))
    assert (var_ex.grad, var_ex.grad_fn, tuple(var_ex.data.shape)) == (None, None, (4, 3))


# -- notes ---------------------------------------------------------------------------------------


def test_notes_backward_with_grad_variables_weighs():
    v = Variable(t.Tensor([1.0, 2.0]), requires_grad=True)
    with pytest.warns(DeprecationWarning):
        (v * v).backward(grad_variables=t.Tensor([1.0, 10.0]))
    assert v.grad.data.tolist() == [2, 40]


def test_notes_linear_regression_by_broadcasting():
    x = t.rand(8, 1)
    w, b = t.rand(1, 1, requires_grad=True), t.zeros(1, 1, requires_grad=True)
    assert (x * w + b).tolist() == (x.mm(w) + b.expand_as(x)).tolist()
    loss = (0.5 * (x * w + b - x * 2) ** 2).sum()
    loss.backward()
    before = w.item()
    w.data.sub_(w.grad.data * 0.1)
    assert w.item() == pytest.approx(before - 0.1 * w.grad.item())
    w.grad.data.zero_()
    assert w.grad.item() == 0
    assert not (w.data * x + b.data).requires_grad


def test_dlpack_both_ways():
    x = t.ones(3)
    assert np.from_dlpack(x).tolist() == [1, 1, 1]
    shared = t.from_dlpack(np.arange(3.0))
    assert shared.tolist() == [0, 1, 2]
    with pytest.raises(BufferError, match="require gradient"):
        np.from_dlpack(t.ones(3, requires_grad=True))
    assert list(reversed(t.arange(3)).tolist()) == [2, 1, 0]


# -- summary -------------------------------------------------------------------------------------


def test_summary_arguments_of_grad():
    x = torch.ones(3, requires_grad=True)
    y = x * x * 2
    arguments = {"grad_outputs": torch.ones(3), "retain_graph": True, "create_graph": False}
    (first,) = torch.autograd.grad(outputs=y, inputs=x, **arguments)
    (again,) = torch.autograd.grad(y, x, torch.ones(3))
    assert first.tolist() == again.tolist() == [4, 4, 4]


# -- book 3.2.1 ----------------------------------------------------------------------------------


def test_book_3_2_1_a_plain_sum_keeps_no_gradient_of_the_middle():
    a = t.randn(3, 4)
    a.requires_grad = True
    b = t.zeros(3, 4).requires_grad_()
    assert repr(b) == (
        "tensor([[0., 0., 0., 0.],\n        [0., 0., 0., 0.],\n        [0., 0., 0., 0.]], "
        "requires_grad=True)"
    )
    c = a.add(b)
    assert c.tolist() == (a + b).tolist()
    d = c.sum()
    d.backward()
    assert (d.requires_grad, c.grad) == (True, None)


def test_book_3_2_1_the_function_and_its_derivative_compiled():
    def f(x):
        y = x**2 * t.exp(x)
        return y

    def gradf(x):
        dx = 2 * x * t.exp(x) + x**2 * t.exp(x)
        return dx

    x = t.randn(3, 4, requires_grad=True)
    y = gs.differentiable(f)(x)
    y.backward(t.ones(y.size()))
    np.testing.assert_allclose(x.grad.numpy(), gradf(x).detach().numpy(), rtol=1e-12)


# -- book 3.2.2 ----------------------------------------------------------------------------------


def test_book_3_2_2_branches_and_loops_compiled():
    @gs.differentiable
    def abs(x):
        if x.data[0] > 0:
            return x
        else:
            return -x

    @gs.differentiable
    def f(x):
        result = 1
        for ii in x:
            if ii.item() > 0:
                result = ii * result
        return result

    for sign in (1, -1):
        x = (sign * t.ones(1)).requires_grad_()
        abs(x).backward()
        assert x.grad.tolist() == [sign]
    x = t.arange(-2, 4, requires_grad=True)
    f(x).backward()
    assert repr(x.grad) == "tensor([0., 0., 0., 6., 3., 2.])"


def test_book_3_2_2_no_grad_makes_results_that_need_no_gradient():
    with t.no_grad():
        x = t.ones(1)
        w = t.rand(1, requires_grad=True)
        y = x * w
    assert (x.requires_grad, w.requires_grad, y.requires_grad) == (False, True, False)


def test_book_3_2_2_set_grad_enabled_gives_an_object_back():
    restored = t.set_grad_enabled(True)
    assert type(restored).__name__ == "set_grad_enabled"


def test_book_3_2_2_the_gradients_of_a_product_and_none_between():
    x = t.ones(3, requires_grad=True)
    w = t.rand(3, requires_grad=True)
    y = x * w
    y.sum().backward()
    assert (x.grad.tolist(), w.grad.tolist(), y.grad) == (w.tolist(), [1, 1, 1], None)


# -- book 3.2.3 ----------------------------------------------------------------------------------


class MultiplyAdd(Function):
    @staticmethod
    def forward(ctx, w, x, b):
        ctx.save_for_backward(w, x)
        output = w * x + b
        return output

    @staticmethod
    def backward(ctx, grad_output):
        w, x = ctx.saved_tensors
        return grad_output * x, grad_output * w, grad_output * 1


def test_book_3_2_3_multiply_add():
    x = t.ones(1)
    w, b = t.rand(1, requires_grad=True), t.rand(1, requires_grad=True)
    MultiplyAdd.apply(w, x, b).backward()
    assert (x.grad, w.grad.tolist(), b.grad.tolist()) == (None, [1], [1])


def test_book_3_2_3_apply_of_a_node_gives_all_gradients():
    x = t.ones(1)
    w, b = t.rand(1, requires_grad=True), t.rand(1, requires_grad=True)
    gradients = MultiplyAdd.apply(w, x, b).grad_fn.apply(t.ones(1))
    assert [g.tolist() for g in gradients] == [[1], w.tolist(), [1]]


def test_book_3_2_3_second_derivative_of_an_integer_tensor():
    x = t.tensor([5], requires_grad=True)
    y = x**2
    grad_x = t.autograd.grad(y, x, create_graph=True)
    grad_grad_x = t.autograd.grad(grad_x[0], x)
    assert (grad_x[0].tolist(), grad_grad_x[0].tolist()) == ([10], [2])


class Sigmoid(Function):
    @staticmethod
    def forward(ctx, x):
        output = 1 / (1 + t.exp(-x))
        ctx.save_for_backward(output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        (output,) = ctx.saved_tensors
        return output * (1 - output) * grad_output


def test_book_3_2_3_gradcheck_of_the_sigmoid():
    test_input = t.randn(3, 4, requires_grad=True)
    assert t.autograd.gradcheck(Sigmoid.apply, (test_input,), eps=1e-3)


def test_book_3_2_3_once_differentiable_opens_numpy_and_ends_the_graph():
    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return t.from_numpy(x.detach().numpy() ** 3)

        @staticmethod
        @t.autograd.function.once_differentiable
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return t.from_numpy(3 * x.detach().numpy() ** 2 * grad_output.numpy())

    x = t.tensor([2.0], requires_grad=True)
    (first,) = t.autograd.grad(Cube.apply(x) ** 2, x, create_graph=True)
    assert first.tolist() == [2 * 8 * 12]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        t.autograd.grad(first, x)


def test_book_3_2_3_three_sigmoids_compiled():
    def naive(x):
        return 1 / (1 + t.exp(-x))

    x = t.randn(10, 10, requires_grad=True)
    gradients = []
    for f in (naive, gs.differentiable(naive), gs.differentiable(lambda x: t.sigmoid(x))):
        f(x).backward(t.ones(x.size()))
        gradients.append(x.grad.numpy().copy())
        x.grad.data.zero_()
    np.testing.assert_allclose(gradients[1], gradients[0], rtol=1e-10)
    np.testing.assert_allclose(gradients[2], gradients[0], rtol=1e-10)


# -- book 3.2.4 ----------------------------------------------------------------------------------


def test_book_3_2_4_linear_regression_with_a_compiled_loss():
    t.manual_seed(1000)

    @gs.differentiable
    def forward(x, y, w, b):
        y_pred = x.mm(w) + b.expand_as(y)
        loss = 0.5 * (y_pred - y) ** 2
        return loss.sum()

    w = t.rand(1, 1, requires_grad=True)
    b = t.zeros(1, 1, requires_grad=True)
    for _ in range(500):
        x = t.rand(32, 1) * 5
        y = x * 2 + 3 + t.randn(32, 1)
        forward(x, y, w, b).backward()
        w.data.sub_(0.005 * w.grad.data)
        b.data.sub_(0.005 * b.grad.data)
        w.grad.data.zero_()
        b.grad.data.zero_()
    assert w.item() == pytest.approx(2, abs=0.2)
    assert b.item() == pytest.approx(3, abs=0.3)
