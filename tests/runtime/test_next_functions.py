"""The graph as `grad_fn` and `next_functions` show it: nodes by their names, leaves at the end."""

import re

import pytest

import gradscribe as gs
from gradscribe.autograd import Variable
from tests.runtime.graphs import two_layers


def leaf(*data):
    return gs.tensor(list(data), requires_grad=True)


def test_next_functions():
    x, w, b = gs.ones(1), leaf(0.5), leaf(1.0)
    y = w * x
    z = y + b
    (first, number), (second, _) = z.grad_fn.next_functions
    assert z.grad_fn.name() == "AddBackward0"
    assert first is y.grad_fn
    assert number == 0
    assert second.name() == "torch::autograd::AccumulateGrad"
    assert second.variable is b
    (to_w, _), to_x = y.grad_fn.next_functions
    assert to_w.variable is w
    assert to_x == (None, 0)


def test_scalar_operands_count_as_inputs_of_arithmetic_and_not_of_powers():
    x = leaf(1.0)
    assert len((x * 2).grad_fn.next_functions) == 2
    assert (x * 2).grad_fn.next_functions[1] == (None, 0)
    assert len((x**2).grad_fn.next_functions) == 1


def test_the_graph_of_w_x_plus_b():
    x = gs.ones(1)
    b = gs.rand(1, requires_grad=True)
    w = gs.rand(1, requires_grad=True)
    y = w * x
    z = y + b
    assert (x.is_leaf, w.is_leaf, b.is_leaf) == (True, True, True)
    assert (y.is_leaf, z.is_leaf) == (False, False)
    assert z.grad_fn.next_functions[0][0] == y.grad_fn
    assert y.grad_fn.next_functions[1] == (None, 0)
    assert (w.grad_fn, x.grad_fn) == (None, None)
    z.backward(retain_graph=True)
    assert w.grad.tolist() == [1]
    z.backward()
    assert w.grad.tolist() == [2]


def test_a_walk_to_the_leaf():
    x = gs.rand(5, 5, requires_grad=True)
    y = gs.rand(5, 5, requires_grad=True)
    z = x**2 + y**3
    assert str(z.size()) == "torch.Size([5, 5])"
    x1 = gs.ones_like(x)
    z = x**2 + y**3 + x1
    z.backward(gs.ones_like(x))
    assert z.grad_fn.next_functions[1] == (None, 0)
    xg = z.grad_fn.next_functions[0][0]
    x_leaf = xg.next_functions[0][0].next_functions[0][0]
    assert type(x_leaf).__name__ == "AccumulateGrad"
    assert id(x_leaf.variable) == id(x)
    names = dir(z.grad_fn)
    for name in ("metadata", "name", "next_functions", "register_hook", "requires_grad"):
        assert name in names


def test_the_functions_of_w_x_plus_b():
    x, b, w = gs.ones(1), gs.rand(1, requires_grad=True), gs.rand(1, requires_grad=True)
    y = w.mul(x)
    z = y.add(b)
    assert (x.requires_grad, b.requires_grad, w.requires_grad, y.requires_grad) == (
        False,
        True,
        True,
        True,
    )
    assert re.fullmatch(r"<AddBackward0 object at 0x\w+>", repr(z.grad_fn))
    names = [type(function).__name__ for function, _ in z.grad_fn.next_functions]
    assert names == ["MulBackward0", "AccumulateGrad"]


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


def test_dir_of_a_tensor_and_of_its_node():
    x, y = (gs.rand(5, 5, requires_grad=True) for _ in range(2))
    z = x**2 + y**3
    assert set(TENSOR_NAMES) - set(dir(z)) == set()
    assert set(NODE_NAMES) - set(dir(z.grad_fn)) == set()


def test_nodes_print_as_objects():
    x, y = (gs.rand(5, 5, requires_grad=True) for _ in range(2))
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


def test_the_leaf_behind_the_node(capsys):
    x = gs.rand(5, 5, requires_grad=True)
    x_leaf = (x**2).grad_fn.next_functions[0][0]
    print(type(x_leaf))
    assert capsys.readouterr().out == "<class 'AccumulateGrad'>\n"
    assert x_leaf.variable is x


def test_a_tensor_that_needs_no_gradient_is_none_among_the_next_functions(capsys):
    x, y = (gs.rand(5, 5, requires_grad=True) for _ in range(2))
    x1 = gs.ones_like(x)
    z = x**2 + y**3 + x1
    z.backward(gs.ones_like(x))
    assert x1.grad_fn is None
    assert re.fullmatch(
        r"\(\(<AddBackward0 object at 0x\w+>, 0\), \(None, 0\)\)", str(z.grad_fn.next_functions)
    )
    xg = z.grad_fn.next_functions[0][0]
    assert set(NODE_NAMES) - set(dir(xg)) == set()
    x_leaf = xg.next_functions[0][0].next_functions[0][0]
    print("id of x_leaf.variable:" + str(id(x_leaf.variable)))
    print("id of x:" + str(id(x)))
    first, second = capsys.readouterr().out.splitlines()
    assert first.partition(":")[2] == second.partition(":")[2]
    assert repr(x_leaf.variable) == repr(x)


def test_the_function_that_made_a_sum():
    a, b = (Variable(gs.randn(2), requires_grad=True) for _ in range(2))
    c = a + b
    assert type(c.grad_fn).__name__ == "AddBackward0"
    assert [n.variable is v for (n, _), v in zip(c.grad_fn.next_functions, (a, b))] == [True, True]
    assert (a.grad_fn, b.grad_fn) == (None, None)


def test_the_graph_of_two_layers_and_its_gradients():
    a, weights, b, c, d, loss = two_layers()
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


def test_the_functions_of_both_kinds_of_leaves():
    x, w = Variable(gs.ones(1)), Variable(gs.ones(1), requires_grad=True)
    v = w * x
    assert (w.grad_fn, x.grad_fn) == (None, None)
    (function, number), without = v.grad_fn.next_functions
    assert (type(function).__name__, number, without) == ("AccumulateGrad", 0, (None, 0))
    assert v.grad_fn.next_functions[0][0] is function


def test_names_of_functions_end_with_backward():
    x = gs.ones(2, requires_grad=True)
    for result in (x + 1, x * x, x.exp(), x.sum(), x @ x, x.mean()):
        assert re.fullmatch(r"\w+Backward\d", result.grad_fn.name())
