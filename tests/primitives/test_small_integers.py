"""Integers of small and unsigned types among the operands: what rules compute of them is exact."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special
import scipy.stats

import gradscribe as gs

X = np.array([0.7, 1.3, 2.1])
WEIGHTS = np.array([1.0, 2.0, 4.0])
ONE, TWO = np.uint8(1), np.int8(2)
TABLE = np.array([200, 100, 0, 3], np.uint8)

OF_ONE = {
    "roll": lambda x: np.roll(x, ONE),
    "arctan2": lambda x: np.arctan2(ONE, x),
    "arctan2_of_array": lambda x: np.arctan2(np.array([1, 2, 3], np.uint8), x),
    "hypot": lambda x: np.hypot(x, np.array([100, 90, 120], np.int8)),
    "power": lambda x: x ** np.array([0, 1, 2], np.uint8),
    "huber": lambda x: scipy.special.huber(ONE, x),
    "bessel": lambda x: scipy.special.jv(np.uint8(0), x),
    "polygamma": lambda x: scipy.special.polygamma(ONE, x),
    "zeta": lambda x: scipy.special.zeta(TWO, x),
    "boxcox": lambda x: scipy.special.boxcox(x, np.uint8(0)),
    "interp": lambda x: np.interp(x, [0.0, 1.0, 2.0, 3.0], TABLE),
    "interp_between": lambda x: np.interp(x, np.array([0, 1, 2, 3], np.uint8), TABLE),
    "gradient": lambda x: np.gradient(x, np.array([0, 100, 50], np.uint8)),
    "gradient_of_int32": lambda x: np.gradient(x, np.array([0, 60000, 130000], np.int32)),
    "mean": lambda x: np.mean(x * np.array([100, 100, 100], np.int8)),
    "std": lambda x: np.std(x, ddof=ONE),
}
OF_TWO = {
    "roll": np.roll,
    "arctan2": lambda x, n: np.arctan2(n, x),
    "power": lambda x, n: x**n,
    "bessel": lambda x, n: scipy.special.jv(n, x),
    "loop": lambda x, n: sum(x**k for k in range(n)),
}


def check(function, **options):
    def loss(x):
        return np.sum(WEIGHTS * function(x))

    steps = np.eye(3) * 1e-6
    expected = [(loss(X + step) - loss(X - step)) / 2e-6 for step in steps]
    value, gradient = gs.value_and_grad(loss, **options)(X)
    np.testing.assert_allclose(value, loss(X))
    np.testing.assert_allclose(gradient, expected, atol=1e-5 * (1 + np.max(np.abs(expected))))
    tangent = gs.jvp(loss, (X,), (WEIGHTS,), **options)[1]
    np.testing.assert_allclose(tangent, gradient @ WEIGHTS, atol=1e-9 * (1 + abs(tangent)))


@pytest.mark.parametrize("options", [{}, {"compile": False}], ids=["compiled", "recorded"])
@pytest.mark.parametrize("function", OF_ONE.values(), ids=OF_ONE)
def test_integers_of_the_program(function, options):
    check(function, **options)


@pytest.mark.parametrize("number", [np.uint8(1), np.int16(2), np.uint64(1)], ids=repr)
@pytest.mark.parametrize("function", OF_TWO.values(), ids=OF_TWO)
def test_integers_that_are_arguments(function, number):
    def loss(x, n):
        return np.sum(WEIGHTS * function(x, n))

    gradient = gs.grad(loss)(X, number)
    steps = np.eye(3) * 1e-6
    expected = [(loss(X + step, number) - loss(X - step, number)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient, expected, atol=1e-5 * (1 + np.max(np.abs(expected))))
    tensors = gs.tensor(X, requires_grad=True)
    gs.differentiable(loss)(tensors, number).backward()
    np.testing.assert_allclose(tensors.grad.numpy(), gradient)


MANY = np.linspace(0.1, 1.4, 150)
PLACES = np.array([100, -3], np.int8)
PLACE = np.int8(-100)


def put_wrapped(x):
    y = x * x
    np.put(y, PLACES, x[:2], mode="wrap")
    return y


OF_MANY = {
    "take_wrapped": lambda x: np.take(x, PLACES, mode="wrap"),
    "take_one_wrapped": lambda x: np.take(x, PLACE, mode="wrap"),
    "take_unsigned": lambda x: np.take(x, np.array([3, 255], np.uint8), mode="clip"),
    "put_wrapped": put_wrapped,
    "pad_wrapped": lambda x: np.pad(x, np.int8(100), mode="wrap"),
    "pad_unlike": lambda x: np.pad(x, (np.int8(100), np.int8(120)), mode="reflect"),
    "pad_edge": lambda x: np.pad(x, np.int16(200), mode="edge"),
    "insert": lambda x: np.insert(x, PLACE, 3.0),
    "reduceat": lambda x: np.multiply.reduceat(x, np.array([0, 127, 100, 127], np.int8)),
    "add_reduceat": lambda x: np.add.reduceat(x, np.array([127, 100], np.int8)),
    "multinomial": lambda x: scipy.stats.multinomial.logpmf(
        np.array([100, 27], np.int8), np.int8(127), [x[0], 1 - x[0]]
    ),
}


@pytest.mark.parametrize("compile", [True, False])
@pytest.mark.parametrize("function", OF_MANY.values(), ids=OF_MANY)
def test_places_and_counts_do_not_wrap_around(function, compile):
    def loss(x):
        return np.sum(np.cos(np.arange(np.size(function(x)))) * function(x))

    expected = [(loss(MANY + step) - loss(MANY - step)) / 2e-6 for step in np.eye(150) * 1e-6]
    value, gradient = gs.value_and_grad(loss, compile=compile)(MANY)
    np.testing.assert_allclose(value, loss(MANY))
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)


COUNTS = np.array([200, 100, 0], np.uint8)
LARGE = np.array([60000, 70000, 5], np.int32)
SIGNED = np.array([-128, 100, 7, -3], np.int8)
OF_CONSTANTS = {
    "roots": lambda: np.sum(np.abs(np.roots([2, 3, -7, 1]))),
    "roots_of_small": lambda: np.sum(np.abs(np.roots(COUNTS[:2]))),
    "average": lambda: np.average(COUNTS, weights=np.array([2, 2, 2], np.uint8)),
    "average_of_large": lambda: np.average(LARGE, weights=LARGE),
    "gradient": lambda: np.sum(np.gradient(COUNTS) ** 2),
    "histogram": lambda: np.sum(np.histogram(SIGNED, 3)[0] * np.arange(3.0)),
    "histogram_edges": lambda: np.sum(np.histogram(SIGNED, 3)[1] ** 2),
    "pad_mean": lambda: np.sum(np.pad(np.array([2, 3, 9]), 2, mode="mean")),
    "pad_ramp": lambda: np.sum(np.pad(np.array([2, 3, 9]), 2, mode="linear_ramp")),
    "unwrap": lambda: np.sum(np.unwrap(SIGNED, period=50)),
    "select": lambda: np.sum(np.select([SIGNED > 50], [SIGNED], default=0) * np.int8(2)),
    "percentile": lambda: np.percentile(LARGE, 40),
    "covariance": lambda: np.cov(LARGE, LARGE[::-1])[0, 1],
}


@pytest.mark.parametrize("compile", [True, False])
@pytest.mark.parametrize("function", OF_CONSTANTS.values(), ids=OF_CONSTANTS)
def test_values_of_integers_are_those_of_numpy(function, compile):
    value, gradient = gs.value_and_grad(lambda x: function() * x[0], compile=compile)(X)
    assert value == function() * X[0]
    assert gradient[0] == function()


SINGLE = X.astype(np.float32)
NUMBERS = [0.0, np.float32(0.0), 0, np.int64(0), np.int8(0)]
TAKING = {
    "append": np.append,
    "clip": lambda x, number: np.clip(x, number, 2),
    "linspace": lambda x, number: np.linspace(number, x[0], 3),
}


@pytest.mark.parametrize("function", TAKING.values(), ids=TAKING)
def test_recorded_numbers_are_of_their_own_classes(function):
    for number in [*NUMBERS, *reversed(NUMBERS)]:
        found, _ = gs.vjp(lambda x, n=number: function(x, n), SINGLE, compile=False)
        expected = function(SINGLE, number)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_a_call_of_another_class_of_integers_is_another_one():
    def deviation(x, n):
        return np.std(x, ddof=n)

    for number in (1, np.uint8(1), np.int8(1)):
        value, _ = gs.vjp(deviation, X, number, compile="auto")
        assert value == np.std(X, ddof=1)


@pytest.mark.parametrize("loc", [-3, 3, 0, 2.5])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint64", "int64"])
def test_distributions_of_integers(dtype, loc):
    counts = np.array([1, 2, 100]).astype(dtype)

    def loss(scale):
        return np.sum(scipy.stats.norm.logpdf(counts, loc, scale))

    steps = np.eye(3) * 1e-6
    expected = [(loss(X + step) - loss(X - step)) / 2e-6 for step in steps]
    value, gradient = gs.value_and_grad(loss)(X)
    np.testing.assert_allclose(value, loss(X))
    np.testing.assert_allclose(gradient, expected, rtol=1e-5)


SIGNED_PAIR = np.array([-1, 4])


@pytest.mark.parametrize("function", [np.emath.sqrt, np.emath.log, np.emath.arccos])
def test_a_type_that_depends_on_the_numbers_is_taken_from_these(function):
    def loss(x):
        return np.sum(np.abs(function(SIGNED_PAIR) * x))

    x = X[:2]
    for compile in (True, False):
        gradient = gs.grad(loss, compile=compile)(x)
        np.testing.assert_allclose(gradient, np.abs(function(SIGNED_PAIR)))


def sum_that_wraps(x):
    count = np.uint8(200) + np.uint8(100)
    total = 0.0
    for _ in range(count):
        total = total + x[0]
    return total + np.sum(np.zeros(int(count)) + x[1])


def difference_that_wraps(x):
    return x[0] * float(np.uint8(200) - np.uint8(201)) + x[1] * int(-np.uint8(1))


def condition_that_wraps(x):
    return x[0] if np.int8(100) * np.int8(2) > 0 else x[1]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("program", [sum_that_wraps, difference_that_wraps, condition_that_wraps])
def test_numbers_of_few_bits_wrap_around(program):
    x = np.array([0.5, 1.5])
    value, gradient = gs.value_and_grad(program)(x)
    assert value == program(x)
    np.testing.assert_allclose(gradient, gs.grad(program, compile=False)(x))
