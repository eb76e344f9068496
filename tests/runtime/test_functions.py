"""Every differentiable function of the table: its value, first and second derivatives."""

import numpy as np
import pytest

from gradscribe.autograd import gradcheck, gradgradcheck
from gradscribe.runtime import namespace as gs

A = np.array([[0.31, 0.82, 0.57], [0.44, 0.13, 0.69]])
B = np.array([[0.91, 0.27, 0.38], [0.75, 0.62, 0.18]])

UNARY = (
    "neg abs exp exp2 expm1 log log2 log10 log1p sqrt rsqrt square reciprocal sin cos tan asin "
    "acos atan sinh cosh tanh asinh atanh deg2rad rad2deg sigmoid logsigmoid relu softplus clone "
    "sum mean prod std var amax max min norm logsumexp"
)
BINARY = "add sub mul div pow maximum minimum fmax fmin atan2 hypot logaddexp remainder fmod"

CASES = {
    **{name: getattr(gs, name) for name in UNARY.split()},
    "acosh": lambda x: gs.acosh(x + 1),
    "positive": lambda x: +x,
    "sum over an axis": lambda x: x.sum(0),
    "sum keeping the axis": lambda x: x.sum(1, keepdim=True),
    "mean over axes": lambda x: x.mean((0, 1)),
    "mean over an axis": lambda x: x.mean(-1),
    "prod over an axis": lambda x: x.prod(1),
    "std over an axis": lambda x: x.std(1),
    "var without correction": lambda x: x.var(0, unbiased=False),
    "amax over an axis": lambda x: x.amax(1),
    "max over an axis": lambda x: x.max(1)[0],
    "min over an axis": lambda x: x.min(0, keepdim=True).values,
    "norm over an axis": lambda x: x.norm(dim=1),
    "norm of order 3": lambda x: x.norm(3),
    "logsumexp over an axis": lambda x: x.logsumexp(1, keepdim=True),
    "softmax": lambda x: x.softmax(1),
    "log_softmax": lambda x: x.log_softmax(0),
    "cumsum": lambda x: x.cumsum(1),
    "power of a number": lambda x: x**3,
    "root": lambda x: x**0.5,
    "number to a power": lambda x: 2**x,
    "number minus": lambda x: 1 - x,
    "number over": lambda x: 2 / x,
    "clamp": lambda x: x.clamp(0.2, 0.6),
    "clamp below": lambda x: x.clamp(min=0.2),
    "view": lambda x: x.view(3, 2),
    "reshape": lambda x: x.reshape(-1),
    "expand": lambda x: x.expand(4, 2, 3),
    "transpose": lambda x: x.t(),
    "T": lambda x: x.T,
    "permute": lambda x: x.view(1, 2, 3).permute(2, 0, 1),
    "swapaxes": lambda x: x.transpose(0, 1),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "squeeze": lambda x: x.view(2, 1, 3).squeeze(1),
    "flatten": lambda x: x.flatten(),
    "row": lambda x: x[1],
    "element": lambda x: x[1, -1],
    "slices": lambda x: x[:, 1:],
    "steps": lambda x: x[::-1, ::2],
    "new axis": lambda x: x[None, ..., 0],
    "unbind": lambda x: x.unbind(1)[2],
    "split": lambda x: x.split(2, 1)[0],
    "chunk": lambda x: x.chunk(2)[1],
    "to a copy": lambda x: x.masked_fill(gs.tensor(A > 0.5), 7.0),
    "store": lambda x: store(x),
    "in place": lambda x: (x * 1).mul_(x).exp_(),
    "np.exp": lambda x: np.exp(x),
    "np.sum": lambda x: np.sum(x, axis=1),
    "np.matmul": lambda x: np.ones((4, 2)) @ x,
}

PAIRS = {
    **{name: getattr(gs, name) for name in BINARY.split()},
    "scaled sum": lambda x, y: gs.add(x, y, alpha=3),
    "broadcast product": lambda x, y: x[0] * y,
    "outer sum": lambda x, y: x[:, :1] + y[:1],
    "mm": lambda x, y: x.mm(y.t()),
    "matmul": lambda x, y: x @ y.T,
    "mv": lambda x, y: x.mv(y[0]),
    "dot": lambda x, y: x[0].dot(y[1]),
    "outer": lambda x, y: gs.outer(x[0], y[:, 0]),
    "bmm": lambda x, y: x.view(1, 2, 3).bmm(y.view(1, 3, 2)),
    "cat": lambda x, y: gs.cat([x, y], 1),
    "stack": lambda x, y: gs.stack([x, y], dim=1),
    "where": lambda x, y: gs.where(x > 0.5, x, y),
    "clamp by tensors": lambda x, y: gs.clamp(x, y - 0.3, y),
    "np.concatenate": lambda x, y: np.concatenate([x, y]),
}


def store(x):
    y = x * x
    y[0] = x[1] * 3
    y[1, 1:] *= x[0, 0]
    return y


def leaf(array):
    return gs.tensor(array, requires_grad=True)


@pytest.mark.parametrize("name", CASES)
def test_derivatives_of_one_operand(name):
    inputs = (leaf(A),)
    assert gradcheck(CASES[name], inputs)
    assert gradgradcheck(CASES[name], inputs)


@pytest.mark.parametrize("name", PAIRS)
def test_derivatives_of_two_operands(name):
    inputs = (leaf(A), leaf(B))
    assert gradcheck(PAIRS[name], inputs)
    assert gradgradcheck(PAIRS[name], inputs)


@pytest.mark.parametrize("name", BINARY.split())
def test_only_one_operand_requires_grad(name):
    function = PAIRS[name]
    assert gradcheck(lambda x: function(x, gs.tensor(B)), (leaf(A),))
    assert gradcheck(lambda y: function(gs.tensor(A), y), (leaf(B),))


@pytest.mark.parametrize("name", ["exp", "mul", "sum", "sigmoid", "softmax"])
def test_single_precision_stays_single_precision(name):
    x = gs.tensor(A, dtype=gs.float32, requires_grad=True)
    y = x * x if name == "mul" else CASES[name](x)
    y.sum().backward()
    assert (y.dtype, x.grad.dtype) == (gs.float32, gs.float32)


def test_values_without_and_with_grad_are_the_same():
    for name, function in CASES.items():
        if not name.startswith("np"):
            plain, recorded = function(gs.tensor(A)), function(leaf(A))
            assert np.array_equal(plain.array, recorded.array), name
            assert plain.dtype == recorded.dtype, name


@pytest.mark.parametrize(
    "function, at, expected",
    [
        (gs.relu, 0.0, 0.0),
        (gs.abs, 0.0, 0.0),
        (lambda x: gs.maximum(x, gs.zeros(())), 0.0, 0.5),
        (lambda x: x.clamp(0, 1), 0.0, 1.0),
        (gs.sign, 2.0, 0.0),
        (gs.floor, 2.5, 0.0),
        (gs.sigmoid, -800.0, 0.0),
        (gs.softplus, 800.0, 1.0),
        (gs.sqrt, 0.0, float("inf")),
    ],
)
def test_derivatives_at_special_points_are_pytorchs(function, at, expected):
    x = gs.tensor(at, requires_grad=True)
    with np.errstate(all="ignore"):
        function(x).backward()
    assert x.grad.item() == expected


def test_ties_of_a_full_maximum_share_the_gradient():
    x = gs.tensor([1.0, 3.0, 3.0], requires_grad=True)
    x.max().backward()
    assert x.grad.tolist() == [0, 0.5, 0.5]


def test_the_maximum_along_an_axis_gives_all_to_one():
    x = gs.tensor([[3.0, 3.0]], requires_grad=True)
    x.max(1).values.backward()
    assert x.grad.tolist() == [[1, 0]]


def test_where_is_a_method_too():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    y = x.where(x > 1.5, x * x)
    assert y.tolist() == [1.0, 2.0]
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 1.0]
    assert x.where(x > 1.5, 0.0).tolist() == [0.0, 2.0]


@pytest.mark.parametrize(
    ("mode", "expected"), [("floor", [3.0, -4.0]), ("trunc", [3.0, -3.0]), (None, [3.5, -3.5])]
)
def test_quotients_are_rounded(mode, expected):
    x = gs.tensor([7.0, -7.0])
    assert x.div(2, rounding_mode=mode).tolist() == expected
    whole = x.long().div(2, rounding_mode=mode)
    assert (whole.tolist(), whole.dtype) == (expected, gs.int64 if mode else gs.float64)


def test_new_axes_have_a_length():
    with pytest.raises(RuntimeError, match="isn't allowed in a leading, non-existing dimension 0"):
        gs.ones(2).expand(-1, 2)
