"""What dtypes are to the user, and which dtype a result of several has."""

import pickle

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import torchlike

NAMES = """
float64 float32 float16 complex128 complex64
int64 int32 int16 int8 uint8 uint16 uint32 uint64 bool
""".split()
F32, I32 = gs.float32, gs.int32


@pytest.mark.parametrize("name", NAMES)
def test_a_dtype_prints_with_its_name(name):
    dtype = getattr(torchlike, name)
    assert (repr(dtype), str(dtype)) == (f"torch.{name}", f"torch.{name}")


def test_a_dtype_is_one_object_under_all_its_names():
    assert gs.double is gs.float64 is gs.tensor(1.0).dtype
    assert gs.long is gs.tensor([1]).dtype
    assert isinstance(gs.float32, gs.dtype)
    assert pickle.loads(pickle.dumps(gs.float32)) is gs.float32


def test_numpy_takes_a_dtype_and_is_equal_to_it():
    assert np.zeros(2, gs.float32).dtype == np.float32
    assert gs.float32 == np.float32 == gs.tensor([1.0], dtype=np.float32).dtype
    assert np.dtype("int64") == gs.int64
    assert (gs.float64 == gs.float32, gs.float64 == None) == (False, False)
    assert {gs.float64: 1}[gs.double] == 1


def test_what_a_dtype_tells_of_itself():
    assert (gs.float64.is_floating_point, gs.int64.is_floating_point) == (True, False)
    assert (torchlike.complex64.is_complex, gs.uint8.is_signed, torchlike.int8.is_signed) == (
        True,
        False,
        True,
    )
    assert (gs.float32.to_complex(), gs.complex128.to_real()) == (torchlike.complex64, gs.float64)
    assert gs.int64.itemsize == 8


def test_limits_of_dtypes():
    assert torchlike.finfo(gs.float64).eps == np.finfo(np.float64).eps
    assert torchlike.finfo().bits == 64
    assert torchlike.iinfo(torchlike.int8).min == -128
    assert repr(torchlike.iinfo(torchlike.int8)) == "iinfo(min=-128, max=127, dtype=int8)"


def test_a_tensor_is_on_a_device():
    device = gs.tensor(1.0).device
    assert (repr(device), str(device), device.type) == ("device(type='cpu')", "cpu", "cpu")
    assert device == gs.device("cpu") != gs.device("cuda:1")
    assert repr(gs.device("cuda:1")) == "device(type='cuda', index=1)"


def test_sizes_stay_sizes():
    size = gs.zeros(2, 3).shape
    assert repr(size + (4,)) == "torch.Size([2, 3, 4])"
    assert repr(size[:1]) == "torch.Size([2])"
    assert (size == (2, 3), size.numel(), size[1]) == (True, 6, 3)


PROMOTIONS = [
    (gs.tensor([1], dtype=I32), gs.tensor([1.0], dtype=F32), gs.float32),
    (gs.tensor([1]), gs.tensor([1.0], dtype=gs.float16), gs.float16),
    (gs.tensor([1.0], dtype=F32), gs.tensor(1.0), gs.float32),
    (gs.tensor(1.0), gs.tensor([1.0], dtype=F32), gs.float32),
    (gs.tensor([1], dtype=I32), gs.tensor(1), gs.int32),
    (gs.tensor([1], dtype=I32), gs.tensor(1.5, dtype=F32), gs.float32),
    (gs.tensor([1], dtype=I32), gs.tensor([1]), gs.int64),
    (gs.tensor([1.0], dtype=F32), gs.tensor([1.0]), gs.float64),
    (gs.tensor([1], dtype=gs.uint8), gs.tensor([1], dtype=torchlike.int8), torchlike.int16),
    (gs.tensor([1.0], dtype=F32), 2.5, gs.float32),
    (gs.tensor([1.0], dtype=F32), np.float64(2.5), gs.float32),
    (np.float64(2.5), gs.tensor([1.0], dtype=F32), gs.float32),
    (gs.tensor([1.0], dtype=F32), 1j, torchlike.complex64),
    (gs.tensor([1], dtype=torchlike.int8), 1.5, gs.float64),
    (gs.tensor([True]), 1, gs.int64),
    (gs.tensor([True]), gs.tensor([True]), gs.bool),
]


@pytest.mark.parametrize(("first", "second", "dtype"), PROMOTIONS)
def test_the_dtype_of_a_product(first, second, dtype):
    assert (first * second).dtype is dtype
    assert torchlike.result_type(first, second) is dtype


@gs.differentiable
def scaled_products(w, x, s, k):
    return (w * 1.0).sum(), x * k, x * s, k / k, k.sqrt(), x + k


def test_compiled_code_promotes_alike():
    x, k = gs.tensor([1.0, 2.0], dtype=F32), gs.tensor([3, 4], dtype=torchlike.int8)
    w, s = gs.tensor([1.0], requires_grad=True), gs.tensor(2.0)
    _, *results = scaled_products(w, x, s, k)
    expected = x * k, x * s, k / k, k.sqrt(), x + k
    assert [r.dtype for r in results] == [e.dtype for e in expected]
    assert [r.tolist() for r in results] == [e.tolist() for e in expected]


def test_a_quotient_and_a_root_of_integers_have_the_default_type():
    small = gs.tensor([4], dtype=torchlike.int8)
    assert [t.dtype for t in (small / small, small.sqrt(), small.exp(), small / 2)] == [
        gs.float64
    ] * 4
    assert small.reciprocal().tolist() == [0.25]
    gs.set_default_dtype(gs.float32)
    try:
        assert [t.dtype for t in (small / small, small * 1.5, gs.tensor([True]).sin())] == [F32] * 3
    finally:
        gs.set_default_dtype(gs.float64)


def test_sums_of_small_integers_are_int64():
    for dtype in (gs.bool, gs.uint8, torchlike.int8, gs.int32):
        x = gs.ones(3, dtype=dtype)
        assert [t.dtype for t in (x.sum(), x.prod(), x.cumsum(0), x.cumprod(0))] == [gs.int64] * 4


def test_a_mean_of_integers_is_refused():
    with pytest.raises(RuntimeError, match=r"mean\(\): could not infer output dtype.*Got: Long"):
        gs.tensor([1, 2]).mean()
    with pytest.raises(RuntimeError, match="std and var only support floating point"):
        gs.tensor([1, 2]).std()
    assert gs.tensor([1, 2]).mean(dtype=gs.float64).item() == 1.5


def test_gradients_have_the_dtype_of_what_they_belong_to():
    x = gs.tensor([1.0, 2.0], dtype=F32, requires_grad=True)
    s = gs.tensor(3.0, requires_grad=True)
    (x * s * gs.tensor([1, 2])).sum().backward()
    assert (x.grad.dtype, x.grad.tolist()) == (gs.float32, [3.0, 6.0])
    assert (s.grad.dtype, s.grad.item()) == (gs.float64, 5.0)


def test_conversions_between_categories():
    assert torchlike.promote_types(gs.int64, gs.float16) is gs.float16
    assert torchlike.promote_types(torchlike.complex64, gs.float64) is gs.complex128
    assert torchlike.can_cast(gs.double, gs.float)
    assert not torchlike.can_cast(gs.float, gs.int)


@pytest.mark.parametrize(
    ("call", "dtype"),
    [
        (lambda x, k: gs.cat([x, k]), gs.float32),
        (lambda x, k: gs.stack([k, x]), gs.float32),
        (lambda x, k: torchlike.hstack([x, k]), gs.float32),
        (lambda x, k: gs.where(x > 0, x, gs.tensor(0.0)), gs.float32),
        (lambda x, k: gs.where(x > 0, k, 0), gs.int64),
        (lambda x, k: x.addcmul(gs.tensor(1.0), k), gs.float32),
        (lambda x, k: x / (k > 0), gs.float32),
        (lambda x, k: x.atan2(k > 0), gs.float32),
        (lambda x, k: x.conj(), gs.float32),
    ],
)
def test_functions_of_several_tensors_promote(call, dtype):
    assert call(gs.tensor([1.0, -1.0], dtype=F32), gs.tensor([1, 2])).dtype is dtype


def test_what_may_be_stored_in_place():
    x = gs.tensor([250], dtype=gs.uint8)
    assert x.add_(gs.tensor([3])).tolist() == [253]
    with pytest.raises(
        RuntimeError, match="result type Double can't be cast to the desired output"
    ):
        x.add_(0.5)


BYTES, INTS, TRUTHS = gs.tensor([1, 2], dtype=gs.uint8), gs.tensor([1, 2]), gs.tensor([True, False])


@pytest.mark.parametrize(
    ("call", "dtype", "expected"),
    [
        (lambda: BYTES + 1000, gs.uint8, [233, 234]),
        (lambda: 300 - BYTES, gs.uint8, [43, 42]),
        (lambda: gs.tensor([1], dtype=torchlike.int8) * 200, torchlike.int8, [-56]),
        (lambda: gs.add(BYTES, BYTES, alpha=300), gs.uint8, [45, 90]),
        (lambda: gs.add(TRUTHS, TRUTHS, alpha=2), gs.bool, [True, False]),
        (lambda: gs.clamp(INTS, INTS, gs.tensor([1.5, 5], dtype=F32)), F32, [1, 2]),
        (lambda: gs.clamp(BYTES, gs.tensor(1), gs.tensor(1)), gs.uint8, [1, 1]),
        (lambda: gs.tensor([[200, 0], [0, 100]], dtype=gs.uint8).trace(), gs.int64, 300),
        (lambda: torchlike.repeat_interleave(gs.tensor([1, 2])), gs.int64, [0, 1, 1]),
        (lambda: gs.sum(INTS, dtype=I32), I32, 3),
        (lambda: torchlike.cumprod(INTS, 0, dtype=I32), I32, [1, 2]),
        (lambda: torchlike.trapezoid(gs.tensor([200, 100], dtype=gs.uint8)), gs.float64, 150),
        (lambda: torchlike.trapezoid(gs.zeros(2, 0)), gs.float64, [0, 0]),
        (lambda: torchlike.isin(INTS, 2, assume_unique=True), gs.bool, [False, True]),
    ],
)
def test_dtypes_of_results_are_pytorchs(call, dtype, expected):
    result = call()
    assert (result.tolist(), result.dtype) == (expected, dtype)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: gs.add(INTS, INTS, alpha=1.5),
            "For integral input tensors, argument alpha must not be a floating point number.",
        ),
        (
            lambda: gs.sub(INTS, INTS, alpha=True),
            "Boolean alpha only supported for Boolean results.",
        ),
        (
            lambda: gs.add(gs.ones(2), gs.ones(2), alpha=1j),
            "For non-complex input tensors, argument alpha must not be a complex number.",
        ),
        (
            lambda: torchlike.addcdiv(gs.ones(2), INTS, INTS),
            "Integer division with addcdiv is no longer supported, and in a future  release ",
        ),
        (lambda: INTS // 0, "ZeroDivisionError"),
        (lambda: INTS % gs.tensor([1, 0]), "ZeroDivisionError"),
        (
            lambda: torchlike.quantile(INTS, 0.5),
            "quantile() input tensor must be either float or double",
        ),
        (
            lambda: torchlike.quantile(gs.ones(2), 2.0),
            "quantile() q must be in the range [0, 1] but got 2",
        ),
        (
            lambda: gs.div(INTS, INTS, rounding_mode="up"),
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found 'up'",
        ),
    ],
)
def test_arguments_of_a_higher_category_are_refused(call, message):
    with pytest.raises(RuntimeError) as caught:
        call()
    assert str(caught.value).startswith(message)


def test_a_bound_that_is_a_float_makes_integers_the_default_type():
    before = gs.get_default_dtype()
    gs.set_default_dtype(F32)
    try:
        assert gs.clamp(INTS, 1.5).dtype is F32
    finally:
        gs.set_default_dtype(before)


@pytest.mark.parametrize(
    ("call", "dtype"),
    [
        (lambda: gs.tensor([1, 2]) * 1j, torchlike.complex64),
        (lambda: 1j - gs.tensor([1, 2]), torchlike.complex64),
        (lambda: gs.tensor([True]) ** 2j, torchlike.complex64),
        (lambda: gs.where(gs.tensor([True]), 1, 2.5), gs.float32),
        (lambda: gs.where(gs.tensor([True]), 1j, 2), torchlike.complex64),
        (lambda: gs.where(gs.tensor([True]), 1, True), gs.int64),
        (lambda: torchlike.xlogy(gs.tensor([2, 3]), 3), gs.float32),
        (lambda: torchlike.xlogy(gs.ones(2), 3.0), gs.float32),
        (lambda: torchlike.heaviside(gs.tensor([0]), gs.tensor([5])), gs.int64),
        (lambda: torchlike.special.xlog1py(gs.ones(2), gs.tensor([5, 6])), gs.float32),
        (lambda: torchlike.special.xlog1py(5, gs.ones(2)), gs.float32),
        (lambda: torchlike.igamma(gs.ones(2).half(), gs.ones(2).half()), gs.float16),
        (lambda: gs.ones(2, dtype=float), gs.float64),
    ],
)
def test_numbers_take_part_with_the_default_dtype(call, dtype):
    gs.set_default_dtype(gs.float32)
    try:
        assert call().dtype == dtype
    finally:
        gs.set_default_dtype(gs.float64)


def test_quotients_of_integers_are_rounded_towards_zero_exactly():
    dividend, divisor = gs.tensor([9007199254740993, -7, 7]), gs.tensor([1, 2, -2])
    quotient = gs.div(dividend, divisor, rounding_mode="trunc")
    assert quotient.tolist() == [9007199254740993, -3, -3]


def test_small_integers_are_converted_before_their_logarithm_is_taken():
    product = torchlike.xlogy(gs.tensor([2.0]), gs.tensor([100], dtype=torchlike.int8))
    assert product.item() == 2 * np.log(100.0)


def test_truth_values_of_bytes_are_bytes():
    x = gs.tensor([[1, 0], [2, 3]], dtype=gs.uint8)
    assert (x.all().dtype, x.any(1).dtype) == (gs.uint8, gs.uint8)
    assert (x.all(1).tolist(), x.any().item()) == ([0, 1], 1)
    assert gs.tensor([1, 2]).all().dtype == gs.bool
