"""Arrays without axes, and NumPy numbers that are indexed as if they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs


def stores(a):
    c = np.zeros(())
    c[...] = a
    c[()] += a
    c[()] = c * a
    c[...] += 1
    return c * 1.0


def changes_in_place(a):
    c = np.array(a)
    c[...] *= a
    c *= 3.0
    c += a
    return c * 1.0


def reads(a):
    return a[()] * a + a[...] * a + np.sum(a[None] * a)


def element_from_an_array_without_axes(a):
    c = np.zeros(3)
    c[1] = np.array(a)
    c[2] += np.array(a)
    return np.sum(c * c)


FUNCTIONS = [stores, changes_in_place, reads, element_from_an_array_without_axes]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("a", [np.float64(2.0), np.array(2.0)], ids=["number", "array"])
def test_arrays_without_axes_are_read_and_stored_to(function: Any, a: Any) -> None:
    value, slope = gs.value_and_grad(function)(a)
    assert value == function(a)
    step = 1e-6
    np.testing.assert_allclose(slope, (function(a + step) - function(a - step)) / 2 / step, 1e-6)
    gs.testing.check_grad(function, a)


@pytest.mark.parametrize("function", [stores, reads])
def test_tensors_without_axes_are_read_and_stored(function: Any) -> None:
    a = gs.tensor(2.0, dtype=gs.float64, requires_grad=True)
    gs.differentiable(function)(a).backward()
    assert a.grad.item() == gs.grad(function)(np.float64(2.0))


def test_an_ellipsis_gives_an_array_where_no_axis_is_left() -> None:
    def f(x: Any) -> Any:
        v = x[1, ...]
        y = x * 2
        part = y[1, ...]
        part *= v
        return np.sum(y)

    gs.testing.check_grad(f, np.array([1.0, 2.0, 3.0]))


def items_of_arrays(x):
    first, total = x[:1].item(), x.sum(keepdims=True).item()
    return first * x[1] ** 2 + total * x.item(2) * x[0] + np.outer(x, x).item(1, 2) * x[2]


def test_item_is_the_one_item_of_an_array_or_that_with_an_index():
    gs.testing.check_grad(items_of_arrays, np.array([0.5, -1.5, 2.0]))
    gs.testing.check_grad(lambda x: x.item() ** 2, np.array(1.5))
    gs.testing.check_grad(lambda x: x[0].item() * np.float64(x[1]).item(), np.array([2.0, 3.0]))


TABLE = np.arange(4.0)


def items_by_tuples(x):
    total = 0.0
    for k in range(4):
        try:
            total = total + TABLE.item((k,)) * x.item((k % 3,))
        except IndexError:
            break
    for place in np.ndindex(3):
        total += x.item(place) ** 2
    products = np.outer(x, x)
    largest = products.item(np.unravel_index(products.argmax(), products.shape))
    return total * x.item(np.unravel_index(x.argmax(), x.shape)) + largest * x[0].item(())


def test_item_takes_a_tuple_of_indices():
    x = np.array([0.5, -1.5, 2.0])
    gs.testing.check_grad(items_by_tuples, x)
    assert gs.value_and_grad(items_by_tuples)(x)[0] == pytest.approx(items_by_tuples(x))


@pytest.mark.parametrize("index", [0, -1, 3, (), (3,)])
def test_item_of_a_number_raises_for_all_but_the_first(index):
    def function(x):
        try:
            return x[0].item(index)
        except (IndexError, ValueError):
            return x[1]

    gs.testing.check_grad(function, np.array([0.5, -1.5]))


def test_item_of_a_tensor_is_outside_of_the_derivative():
    def f(x):
        return x.sum().item() * x[0] + x[:1].item() * x[1] + x[2].tolist() * x[2]

    x = gs.tensor([0.5, -1.5, 2.0], requires_grad=True)
    expected = gs.autograd.grad(f(x), x)[0].tolist()
    assert gs.autograd.grad(gs.differentiable(f)(x), x)[0].tolist() == expected == [1.0, 0.5, 2.0]


def test_item_of_a_tensor_of_several_elements_is_refused():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(gs.errors.UnsupportedError, match="`item` cannot be compiled"):
        gs.differentiable(lambda x: x * x.item())(x)
