"""Sorting, gathering, views of parts and products: derivatives against finite differences, and
values where a rule of PyTorch decides."""

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.autograd import gradcheck, gradgradcheck

A = np.array([[0.31, 0.82, 0.57], [0.44, 0.13, 0.69]])
B = np.array([[0.91, 0.27, 0.38], [0.75, 0.62, 0.18]])
INDEX = gs.tensor([[0, 2], [1, 1]])
ROWS = gs.tensor([1, 1])
MASK = gs.tensor(A > 0.5)
NAN = float("nan")

CASES = {
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
    "lu_unpack": lambda x: gs.lu_unpack(*(x @ x.t()).lu()).U,
    "matrix_exp": lambda x: (3 * x @ x.t()).matrix_exp(),
    "pinverse": lambda x: x.pinverse(),
    "orgqr": lambda x: x.t().orgqr(x[:, 0]),
    "hardshrink": lambda x: x.hardshrink(0.5),
    "celu": lambda x: gs.celu(x - 0.5, 1.5),
    "selu": lambda x: gs.selu(x - 0.5),
    "threshold": lambda x: gs.threshold(x, 0.5, 2.0),
    "renorm": lambda x: x.renorm(2, 0, 0.9),
    "sum_to_size": lambda x: x.sum_to_size(1, 3) ** 2,
    "nanquantile": lambda x: gs.where(x > 0.8, NAN, x).nanquantile(0.3),
    "frexp": lambda x: x.frexp().mantissa,
    "gradient": lambda x: gs.gradient(x**2, dim=1)[0],
    "cumulative_trapezoid": lambda x: gs.cumulative_trapezoid(x**2),
    "vander": lambda x: gs.vander(x[0]),
    "combinations": lambda x: gs.combinations(x[0]),
    "pdist": lambda x: gs.pdist(x),
    "nuclear_norm": lambda x: gs.nuclear_norm(x),
    "constant_pad_nd": lambda x: gs.constant_pad_nd(x, (1, -1), 2.0),
    "pixel_unshuffle": lambda x: gs.pixel_unshuffle(x[None, :, :2], 2),
    "stft": lambda x: gs.stft(x[0], 2, 1, return_complex=True).abs(),
    "permute_copy": lambda x: gs.permute_copy(x, (1, 0)),
    "unsafe_split": lambda x: x.unsafe_split(2, 1)[0],
}

PAIRS = {
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
    "cdist": lambda x, y: gs.cdist(x, y),
    "dist": lambda x, y: x.dist(y, 3),
    "cosine_similarity": lambda x, y: gs.cosine_similarity(x, y),
    "pairwise_distance": lambda x, y: gs.pairwise_distance(x, y),
    "trapezoid": lambda x, y: gs.trapezoid(x, y),
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
    "tensordot": lambda x, y: gs.tensordot(x, y, dims=([0], [0])),
    "xlogy": lambda x, y: x.xlogy(y),
    "logaddexp2": lambda x, y: x.logaddexp2(y),
}


def leaf(array):
    return gs.tensor(array, requires_grad=True)


@pytest.mark.parametrize("name", CASES)
def test_derivatives_of_one_operand(name):
    assert gradcheck(CASES[name], (leaf(A),), check_forward_ad=True)
    assert gradgradcheck(CASES[name], (leaf(A),))


@pytest.mark.parametrize("name", PAIRS)
def test_derivatives_of_two_operands(name):
    assert gradcheck(PAIRS[name], (leaf(A), leaf(B)), check_forward_ad=True)
    assert gradgradcheck(PAIRS[name], (leaf(A), leaf(B)))


# -- order ---------------------------------------------------------------------------------------


def test_sorting_gives_values_and_indices_by_name():
    found = gs.tensor([3.0, 1.0, 2.0]).sort()
    assert repr(found) == (
        "torch.return_types.sort(\nvalues=tensor([1., 2., 3.]),\nindices=tensor([1, 2, 0]))"
    )
    values, indices = found
    assert (values is found.values, indices.tolist()) == (True, [1, 2, 0])


def test_equal_elements_stay_in_order_and_nan_is_greatest():
    x = gs.tensor([1.0, NAN, 1.0, 0.0])
    assert x.argsort().tolist() == [3, 0, 2, 1]
    assert x.argsort(descending=True).tolist() == [1, 0, 2, 3]
    assert x.topk(2).indices.tolist() == [1, 0]


def test_the_median_is_the_lower_of_two_and_shows_nan():
    x = gs.tensor([[3.0, 1.0, 2.0, 4.0], [5.0, NAN, 6.0, 1.0]])
    assert x[0].median().item() == 2
    values, indices = x.median(1)
    assert (values[0].item(), np.isnan(values[1].item()), indices.tolist()) == (2, True, [2, 1])
    assert x[1].nanmedian().item() == 5


def test_the_mode_is_the_least_of_the_most_frequent_at_its_last_place():
    values, indices = gs.tensor([[3.0, 1.0, 3.0, 1.0], [5.0, 7.0, 5.0, 5.0]]).mode()
    assert (values.tolist(), indices.tolist()) == ([1, 5], [3, 3])


def test_a_tensor_without_axes_is_sorted_as_if_it_had_one():
    x = gs.tensor(3.0)
    for found in (x.sort(), x.max(0), x.topk(1), x.median(0), x.kthvalue(1)):
        assert [t.shape for t in found] == [(), ()]


def test_counts():
    x = gs.tensor([3, 1, 2, 1])
    assert [t.tolist() for t in x.unique(return_inverse=True, return_counts=True)] == [
        [1, 2, 3],
        [2, 0, 1, 0],
        [2, 1, 1],
    ]
    assert x.bincount(minlength=5).tolist() == [0, 2, 1, 1, 0]
    assert x.unique_consecutive().tolist() == [3, 1, 2, 1]
    assert gs.tensor([[1, 0], [0, 3]]).nonzero().tolist() == [[0, 0], [1, 1]]
    assert gs.searchsorted(gs.tensor([1.0, 3.0]), gs.tensor([3.0]), right=True).tolist() == [2]
    assert gs.histc(gs.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3).tolist() == [0, 2, 1, 0]


def test_selecting_out_of_range_is_refused():
    with pytest.raises(RuntimeError, match="selected index k out of range"):
        gs.tensor([1.0, 2.0]).topk(3)
    with pytest.raises(RuntimeError, match=r"index 3 is out of bounds for dimension 1 with size 3"):
        gs.tensor(A).gather(1, gs.tensor([[3]]))
    with pytest.raises(IndexError, match=r"select\(\): index 10 out of range"):
        gs.arange(10.0).select(0, 10)
    with pytest.raises(RuntimeError, match=r"start \(8\) \+ length \(3\) exceeds dimension size"):
        gs.arange(10.0).narrow(0, 8, 3)
    with pytest.raises(IndexError, match="out of range: tried to access index 6 on a tensor of 6"):
        gs.tensor(A).take(gs.tensor([6]))


# -- special points ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "at", "value", "gradient"),
    [
        (gs.relu, [-np.inf, NAN, -1.0], [0.0, NAN, 0.0], [0.0, 1.0, 0.0]),
        (gs.sigmoid, [-40.0, 40.0], [np.exp(-40.0), 1.0], [np.exp(-40.0), 0.0]),
        (lambda x: x.norm(), [0.0, 0.0], 0.0, [0.0, 0.0]),
        (lambda x: x.logsumexp(0), [-np.inf, 0.0], 0.0, [0.0, 1.0]),
        (lambda x: x.logcumsumexp(0), [-800.0, 0.0], [-800.0, 0.0], [1.0, 1.0]),
        (lambda x: x.xlogy(x), [0.0, 1.0], [0.0, 0.0], None),
        (lambda x: x.cumprod(0), [0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [3.0, 0.0, 0.0]),
    ],
)
def test_values_and_derivatives_at_special_points(function, at, value, gradient):
    x = gs.tensor(at, requires_grad=True)
    with np.errstate(all="ignore"):
        y = function(x)
        y.sum().backward()
    np.testing.assert_allclose(y.detach().numpy(), value, rtol=1e-12)
    if gradient is not None:
        np.testing.assert_allclose(x.grad.numpy(), gradient, rtol=1e-12)


def test_the_logarithm_of_no_probability_is_minus_infinity():
    assert gs.tensor([-np.inf, -np.inf]).logsumexp(0).item() == -np.inf


def test_elements_that_are_the_median_share_its_gradient():
    x = gs.tensor([2.0, 1.0, 2.0, 5.0], requires_grad=True)
    x.median().backward()
    assert x.grad.tolist() == [0.5, 0, 0.5, 0]


@pytest.mark.parametrize("at", [-np.inf, 0.0, np.inf])
def test_a_sigmoid_has_a_derivative_everywhere(at):
    x = gs.tensor(at, requires_grad=True)
    x.sigmoid().backward()
    assert x.grad.item() == (0.25 if at == 0 else 0.0)


# -- joining -------------------------------------------------------------------------------------


def test_grids_and_blocks():
    a, b = gs.tensor([1, 2]), gs.tensor([3, 4, 5])
    assert [g.tolist() for g in gs.meshgrid(a, b)] == [[[1] * 3, [2] * 3], [[3, 4, 5]] * 2]
    assert [g.shape for g in gs.meshgrid(a, b, indexing="xy")] == [(3, 2), (3, 2)]
    assert gs.cartesian_prod(a, b)[3].tolist() == [2, 3]
    assert gs.block_diag(gs.ones(1, 2), gs.tensor([[7.0]])).tolist() == [[1, 1, 0], [0, 0, 7]]


def test_a_vector_without_elements_is_joined_with_anything():
    assert gs.cat([gs.zeros(0), gs.ones(2, 3)]).shape == (2, 3)


# -- views ---------------------------------------------------------------------------------------


def test_views_of_parts_share_memory_and_gradients():
    x = gs.ones(3, 3, requires_grad=True)
    y = x * 2
    y.diagonal().mul_(3)
    y.select(0, 2).narrow(0, 0, 2).zero_()
    assert y.tolist() == [[6, 2, 2], [2, 6, 2], [0, 0, 6]]
    y.sum().backward()
    assert x.grad.tolist() == [[6, 2, 2], [2, 6, 2], [0, 0, 6]]


def test_strides_reach_into_the_memory_of_a_view():
    x = gs.arange(12.0).reshape(3, 4)
    assert x.as_strided((2, 2), (1, 2), 1).tolist() == [[1, 3], [2, 4]]
    x.as_strided((3,), (5,)).fill_(-1)
    assert x.diagonal().tolist() == [-1, -1, -1]
    message = "requiring a storage size of 104 are out of bounds for storage of size 96"
    with pytest.raises(RuntimeError, match=message):
        x.as_strided((3,), (6,))


@pytest.mark.parametrize(
    "view",
    [
        lambda y: y[1].as_strided((2, 2), (3, 1)),
        lambda y: y.t().as_strided((2, 3), (1, 2), 1),
        lambda y: y[0].expand(2, 3).as_strided((3,), (1,)),
        lambda y: y[1:].as_strided((4,), (1,), 0),
        lambda y: y.unfold(1, 2, 1).as_strided((2,), (2,)),
    ],
)
def test_steps_in_the_memory_of_any_view(view):
    def stored(x):
        y = x * 1
        view(y).mul_(3)
        return y * y

    x = gs.arange(12.0).reshape(4, 3).clone().requires_grad_()
    assert view(x).tolist() == view(x.detach()).tolist()
    assert gs.autograd.gradcheck(stored, x)
    assert gs.autograd.gradgradcheck(stored, x)


def test_elements_that_a_tensor_has_not_give_it_no_gradient():
    x = gs.arange(6.0).clone().requires_grad_()
    part = x[1:3]
    y = part.as_strided((4,), (1,), 0)
    assert y.tolist() == [0, 1, 2, 3]
    (y * gs.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [0, 2, 3, 0, 0, 0]


def test_strides_that_meet_an_element_twice_are_not_stored_to():
    x = gs.arange(4.0)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x.as_strided((2, 2), (1, 1)).mul_(2)
    with pytest.raises(RuntimeError, match="Negative strides are not supported at the moment"):
        x.as_strided((2,), (-1,), 3)


def test_parts_with_sizes():
    x = gs.arange(10)
    assert [p.tolist() for p in x.tensor_split(3)] == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert [len(p) for p in x.tensor_split([2, 5])] == [2, 3, 5]
    assert gs.ones(2, 6).hsplit(3)[0].shape == (2, 2)


# -- NumPy's functions of several results --------------------------------------------------------


def test_numpy_functions_of_several_results():
    m = gs.tensor([[2.0, 1.0], [1.0, 3.0]], requires_grad=True)
    _, logarithm = np.linalg.slogdet(m)
    logarithm.backward()
    np.testing.assert_allclose(m.grad.numpy(), np.linalg.inv(m.detach().numpy()))
    assert repr(m.detach().slogdet()).startswith("torch.return_types.slogdet(\nsign=tensor(1.),")
    q, r = np.linalg.qr(m.detach())
    assert isinstance(q, gs.Tensor)
    np.testing.assert_allclose((q @ r).numpy(), m.detach().numpy())
    assert np.einsum("ij->", m).item() == 7


def test_without_gradients_compositions_are_just_called():
    found = np.kron(gs.tensor([1.0, 2.0]), gs.tensor([3.0]))
    assert (found.tolist(), found.requires_grad, found.grad_fn) == ([3, 6], False, None)


@pytest.mark.parametrize("reduce", ["min", "max", "median"])
def test_what_is_nan_shares_the_gradient_of_a_nan(reduce):
    x = gs.tensor([NAN, 1.0, NAN], requires_grad=True)
    getattr(x, reduce)().backward()
    assert x.grad.tolist() == [0.5, 0, 0.5]


def test_sgn_of_complex_numbers_is_their_direction_and_has_a_derivative():
    z = gs.tensor([3 + 4j, 0.5 - 0.1j], requires_grad=True)
    assert gradcheck(gs.sgn, z)
    assert gradgradcheck(gs.abs, z)
    zero = gs.zeros(1, dtype=gs.complex128, requires_grad=True)
    gs.sgn(zero).sum().abs().backward()
    assert zero.grad.tolist() == [0]


def test_a_negative_base_has_a_derivative_by_a_complex_exponent():
    exponent = gs.tensor([0.3 + 0.2j, 0.5 - 0.1j], requires_grad=True)
    assert gradcheck(lambda y: gs.pow(-gs.ones(2), y), exponent)
    assert gradcheck(lambda y: gs.pow(-1, y), exponent)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hstack", "Cat(x x)"),
        ("vstack", "Cat(Unsqueeze(x) Unsqueeze(x))"),
        ("dstack", "Cat(Unsqueeze(Unsqueeze(x)) Unsqueeze(Unsqueeze(x)))"),
        ("column_stack", "Cat(View(x) View(x))"),
    ],
)
def test_stacks_of_vectors_are_concatenations(name, expected):
    def told(node):
        inputs = " ".join(told(n) for n, _ in node.next_functions)
        return f"{node.name()[:-9]}({inputs})" if inputs else "x"

    x = gs.tensor([1.0, 2.0], requires_grad=True)
    stacked = getattr(gs, name)([x, x])
    assert told(stacked.grad_fn) == expected
    np.testing.assert_array_equal(
        stacked.detach().numpy(), getattr(np, name)([x.detach().numpy()] * 2)
    )


def test_nan_is_the_mode_of_what_has_one_and_equals_no_other():
    x = gs.tensor([1.0, float("nan"), 1.0])
    values, index = x.mode()
    assert values.isnan().item() and index.item() == 1
    assert gs.unique(gs.tensor([float("nan"), float("nan")])).numel() == 2
    assert gs.zeros(0, 2).mode()[0].shape == (0,)


def test_the_derivative_of_copysign_at_zero_is_zero():
    x = gs.zeros(2, requires_grad=True)
    gs.copysign(x, gs.tensor([1.0, -1.0])).sum().backward()
    assert x.grad.tolist() == [0, 0]


def test_operators_in_place_leave_other_types_to_those():
    class Other:
        def __radd__(self, tensor):
            return "added"

    x = gs.ones(2)
    x += Other()
    assert x == "added"


def test_histograms_of_no_range_are_of_the_elements():
    assert gs.histc(gs.tensor([1.0, 2.0, 1.0]), 4, 5, 5).tolist() == [2, 0, 0, 1]
    assert gs.histc(gs.tensor([3.0, 3.0]), 4).tolist() == [0, 0, 2, 0]
    with pytest.raises(RuntimeError, match=r"torch\.histc: max must be larger than min"):
        gs.histc(gs.ones(2), 3, 5, 1)


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (gs.addmm, ((2, 2), (2, 2), (2, 2))),
        (gs.addmv, ((2,), (2, 2), (2,))),
        (gs.addr, ((2, 2), (2,), (2,))),
        (gs.addbmm, ((2, 2), (3, 2, 2), (3, 2, 2))),
        (gs.baddbmm, ((3, 2, 2), (3, 2, 2), (3, 2, 2))),
    ],
)
def test_a_sum_with_none_of_its_input_has_none_of_its_nans(function, shapes):
    whole, first, second = (gs.full(shape, 2.0, requires_grad=True) for shape in shapes)
    unknown = gs.full(shapes[0], float("nan"), requires_grad=True)
    alone = function(unknown, first, second, beta=0, alpha=3)
    assert alone.tolist() == (function(whole, first, second, alpha=3) - 2).tolist()
    alone.sum().backward()
    assert unknown.grad.tolist() == gs.zeros(shapes[0]).tolist()


def test_cross_products_are_along_the_first_axis_of_length_three():
    x, y = gs.rand(3, 3, 5), gs.rand(3, 3, 5)
    expected = np.cross(x.numpy(), y.numpy(), axis=0)
    np.testing.assert_array_equal(gs.cross(x, y).numpy(), expected)
    along_last = np.cross(x[..., 0], y[..., 0])
    np.testing.assert_array_equal(
        along_last.numpy(), np.cross(x[..., 0].numpy(), y[..., 0].numpy())
    )


@pytest.mark.parametrize("p", [0, 1, 2, 3, "fro", float("inf")])
def test_a_norm_of_all_elements_keeps_the_axes_if_asked_to(p):
    assert gs.norm(gs.ones(2, 3), p, keepdim=True).shape == (1, 1)
    assert gs.norm(gs.ones(2, 3), p).shape == ()
