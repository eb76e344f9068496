"""Every differentiable function of the tables: its value, its first and second derivatives, and
those of forward mode."""

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import torchlike
from gradscribe.autograd import gradcheck, gradgradcheck
from tests.sampling import one_in

A = np.array([[0.31, 0.82, 0.57], [0.44, 0.13, 0.69]])
B = np.array([[0.91, 0.27, 0.38], [0.75, 0.62, 0.18]])


INDEX = gs.tensor([[0, 2], [1, 1]])


ROWS = gs.tensor([1, 1])


MASK = gs.tensor(A > 0.5)


NAN = float("nan")


UNARY = (
    "neg abs exp exp2 expm1 log log2 log10 log1p sqrt rsqrt square reciprocal sin cos tan asin "
    "acos atan sinh cosh tanh asinh atanh deg2rad rad2deg sigmoid logsigmoid relu softplus clone "
    "sum mean prod std var amax max min norm logsumexp"
)
BINARY = "add sub mul div pow maximum minimum fmax fmin atan2 hypot logaddexp remainder fmod"

CASES = {
    **{name: getattr(torchlike, name) for name in UNARY.split()},
    "acosh": lambda x: torchlike.acosh(x + 1),
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
    "sort": lambda x: x.sort(1, descending=True).values,
    "topk": lambda x: x.topk(2)[0],
    "kthvalue": lambda x: x.kthvalue(2, 0)[0],
    "median": lambda x: x.median(),
    "median along an axis": lambda x: x.median(1, keepdim=True).values,
    "mode": lambda x: x.mode(1)[0],
    "cummax": lambda x: x.cummax(1)[0],
    "cummin": lambda x: x.cummin(0)[0],
    "aminmax": lambda x: sum(x.aminmax(dim=0)),
    "quantile": lambda x: x.quantile(0.3, dim=1),
    "cumprod": lambda x: x.cumprod(1),
    "logcumsumexp": lambda x: x.logcumsumexp(0),
    "nansum": lambda x: x.nansum(1),
    "diff": lambda x: x.diff(dim=1),
    "sinc": lambda x: x.sinc(),
    "frac": lambda x: (3 * x).frac(),
    "logit": lambda x: x.logit(),
    "norm of order 1 along two axes": lambda x: x[None].norm(1, (0, 2)),
    "norm of order 3 keeping the axis": lambda x: x.norm(3, 1, True),
    "greatest absolute value": lambda x: (-x).norm(float("inf")),
    "gather": lambda x: x.gather(1, INDEX),
    "gather in part": lambda x: x.gather(0, INDEX[:1] // 2),
    "take": lambda x: x.take(gs.tensor([5, 0, 5])),
    "take_along_dim": lambda x: x.take_along_dim(gs.tensor([[0], [2]]), 1),
    "index_select": lambda x: x.index_select(0, ROWS),
    "masked_select": lambda x: x.masked_select(MASK),
    "masked_fill": lambda x: x.masked_fill(MASK, 3.0),
    "index_fill": lambda x: x.index_fill(1, ROWS, 3.0) * x,
    "select": lambda x: x.select(1, 2),
    "narrow": lambda x: x.narrow(1, 1, 2),
    "diagonal": lambda x: x.diagonal(1),
    "unfold": lambda x: x.unfold(1, 2, 1),
    "as_strided": lambda x: x.as_strided((2, 2), (1, 1), 1),
    "tensor_split": lambda x: x.tensor_split(2, 1)[0],
    "movedim": lambda x: x[None].movedim((0, 1), (2, 0)),
    "unflatten": lambda x: x.unflatten(1, (3, 1)),
    "roll": lambda x: x.roll((1, -1), (0, 1)),
    "rot90": lambda x: x.rot90(),
    "repeat": lambda x: x.repeat(2, 1, 2),
    "repeat_interleave": lambda x: x.repeat_interleave(gs.tensor([2, 0, 1]), dim=1),
    "tril": lambda x: x.tril(),
    "triu": lambda x: x.triu(1),
    "diag_embed": lambda x: x.diag_embed(1),
    "diag": lambda x: x[0].diag(),
    "trace": lambda x: x.trace(),
    "einsum": lambda x: gs.einsum("ij,ik->jk", x, x),
    "matrix_power": lambda x: (x @ x.t()).matrix_power(3),
    "det": lambda x: (x @ x.t()).det(),
    "inverse": lambda x: (x @ x.t()).inverse(),
    "slogdet": lambda x: (x @ x.t()).slogdet()[1],
    "cholesky": lambda x: (x @ x.t()).cholesky(),
    "cholesky_inverse": lambda x: (x @ x.t()).cholesky().cholesky_inverse(),
    "qr": lambda x: x.t().qr().R,
    "svd": lambda x: x.svd().S,
    "lu": lambda x: (x @ x.t()).lu()[0],
    "lu_unpack": lambda x: torchlike.lu_unpack(*(x @ x.t()).lu()).U,
    "matrix_exp": lambda x: (3 * x @ x.t()).matrix_exp(),
    "pinverse": lambda x: x.pinverse(),
    "orgqr": lambda x: x.t().orgqr(x[:, 0]),
    "hardshrink": lambda x: x.hardshrink(0.5),
    "celu": lambda x: torchlike.celu(x - 0.5, 1.5),
    "selu": lambda x: torchlike.selu(x - 0.5),
    "threshold": lambda x: torchlike.threshold(x, 0.5, 2.0),
    "renorm": lambda x: x.renorm(2, 0, 0.9),
    "sum_to_size": lambda x: x.sum_to_size(1, 3) ** 2,
    "nanquantile": lambda x: gs.where(x > 0.8, NAN, x).nanquantile(0.3),
    "frexp": lambda x: x.frexp().mantissa,
    "gradient": lambda x: torchlike.gradient(x**2, dim=1)[0],
    "cumulative_trapezoid": lambda x: torchlike.cumulative_trapezoid(x**2),
    "vander": lambda x: torchlike.vander(x[0]),
    "combinations": lambda x: torchlike.combinations(x[0]),
    "pdist": lambda x: torchlike.pdist(x),
    "nuclear_norm": lambda x: torchlike.nuclear_norm(x),
    "constant_pad_nd": lambda x: torchlike.constant_pad_nd(x, (1, -1), 2.0),
    "pixel_unshuffle": lambda x: torchlike.pixel_unshuffle(x[None, :, :2], 2),
    "stft": lambda x: torchlike.stft(x[0], 2, 1, return_complex=True).abs(),
    "permute_copy": lambda x: torchlike.permute_copy(x, (1, 0)),
    "unsafe_split": lambda x: x.unsafe_split(2, 1)[0],
}

PAIRS = {
    **{name: getattr(torchlike, name) for name in BINARY.split()},
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
    "scatter": lambda x, y: x.scatter(1, INDEX[:, :1], y),
    "scatter_add": lambda x, y: x.scatter_add(1, INDEX, y),
    "scatter_reduce by mean": lambda x, y: x.scatter_reduce(1, INDEX, y, "mean"),
    "scatter_reduce by amax": lambda x, y: x.scatter_reduce(1, INDEX, y, "amax"),
    "index_add": lambda x, y: x.index_add(0, ROWS, y, alpha=2),
    "index_copy": lambda x, y: x.index_copy(1, gs.tensor([2, 0]), y[:, :2]),
    "index_put": lambda x, y: x.index_put((gs.tensor([0, 1]), gs.tensor([2, 0])), y[0, :2]),
    "index_put accumulating": lambda x, y: x.index_put((ROWS,), y, accumulate=True),
    "put": lambda x, y: x.put(gs.tensor([4, 1]), y[0, :2]),
    "masked_scatter": lambda x, y: x.masked_scatter(MASK, y),
    "addcmul": lambda x, y: x.addcmul(x, y, value=2),
    "addcdiv": lambda x, y: x.addcdiv(x, y, value=2),
    "lerp": lambda x, y: x.lerp(y, 0.3),
    "lerp by a tensor": lambda x, y: x.lerp(y, x),
    "addmm": lambda x, y: x[:, :2].addmm(x, y.t(), beta=2, alpha=3),
    "addmv": lambda x, y: x[:, 0].addmv(y, x[0]),
    "addr": lambda x, y: x.addr(y[:, 0], y[1]),
    "baddbmm": lambda x, y: x[None].baddbmm(x[None, :, :2], y[None]),
    "addbmm": lambda x, y: x.addbmm(x[None, :, :2], y[None]),
    "cdist": lambda x, y: torchlike.cdist(x, y),
    "dist": lambda x, y: x.dist(y, 3),
    "cosine_similarity": lambda x, y: torchlike.cosine_similarity(x, y),
    "pairwise_distance": lambda x, y: torchlike.pairwise_distance(x, y),
    "trapezoid": lambda x, y: torchlike.trapezoid(x, y),
    "prelu": lambda x, y: (x - 0.5).prelu(y[0]),
    "ldexp": lambda x, y: x.ldexp(y),
    "select_scatter": lambda x, y: x.select_scatter(y[:, 0], 1, 2),
    "slice_scatter": lambda x, y: x.slice_scatter(y[:, :2], 1, 0, 3, 2),
    "diagonal_scatter": lambda x, y: x.diagonal_scatter(y[0, :2], 1),
    "as_strided_scatter": lambda x, y: x.as_strided_scatter(y[:, :2], (2, 2), (1, 2)),
    "index_reduce by prod": lambda x, y: x.index_reduce(0, ROWS, y, "prod"),
    "index_reduce by mean": lambda x, y: x.index_reduce(0, ROWS, y, "mean", include_self=False),
    "index_reduce by amin": lambda x, y: x.index_reduce(0, ROWS, y, "amin"),
    "cholesky_solve": lambda x, y: x.cholesky_solve((y @ y.t()).cholesky()),
    "triangular_solve": lambda x, y: x.triangular_solve(y @ y.t() + gs.eye(2), upper=False)[0],
    "lu_solve": lambda x, y: x.lu_solve(*(y @ y.t()).lu()),
    "cov": lambda x, y: (x * y).cov(),
    "cross": lambda x, y: x.cross(y, dim=1),
    "kron": lambda x, y: x.kron(y),
    "tensordot": lambda x, y: torchlike.tensordot(x, y, dims=([0], [0])),
    "xlogy": lambda x, y: x.xlogy(y),
    "logaddexp2": lambda x, y: x.logaddexp2(y),
}


def store(x):
    y = x * x
    y[0] = x[1] * 3
    y[1, 1:] *= x[0, 0]
    return y


def leaf(array):
    return gs.tensor(array, requires_grad=True)


@pytest.mark.parametrize("name", one_in(3, CASES))
def test_derivatives_of_one_operand(name):
    inputs = (leaf(A),)
    assert gradcheck(CASES[name], inputs, check_forward_ad=True)
    assert gradgradcheck(CASES[name], inputs)


@pytest.mark.parametrize("name", one_in(3, PAIRS))
def test_derivatives_of_two_operands(name):
    inputs = (leaf(A), leaf(B))
    assert gradcheck(PAIRS[name], inputs, check_forward_ad=True)
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


def test_new_axes_have_a_length():
    with pytest.raises(RuntimeError, match="isn't allowed in a leading, non-existing dimension 0"):
        gs.ones(2).expand(-1, 2)
