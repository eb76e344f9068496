"""NumPy functions on Tensors are recorded like the package's own."""

import numpy as np
import pytest

from gradscribe import autograd, grad, utils
from gradscribe.errors import NoDerivativeError
from gradscribe.runtime import namespace as gs


@pytest.fixture
def x():
    return gs.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)


def test_universal_functions(x):
    y = np.exp(x)
    assert isinstance(y, gs.Tensor)
    assert y.grad_fn.name() == "ExpBackward0"
    y.sum().backward()
    assert x.grad.array == pytest.approx(np.exp(x.array))


def test_arrays_with_tensors(x):
    a = np.array([10.0, 100.0])
    for y in (a * x, x * a, np.multiply(a, x)):
        assert y.grad_fn.name() == "MulBackward0"
    (a * x).sum().backward()
    assert x.grad.tolist() == [[10, 100], [10, 100]]


def test_reductions(x):
    y = np.sum(x, axis=0)
    assert y.tolist() == [4, 6]
    assert y.grad_fn.name() == "SumBackward1"
    np.mean(x, axis=1, keepdims=True).sum().backward()
    assert x.grad.tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_shapes(x):
    assert np.shape(x) == (2, 2)
    assert np.ndim(x) == 2
    y = np.reshape(x, (4,))
    assert y.tolist() == [1, 2, 3, 4]
    assert np.transpose(x).tolist() == [[1, 3], [2, 4]]
    y.sum().backward()
    assert x.grad.tolist() == [[1, 1], [1, 1]]


def test_limits(x):
    np.clip(x, 1.5, 3.5).sum().backward()
    assert x.grad.tolist() == [[0, 1], [1, 0]]
    assert np.max(x).grad_fn.name() == "MaxBackward1"


def test_constants_of_a_shape_are_outside_the_graph(x):
    assert not np.zeros_like(x).requires_grad
    assert np.ones_like(x).tolist() == [[1, 1], [1, 1]]


def test_joining_without_grad():
    parts = [gs.ones(2), np.zeros(1)]
    assert np.concatenate(parts).tolist() == [1, 1, 0]
    assert np.stack([gs.ones(1), gs.zeros(1)], axis=1).tolist() == [[1, 0]]


def test_choices_between_numbers_and_tensors():
    c = gs.tensor([True, False])
    assert np.where(c, 0.0, gs.ones(2)).tolist() == [0, 1]
    assert np.where(c, gs.ones(2), 0.0).tolist() == [1, 0]


def test_comparisons_with_arrays(x):
    assert np.allclose(x, x.array)
    assert (np.array([1.0, 4.0]) < x).tolist() == [[False, False], [True, False]]


def test_what_is_not_understood_is_refused(x):
    with pytest.raises(NoDerivativeError, match=r"`power\.reduce` has no derivative here"):
        np.power.reduce(x)
    with pytest.raises(TypeError):
        np.exp(x, out=np.zeros((2, 2)))


def test_results_go_into_a_tensor_where_a_mask_says_so():
    x = gs.tensor([1.0, 4.0, 9.0], requires_grad=True)
    y = gs.zeros(3)
    result = np.sqrt(x, out=y, where=np.array([True, False, True]))
    result.sum().backward()
    assert result is y
    assert y.tolist() == [1, 0, 3]
    np.testing.assert_allclose(x.grad.numpy(), [1 / 2, 0, 1 / 6])


def test_a_plain_array_of_a_tensor():
    assert type(np.asarray(gs.ones(2))) is np.ndarray
    assert np.asarray(gs.ones(2), dtype=np.float32).dtype == np.float32


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.median(x, axis=0),
        lambda x: np.meshgrid(x[0], x[1], indexing="ij"),
        lambda x: np.array_split(x, 2, axis=1),
        lambda x: np.gradient(x, 0.5),
        lambda x: np.average(x, weights=np.ones((3, 4)), returned=True),
        lambda x: np.diff(x, prepend=1.5),
        lambda x: np.choose(np.array([0, 1, 0, 1]), [x[0], x[1]]),
        lambda x: np.subtract.outer(x, x),
        lambda x: np.add.reduce(x, axis=1),
        lambda x: np.modf(x),
        lambda x: np.tile(x, (2, 1)),
    ],
)
def test_calls_of_any_form_give_tensors_with_the_compiled_gradient(call):
    array = np.linspace(0.3, 4.1, 12).reshape(3, 4)
    x = gs.tensor(array, requires_grad=True)
    results, expected = call(x), call(array)
    if not isinstance(results, (tuple, list)):
        results, expected = (results,), (expected,)
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result.detach().numpy(), wanted)
    sum((result * result).sum() for result in results).backward()

    def loss(x):
        given = call(x)
        given = given if isinstance(given, (tuple, list)) else (given,)
        return sum([np.sum(one * one) for one in given])

    np.testing.assert_allclose(x.grad.numpy(), grad(loss)(array), rtol=1e-12)


@pytest.mark.parametrize(
    "change",
    [
        lambda q, y: np.put_along_axis(q, np.array([[1]]), y, axis=1),
        lambda q, y: np.put(q, [1, 4], y),
        lambda q, y: np.place(q, np.array([[0, 1, 0], [0, 1, 0]], bool), y),
        lambda q, y: np.putmask(q, np.array([[0, 1, 0], [0, 1, 0]], bool), y),
        lambda q, y: np.copyto(q, y, where=np.array([False, True, False])),
    ],
)
def test_functions_that_change_an_array_change_tensors_in_the_graph(change):
    x = gs.tensor(np.arange(1.0, 7.0).reshape(2, 3), requires_grad=True)
    y = gs.tensor(10.0, requires_grad=True)
    q = x * 1
    change(q, y)
    assert q.tolist() == [[1, 10, 3], [4, 10, 6]]
    (q * x.detach()).sum().backward()
    assert x.grad.tolist() == [[1, 0, 3], [4, 0, 6]]
    assert y.grad.item() == 7


def test_an_array_is_filled_by_what_has_no_place_in_the_graph_alone():
    out = np.zeros(3)
    assert np.sum(gs.ones(2, 3), axis=0, out=out) is out
    assert out.tolist() == [2, 2, 2]
    with pytest.raises(TypeError, match=r"`np.sum` of a Tensor that requires a gradient cannot"):
        np.sum(gs.ones(2, 3, requires_grad=True), axis=0, out=out)
    assert np.mean(gs.ones(2, 3), 0, None, out) is out
    with pytest.raises(TypeError, match="cannot fill an array"):
        np.mean(gs.ones(2, 3, requires_grad=True), 0, None, out)
    with pytest.raises(TypeError, match="a Tensor cannot be stored in an array"):
        np.copyto(out, gs.ones(3))


@pytest.mark.parametrize(
    ("fill", "shape"),
    [
        (lambda x, out: np.exp(x, out=out), (3,)),
        (lambda x, out: np.hypot.reduce(x, axis=0, out=out), ()),
        (lambda x, out: np.multiply.accumulate(x, out=out), (3,)),
        (lambda x, out: np.add(x, x, out=out, where=np.array([True, False, True])), (3,)),
    ],
)
def test_operations_fill_arrays_and_tensors(fill, shape):
    values = np.array([2.0, 3.0, 4.0])
    expected = np.full(shape, 7.0)
    fill(values, expected)
    x = gs.tensor(values, requires_grad=True)
    filled, into = np.full_like(expected, 7.0), gs.tensor(np.full_like(expected, 7.0))
    assert fill(x.detach(), filled) is filled
    np.testing.assert_array_equal(filled, expected)
    assert fill(x, into) is into
    np.testing.assert_array_equal(into.detach().numpy(), expected)
    assert into.requires_grad
    with pytest.raises(TypeError, match="of a Tensor that requires a gradient cannot fill an"):
        fill(x, filled)


def test_each_of_several_results_goes_where_it_is_wanted():
    fractions = np.zeros(2)
    found, whole = np.modf(gs.tensor([1.5, 2.25]), out=(fractions, None))
    assert found is fractions
    assert fractions.tolist() == [0.5, 0.25]
    assert whole.tolist() == [1, 2]


def test_a_function_of_scipy_says_how_it_is_recorded():
    linalg = pytest.importorskip("scipy.linalg")
    x = gs.tensor(np.eye(2), requires_grad=True)
    with pytest.raises(RuntimeError, match=r"Can't call numpy.*gs.differentiable\(function\)"):
        linalg.expm(x)
    with pytest.raises(RuntimeError, match=r"detach\(\).numpy\(\) instead.$"):
        np.asarray(x)


def test_dlpack_capsules_come_back():
    x = gs.tensor([1.0, 2.0])
    y = utils.dlpack.from_dlpack(utils.dlpack.to_dlpack(x))
    x[0] = 5.0
    assert y.tolist() == [5, 2]


def test_one_part_is_still_a_list_of_parts(x):
    for function in (np.split, np.array_split, np.vsplit, np.hsplit):
        (whole,) = function(x, 1)
        assert whole.shape == (2, 2)
        assert type(function(x, 2)) is type(function(x.array, 2))
    assert type(np.meshgrid(x[0])) is type(np.broadcast_arrays(x)) is tuple


def test_an_operation_without_a_rule_is_computed_where_no_derivative_is_needed():
    special = pytest.importorskip("scipy.special")
    x = gs.tensor([0.5, 1.0])
    assert special.agm(x, 2.0).tolist() == special.agm([0.5, 1.0], 2.0).tolist()
    assert [part.tolist() for part in special.ellipj(0.5, x)][3][0] == special.ellipj(0.5, 0.5)[3]
    with pytest.raises(NoDerivativeError, match="`agm` has no derivative here"):
        special.agm(x.requires_grad_(), 2.0)


COMPLEX, OTHERS = np.array([1.2 + 2.7j, -3.4j, 0.5]), np.array([1, 2 - 1j, 3])


@pytest.mark.parametrize(
    "function",
    [
        np.round,
        np.sort,
        np.argmax,
        lambda x: np.round(x, 1),
        lambda x: np.maximum(x, OTHERS),
        lambda x: np.less(OTHERS, x),
        lambda x: np.clip(x, OTHERS, None),
        lambda x: np.floor_divide(np.array([7, 8, 9]), np.argsort(x)),
    ],
)
def test_numpy_functions_take_what_only_those_of_pytorch_refuse(function) -> None:
    with np.errstate(divide="ignore"):
        found, expected = function(gs.tensor(COMPLEX)), function(COMPLEX)
    np.testing.assert_array_equal(found.numpy(), expected)


def test_rounded_complex_numbers_do_not_change() -> None:
    x = gs.tensor(COMPLEX, requires_grad=True)
    (np.round(x) * x).abs().sum().backward()
    expected = np.abs(np.round(COMPLEX)) * COMPLEX / np.abs(COMPLEX)
    np.testing.assert_allclose(x.grad.numpy(), expected)


def test_masks_may_be_lists():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    chosen = np.where([True, False], x, 3 * x)
    stored = np.exp(x, where=[True, False], out=x * 1)
    (chosen + stored).sum().backward()
    assert chosen.tolist() == [1.0, 6.0]
    assert x.grad.tolist() == pytest.approx([1 + np.e, 4.0])


AT = {
    "rows": ([0, 0, 1], 2.0),
    "places": ((np.array([0, 1, 0]), np.array([1, 1, 1])), np.array([1.0, 2.0, 3.0])),
    "mask": (np.array([[True, False, True], [False, False, True]]), 3.0),
    "row": (1, np.array([1.0, 2.0, 3.0])),
    "rows of values": ([0, 0], np.full((2, 3), 2.0)),
    "columns": ((slice(None), [0, 0]), np.array([[1.0], [2.0]])),
    "negative": (np.array([-1, -1]), np.array([1.5, 2.0, 3.0])),
}


@pytest.mark.parametrize("ufunc", [np.add, np.subtract, np.multiply, np.maximum, np.divide])
@pytest.mark.parametrize("case", AT)
def test_universal_functions_at_places_that_come_twice(ufunc, case):
    index, values = AT[case]
    start = np.arange(1.13, 7).reshape(2, 3)
    expected = start.copy()
    ufunc.at(expected, index, values)

    def changed(x, given):
        y = x * 1
        assert ufunc.at(y, index, given) is None
        return y

    x, given = gs.tensor(start, requires_grad=True), gs.tensor(values, requires_grad=True)
    np.testing.assert_allclose(changed(x, values).detach().numpy(), expected)
    np.testing.assert_allclose(changed(x, given).detach().numpy(), expected)
    assert autograd.gradcheck(changed, (x, given))


def test_universal_functions_of_one_operand_at_places():
    x = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    np.exp.at(y, [0, 0, 2])
    expected = np.exp(np.exp(1.0)) * np.exp(1.0)
    y.sum().backward()
    assert x.grad.numpy() == pytest.approx([expected, 1.0, np.exp(3.0)])
    with pytest.raises(TypeError, match="cannot be stored in an array: make a Tensor of the array"):
        np.add.at(np.zeros(3), [0], x)


def test_methods_of_universal_functions_without_rules():
    x = gs.tensor([2.0, 3.0, 2.0])
    assert np.logical_or.accumulate(x).tolist() == [True, True, True]
    assert np.floor_divide.accumulate(x).tolist() == [2.0, 0.0, 0.0]
    with pytest.raises(NoDerivativeError, match=r"`arctan2\.reduceat` has no derivative here"):
        np.arctan2.reduceat(x.requires_grad_(), [0, 1])


@pytest.mark.parametrize("function", [np.place, np.putmask])
def test_values_of_a_list_are_stored_under_a_mask(function):
    x = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
    for values in ([7.0, 8.0, 9.0], [x[1], x[0], x[2]]):
        expected, y = x.detach().clone().numpy(), x * 1
        mask = np.array([True, False, True])
        function(expected, mask, [float(v) for v in values])
        function(y, mask, values)
        assert y.tolist() == expected.tolist()
    (d_x,) = autograd.grad(y.sum(), x)
    assert d_x.tolist() == ([1.0, 2.0, 0.0] if function is np.place else [0.0, 2.0, 1.0])


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
