"""A number is a number, whatever class derived from Python's or NumPy's numbers it has: in a
recorded run, and in operations on Tensors."""

import enum
import math
from types import SimpleNamespace

import numpy as np
import pytest

import gradscribe as gs

X = np.array([1.3, 2.2])


class Axis(enum.IntEnum):
    ROWS = 0
    COLUMNS = 1
    BOTH = 2


class Scale(float, enum.Enum):
    HALF = 0.5
    UP = 1.5


class Flags(enum.IntFlag):
    READ = 1
    WRITE = 2


class Labelled(int, enum.Enum):
    def __new__(cls, number, label):
        made = int.__new__(cls, number)
        made._value_ = label
        return made

    THREE = (3, "three")


class Metres(float):
    def __repr__(self):
        return f"{float(self)} m"


class Count(int):
    def __repr__(self):
        return "many"


class Precise(np.float64):
    pass


OF_ARRAYS_AND_TENSORS = {
    "factor on the right": lambda x: x[0] * Axis.BOTH + x[1],
    "factor on the left": lambda x: Axis.BOTH * x[0] - Scale.UP * x[1],
    "factor of an array": lambda x: (x * Scale.UP * x).sum(),
    "exponent": lambda x: (x**Axis.BOTH + x[1] ** Scale.UP).sum(),
    "base": lambda x: (Metres(2.0) ** x).sum(),
    "divided": lambda x: (Metres(2.0) / x - x / Count(3)).sum(),
    "flags": lambda x: (x * (Flags.READ | Flags.WRITE)).sum(),
    "a label for a value": lambda x: (x**Labelled.THREE).sum(),
    "of a class of NumPy's": lambda x: (x * Precise(2.5) * x).sum(),
    "index": lambda x: x[Count(1)] * x[Axis.ROWS] + x[Axis.ROWS : Axis.BOTH].sum(),
    "shape": lambda x: (x.reshape((Count(2), Axis.COLUMNS)) * Metres(2.0)).sum(),
    "axis": lambda x: (x.reshape((2, 1)) * x).sum(Axis.ROWS)[Count(1)],
}
OF_ARRAYS = {
    "greatest": lambda x: np.sum(np.maximum(x, Scale.UP) * x),
    "chosen": lambda x: np.sum(np.where(x > Scale.UP, x, Axis.BOTH) * x),
    "bound": lambda x: np.sum(np.clip(x * x, 0, Axis.BOTH) * x),
    "by name": lambda x: np.sum(np.sum(np.outer(x, x), axis=Axis.COLUMNS) * x),
    "shift": lambda x: np.sum(np.roll(x, Count(1)) * x * x),
    "stored": lambda x: stored(x),
    "of math": lambda x: math.pow(float(x[0]), Scale.UP) * x[1],
    "length": lambda x: np.sum(np.full(Axis.BOTH, x[0]) * x),
    "an argument by name": lambda x: np.sum(np.power(x, Axis.BOTH)),
}


def stored(x):
    y = x.copy()
    y[Axis.ROWS] = Metres(5.0) * x[1]
    y[Count(1)] = Scale.UP
    return np.sum(y * y * x)


EACH = {**OF_ARRAYS_AND_TENSORS, **OF_ARRAYS}


def differences(function, x=X, step=1e-6):
    rows = np.eye(len(x)) * step
    return [(function(x + row) - function(x - row)) / (2 * step) for row in rows]


@pytest.mark.parametrize("function", EACH.values(), ids=EACH)
def test_such_numbers_are_operands_of_what_is_recorded(function):
    value, gradient = gs.value_and_grad(function, compile=False)(X)
    assert value == function(X)
    np.testing.assert_allclose(gradient, differences(function), rtol=1e-6)
    along = np.array([0.3, -0.7])
    out, tangent = gs.jvp(function, (X,), (along,), compile=False)
    assert out == value
    np.testing.assert_allclose(tangent, gradient @ along)


@pytest.mark.parametrize("function", EACH.values(), ids=EACH)
def test_the_second_derivative_has_such_operands(function):
    gradient = gs.grad(function, compile=False)
    found = gs.jacobian(gradient, compile=False)(X)
    np.testing.assert_allclose(found, np.array(differences(gradient)).T, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("function", OF_ARRAYS_AND_TENSORS.values(), ids=OF_ARRAYS_AND_TENSORS)
def test_such_numbers_are_operands_of_tensors(function):
    x = gs.tensor(X, requires_grad=True)
    out = function(x)
    out.backward()
    np.testing.assert_allclose(out.item(), function(X))
    np.testing.assert_allclose(x.grad.numpy(), differences(function), rtol=1e-6)


def test_integers_with_such_a_number_are_of_the_type_that_a_plain_one_gives():
    whole = gs.tensor([1, 2])
    assert (whole * Metres(0.5)).dtype == (whole * 0.5).dtype
    assert (whole * Axis.BOTH).dtype == whole.dtype


def test_an_argument_may_be_such_a_number():
    found = gs.grad(lambda x, n, s: np.sum(x**n * s), compile=False)(X, Axis.BOTH, Metres(3.0))
    np.testing.assert_allclose(found, 6.0 * X)


def test_an_operator_of_its_own_is_asked_as_python_asks_it():
    class Shifting(float):
        def __rmul__(self, other):
            return other + 100.0

        def __rsub__(self, other):
            return NotImplemented

    by = SimpleNamespace(number=Shifting(2.0))

    def of_python(x):
        return float(x[0]) * by.number + (float(x[1]) - by.number) ** 2

    def of_numpy(x):
        return x[0] * by.number + np.sum(x * by.number)

    for function in (of_python, of_numpy):
        value, gradient = gs.value_and_grad(function, compile=False)(X)
        assert value == function(X)
        np.testing.assert_allclose(gradient, differences(function), rtol=1e-6)


class Converted(float):
    def __float__(self):
        return 0.25


class AlsoComplex(Converted):
    def __complex__(self):
        return 3.0 + 1.0j


class Index:
    def __index__(self):
        return 6

    def __float__(self):
        return 0.5


SEVEN, OTHER, SIX = Converted(7.0), AlsoComplex(7.0), Index()


def converted(x):
    y, z = np.zeros(3), np.zeros(2, complex)
    y[0], y[1] = SEVEN, SIX
    y[2] = OTHER
    z[0] = SEVEN
    z[1] = OTHER
    return np.sum(y) * x[0] + np.sum(z.real) * x[1]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: math.exp(SEVEN) * x[0] + math.hypot(SEVEN, SIX) * x[1],
        lambda x: math.ldexp(SEVEN, 2) * x[0] + float(SEVEN) * x[1],
        lambda x: math.sqrt(SIX) * x[0] + math.gcd(SIX, 4) * x[1] + math.comb(SIX, 2),
        lambda x: np.float64(SEVEN) * x[0] + np.complex128(SEVEN).real * x[1],
        lambda x: np.complex128(OTHER).real * x[0] + complex(SEVEN).real * x[1],
        converted,
    ],
)
def test_a_number_is_converted_as_the_code_in_c_does_it(function):
    value, gradient = gs.value_and_grad(function, compile=False)(X)
    assert value == function(X)
    np.testing.assert_allclose(gradient, differences(function), rtol=1e-6)
