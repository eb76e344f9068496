"""A number of a recorded run has no more attributes than one of Python's or NumPy's: programs tell
numbers from arrays by that."""

import copy
import math
import operator
from types import SimpleNamespace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import NoDerivativeError

X = np.array([2.0, 0.5])

NUMBERS = {
    "float": lambda x: float(x[0]),
    "of math": lambda x: math.exp(x[1]),
    "item": lambda x: x.item(1),
    "of a list": lambda x: x.tolist()[0],
    "complex": lambda x: float(x[0]) * (1.0 + 0.5j),
    "of numpy": lambda x: x[0] * 3.0,
    "single": lambda x: np.float32(x[1]),
}
NAMES = sorted({*dir(np.ndarray), *dir(np.float64), *dir(float), *dir(complex), "__module__"})


@pytest.mark.parametrize("make", NUMBERS.values(), ids=NUMBERS)
def test_no_attribute_is_found_that_the_number_has_not(make):
    lacking = [name for name in NAMES if not hasattr(make(X), name)]

    found = []

    def scaled(x):
        number = make(x)
        found.extend(name for name in lacking if hasattr(number, name))
        return x[0] * x[1]

    assert gs.grad(scaled, compile=False)(X).tolist() == [0.5, 2.0]
    assert set(found) <= {"__array__", "__array_wrap__", "__deepcopy__"}, "asked for by NumPy"


def total(v):
    return v.sum() if hasattr(v, "sum") else sum(v) if hasattr(v, "__len__") else 2 * v


def squared(v):
    try:
        return v.mean()
    except AttributeError:
        return v * v


def doubled(v):
    return v.dot(v) if hasattr(v, "dot") else 3 * v


def first_of(v):
    return sum(v) if hasattr(v, "__iter__") else v


@runtime_checkable
class Summed(Protocol):
    def sum(self) -> Any: ...


WAYS = {
    "hasattr": lambda x: total(float(x[0])),
    "except": lambda x: squared(math.exp(x[1])),
    "of a number of NumPy's": lambda x: doubled(x[0]) + first_of(x[1]),
    "with a default": lambda x: getattr(float(x[0]), "item", lambda: 7.0)() * x[1],
    "by operator": lambda x: squared(SimpleNamespace(mean=3.0).mean * x[0]),
    "protocol": lambda x: float(x[0]) * (2.0 if isinstance(float(x[0]), Summed) else 3.0),
    "protocol of arrays": lambda x: x[0] * (2.0 if isinstance(x, Summed) else 3.0),
    "asked for arrays": lambda x: float(x[0]) * (2.0 if hasattr(float(x[0]), "__array__") else 3.0),
    "attrgetter": lambda x: squared_by(operator.attrgetter("mean"), float(x[0])),
    "copied": lambda x: copy.deepcopy(float(x[0])) * copy.copy(x[1]),
}


def squared_by(get, v):
    try:
        return get(v)()
    except AttributeError:
        return v * v


@pytest.mark.parametrize("function", WAYS.values(), ids=WAYS)
def test_programs_tell_numbers_from_arrays(function):
    value, gradient = gs.value_and_grad(function, compile=False)(X)
    assert value == function(X)
    steps = 1e-6 * np.eye(2)
    expected = [(function(X + step) - function(X - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)
    out, tangent = gs.jvp(function, (X,), (np.ones(2),), compile=False)
    assert out == value
    np.testing.assert_allclose(tangent, sum(expected), rtol=1e-6)


def test_an_array_is_still_not_made_of_it():
    namespace = {"np": np}
    exec("def f(x): return np.asarray(g(x)) * 2", namespace)
    namespace["g"] = lambda x: math.exp(x[0])
    with pytest.raises(NoDerivativeError):
        gs.grad(namespace["f"], compile=False)(X)
