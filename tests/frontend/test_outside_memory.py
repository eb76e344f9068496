"""Objects from outside that show the memory of an array from outside which the function changes."""

from __future__ import annotations

import collections
import ctypes
import io
import pickle
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import AliasingError, UnsupportedError

X = np.array([0.3, 0.7, 1.1, 1.4])
START = np.array([1.0, -2.0, 3.0, 0.5])

B = START.copy()
OUT = np.zeros(4)
total, item, elements = B.sum, B.__getitem__, B.flat
polynomial = np.poly1d(B)
pointer = B.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
second = ctypes.c_double.from_address(B.ctypes.data + 8)
shown = memoryview(B)
picklable = pickle.PickleBuffer(B)
looked_up = np.frompyfunc(lambda i: B[int(i)], 1, 1)
reference = weakref.ref(B)
file = io.BytesIO(B.tobytes())
in_file = np.frombuffer(file.getbuffer())
holder = ctypes.py_object(B)
own = (ctypes.c_double * 2)(1.5, 2.5)
draws = np.random.default_rng(1)


def reset() -> None:
    B[:], OUT[:] = START, 0.0
    LOG[:] = [1.0, 2.0]
    OPTIONS.clear()
    OPTIONS["a"] = 2.0
    ORDERED["a"] = 1.0


def by_a_method(x):
    B[1] = x[0]
    return float(total()) * x[2]


def by_an_item(x):
    B[1] = x[0]
    return item(1) * x[2]


def by_an_iterator(x):
    B[1] = x[0]
    return float(elements[1]) * x[2]


def by_a_polynomial(x):
    B[1] = x[0]
    return float(polynomial(2.0)) * x[2]


def by_a_pointer(x):
    B[1] = x[0]
    return float(pointer[1]) * x[2]


def by_an_address(x):
    B[1] = x[0]
    return float(second.value) * x[2]


def by_a_memoryview(x):
    B[1] = x[0]
    return float(shown[1]) * x[2]


def by_a_buffer(x):
    B[1] = x[0]
    return float(memoryview(picklable)[1]) * x[2]


def by_a_ufunc(x):
    B[1] = x[0]
    return float(looked_up(1)) * x[2]


def by_a_file(x):
    in_file[1] = x[0]
    return float(np.frombuffer(file.getvalue())[1]) * x[2]


def by_a_proxy(x):
    OPTIONS["a"] = x[0]
    return float(proxy["a"]) * x[2]


def by_a_python_object(x):
    B[1] = x[0]
    return float(holder.value[1]) * x[2]


def written_by_an_address(x):
    second.value = 3.0
    return np.sum(B * x)


def of_a_constant(x):
    B[1] = 3.0
    return float(elements[1]) * x[2]


_SHOWN = "from outside|shares memory|`__call__` cannot be compiled"


@pytest.mark.parametrize(
    "function",
    [by_an_iterator, by_a_polynomial, by_a_pointer, by_an_address, by_a_memoryview,
     by_a_buffer, by_a_ufunc, by_a_file, by_a_proxy,
     written_by_an_address, by_a_python_object, of_a_constant],
)  # fmt: skip
def test_what_shows_a_changed_array_is_refused(function: Callable[..., Any]) -> None:
    reset()
    with pytest.raises((AliasingError, UnsupportedError), match=_SHOWN):
        gs.grad(function)(X)
    with pytest.raises((AliasingError, UnsupportedError), match=_SHOWN):
        gs.jvp(function, (X,), (X,))


def reads_its_own_memory(x):
    OUT[1] = x[0]
    return float(own[1]) * x[2] + OUT[1]


def draws_numbers(x):
    OUT[1] = x[0]
    return draws.normal() * 0 + x[2] * OUT[1]


def asks_a_function(x):
    OUT[1] = x[0]
    return float(np.linalg.norm(START)) * x[2] + OUT[1]


# -- methods of arrays and containers, as functions ------------------------------------------------

LOG, OPTIONS, ORDERED = [1.0, 2.0], {"a": 2.0}, collections.OrderedDict(a=1.0)
append, pop, count, get, find = LOG.append, LOG.pop, LOG.count, OPTIONS.get, ORDERED.get
dot = START.dot
proxy = types.MappingProxyType(OPTIONS)


def a_method_of_a_constant(x):
    return dot(x) * get("a")


def a_method_that_adds(x):
    append(x[0])
    return x[1] * x[2]


def a_method_made_here(x):
    squares: list[Any] = []
    add = squares.append
    for value in x:
        add(value * value)
    return sum(squares)


def a_method_of_a_changed_dict(x):
    ORDERED["a"] = x[0]
    return find("a") * x[2]


@pytest.mark.parametrize(
    "function",
    [reads_its_own_memory, draws_numbers, asks_a_function, a_method_of_a_constant,
     a_method_that_adds, a_method_made_here, a_method_of_a_changed_dict],
)  # fmt: skip
def test_other_objects_and_methods_are_as_in_python(function: Callable[..., Any]) -> None:
    def plain(x: Any) -> Any:
        reset()
        return float(function(x))

    expected = [(plain(X + d) - plain(X - d)) / 2e-6 for d in 1e-6 * np.eye(4)]
    value = plain(X)
    reset()
    found, gradient = gs.value_and_grad(function)(X)
    assert found == value
    np.testing.assert_allclose(gradient, expected, atol=1e-8)


def added_and_read(x):
    append(x[0])
    return LOG[-1] * x[2]


def removed_and_counted(x):
    before = len(LOG)
    pop()
    return before * x[2] + len(LOG) * x[1]


def changed_and_counted(x):
    LOG[1] = 1.0
    return float(count(1.0)) * x[2]


@pytest.mark.parametrize(
    "function", [by_a_method, by_an_item, added_and_read, removed_and_counted, changed_and_counted]
)
def test_what_a_method_is_bound_to_is_what_its_name_leads_to(function: Callable[..., Any]) -> None:
    def twice(call: Callable[..., Any]) -> Any:
        reset()
        return [float(call(X)), float(call(X))], B.tolist(), [float(item) for item in LOG]

    expected = twice(function)
    assert twice(lambda x: gs.value_and_grad(function)(x)[0]) == expected
    assert twice(lambda x: gs.jvp(function, (x,), (x,))[0]) == expected


def test_what_compiled_code_points_to_is_read_at_each_call() -> None:
    cffi = pytest.importorskip("cffi")
    ffi = cffi.FFI()
    numbers = ffi.new("double[3]", [1.0, 2.0, 3.0])

    def scaled(x):
        return float(numbers[1]) * np.sum(x)

    gradient = gs.grad(scaled)
    np.testing.assert_array_equal(gradient(X), [2.0] * 4)
    numbers[1] = 9.0
    np.testing.assert_array_equal(gradient(X), [9.0] * 4)


# -- what a call returns may be a view -------------------------------------------------------------


def through_a_view(x):
    y = START.copy()
    view = memoryview(y)
    y[1] = 5.0
    z = np.zeros(4)
    z[:] = view
    return np.sum(z * x**2) + float(view[1]) * x[0]


def in_a_text(x):
    y = START.copy()
    view = memoryview(y)[1:2].cast("B")
    y[1] = 5.0
    return len(f"{view[7]:08b}".strip("0")) * x[0]


@pytest.mark.parametrize("function", [through_a_view, in_a_text])
def test_a_view_shows_what_is_stored_later(function: Callable[..., Any]) -> None:
    value, gradient = gs.value_and_grad(function)(X)
    assert value == function(X)
    expected = [(function(X + d) - function(X - d)) / 2e-6 for d in 1e-6 * np.eye(4)]
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)


def of_what_is_differentiated(x):
    y = START.copy()
    view = memoryview(y)
    y[1] = x[0]
    return float(view[1]) * x[1]


def test_what_a_view_shows_of_what_is_differentiated_is_refused() -> None:
    for transform in (gs.grad(of_what_is_differentiated), gs.hessian(of_what_is_differentiated)):
        with pytest.raises(UnsupportedError):
            transform(X)


def test_an_ordered_dict_outside_has_its_items_in_their_new_order() -> None:
    latest = collections.OrderedDict(a=1.0, b=2.0, c=3.0)

    def moved(x):
        latest.move_to_end("a")
        latest.move_to_end("c", last=False)
        return x * latest["a"]

    assert gs.grad(moved)(3.0) == 1.0
    assert list(latest.items()) == [("c", 3.0), ("b", 2.0), ("a", 1.0)]
    assert len(latest) == 3


def test_an_ordered_dict_argument_has_its_items_in_their_new_order() -> None:
    def moved(items, x):
        items.move_to_end("a")
        return x * items["a"]

    given = collections.OrderedDict(a=1.0, b=2.0)
    result = gs.differentiable(moved)(given, gs.tensor(3.0, requires_grad=True))
    assert result.requires_grad
    assert result.item() == 3.0
    assert list(given) == ["b", "a"]


class _Keeping:
    def __init__(self, items):
        self.items = items


def test_what_a_loop_leaves_outside_is_the_list_itself():
    items, mixed, alike = [1.0, 2.0], [np.float64(0.5), 2.0, 0.5], [0.5, 2.0, 0.5]
    owner = _Keeping(items)

    def leave(other):
        def function(x):
            for _ in range(2):
                owner.items = other
            return np.sum(x)

        return function

    gs.grad(leave(alike))(np.ones(2))
    assert owner.items is alike
    owner.items = items
    with pytest.raises(UnsupportedError, match="may be one of several lists"):
        gs.grad(leave(mixed))(np.ones(2))
    assert owner.items is items
