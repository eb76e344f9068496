"""`hasattr` and `getattr` with a default find what Python finds, and no more."""

from __future__ import annotations

import numpy as np
import pytest

import gradscribe as gs

X = np.array([1.0, 2.0])
OF_CLASSES = ("__call__", "__name__", "__qualname__", "__mro__", "__ror__", "mro")
VALUES = {
    "array": lambda x: x,
    "number": lambda x: x[0],
    "float": lambda x: float(x[0]),
    "constant": lambda x: 5.0,
    "list": lambda x: [x],
    "tuple": lambda x: (x, 1.0),
    "dict": lambda x: {"a": x},
    "str": lambda x: "text",
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("name", OF_CLASSES)
def test_the_metaclass_gives_instances_nothing(value, name) -> None:
    def asked(x):
        item = value(x)
        scale = 2.0 if hasattr(item, name) else 3.0
        return x[1] * scale * (5.0 if getattr(item, name, None) is None else 7.0)

    found, gradient = gs.value_and_grad(asked, compile=True)(X)
    assert found == asked(X)
    assert gradient.tolist() == [0.0, asked(X) / 2]


def test_a_missing_attribute_is_caught() -> None:
    def caught(x):
        n = 0.0
        try:
            x.mro()
        except AttributeError:
            n += 1.0
        try:
            float(x[0]).__ror__(1)
        except AttributeError:
            n += 2.0
        try:
            [x].__name__
        except AttributeError:
            n += 4.0
        return x[0] * n

    assert gs.grad(caught, compile=True)(X).tolist() == [7.0, 0.0]


def test_numbers_of_numpy_are_no_views_and_give_arrays() -> None:
    def asked(x):
        s = x[0]
        array = s.__array__()
        is_own = s.base is None and s.strides == () and type(array) is np.ndarray
        return s * array * (2.0 if is_own else 1.0)

    assert gs.value_and_grad(asked, compile=True)(X) == (asked(X), pytest.approx([4.0, 0.0]))


@pytest.mark.parametrize("name", ["__abs__", "__neg__", "__pos__"])
def test_special_methods_of_python_numbers_give_such(name) -> None:
    def called(x):
        return getattr(float(x[0]), name)()

    found, _ = gs.vjp(called, X)
    assert type(found) is float
    assert found == called(X)
