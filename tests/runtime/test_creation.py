"""Functions that make Tensors."""

import numpy as np
import pytest

from gradscribe.runtime import namespace as gs


def test_dtypes_follow_the_data():
    assert gs.tensor([1.0]).dtype == gs.float64
    assert gs.tensor([1]).dtype == gs.int64
    assert gs.tensor([True]).dtype == gs.bool
    assert gs.tensor(np.zeros(1, np.float32)).dtype == gs.float32
    assert gs.tensor([1, 2], dtype=gs.float32).dtype == gs.float32


def test_integers_that_require_grad_become_floats():
    assert gs.tensor([5], requires_grad=True).dtype == gs.float64
    x = gs.arange(-2, 4, requires_grad=True)
    assert x.dtype == gs.float64
    assert x.tolist() == [-2, -1, 0, 1, 2, 3]


def test_default_dtype():
    gs.set_default_dtype(gs.float32)
    assert gs.get_default_dtype() == gs.float32
    for x in (gs.tensor([1.0]), gs.zeros(1), gs.rand(1), gs.eye(2), gs.arange(0, 1, 0.5)):
        assert x.dtype == gs.float32
    assert gs.tensor([5], requires_grad=True).dtype == gs.float32
    with pytest.raises(TypeError, match="only floating-point types are supported"):
        gs.set_default_dtype(gs.int64)


def test_constants():
    assert gs.zeros(2, 3).shape == gs.zeros((2, 3)).shape == (2, 3)
    assert gs.ones(gs.zeros(4).size()).tolist() == [1, 1, 1, 1]
    assert gs.full((2,), 7).tolist() == [7, 7]
    assert gs.eye(2).tolist() == [[1, 0], [0, 1]]
    assert gs.linspace(0, 1, 3).tolist() == [0, 0.5, 1]
    assert gs.arange(0, 3, requires_grad=True).requires_grad
    assert gs.empty(2, 2).shape == (2, 2)


def test_like_functions():
    x = gs.zeros(2, 3, dtype=gs.float32)
    for make in (gs.zeros_like, gs.ones_like, gs.rand_like, gs.randn_like, gs.empty_like):
        assert make(x).shape == (2, 3)
        assert make(x).dtype == gs.float32
    assert gs.full_like(x, 3).tolist() == [[3, 3, 3]] * 2


def test_typed_constructors():
    assert gs.FloatTensor([1, 2]).dtype == gs.float32
    assert gs.LongTensor([1.7]).tolist() == [1]
    assert gs.Tensor([1, 1, 1]).dtype == gs.float64
    assert gs.Tensor(2, 3).shape == (2, 3)
    assert gs.DoubleTensor(2).shape == (2,)
    assert gs.ByteTensor([1]).dtype == gs.uint8


def test_typed_constructors_name_dtypes():
    assert gs.ones(2).type(gs.FloatTensor).dtype == gs.float32


def test_random_tensors_are_reproducible():
    gs.manual_seed(1000)
    first = gs.rand(3), gs.randn(3), gs.randint(0, 10, (3,)), gs.randperm(5)
    gs.manual_seed(1000)
    second = gs.rand(3), gs.randn(3), gs.randint(0, 10, (3,)), gs.randperm(5)
    assert all(gs.equal(a, b) for a, b in zip(first, second))
    assert 0 <= first[0].min().item() and first[0].max().item() < 1


def test_uniform_and_normal_numbers():
    gs.manual_seed(0)
    uniform, normal = gs.rand(1000), gs.randn(1000)
    assert 0 <= uniform.min().item() < uniform.max().item() < 1
    assert abs(normal.mean().item()) < 0.1 > abs(normal.std().item() - 1)


def test_random_tensors_do_not_touch_numpys_own_generator():
    np.random.seed(0)
    expected = np.random.random()
    np.random.seed(0)
    gs.rand(10)
    assert np.random.random() == expected


def test_random_in_place():
    x = gs.zeros(100)
    assert x.uniform_(2, 3).min().item() >= 2
    assert x.normal_(50, 1).min().item() > 40


def test_copying_a_tensor_warns():
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        gs.tensor(gs.ones(2))


def test_as_tensor_shares():
    a = np.zeros(2)
    assert gs.as_tensor(a).array.base is a
    x = gs.ones(2)
    assert gs.as_tensor(x) is x
    assert gs.as_tensor([1.0]).tolist() == [1]


def test_lists_of_tensors():
    assert gs.tensor([gs.tensor(1.0), gs.tensor(2.0)]).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("data", "kind", "message"),
    [
        ("a", TypeError, "new(): invalid data type 'str'"),
        (["a"], ValueError, "too many dimensions 'str'"),
        ([[1, 2], [3]], ValueError, "expected sequence of length 2 at dim 1 (got 1)"),
        ([[1], 2], TypeError, "not a sequence"),
        (None, RuntimeError, "Could not infer dtype of NoneType"),
        ([{}], RuntimeError, "Could not infer dtype of dict"),
        (2**70, ValueError, "Overflow when unpacking long long"),
    ],
)
def test_what_no_tensor_is_made_of(data, kind, message):
    with pytest.raises(kind) as caught:
        gs.tensor(data)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gs.ones(2, -1), "Trying to create tensor with negative dimension -1: [2, -1]"),
        (lambda: gs.arange(1, 0), "upper bound and lower bound inconsistent with step sign"),
        (lambda: gs.arange(0, 3, 0), "step must be nonzero"),
    ],
)
def test_sizes_and_bounds_that_do_not_fit(call, message):
    with pytest.raises(RuntimeError) as caught:
        call()
    assert str(caught.value) == message


def test_what_is_no_number_is_refused():
    with pytest.raises(TypeError, match=r"expected np\.ndarray"):
        gs.from_numpy([1.0])
    with pytest.raises(RuntimeError, match="no such device"):
        gs.zeros(1, device="cuda")


def test_random_numbers_of_other_distributions():
    gs.manual_seed(0)
    x = gs.zeros(1000)
    assert x.bernoulli_(1.0).sum().item() == 1000
    assert gs.tensor([0.0, 1.0]).bernoulli().tolist() == [0, 1]
    assert 0 <= x.random_(5).min().item() <= x.max().item() <= 4
    assert 0.8 < x.exponential_().mean().item() < 1.2
    assert gs.multinomial(gs.tensor([0.0, 1.0]), 3, replacement=True).tolist() == [1, 1, 1]
    assert gs.randint_like(gs.ones(2), 5).dtype is gs.float64


def test_tensors_like_another():
    x = gs.ones(2, dtype=gs.int64)
    assert repr(x.new_tensor([1.5, 2])) == "tensor([1, 2])"
    assert repr(x.new_full((1,), 7, dtype=gs.float64)) == "tensor([7.])"
    assert x.new_zeros(2, requires_grad=False).dtype is gs.int64
    assert gs.zeros_like(gs.ones(2), memory_format=gs.preserve_format).tolist() == [0, 0]


def test_numbers_in_order():
    assert gs.logspace(0, 2, 3).tolist() == [1, 10, 100]
    assert gs.tril_indices(2, 2).tolist() == [[0, 1, 1], [0, 0, 1]]
    with pytest.raises(RuntimeError, match="upper bound and lower bound inconsistent"):
        gs.arange(0, 5, -1)


def test_complex_numbers_have_the_precision_of_the_default_dtype():
    gs.set_default_dtype(gs.float32)
    try:
        assert gs.tensor([1j]).dtype is gs.complex64
    finally:
        gs.set_default_dtype(gs.float64)


def test_tensors_of_a_dtype_are_instances_of_its_class():
    assert isinstance(gs.ones(1), gs.DoubleTensor)
    assert not isinstance(gs.ones(1), gs.FloatTensor)
    assert isinstance(gs.LongTensor([1]), gs.LongTensor)
    assert gs.FloatTensor.dtype is gs.float32


@pytest.mark.parametrize("dtype", [gs.int32, gs.int64, gs.uint8, gs.bool])
def test_a_dtype_without_gradients_cannot_be_asked_to_have_one(dtype):
    makers = (
        lambda: gs.ones(1, dtype=dtype, requires_grad=True),
        lambda: gs.tensor([1], dtype=dtype, requires_grad=True),
        lambda: gs.zeros_like(gs.ones(1, dtype=dtype), requires_grad=True),
    )
    for make in makers:
        with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype"):
            make()


def test_integers_of_no_dtype_become_floating_where_they_require_a_gradient():
    for x in (
        gs.tensor([1, 2], requires_grad=True),
        gs.arange(1, 3, requires_grad=True),
        gs.full((2,), 1, requires_grad=True),
    ):
        assert x.dtype == gs.float64


def test_complex_bounds_and_values_make_complex_tensors():
    assert gs.linspace(0, 2j, 3).tolist() == [0, 1j, 2j]
    assert gs.logspace(0, 0j, 2).dtype is gs.complex128
    before = gs.get_default_dtype()
    gs.set_default_dtype(gs.float32)
    try:
        assert gs.full((1,), 1j).dtype is gs.complex64
    finally:
        gs.set_default_dtype(before)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int64", "float16"])
def test_random_integers_of_all_that_a_dtype_holds_are_not_negative(dtype):
    x = gs.zeros(100, dtype=getattr(gs, dtype)).random_()
    assert (x >= 0).all() and x.isfinite().all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gs.randint(5, 5, (2,)), "random_ expects 'from' to be less than 'to', but got "),
        (lambda: gs.zeros(2).random_(0), "random_ expects 'from' to be less than 'to', but got "),
        (lambda: gs.normal(0.0, -1.0, (2,)), "normal expects std >= 0.0, but found std -1"),
        (lambda: gs.meshgrid(gs.ones(1, 1)), "torch.meshgrid: Expected 0D or 1D tensor in the "),
        (
            lambda: gs.meshgrid(gs.ones(1), gs.tensor([1])),
            "meshgrid expects all tensors to have the same dtype",
        ),
        (
            lambda: gs.block_diag(gs.ones(1, 1, 1)),
            "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input 0 has 3",
        ),
    ],
)
def test_what_cannot_be_made_is_told_in_pytorchs_words(call, message):
    with pytest.raises(RuntimeError) as caught:
        call()
    assert str(caught.value).startswith(message)


def test_a_list_that_holds_itself_is_no_data():
    data = [1.0]
    data.append(data)
    with pytest.raises(ValueError, match="too many dimensions"):
        gs.tensor(data)
