"""The documents that users learn from, fragment by fragment, with `gradscribe` in place of torch.

Each test names its document and section: "basics" is the notebook on Tensor.grad_fn and
MulConstant, "building blocks" the article on how automatic differentiation works. "notes" and
"summary", two short texts on a book, stand in `test_seed_notes.py`; "book 3.2.x", its chapter, in
`test_seed_book.py` and `test_tutorials.py`.
"""

import re

import numpy as np
import pytest

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


def test_basics_simple_differentiation_backward_of_a_scalar_is_backward_of_one():
    x, y = (torch.rand(5, requires_grad=True) for _ in range(2))
    (x * y).sum().backward(torch.tensor(1.0))
    assert x.grad.tolist() == y.tolist()


def test_basics_complex_differentiation_backward_of_a_matrix_needs_a_gradient():
    x = torch.rand(5, 5, requires_grad=True)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar"):
        (x**2).backward()
    z = x**2
    z.backward(torch.ones_like(x))
    np.testing.assert_allclose(x.grad.numpy(), 2 * x.detach().numpy())


def test_basics_complex_differentiation_a_gradient_of_another_shape_is_refused():
    x = torch.rand(2, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (x**2).backward(torch.ones(3))


def test_basics_complex_differentiation_no_grad(capsys):
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
    __delattr__ __delitem__ __dict__ __div__ __getattribute__ __idiv__ __ilshift__
    __init_subclass__ __irshift__ __long__ __lshift__ __module__ __new__ __nonzero__ __rdiv__
    is_leaf grad grad_fn backward requires_grad register_hook retain_grad data detach
""".split()

NODE_NAMES = (
    "__call__ _saved_alpha metadata name next_functions register_hook requires_grad".split()
)


def test_basics_analysis_dir_of_a_tensor_and_of_its_node():
    x, y = (torch.rand(5, 5, requires_grad=True) for _ in range(2))
    z = x**2 + y**3
    assert set(TENSOR_NAMES) - set(dir(z)) == set()
    assert set(NODE_NAMES) - set(dir(z.grad_fn)) == set()


def test_basics_analysis_nodes_print_as_objects():
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


def test_basics_analysis_the_leaf_behind_the_node(capsys):
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


def test_basics_analysis_a_tensor_that_needs_no_gradient_is_none_among_the_next_functions(capsys):
    x, y = (torch.rand(5, 5, requires_grad=True) for _ in range(2))
    x1 = torch.ones_like(x)
    z = x**2 + y**3 + x1
    z.backward(torch.ones_like(x))
    assert x1.grad_fn is None
    assert re.fullmatch(
        r"\(\(<AddBackward0 object at 0x\w+>, 0\), \(None, 0\)\)", str(z.grad_fn.next_functions)
    )
    xg = z.grad_fn.next_functions[0][0]
    assert set(NODE_NAMES) - set(dir(xg)) == set()
    x_leaf = xg.next_functions[0][0].next_functions[0][0]
    print("x_leaf.variable的id:" + str(id(x_leaf.variable)))
    print("x的id:" + str(id(x)))
    first, second = capsys.readouterr().out.splitlines()
    assert first.partition(":")[2] == second.partition(":")[2]
    assert repr(x_leaf.variable) == repr(x)


def test_basics_conclusion_leaves_keep_what_backward_computes():
    x, y = (torch.rand(5, 5, requires_grad=True) for _ in range(2))
    z = x**2 + y**3
    z.backward(torch.ones_like(x))
    np.testing.assert_allclose(x.grad.numpy(), 2 * x.detach().numpy())
    np.testing.assert_allclose(y.grad.numpy(), 3 * y.detach().numpy() ** 2)
    assert z.grad is None


# -- building blocks -----------------------------------------------------------------------------


def _graph_of_the_article():
    a = Variable(torch.Tensor([4.0]), requires_grad=True)
    weights = [Variable(torch.Tensor([float(i)]), requires_grad=True) for i in (2, 5, 9, 7)]
    b, c = weights[0] * a, weights[1] * a
    d = weights[2] * b + weights[3] * c
    return a, weights, b, c, d, 10 - d


def test_building_blocks_3_3_the_graph_and_its_gradients():
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


def test_building_blocks_dynamic_graph_a_second_backward_raises():
    *_, loss = _graph_of_the_article()
    loss.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        loss.backward()


def test_building_blocks_requires_grad_a_frozen_variable_gets_no_gradient():
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


def test_building_blocks_3_1_variable_of_data():
    var_ex = Variable(torch.randn((4, 3)))
    assert (var_ex.grad, var_ex.grad_fn, tuple(var_ex.data.shape)) == (None, None, (4, 3))


def test_building_blocks_3_2_the_function_that_made_a_sum():
    a, b = (Variable(torch.randn(2), requires_grad=True) for _ in range(2))
    c = a + b
    assert type(c.grad_fn).__name__ == "AddBackward0"
    assert [n.variable is v for (n, _), v in zip(c.grad_fn.next_functions, (a, b))] == [True, True]
    assert (a.grad_fn, b.grad_fn) == (None, None)


def test_building_blocks_3_3_weights_are_updated_by_their_gradients():
    _, weights, _, _, _, loss = _graph_of_the_article()
    loss.backward()
    learning_rate = 0.1
    w1 = weights[0] - (learning_rate) * weights[0].grad
    assert w1.item() == pytest.approx(2 + 0.1 * 36)
    assert w1.requires_grad


def test_building_blocks_details_retain_grad_keeps_the_gradient_of_the_middle():
    _, _, b, c, d, loss = _graph_of_the_article()
    for middle in (b, c, d):
        middle.retain_grad()
    loss.backward()
    assert [middle.grad.item() for middle in (b, c, d)] == [-9, -7, -1]


def test_building_blocks_dynamic_graph_forward_again_makes_a_new_graph():
    w = torch.ones(1, requires_grad=True)
    for count in (1, 2):
        (w * w).backward()
        assert w.grad.item() == 2 * count


def test_building_blocks_requires_grad_is_contagious():
    a, w = torch.ones(1), torch.ones(1, requires_grad=True)
    assert not Variable(torch.ones(1)).requires_grad
    assert ((a * w).requires_grad, (a * a).requires_grad, (a * w + a).requires_grad) == (
        True,
        False,
        True,
    )
